"""A sweep and its results in a notebook: what varies, and the rows that are there."""

from marginflow.plot.results import Showing
from marginflow.report.content import Chart
from marginflow.report.results.plain import natural_axes, row_chart, row_table
from marginflow.report.results.summary import Fields


def sweep(result: Fields) -> Showing:
    """The axes of a sweep; of results how many there are, and the first rows."""
    name, cells = result["name"], result["cells"]
    if "rows" in result:
        table, done = row_table(result["rows"]), len(result["rows"])
        sentence = f"{done} of {cells} cells of {name} are done, {result['failed']} failed: {table.caption}."
        return Showing(sentence=sentence, table=table)
    rows: list[tuple[object, ...]] = list(result["grid"].items())
    if result["points"]:
        rows.append(("points", f"{result['points']} combinations"))
    rows += [("seed", result["seeds"]), *result["fixed"].items()]
    named = f"{name}: " if result["named"] else ""
    sentence = f"{named}{cells} cells of the task {result['task']}."
    return Showing.of(sentence, rows, caption="What varies", columns=("Parameter", "Values"))


def sweep_charts(
    result: Fields, *, x: str | None = None, y: str | None = None, series: str | None = None
) -> list[Chart]:
    """Column `y` of the rows against column `x`, one curve for each value of `series`; where none is named, the first
    measured column against the first parameter that varies."""
    rows = result.get("rows", ())
    if x is None and y is None:
        x, y, series = natural_axes(rows)
    return [row_chart(rows, x=x, y=y, series=series)] if x is not None and y is not None else []
