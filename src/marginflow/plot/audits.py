"""An audit in a notebook: its best sentence, and what one vector flips."""

from marginflow.audits import Audit, ClassesAudit
from marginflow.measurements import summarise_radii
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.audits import audit
from marginflow.report.results.classes import classes_audit
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table

_WANTED = ("How much one vector flips", "How much one vector changes", "Certified accuracy")


def showing(found: Audit | ClassesAudit) -> Showing:
    """The numbers that one would forward."""
    two = isinstance(found, Audit)
    rows: list[tuple[object, ...]] = [
        ("Samples on the wrong side", f"{found.wrong} of {found.data.n_samples}"),
        ("KKT residual", None if found.certificate is None else found.certificate.residual),
        (f"Shortest vector that {'flips' if two else 'changes'} all", found.universal.upper),
        ("none is shorter than", found.universal.lower),
    ]
    if found.radii:
        low, high = summarise_radii(found.radii).median
        rows += [(f"Median distance to the boundary ({len(found.radii)} samples)", high), ("at least", low)]
    if isinstance(found, Audit):
        rows += [
            ("Statements that apply", len(found.applying)),
            ("contradicted", ", ".join(found.contradicted) or "none"),
        ]
    rows.append(("Seconds", found.seconds))
    return Showing(sentence=found.headline, table=Table(columns=("", ""), rows=tuple(rows), caption="The audit"))


def charts(found: Audit | ClassesAudit) -> list[Chart]:
    """The share that one vector flips, and certified accuracy."""
    record = Fields(found.to_dict())
    sections = (audit(record) if isinstance(found, Audit) else classes_audit(record)).sections
    drawn = [item for section in sections for item in section.content if isinstance(item, Chart) and item.numbers.rows]
    return [chart for chart in drawn if chart.title in _WANTED]
