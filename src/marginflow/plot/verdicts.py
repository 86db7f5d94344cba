"""A verdict in a notebook: its sentence, its checks, and how much room each of them has."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.room_chart import room_chart
from marginflow.report.style import signs
from marginflow.report.table import Table
from marginflow.theory import Verdict


def showing(verdict: Verdict) -> Showing:
    """Every hypothesis and every conclusion."""
    rows = tuple(
        (check.role, check.name, check.observed, signs(check.relation), check.bound, check.state)
        for check in (*verdict.hypotheses, *verdict.conclusions)
    )
    columns = ("Part", "Check", "Observed", "", "Bound", "State")
    return Showing(sentence=verdict.sentence, table=Table(columns=columns, rows=rows, caption="Every check"))


def charts(verdict: Verdict) -> list[Chart]:
    """Bars of the room that each check uses."""
    checks = [check.to_dict() | {"used": check.used} for check in (*verdict.hypotheses, *verdict.conclusions)]
    if not any(check["used"] is not None for check in checks):
        return []
    return [room_chart(checks, title=f"{verdict.id}: {verdict.outcome}")]
