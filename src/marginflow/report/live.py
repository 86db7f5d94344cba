"""The page of a sweep that runs: what is done, what failed and why, what each cell took, a first picture, time left."""

import math
from collections.abc import Sequence

from marginflow.display import duration
from marginflow.report.page import Page, Section, render
from marginflow.report.results.plain import natural_axes, row_chart
from marginflow.report.table import Table, Verbatim, text_of
from marginflow.sweeps import Record, Results

_EVERY = 10  # seconds after which a browser asks for the page again
_SHORT = 60  # so many of the newest cells are listed


def live_page(results: Results, *, seconds_left: float | None, finished: bool, command: str) -> str:
    """The page as HTML that a browser loads again every ten seconds until the sweep is finished."""
    total, done, failed = len(results.sweep.cells), len(results.done), len(results.failed)
    left = "" if seconds_left is None or finished else f"; about {duration(seconds_left)} left"
    page = Page(
        title=results.sweep.name,
        verdict=f"{done} of {total} cells are done, {failed} failed, {total - done - failed} are missing{left}.",
        tone="violated" if failed else ("holds" if done == total else "open"),
        sections=(*_pictures(results), *_failures(results), _cells(results)),
        command=command,
    )
    text = render(page, interactive=False)
    refresh = "" if finished else f'<meta http-equiv="refresh" content="{_EVERY}">'
    return text.replace("<head>", f"<head>{refresh}", 1)


def _pictures(results: Results) -> list[Section]:
    """The first picture of the rows that are there by now."""
    x, y, series = natural_axes(results.rows)
    if x is None or y is None:
        return []
    return [Section(heading="So far", content=(row_chart(results.rows, x=x, y=y, series=series),))]


def _failures(results: Results) -> list[Section]:
    found = [
        {
            "number": number,
            "cell": str(record.cell),
            "reason": Verbatim(record.reason),
            "error": Verbatim(record.error) if record.error else None,
            "log": Verbatim(record.log) if record.log else None,
        }
        for number, record in results.failures
    ]
    if not found:
        return []
    short = {"number": "Cell", "cell": "Parameters", "reason": "Reason"}
    long = {"number": "Cell", "error": "Traceback", "log": "Printed"}
    tables = (
        Table.of(found, columns=short, caption="Failed cells"),
        Table.of(found, columns=long, caption="Their tracebacks and what they printed"),
    )
    return [Section(heading="Failed", content=tables)]


def _varying(results: Results) -> list[str]:
    """The parameters that tell cells apart."""
    cells = results.sweep.cells
    return [name for name in cells[0].parameters if len({str(cell.parameters[name]) for cell in cells}) > 1]


def _cells(results: Results) -> Section:
    newest: Sequence[Record] = results.records[-_SHORT:]
    names = _varying(results)
    rows = [
        {
            "cell": ", ".join(
                (*(f"{name} {text_of(record.cell.parameters[name])}" for name in names), f"seed {record.cell.seed}")
            ),
            "status": record.status,
            "seconds": round(record.seconds, 2),
            "memory": None if record.memory is None else round(record.memory / 2**20),
        }
        for record in newest
    ]
    total = math.fsum(record.seconds for record in results.records)
    columns = {"cell": "Cell", "status": "Status", "seconds": "Seconds", "memory": "MiB"}
    table = Table.of(rows, columns=columns, caption=f"{len(rows)} of {len(results.records)} finished cells")
    return Section(heading="Cells", paragraphs=(f"All finished cells took {duration(total)}.",), content=(table,))
