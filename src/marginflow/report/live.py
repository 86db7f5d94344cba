"""The page of a sweep that runs: what is done, what failed and why, what each cell took, a first picture, time left."""

import math

from marginflow.display import duration
from marginflow.report.content import Table, Verbatim, text_of
from marginflow.report.page import Page, Section, render
from marginflow.report.results.plain import natural_axes, row_chart
from marginflow.sweeps import Sight

_EVERY = 10  # seconds after which a browser asks for the page again
_SHORT = 60  # of the newest cells are listed


def live_text(page: Page, *, finished: bool) -> str:
    """The page as HTML that a browser loads again every ten seconds until the sweep is finished."""
    refresh = "" if finished else f'<meta http-equiv="refresh" content="{_EVERY}">'
    return render(page, interactive=False).replace("<head>", f"<head>{refresh}", 1)


def sight_page(
    sight: Sight,
    *,
    command: str,
    title: str | None = None,
    seconds_left: float | None = None,
    x: str | None = None,
    y: str | None = None,
    series: str | None = None,
) -> Page:
    """What is there of a sweep by now as a page.

    Parameters
    ----------
    sight : Sight
    command : str
        The command line that makes the page again.
    title : str or None
        By default the name of the sweep.
    seconds_left : float or None
        Until the end, at the pace so far.
    x, y, series : str or None
        Columns of the picture; by default what varies and what was measured first.
    """
    done, failed, missing = len(sight.done), len(sight.failed), sight.missing
    left = "" if seconds_left is None else f"; about {duration(seconds_left)} left"
    if missing is None:
        verdict = f"{done} done, {failed} failed; how many cells there will be is not known."
    else:
        verdict = f"{done} of {sight.total} cells are done, {failed} failed, {missing} are missing{left}."
    return Page(
        title=sight.name if title is None else title,
        verdict=verdict,
        tone="violated" if failed else ("holds" if done == sight.total else "open"),
        sections=(*_pictures(sight, x, y, series), *_failures(sight), *_stores(sight), _cells(sight)),
        command=command,
    )


def _pictures(sight: Sight, x: str | None, y: str | None, series: str | None) -> list[Section]:
    """The first picture of the rows that are there by now."""
    if x is None or y is None:
        x, y, series = natural_axes(sight.rows)
    if x is None or y is None or not sight.rows:
        return []
    return [Section.of("So far", row_chart(sight.rows, x=x, y=y, series=series))]


def _failures(sight: Sight) -> list[Section]:
    found = [
        {
            "number": sight.numbers.get(record.cell.identity),
            "cell": str(record.cell),
            "reason": Verbatim(record.reason),
            "error": Verbatim(record.error) if record.error else None,
            "log": Verbatim(record.log) if record.log else None,
        }
        for record in sight.failed
    ]
    if not found:
        return []
    short = {"number": "Cell", "cell": "Parameters", "reason": "Reason"}
    long = {"number": "Cell", "error": "Traceback", "log": "Printed"}
    tables = (
        Table.of(found, columns=short, caption="Failed cells"),
        Table.of(found, columns=long, caption="Their tracebacks and what they printed"),
    )
    return [Section.of("Failed", *tables)]


def _stores(sight: Sight) -> list[Section]:
    """The shards, where there are several."""
    if len(sight.stores) < 2:
        return []
    rows = [
        {"store": store.path.name, "done": store.done, "failed": store.failed, "writing": store.writing}
        for store in sight.stores
    ]
    columns = {"store": "Store", "done": "Done", "failed": "Failed", "writing": "A process is writing"}
    return [Section.of("Stores", Table.of(rows, columns=columns, caption="Stores of the sweep"))]


def _cells(sight: Sight) -> Section:
    names = sight.varying
    rows = [
        {
            "cell": ", ".join(
                (*(f"{name} {text_of(record.cell.parameters.get(name))}" for name in names), f"seed {record.cell.seed}")
            ),
            "status": record.status,
            "seconds": round(record.seconds, 2),
            "memory": None if record.memory is None else round(record.memory / 2**20),
        }
        for record in reversed(sight.records[-_SHORT:])
    ]
    total, count = math.fsum(record.seconds for record in sight.records), len(sight.records)
    took = f"All finished cells took {duration(total)} of CPU."
    if count and sight.missing:
        took += f" The missing ones take about {duration(total / count * sight.missing)} if they are like them."
    columns = {"cell": "Cell", "status": "Status", "seconds": "Seconds", "memory": "MiB"}
    caption = f"{len(rows)} of {count} finished cells, the newest first"
    return Section.of("Cells", took, Table.of(rows, columns=columns, caption=caption))
