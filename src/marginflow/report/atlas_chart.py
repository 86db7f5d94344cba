"""The picture of a map: where a theorem does not apply, says nothing or says something, with the paper's own cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from marginflow import theory
from marginflow.report.chart import Chart
from marginflow.report.encodings import axis, finished, legend
from marginflow.report.page import Page, Section
from marginflow.report.table import Table
from marginflow.report.vega import alt
from marginflow.theory.atlas import Atlas, MapCell, grid_of

COLOURS: Final = {  # variables of the style sheet
    "not applicable": "var(--map-outside)",
    "says nothing": "var(--map-silent)",
    "says something": "var(--map-speaks)",
}
TABLE_ROWS: Final = 200


def atlas_chart(atlas: Atlas) -> Chart:
    """Cells as rectangles over the first two axes of the grid; a map with one axis is a strip."""
    across, up = atlas.axes[0], atlas.axes[1] if len(atlas.axes) > 1 else None
    edges = {name: _edges(sorted({cell.numbers[name] for cell in atlas.cells})) for name in (across, up) if name}
    rows = []
    for cell in _distinct(atlas.cells, (across, up)):
        left, right = edges[across][cell.numbers[across]]
        low, high = (0.0, 1.0) if up is None else edges[up][cell.numbers[up]]
        rows.append(
            {"x": left, "x2": right, "y": low, "y2": high, "word": cell.word, "binding": cell.binding}
            | {name: cell.numbers[name] for name in (across, up) if name}
        )
    lows = {name: [low for low, _ in edges[name].values()] for name in edges}
    scales = {name: _scale(values) for name, values in lows.items()}
    colour = _colour()
    marks = [
        {"x": mark.numbers[across], "y": mark.numbers[up] if up else 0.5, "mark": mark.mark, "word": mark.word}
        for mark in atlas.marks
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
            color=colour,
            stroke=alt.Stroke("word:N", title=None, scale=_words(), legend=legend(list(COLOURS))),
            tooltip=[*(f"{name}:Q" for name in (across, up) if name), "word:N", "binding:N"],
        )
    ]
    if marks:
        drawn = alt.Chart(alt.Data(values=marks)).mark_point(
            size=70, stroke="var(--ink)", strokeWidth=1.2, shape="M-.5,-.5L.5,.5M-.5,.5L.5,-.5"
        )
        layers.append(drawn.encode(x="x:Q", y="y:Q", tooltip=["mark:N", "word:N"]))
    title = f"Where {atlas.id} says something"
    words = f"Each cell is one choice of {across}{f' and {up}' if up else ''}."
    if marks:
        words += " Crosses: the experiments of the paper."
    return Chart(
        specification=finished(alt.layer(*layers), description=words, height=360),
        title=title,
        description=words,
        numbers=_table(atlas, title),
    )


def _words() -> alt.Scale:
    return alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))


def _colour() -> alt.Color:
    return alt.Color("word:N", title=None, scale=_words(), legend=legend(list(COLOURS)))


def _axis(rows: Sequence[Mapping[str, Any]], column: str, values: Sequence[float]) -> alt.Axis:
    """Few ticks, and no grid over the cells."""
    written: dict[str, Any] = axis(rows, column, "log" if _is_wide(values) else "linear").to_dict()
    return alt.Axis(**{**written, "grid": False})


def _table(atlas: Atlas, title: str) -> Table:
    """The cells with their words and bounds, and what was observed in them."""
    columns = {**{name: name for name in atlas.cells[0].numbers}, "word": "", "binding": "Binding", "bound": "Bound"}
    if atlas.observed_name:
        columns |= {"observed": "Observed, mean", "least": "Least", "largest": "Largest", "outcomes": "Verdicts"}
    rows = [
        dict(cell.numbers)
        | {"word": cell.word, "binding": cell.binding, "bound": cell.bound}
        | {"observed": cell.mean, "outcomes": ", ".join(dict.fromkeys(cell.outcomes))}
        | {"least": min(cell.observed, default=math.nan), "largest": max(cell.observed, default=math.nan)}
        for cell in atlas.cells
    ]
    kept = [{name: row[name] for name in columns} for row in rows[:TABLE_ROWS]]
    return Table.of(kept, columns=columns, caption=f"The first cells of “{title}”")


def observed_chart(atlas: Atlas) -> Chart:
    """Bound against observed value: a point for each cell, from its least to its largest seed, and the diagonal.

    Cells without a bound or without a finite observed value are left out of the picture and stay in the table.
    """
    rows: list[dict[str, Any]] = [
        {"bound": cell.bound, "observed": cell.mean, "least": min(cell.observed), "largest": max(cell.observed)}
        | {"word": cell.word, "cell": ", ".join(f"{name} = {cell.numbers[name]:g}" for name in atlas.axes)}
        for cell in atlas.cells
        if cell.observed and math.isfinite(cell.bound) and all(map(math.isfinite, cell.observed))
    ]
    values = [row[name] for row in rows for name in ("bound", "least", "largest")]
    positive = bool(values) and min(values) > 0
    scale = alt.Scale(type="log", nice=True) if positive else alt.Scale(zero=False)
    colour = _colour()
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
    title = f"Bound of {atlas.id} against observed"
    description = f"Across: the bound. Up: {atlas.observed_name}. Dashed: where both are equal. {atlas.sentence()}"
    return Chart(
        specification=finished(alt.layer(*layers), description=description, height=320),
        title=title,
        description=description,
        numbers=_table(atlas, title),
    )


def statement_map(id: str) -> tuple[Atlas, str] | None:
    """Where a statement speaks, on a grid of our choice, and the command that draws it; None where there is no map."""
    region = theory.statement(id).region
    if region is None:
        return None
    needed = [name for name in region.letters if name not in region.defaults]
    paper = id.partition("/")[0]
    axes = {name: _AXES.get(f"{paper} {name}", _AXES.get(name, "1")) for name in needed}
    for name, value in _FIXED.items():  # a picture has two axes
        if name in axes and sum(":" in axis for axis in axes.values()) > 2:
            axes[name] = value
    grid = [f"{name}={axis}" for name, axis in axes.items()]
    return theory.map(id, grid_of(grid)), f"marginflow map {id} --grid {' '.join(grid)}"


# What a map shows if nobody says otherwise: the letters without which the hypotheses have no meaning.
_AXES: Final = {
    "d": "100:1e6:36log",
    "m": "10:100000:36log",
    "k": "2:1000:36log",
    "n": "100:1e6:36log",
    "p": "0.01:0.49:25",
    "VYS22 m": "2:40000:36log",
    "FVBS23 d": "100:1e9:36log",
    "FCB22 m": "500",
    "FCB22 d": "2:1e6:36log",
    "KYS23 d": "10:1e6:36log",
}
_FIXED: Final = {"p": "0.1", "n": "1000", "m": "500"}


def atlas_page(atlas: Atlas, *, command: str, versions: dict[str, str]) -> Page:
    """One page: the sentence, the picture, the numbers."""
    chart = atlas_chart(atlas)
    section = Section(
        heading="The map",
        content=(chart,),
    )
    sections = [section]
    if atlas.observed_name:
        pictured = observed_chart(atlas)
        paragraphs = (f"Observed: {atlas.observed_name}. Below the dashed line the observed value is smaller.",)
        sections.append(Section(heading=pictured.title, paragraphs=paragraphs, content=(pictured,)))
    return Page(
        title=chart.title,
        verdict=atlas.sentence(),
        tone="open",
        sections=tuple(sections),
        command=command,
        versions=versions,
    )


def _distinct(cells: Sequence[MapCell], names: tuple[str, str | None]) -> list[MapCell]:
    """One cell for each place of the picture; the first where further axes vary."""
    seen: dict[tuple[float, ...], MapCell] = {}
    for cell in cells:
        seen.setdefault(tuple(cell.numbers[name] for name in names if name), cell)
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
