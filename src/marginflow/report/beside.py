"""Marks of many curves at one x beside each other instead of on each other."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

from marginflow.report.encodings import Row, names

if TYPE_CHECKING:
    from marginflow.experiments.panel import Panel

# The column of the rows that says where a mark is drawn; the x that is true stays beside it.
DRAWN_AT: Final = "drawn_at"
# Marks of one x take this share of the way to the next x; more of them than _MOST leave no room to tell whose they are.
_SHARE: Final = 0.5
_MOST: Final = 12
# Two neighbouring curves are moved apart by at most this share of the axis.
_STEP: Final = 0.018
# Where two neighbours are closer than this share of the axis, there is no room between them.
_LEAST: Final = 0.05


def curves_of(panel: Panel) -> list[tuple[str, str]]:
    """Series and variant of each curve: by series first, so that both variants of one are neighbours."""
    there = {_curve(panel, row) for row in panel.rows}
    series = names(panel.rows, panel.series) if panel.series else [""]
    variants = names(panel.rows, panel.variant) if panel.variant else [""]
    return [curve for curve in itertools.product(series, variants) if curve in there]


def room_beside(panel: Panel) -> float:
    """How far apart the marks of one x may be, in units in which the axis is even; 0 where there is no room."""
    places = sorted({x for row in panel.rows if (x := _place(panel, row)) is not None})
    curves = curves_of(panel)
    if not 2 <= len(places) <= _MOST or len(curves) < 2:
        return 0.0
    whole, gap = places[-1] - places[0], min(after - before for before, after in itertools.pairwise(places))
    return min(_SHARE * gap, _STEP * len(curves) * whole) if gap >= _LEAST * whole else 0.0


def beside(panel: Panel) -> list[Row]:
    """The rows with the x at which each is drawn: every curve is moved by a small amount of its own.

    All marks of a curve move by the same amount (the same factor on a logarithmic axis), so its shape stays.
    """
    curves, room = curves_of(panel), room_beside(panel)
    steps = {curve: room * ((index + 0.5) / len(curves) - 0.5) for index, curve in enumerate(curves)}
    rows: list[Row] = []
    for row in panel.rows:
        x = _place(panel, row)
        drawn = None if x is None else x + steps[_curve(panel, row)]
        rows.append({**row, DRAWN_AT: math.exp(drawn) if panel.x_scale == "log" and drawn is not None else drawn})
    return rows


def moved(panel: Panel) -> bool:
    """Whether the rows say where they are drawn."""
    return any(DRAWN_AT in row for row in panel.rows)


def _curve(panel: Panel, row: Row) -> tuple[str, str]:
    return (
        str(row[panel.series]) if panel.series else "",
        str(row[panel.variant]) if panel.variant else "",
    )


def _place(panel: Panel, row: Row) -> float | None:
    """Where on the axis a row is, in units in which the axis is even; None if it cannot be drawn."""
    entry, logarithmic = row[panel.x], panel.x_scale == "log"
    return even(entry, logarithmic) if isinstance(entry, int | float) and drawable(entry, logarithmic) else None


def drawable(entry: float, logarithmic: bool) -> bool:
    """Whether an axis shows a number."""
    return math.isfinite(entry) and (entry > 0 or not logarithmic)


def even(entry: float, logarithmic: bool) -> float:
    """The number in units in which the axis is even."""
    return math.log(entry) if logarithmic else float(entry)
