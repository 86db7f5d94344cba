"""A sweep and its results in a notebook: what varies, and the rows that are there."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.plain import natural_axes, row_chart, row_table
from marginflow.report.table import Table
from marginflow.sweeps import Results, Sweep


def showing(result: Sweep | Results) -> Showing:
    """The axes of a sweep; of results how many there are, and the first rows."""
    if isinstance(result, Sweep):
        rows: list[tuple[object, ...]] = [(name, ", ".join(map(str, values))) for name, values in result.grid.items()]
        if result.points:
            rows.append(("points", f"{len(result.points)} combinations"))
        seeds = result.seeds if isinstance(result.seeds, tuple) else ()
        rows += [("seed", ", ".join(map(str, seeds))), *((name, str(value)) for name, value in result.fixed.items())]
        table = Table(columns=("Parameter", "Values"), rows=tuple(rows), caption="What varies")
        named = "" if result.name == Sweep.name else f"{result.name}: "
        return Showing(sentence=f"{named}{len(result.cells)} cells of the task {_task(result)}.", table=table)
    found, cells = result.rows, len(result.sweep.cells)
    table = row_table(found)
    sentence = (
        f"{len(found)} of {cells} cells of {result.sweep.name} are done, {len(result.failed)} failed: {table.caption}."
    )
    return Showing(sentence=sentence, table=table)


def charts(
    result: Sweep | Results, *, x: str | None = None, y: str | None = None, series: str | None = None
) -> list[Chart]:
    """Column `y` of the rows against column `x`, one curve for each value of `series`; where none is named, the first
    measured column against the first parameter that varies."""
    if isinstance(result, Sweep):
        return []
    if x is None and y is None:
        x, y, series = natural_axes(result.rows)
    return [row_chart(result.rows, x=x, y=y, series=series)] if x is not None and y is not None else []


def _task(sweep: Sweep) -> str:
    return sweep.task if isinstance(sweep.task, str) else sweep.task.name
