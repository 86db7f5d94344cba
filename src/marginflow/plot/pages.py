"""Results that a notebook shows as their pages do: a hunt, a figure."""

from marginflow.experiments import FigureResult
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.panels import chart_of
from marginflow.report.results.figures import figure
from marginflow.report.results.hunts import hunt
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.table import Table
from marginflow.theory import Hunt

Paged = Hunt | FigureResult


def showing(result: Paged) -> Showing:
    """The sentence of the page, and its first table."""
    page = _page(result)
    tables = [item for section in page.sections for item in section.content if isinstance(item, Table)]
    first = next((table for table in tables if not table.folded), Table(columns=(), rows=(), caption=""))
    return Showing(sentence=page.sentence, table=first)


def charts(result: Paged) -> list[Chart]:
    """The panels of a figure; of a page its first charts."""
    if isinstance(result, FigureResult):
        return [chart_of(panel) for panel in result.panels]
    content = [item for section in _page(result).sections for item in section.content]
    return [item for item in content if isinstance(item, Chart) and item.numbers.rows][:_MOST]


def _page(result: Paged) -> Summary:
    record = Fields(result.to_dict())
    return hunt(record) if isinstance(result, Hunt) else figure(record)


_MOST = 2
