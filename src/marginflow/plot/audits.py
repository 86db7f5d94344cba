"""An audit in a notebook: its best sentence, and what one vector flips."""

from __future__ import annotations

from marginflow.audits import Audit
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.audits import audit
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(found: Audit) -> Showing:
    """The numbers that one would forward."""
    low, high = found.median_radius
    rows: tuple[tuple[object, ...], ...] = (
        ("Samples on the wrong side", f"{found.wrong} of {found.data.n_samples}"),
        ("KKT residual", found.certificate.residual),
        ("Shortest vector that flips all", found.universal.upper),
        ("none is shorter than", found.universal.lower),
        (f"Median distance to the boundary ({len(found.radii)} samples)", high),
        ("at least", low),
        ("Statements that apply", len(found.applying)),
        ("contradicted", ", ".join(found.contradicted) or "none"),
        ("Seconds", found.seconds),
    )
    return Showing(sentence=found.headline, table=Table(columns=("", ""), rows=rows, caption="The audit"))


def charts(found: Audit) -> list[Chart]:
    """The share that one vector flips, and certified accuracy."""
    sections = audit(Fields(found.to_dict())).sections
    drawn = [item for section in sections for item in section.content if isinstance(item, Chart) and item.numbers.rows]
    wanted = ("How much one vector flips", "Certified accuracy")
    return [chart for chart in drawn if chart.title in wanted]
