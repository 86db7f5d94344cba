"""Results that a notebook shows as their pages do: a hunt, a figure."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.figures import figure, panel_charts
from marginflow.report.results.hunts import hunt
from marginflow.report.results.summary import Fields, Summary
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
    return figure(result) if "panels" in result else hunt(result)
