"""The picture of a map: where a theorem does not apply, says nothing or says something, with the paper's own cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from marginflow.report.content import Chart
from marginflow.report.encodings import axis, legend
from marginflow.report.vega import alt

Record = Mapping[str, Any]

COLOURS: Final = {  # variables of the style sheet
    "not applicable": "var(--map-outside)",
    "says nothing": "var(--map-silent)",
    "says something": "var(--map-speaks)",
}
TABLE_ROWS: Final = 200


def atlas_chart(atlas: Record) -> Chart:
    """Cells as rectangles over the first two axes of the grid; a map with one axis is a strip.

    Parameters
    ----------
    atlas : mapping
        Of `Atlas.to_dict`.
    """
    across, up = atlas["axes"][0], atlas["axes"][1] if len(atlas["axes"]) > 1 else None
    edges = {name: _edges(sorted({cell["numbers"][name] for cell in atlas["cells"]})) for name in (across, up) if name}
    rows = []
    for cell in _distinct(atlas["cells"], (across, up)):
        numbers = cell["numbers"]
        left, right = edges[across][numbers[across]]
        low, high = (0.0, 1.0) if up is None else edges[up][numbers[up]]
        rows.append(
            {"x": left, "x2": right, "y": low, "y2": high, "word": cell["word"], "binding": cell["binding"]}
            | {name: numbers[name] for name in (across, up) if name}
        )
    lows = {name: [low for low, _ in edges[name].values()] for name in edges}
    scales = {name: _scale(values) for name, values in lows.items()}
    marks = [
        {"x": mark["numbers"][across], "y": mark["numbers"][up] if up else 0.5}
        | {name: mark[name] for name in ("mark", "word")}
        for mark in atlas["marks"]
    ]
    y = (
        alt.Y("y:Q", title=up, scale=scales[up], axis=_axis([*rows, *marks], "y", lows[up]))
        if up
        else alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=None)
    )
    layers: list[Any] = [
        alt.Chart(alt.Data(values=rows))
        .mark_rect(strokeWidth=0.4)  # of the cell's own colour: no hair lines between cells
        .encode(
            x=alt.X("x:Q", title=across, scale=scales[across], axis=_axis([*rows, *marks], "x", lows[across])),
            x2="x2:Q",
            y=y,
            y2="y2:Q",
            color=_by_word(alt.Color),
            stroke=_by_word(alt.Stroke),
            tooltip=[*(f"{name}:Q" for name in (across, up) if name), "word:N", "binding:N"],
        )
    ]
    if marks:
        drawn = alt.Chart(alt.Data(values=marks)).mark_point(
            size=70, stroke="var(--ink)", strokeWidth=1.2, shape="M-.5,-.5L.5,.5M-.5,.5L.5,-.5"
        )
        layers.append(drawn.encode(x="x:Q", y="y:Q", tooltip=["mark:N", "word:N"]))
    title = f"Where {atlas['id']} says something"
    words = f"Each cell is one choice of {across}{f' and {up}' if up else ''}."
    if marks:
        words += " Crosses: the experiments of the paper."
    return _chart(atlas, layers, title, words, height=360)


def _by_word(channel: Any) -> Any:
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return channel("word:N", title=None, scale=scale, legend=legend(list(COLOURS)))


def _axis(rows: Sequence[Mapping[str, Any]], column: str, values: Sequence[float]) -> alt.Axis:
    """Few ticks, and no grid over the cells."""
    written: dict[str, Any] = axis(rows, column, "log" if _is_wide(values) else "linear").to_dict()
    return alt.Axis(**{**written, "grid": False})


def _chart(atlas: Record, layers: Sequence[Any], title: str, description: str, *, height: int) -> Chart:
    """The layers over a table of the cells with their words and bounds, and what was observed in them."""
    cells = atlas["cells"][:TABLE_ROWS]
    columns = {**{name: name for name in cells[0]["numbers"]}, "word": "", "binding": "Binding", "bound": "Bound"}
    if atlas["observed_name"]:
        columns |= {"observed": "Observed, mean", "least": "Least", "largest": "Largest", "outcomes": "Verdicts"}
    rows = [
        {**cell, **cell["numbers"], **_observed(cell), "outcomes": ", ".join(dict.fromkeys(cell["outcomes"]))}
        for cell in cells
    ]
    caption = f"The first cells of “{title}”"
    return Chart.of(alt.layer(*layers), rows, columns, title, description, height, caption=caption)


def _observed(cell: Record) -> dict[str, float | None]:
    """The mean and the ends of what was observed in a cell; of nothing, or of what is not finite, there are none."""
    found = cell["observed"]
    if not found or None in found:
        return {"observed": None, "least": None, "largest": None}
    return {"observed": math.fsum(found) / len(found), "least": min(found), "largest": max(found)}


def observed_chart(atlas: Record) -> Chart:
    """Bound against observed value: a point for each cell, from its least to its largest seed, and the diagonal.

    Cells without a bound or without a finite observed value are left out of the picture and stay in the table.
    """
    rows: list[dict[str, Any]] = [
        {"bound": cell["bound"], "word": cell["word"], **seen}
        | {"cell": ", ".join(f"{name} = {cell['numbers'][name]:g}" for name in atlas["axes"])}
        for cell in atlas["cells"]
        if (seen := _observed(cell))["observed"] is not None and cell["bound"] is not None
    ]
    values = [row[name] for row in rows for name in ("bound", "least", "largest")]
    positive = bool(values) and min(values) > 0
    scale = alt.Scale(type="log", nice=True) if positive else alt.Scale(zero=False)
    colour = _by_word(alt.Color)
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X("bound:Q", title="bound of the theorem", scale=scale)
    ends = [{"bound": end, "observed": end} for end in (min(values, default=0.0), max(values, default=1.0))]
    layers = [
        alt.Chart(alt.Data(values=ends)).mark_line(strokeDash=[4, 4], color="var(--muted)").encode(x=x, y="observed:Q"),
        base.mark_rule().encode(x=x, y=alt.Y("least:Q"), y2="largest:Q", color=colour),
        base.mark_point(filled=True, size=50).encode(
            x=x,
            y=alt.Y("observed:Q", title="observed", scale=scale),
            color=colour,
            tooltip=["cell:N", "bound:Q", "observed:Q", "least:Q", "largest:Q", "word:N"],
        ),
    ]
    title = f"Bound of {atlas['id']} against observed"
    description = f"Across: the bound. Up: {atlas['observed_name']}. Dashed: where both are equal. {atlas['sentence']}"
    return _chart(atlas, layers, title, description, height=320)


def _distinct(cells: Sequence[Record], names: tuple[str, str | None]) -> list[Record]:
    """One cell for each place of the picture; the first where further axes vary."""
    seen: dict[tuple[float, ...], Record] = {}
    for cell in cells:
        seen.setdefault(tuple(cell["numbers"][name] for name in names if name), cell)
    return list(seen.values())


def _edges(values: list[float]) -> dict[float, tuple[float, float]]:
    """The interval that each value stands for: half way to its neighbours, in logarithms where all are positive."""
    if len(values) == 1:
        return {values[0]: (values[0] * 0.9, values[0] * 1.1) if values[0] > 0 else (values[0] - 1, values[0] + 1)}
    geometric = values[0] > 0

    def between(a: float, b: float) -> float:
        return float((a * b) ** 0.5) if geometric else (a + b) / 2

    inner = [between(a, b) for a, b in itertools.pairwise(values)]
    first = values[0] ** 2 / inner[0] if geometric else 2 * values[0] - inner[0]
    last = values[-1] ** 2 / inner[-1] if geometric else 2 * values[-1] - inner[-1]
    borders = [first, *inner, last]
    return {value: (borders[index], borders[index + 1]) for index, value in enumerate(values)}


def _scale(lows: list[float]) -> alt.Scale:
    return alt.Scale(type="log", nice=False) if _is_wide(lows) else alt.Scale(zero=False, nice=False)


def _is_wide(values: Sequence[float]) -> bool:
    """Whether a logarithmic axis is needed."""
    return min(values) > 0 and max(values) / min(values) > 30
