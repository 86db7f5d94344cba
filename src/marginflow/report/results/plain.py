"""What a page tells of rows, and of an object of no known kind: tables, and a chart where columns are named."""

import math
from collections.abc import Mapping

from marginflow.errors import InputError
from marginflow.experiments.outcome import number
from marginflow.experiments.panel import over_seeds
from marginflow.plain import is_number
from marginflow.report.content import Chart, Table, text_of
from marginflow.report.encodings import drawable
from marginflow.report.page import Section, Tone
from marginflow.report.panels import chart_of
from marginflow.report.results.summary import Record, Rows, Summary

# A list longer than this is not read on a page; the file has it.
LONGEST_LIST = 12
# Residuals of exact points are below this: nothing is to be seen in them.
_ROUNDING = 1e-9


def rows(found: Rows, *, x: str | None = None, y: str | None = None, series: str | None = None) -> Summary:
    """Rows as a table, and as a chart of column `y` against `x`, one curve for each value of `series`."""
    if x is None:
        x, y, series = natural_axes(found)
    drawn = f": {y} against {x}" + (f", a curve for each {series}" if series else "") if x and y else ""
    return Summary(
        sentence=f"{len(found)} {'row' if len(found) == 1 else 'rows'}{drawn}.",
        tone="neutral",
        sections=(row_section(found, x=x, y=y, series=series),),
    )


def natural_axes(found: Rows) -> tuple[str | None, str | None, str | None]:
    """Columns x, y and series of the first picture of the rows of a sweep; x and y are None where there is none.

    Parameters stand before the seed, what was measured after it: the first measured column that is more than rounding
    is drawn against the first parameter with several numbers, a colour for the next one that varies.
    """
    columns = list(dict.fromkeys(column for row in found for column in row))
    if "seed" not in columns:
        return None, None, None
    parameters, measured = columns[: columns.index("seed")], columns[columns.index("seed") + 1 :]
    axes = [name for name in parameters if len({str(row.get(name)) for row in found}) > 1]
    x = next((name for name in axes if all(is_number(row.get(name)) for row in found)), None)
    drawn = [name for name in measured if any(is_number(row.get(name)) for row in found)]
    y = next(
        (name for name in drawn if any(abs(number(row, name)) > _ROUNDING for row in found)), next(iter(drawn), None)
    )
    if x is None or y is None:
        return None, None, None
    return x, y, next((name for name in axes if name != x), None)


def row_section(
    found: Rows, *, x: str | None = None, y: str | None = None, series: str | None = None, folded: bool = False
) -> Section:
    """Rows as a section of a page."""
    content: list[Table | Chart] = []
    if x is not None and y is not None:
        content.append(row_chart(found, x=x, y=y, series=series))
    content.append(row_table(found, folded=folded))
    return Section.of("Rows", *content)


def row_table(found: Rows, *, folded: bool = False) -> Table:
    """Rows without the columns that are the same in all of them, which the caption says once."""
    columns = list(dict.fromkeys(column for row in found for column in row))
    same = shared(found)
    picked = tuple(tuple(_shortened(row.get(name)) for name in columns if name not in same) for row in found)
    common = ", ".join(f"{name} {text_of(_shortened(value))}" for name, value in same.items() if value is not None)
    caption = f"{len(found)} rows" + (f"; in all of them {common}" if common else "")
    return Table(
        columns=tuple(name for name in columns if name not in same), rows=picked, caption=caption, folded=folded
    )


def shared(found: Rows) -> dict[str, object]:
    """What is the same in every one of several rows, unless they differ in nothing."""
    if len(found) < 2:
        return {}
    same = {key: value for key, value in found[0].items() if all(key in row and row[key] == value for row in found)}
    return same if any(len(row) > len(same) for row in found) else {}


def row_chart(found: Rows, *, x: str, y: str, series: str | None) -> Chart:
    """Column `y` of rows against column `x`: means with intervals where several rows share an x."""
    columns = list(dict.fromkeys(column for row in found for column in row))
    for column in (x, y, *([series] if series else [])):
        if column not in columns:
            raise InputError(f"There is no column {column!r}; there are {', '.join(columns)}.")
    for column in (x, y):
        if not any(is_number(row.get(column)) for row in found):
            raise InputError(f"The column {column!r} holds no numbers, so it cannot be an axis.")
    kept = [row for row in found if is_number(row.get(x))]
    by = (x, *([series] if series else []))
    made: list[dict[str, object]] = [
        {x: row[x], y: row.get(y)} | ({series: text_of(row.get(series))} if series else {}) for row in kept
    ]
    made.sort(key=lambda row: number(row, x))
    finite = [row for row in made if math.isfinite(number(row, y))]
    several = len({tuple(row[column] for column in by) for row in finite}) < len(finite)
    panel = over_seeds(
        made,
        x=x,
        y=y,
        series=series,
        band=several,
        titles={column: drawable(column) for column in (*by, y)},
        title=f"{y} against {x}",
        description=" ".join(
            (
                f"{'Means, with 95 % intervals, of' if several else 'Column'} {y} against {x}"
                + (f", one colour for each {series}." if series else "."),
                *_left_out(found, x, y),
            )
        ),
    )
    return chart_of(panel)


def _left_out(found: Rows, x: str, y: str) -> list[str]:
    """What of the rows cannot be drawn, counted."""
    infinite = sum(math.isinf(number(row, y)) for row in found if is_number(row.get(x)))
    missing = sum(math.isnan(number(row, y)) for row in found if is_number(row.get(x)))
    nowhere = sum(not is_number(row.get(x)) for row in found)
    counts = ((infinite, f"an infinite {y}"), (missing, f"no {y}"), (nowhere, f"no {x}"))
    named = [f"{count} of {len(found)} rows have {what}" for count, what in counts if count]
    return [f"Not drawn: {'; '.join(named)}."] if named else []


def record(found: Record) -> Summary:
    """An object of no known kind: its plain values as one table, lists of objects as tables of their own."""
    simple = tuple((key, value) for key, value in _short(found).items() if key != "made_by")
    content = [Table(columns=("Name", "Value"), rows=simple, caption="What the file holds")]
    for key, value in found.items():
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            titles = {column: column for column in dict.fromkeys(name for row in value for name in row)}
            content.append(Table.of([_short(row) for row in value], columns=titles, caption=key))
    sentence = f"{len(found)} values are shown; they make no claim that this page knows how to judge."
    tone: Tone = "open"
    for key in ("verdict", "sentence", "summary"):
        if isinstance(found.get(key), str):
            sentence = str(found[key])
    if isinstance(found.get("holds"), bool):
        tone = "holds" if found["holds"] else "violated"
    section = Section.of("Values", *content)
    return Summary(sentence=sentence, tone=tone, sections=(section,))


def _short(row: Mapping[str, object]) -> dict[str, object]:
    """The row with long lists and objects replaced by how long they are."""
    return {key: _shortened(value) for key, value in row.items()}


def _shortened(value: object) -> object:
    if isinstance(value, list) and (
        len(value) > LONGEST_LIST or any(isinstance(entry, dict | list) for entry in value)
    ):
        return f"{len(value)} entries"
    if isinstance(value, dict):
        whole = text_of({key: _shortened(entry) for key, entry in value.items()})
        return whole if len(whole) <= 200 else f"{len(value)} values"
    return value
