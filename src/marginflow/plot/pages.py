"""Results that a notebook shows as their pages do: a verdict, a hunt, a figure."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.figures import panel_charts
from marginflow.report.results.kinds import summarise
from marginflow.report.results.summary import Fields, NamedResult, Summary
from marginflow.report.table import Table

_MOST = 2


def showing(result: Fields) -> Showing:
    """The sentence of the page, and its first table."""
    page = _page(result)
    tables = [item for section in page.sections for item in section.content if isinstance(item, Table)]
    first = next((table for table in tables if not table.folded), Table(columns=(), rows=(), caption=""))
    return Showing(sentence=page.sentence, table=first)


def charts(result: Fields) -> list[Chart]:
    """The panels of a figure; of a page its first charts."""
    return list(panel_charts(result)) if "panels" in result else list(_page(result).charts[:_MOST])


def _page(result: Fields) -> Summary:
    return summarise(NamedResult(name="the result", content=result))
