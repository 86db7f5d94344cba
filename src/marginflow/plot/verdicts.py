"""A verdict in a notebook: its sentence, its checks, and how much room each of them has."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.summary import Fields
from marginflow.report.results.verdicts import room_charts
from marginflow.report.style import signs
from marginflow.report.table import Table


def showing(verdict: Fields) -> Showing:
    """Every hypothesis and every conclusion."""
    rows = tuple(
        (check["role"], check["name"], check["observed"], signs(check["relation"]), check["bound"], check["state"])
        for check in (*verdict["hypotheses"], *verdict["conclusions"])
    )
    columns = ("Part", "Check", "Observed", "", "Bound", "State")
    return Showing(sentence=verdict["sentence"], table=Table(columns=columns, rows=rows, caption="Every check"))


def charts(verdict: Fields) -> list[Chart]:
    """Bars of the room that each check uses."""
    return room_charts(verdict, title=f"{verdict['id']}: {verdict['outcome']}")
