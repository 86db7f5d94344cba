"""Lines of a theory or of a paper behind the curves of a panel, each with its name where no curve is in the way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, final

from marginflow.report.beside import DRAWN_AT, drawable, even
from marginflow.report.encodings import Row, inline
from marginflow.report.style import raised
from marginflow.report.vega import alt

if TYPE_CHECKING:
    from marginflow.experiments.panel import Panel

_GREY: Final = "var(--muted)"
# A letter and a line of text as shares of the narrowest drawing area that we print, and what they keep from a line.
_LETTER, _LINE, _GAP = 0.028, 0.06, 0.02
_MARK = 0.02  # half of a mark
_BESIDE = 0.03  # of the room beside the first and the last mark
# Where along its line a name may stand, from the end that is asked for on.
_ALONG: Final = tuple(step / 20 for step in range(21))
_STEPS: Final = 24  # points of a curve between two of its marks, and of a bar, that a name keeps away from


@final
@dataclass(frozen=True, kw_only=True)
class NamePlace:
    """The point of a line at which its name stands, and on which side of it."""

    x: float
    y: float
    align: Literal["left", "right"]
    baseline: Literal["bottom", "top"]


def reference_lines(panel: Panel, encodings: Mapping[str, Any]) -> list[alt.Chart]:
    """Thin grey dashes."""
    return [
        alt.Chart(inline([{panel.x: x, panel.y: y} for x, y in points]))
        .mark_line(color=_GREY, strokeWidth=1.5, strokeDash=[3, 3], clip=True)
        .encode(**encodings)
        for points in (panel.references or {}).values()
    ]


def reference_names(panel: Panel, encodings: Mapping[str, Any]) -> list[alt.Chart]:
    """The name of each line in its own grey, over a halo of the ground."""
    layers = []
    for name, points in (panel.references or {}).items():
        place = name_place(panel, name, points)
        written: dict[str, Any] = {
            "align": place.align,
            "baseline": place.baseline,
            "dx": 5 if place.align == "left" else -5,
            "dy": 4 if place.baseline == "top" else -4,
            "fontSize": 12,
        }
        row: Row = {panel.x: place.x, panel.y: place.y, "name": raised(name)}
        named = alt.Chart(inline([row]))
        halo = named.mark_text(**written, color="var(--paper)", stroke="var(--paper)", strokeWidth=4)
        for text in (halo, named.mark_text(**written, color=_GREY)):
            layers.append(text.encode(**encodings, text=alt.Text("name", type="nominal")))
    return layers


def name_place(panel: Panel, name: str, points: Sequence[tuple[float, float]]) -> NamePlace:
    """Where the fewest curves, bars and lines are under the name; of equal places the nearest to the end asked for."""
    frame = _Frame.of(panel)
    taken = frame.taken(panel)
    width, ends = _LETTER * len(name), panel.reference_names == "end"
    best, least = None, math.inf
    for share in _ALONG:
        x, y = _at(points, 1.0 - share if ends else share, panel.x_scale == "log")
        across, up = frame.place(x, y)
        sides: tuple[Literal["left", "right"], ...] = ("right", "left") if ends else ("left", "right")
        for align in sides:
            left = across + _GAP if align == "left" else across - _GAP - width
            for baseline in ("bottom", "top"):
                low = up + _GAP if baseline == "bottom" else up - _GAP - _LINE
                inside = left > -_BESIDE and left + width < 1.0 + _BESIDE and low > -0.03 and low + _LINE < 1.01
                hits = sum(
                    left - _MARK < a < left + width + _MARK and low - _GAP / 2 < b < low + _LINE + _GAP / 2
                    for a, b in taken
                )
                if inside and hits < least:
                    best, least = NamePlace(x=x, y=y, align=align, baseline=baseline), hits
    x, y = points[-1 if ends else 0]
    return best or NamePlace(x=x, y=y, align="right" if ends else "left", baseline="bottom")


@final
@dataclass(frozen=True)
class _Frame:
    """The extent of everything that is drawn, along both axes."""

    x: tuple[float, float]
    y: tuple[float, float]
    logarithmic: tuple[bool, bool]

    @classmethod
    def of(cls, panel: Panel) -> _Frame:
        kinds = (panel.x_scale == "log", panel.y_scale == "log")
        lines = [point for points in (panel.references or {}).values() for point in points]
        xs = [*_numbers(panel.rows, panel.x), *(x for x, _ in lines)]
        ys = [y for column in (panel.y, panel.low, panel.high) if column for y in _numbers(panel.rows, column)]
        ys += [y for _, y in lines]
        extents = []
        for entries, logarithmic in ((xs, kinds[0]), (ys, kinds[1])):
            kept = [even(entry, logarithmic) for entry in entries if entry > 0 or not logarithmic]
            extents.append((min(kept, default=0.0), max(kept, default=1.0)))
        return cls(x=extents[0], y=extents[1], logarithmic=kinds)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """A point as shares of the width and of the height."""
        across, up = (
            (even(entry, logarithmic) - low) / ((high - low) or 1.0)
            for entry, (low, high), logarithmic in zip((x, y), (self.x, self.y), self.logarithmic, strict=True)
        )
        return across, up

    def taken(self, panel: Panel) -> list[tuple[float, float]]:
        """Points on the curves, the bars and the lines."""
        curves: dict[object, list[tuple[float, float]]] = {}
        found: list[tuple[float, float]] = []
        for row in panel.rows:
            x, y = row.get(DRAWN_AT, row[panel.x]), row[panel.y]
            if not isinstance(x, int | float) or not isinstance(y, int | float) or not self._drawable(x, y):
                continue
            curves.setdefault(tuple(row[name] for name in (panel.series, panel.variant) if name), []).append((x, y))
            bar = [end for name in (panel.low, panel.high) if name and isinstance(end := row[name], int | float)]
            if len(bar) == 2 and self._drawable(x, bar[0]) and self._drawable(x, bar[1]):
                found += self._between((x, bar[0]), (x, bar[1]))
        for curve in (*(sorted(curve) for curve in curves.values()), *(panel.references or {}).values()):
            found += [self.place(*point) for point in curve if self._drawable(*point)]
            for before, after in itertools.pairwise(curve):
                found += self._between(before, after)
        return found

    def _between(self, first: tuple[float, float], last: tuple[float, float]) -> list[tuple[float, float]]:
        a, b = self.place(*first), self.place(*last)
        shares = [step / _STEPS for step in range(_STEPS + 1)]
        return [(a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])) for share in shares]

    def _drawable(self, x: float, y: float) -> bool:
        return all(map(drawable, (x, y), self.logarithmic))


def _numbers(rows: Sequence[Row], column: str) -> list[float]:
    return [float(entry) for row in rows if isinstance(entry := row.get(column), int | float) and math.isfinite(entry)]


def _at(points: Sequence[tuple[float, float]], share: float, logarithmic: bool) -> tuple[float, float]:
    """The point of a line at a share of its way along the axis of x."""
    ordered = sorted(points)
    first, last = (even(x, logarithmic) for x in (ordered[0][0], ordered[-1][0]))
    goal = first + share * (last - first)
    for (x0, y0), (x1, y1) in itertools.pairwise(ordered):
        a, b = even(x0, logarithmic), even(x1, logarithmic)
        if a <= goal <= b and b > a:
            part = (goal - a) / (b - a)
            return (math.exp(goal) if logarithmic else goal), y0 + part * (y1 - y0)
    return ordered[-1] if share > 0.5 else ordered[0]
