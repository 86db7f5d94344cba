"""An audit in a notebook: its best sentence, and what one vector flips."""

from marginflow.plot.results import Showing, endless
from marginflow.report.chart import Chart
from marginflow.report.results.kinds import summarise
from marginflow.report.results.summary import Fields, NamedResult
from marginflow.report.table import Table

_WANTED = ("How much one vector flips", "How much one vector changes", "Certified accuracy")


def showing(found: Fields) -> Showing:
    """The numbers that one would forward."""
    two = "statements" in found
    universal = found.object("universal")
    residual = endless(found["residual"]) if two else found["kkt"] and endless(found["kkt"]["residual"])
    rows: list[tuple[object, ...]] = [
        ("Samples on the wrong side", f"{found['wrong']} of {found['samples']}"),
        ("KKT residual", residual),
        (f"Shortest vector that {'flips' if two else 'changes'} all", endless(universal["upper"])),
        ("none is shorter than", universal["lower"]),
    ]
    if found["radii"]:
        low, high = map(endless, found["median_radius"])
        rows += [(f"Median distance to the boundary ({len(found['radii'])} samples)", high), ("at least", low)]
    if two:
        judged = [row for row in found.objects("statements") if not row["property"]]
        rows += [
            ("Statements that apply", sum(row["outcome"] != "not applicable" for row in judged)),
            ("contradicted", ", ".join(found["contradicted"]) or "none"),
        ]
    rows.append(("Seconds", found["seconds"]))
    return Showing(sentence=found["headline"], table=Table(columns=("", ""), rows=tuple(rows), caption="The audit"))


def charts(found: Fields) -> list[Chart]:
    """The share that one vector flips, and certified accuracy."""
    page = summarise(NamedResult(name="the audit", content=found))
    return [chart for chart in page.charts if chart.title in _WANTED]
