"""Results that a notebook shows as their pages do: a verdict, a hunt, a figure, and of an audit its best sentence."""

from marginflow.plot.results import Showing, endless
from marginflow.report.content import Chart, Table
from marginflow.report.results.figures import panel_charts
from marginflow.report.results.kinds import summarise
from marginflow.report.results.summary import Fields, NamedResult, Summary

_MOST = 2
_TELLING = ("How much one vector flips", "How much one vector changes", "Certified accuracy")


def page(result: Fields) -> Showing:
    """The sentence of the page, and its first table."""
    page = _page(result)
    tables = [item for section in page.sections for item in section.content if isinstance(item, Table)]
    first = next((table for table in tables if not table.folded), Table(columns=(), rows=(), caption=""))
    return Showing(sentence=page.sentence, table=first)


def page_charts(result: Fields) -> list[Chart]:
    """The panels of a figure; of a page its first charts."""
    return list(panel_charts(result)) if "panels" in result else list(_page(result).charts[:_MOST])


def _page(result: Fields) -> Summary:
    return summarise(NamedResult(name="the result", content=result))


def audit(found: Fields) -> Showing:
    """The numbers that one would forward."""
    two = "statements" in found
    universal = found.object("universal")
    residual = endless(found["residual"]) if two else found["kkt"] and endless(found["kkt"]["residual"])
    rows: list[tuple[object, ...]] = [
        ("Samples on the wrong side", f"{found['wrong']} of {found['samples']}"),
        ("KKT residual", residual),
        (f"Shortest vector that {'flips' if two else 'changes'} all", endless(universal["upper"])),
        ("none is shorter than", endless(universal["lower"])),
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
    return Showing.of(found["headline"], rows, caption="The audit")


def audit_charts(found: Fields) -> list[Chart]:
    """The share that one vector flips, and certified accuracy."""
    return [chart for chart in _page(found).charts if chart.title in _TELLING]
