"""Curves of one quantity against another with whatever belongs into the same picture: a panel in, a chart out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marginflow.report.beside import DRAWN_AT, beside, curves_of, moved, room_beside
from marginflow.report.content import Chart
from marginflow.report.encodings import (
    DRAWN_BY_MOUSE,
    SERIES_COLOURS,
    SERIES_DASHES,
    SERIES_SHAPES,
    Row,
    axis,
    by_name,
    by_number,
    chosen_opacity,
    cycle,
    field,
    inline,
    legend_filter,
    names,
    positive,
    scaled,
    tooltips,
    worded,
)
from marginflow.report.reference_lines import reference_lines, reference_names
from marginflow.report.vega import alt, checked_at_the_end

if TYPE_CHECKING:
    from marginflow.experiments.panel import Panel

# More bands than this over each other are mud: the intervals are drawn as lines then.
_MOST_BANDS = 3
_MOST_TICKS = 10
_MARGIN = 10  # pixels beside the first and the last mark


@checked_at_the_end()
def chart_of(panel: Panel) -> Chart:
    """Areas, intervals, reference lines, curves, marks and points of a panel, one over the other."""
    panel = replace(panel, rows=worded(panel.rows, panel.series, panel.variant))
    if _drawn_beside(panel):
        panel = replace(panel, rows=beside(panel))
    place = _position(panel, panel.y)
    layers = [
        *_areas(panel),
        *_band(panel),
        *reference_lines(panel, place),
        *_curves(panel),
        *_points(panel),
        *reference_names(panel, place),
    ]
    drawn = alt.layer(*layers).resolve_scale(color="independent", strokeDash="independent", shape="independent")
    height, width = (440, 440) if panel.square else (280, "container")
    return Chart.of(drawn, panel.rows, panel.titles, panel.title, panel.description, height, width)


def _position(panel: Panel, y: str, x: str | None = None) -> dict[str, Any]:
    x_axis, y_axis = _x_axis(panel), axis(panel.rows, panel.y, panel.y_scale)
    return {
        "x": by_number(alt.X, x or panel.x, title=panel.titles[panel.x], scale=_scale(panel, panel.x), axis=x_axis),
        "y": by_number(alt.Y, y, title=panel.titles[panel.y], scale=_scale(panel, panel.y), axis=y_axis),
    }


def _x_axis(panel: Panel) -> alt.Axis:
    """On a logarithmic axis of few values a tick at each of them."""
    values = sorted(
        {float(entry) for row in panel.rows if isinstance(entry := row[panel.x], int | float) and entry > 0}
    )
    if panel.x_scale == "log" and len(values) <= _MOST_TICKS:
        return alt.Axis(values=values, format="~g", labelOverlap=True)
    return axis(panel.rows, panel.x, panel.x_scale)


def _scale(panel: Panel, column: str) -> alt.Scale:
    """Of a square panel the extent of its rows, so that both axes have the same unit."""
    if panel.square:
        reach = max((abs(entry) for row in panel.rows if isinstance(entry := row[column], int | float)), default=1.0)
        return alt.Scale(domain=[-reach, reach], nice=False)
    if column == panel.x and panel.x_scale == "log":
        return alt.Scale(type="log", nice=False, padding=_MARGIN)
    if column == panel.x and panel.marks:  # so that marks at the ends are whole
        return alt.Scale(zero=False, nice=False, padding=_MARGIN)
    kind = panel.x_scale if column == panel.x else panel.y_scale
    if kind == "linear" and column == panel.y:  # no curve on the frame
        return alt.Scale(zero=_from_zero(panel), nice=False, padding=_MARGIN)
    if kind == "log" and column == panel.y and _decades(panel) < 2.0:  # whole decades would be empty
        return alt.Scale(type="log", nice=False, padding=2 * _MARGIN)
    return scaled(kind, padding=_MARGIN if column == panel.y else 0)


def _decades(panel: Panel) -> float:
    heights = [y for row in panel.rows if isinstance(y := row[panel.y], int | float) and y > 0]
    return math.log10(max(heights) / min(heights)) if heights else 0.0


def _from_zero(panel: Panel) -> bool:
    """Whether heights can be compared from zero on at little cost: zero is less than a quarter of the height away."""
    columns = [name for name in (panel.y, panel.low, panel.high) if name]
    heights = [y for row in panel.rows for name in columns if isinstance(y := row[name], int | float)]
    heights += [y for points in (panel.references or {}).values() for _, y in points]
    return 0.0 <= min(heights, default=-1.0) <= 0.25 * max(heights, default=0.0)


def _base(panel: Panel, rows: Sequence[Row]) -> alt.Chart:
    return positive(alt.Chart(inline(rows)), {panel.x: panel.x_scale, panel.y: panel.y_scale})


def _colour(panel: Panel, *, legend: bool) -> dict[str, Any]:
    """Colour by series, with one legend for all layers."""
    if panel.series is None:
        return {}
    series_names = names(panel.rows, panel.series)
    if panel.square:  # rays of a decision boundary: one colour for all of them
        return {"color": alt.value("var(--ink)"), "detail": alt.Detail(field(panel.series), type="nominal")}
    own = _legend(series_names) if legend else None
    title = panel.titles[panel.series]
    return {"color": by_name(alt.Color, panel.series, series_names, SERIES_COLOURS, title=title, legend=own)}


def _legend(listed: Sequence[str]) -> alt.Legend:
    """Strokes, with as many names beside each other as fit into half of a page."""
    widest = max((len(name) for name in listed), default=0) + 4
    columns = max(1, min(len(listed), 60 // widest))
    return alt.Legend(columns=columns, symbolType="stroke", symbolSize=400)


def _curves(panel: Panel) -> list[alt.Chart]:
    """Lines that can be moved and zoomed, with a legend that filters; a dot with its numbers nearest the mouse."""
    widths = {} if moved(panel) else _widths(panel)
    base = _base(panel, _with_widths(panel, widths))
    drawn_at = DRAWN_AT if moved(panel) else None
    encodings = _position(panel, panel.y, drawn_at) | _colour(panel, legend=True)
    zoom = alt.selection_interval(
        name="zoom", bind="scales", zoom="wheel![event.shiftKey]", translate=DRAWN_BY_MOUSE, clear="dblclick"
    )
    lines = base.mark_line(strokeWidth=2, clip=True).add_params(zoom)
    if widths:  # as they are, in pixels; of a line Vega-Lite reads the width from `size`
        encodings["size"] = alt.Size("line_width", type="quantitative", scale=None, legend=None)
    dashed_by = panel.variant or (panel.series if not panel.marks and not panel.square else None)
    if dashed_by is not None:
        kinds = names(panel.rows, dashed_by)
        # Where colour and dashes tell the same series apart, their legends are one and must agree.
        named = len(kinds) > 1 or dashed_by == panel.series
        own, title = _legend(kinds) if named else None, panel.titles[dashed_by]
        encodings["strokeDash"] = by_name(alt.StrokeDash, dashed_by, kinds, SERIES_DASHES, title=title, legend=own)
    if _has_gaps(panel):
        encodings["detail"] = alt.Detail("part", type="nominal")
    if panel.series is not None and not panel.square:
        chosen = legend_filter(panel.series)
        lines, encodings["opacity"] = lines.add_params(chosen), chosen_opacity(chosen)
    hovered = alt.selection_point(name="hovered", nearest=True, on="pointerover", clear="pointerout", empty=False)
    dots = (
        _position(panel, panel.y, drawn_at)
        | _colour(panel, legend=False)
        | {"tooltip": tooltips(panel.rows, panel.titles)}
    )
    faint = 1.0 if panel.marks else 0.0
    dots["opacity"] = alt.condition(hovered, alt.value(1.0), alt.value(faint))
    # Curves may coincide: marks of different shapes show it.
    shaped_by = (
        panel.variant if panel.variant is not None and len(names(panel.rows, panel.variant)) > 1 else panel.series
    )
    if shaped_by is not None and not panel.square:
        kinds = names(panel.rows, shaped_by)
        shapes = alt.Scale(domain=kinds, range=cycle(SERIES_SHAPES, kinds))
        dots["shape"] = alt.Shape(field(shaped_by), type="nominal", scale=shapes, legend=None)
    marks = base.mark_point(filled=True, size=45 if panel.marks else 70, clip=True).add_params(hovered)
    return [lines.encode(**encodings), marks.encode(**dots)]


def _drawn_beside(panel: Panel) -> bool:
    """Whether curves are moved apart: they coincide, or are so many that marks and bars would hide each other."""
    if not panel.marks or panel.square or panel.series is None or not room_beside(panel):
        return False
    return bool(_widths(panel)) or len(curves_of(panel)) > _MOST_BANDS


def _with_widths(panel: Panel, widths: Mapping[str, float]) -> list[Row]:
    """The rows with the width of their curve, where there are several widths."""
    if panel.series is None or not widths:
        return list(panel.rows)
    return [{**row, "line_width": widths.get(str(row[panel.series]), 2.0)} for row in panel.rows]


def _widths(panel: Panel) -> dict[str, float]:
    """Widths by series where curves lie on each other: the first is the widest, so that each shows beside the next."""
    if panel.series is None or panel.square:
        return {}
    if len(curves_of(panel)) > len(names(panel.rows, panel.series)):  # one series has several curves
        return {}
    curves: dict[str, dict[object, float]] = {}
    for row in panel.rows:
        value = row[panel.y]
        if isinstance(value, int | float):
            curves.setdefault(str(row[panel.series]), {})[row[panel.x]] = float(value)
    everything = [value for curve in curves.values() for value in curve.values()]
    reach = max(everything, default=0.0) - min(everything, default=0.0)
    widths = dict.fromkeys(curves, 2.0)
    listed = list(curves)
    for index in reversed(range(len(listed))):
        above = [
            widths[name] for name in listed[index + 1 :] if _coincide(curves[listed[index]], curves[name], 0.01 * reach)
        ]
        widths[listed[index]] = round(max(above) + 1.6, 1) if above else 2.0
    return widths if max(widths.values(), default=2.0) > 2.0 else {}


def _coincide(first: dict[object, float], second: dict[object, float], near: float) -> bool:
    """Whether two curves lie on each other at more than half of their points."""
    shared = [x for x in first if x in second]
    close = sum(abs(first[x] - second[x]) <= near for x in shared)
    return 2 * close > max(len(first), len(second))


def _bounded(panel: Panel) -> list[Row]:
    """The rows with intervals that end where the quantity does: lengths at 0, shares and errors at 0 and 1."""
    low, high = str(panel.low), str(panel.high)
    seen = [value for row in panel.rows if isinstance(value := row[panel.y], int | float)]
    if not seen or min(seen) < 0.0:
        return list(panel.rows)
    share = max(seen) <= 1.0 and re.search(r"share|error|accuracy|rate", panel.titles[panel.y], re.IGNORECASE)
    most = 1.0 if share else math.inf
    return [
        {
            **row,
            low: max(0.0, value) if isinstance(value := row[low], int | float) else value,
            high: min(most, top) if isinstance(top := row[high], int | float) else top,
        }
        for row in panel.rows
    ]


def _has_gaps(panel: Panel) -> bool:
    """Whether curves have parts that no line joins."""
    return any("part" in row for row in panel.rows)


def _band(panel: Panel) -> list[alt.Chart]:
    if panel.low is None or panel.high is None:
        return []
    bars = len(curves_of(panel)) > _MOST_BANDS
    drawn_at = DRAWN_AT if bars and moved(panel) else None
    encodings = _position(panel, panel.low, drawn_at) | _colour(panel, legend=False)
    encodings["y2"] = alt.Y2(field(panel.high))
    apart = [field(panel.variant)] if panel.variant is not None else []
    if details := [*apart, *(["part"] if _has_gaps(panel) else [])]:
        encodings["detail"] = [alt.Detail(name, type="nominal") for name in details]
    base = _base(panel, _bounded(panel))
    if bars:
        ends = []
        for end in (panel.low, panel.high):
            placed = {name: value for name, value in encodings.items() if name != "y2"}
            placed |= _position(panel, end, drawn_at)
            ends.append(
                base.mark_tick(opacity=0.8, thickness=1.5, width=7, orient="horizontal", clip=True).encode(**placed)
            )
        return [base.mark_rule(opacity=0.8, strokeWidth=1.5, clip=True).encode(**encodings), *ends]
    return [base.mark_area(opacity=0.2, clip=True).encode(**encodings)]


def _points(panel: Panel) -> list[alt.Chart]:
    if not panel.points:
        return []
    kinds = names(panel.points, "kind")
    renamed: list[Row] = [{panel.x: row["x"], panel.y: row["y"], "kind": row["kind"]} for row in panel.points]
    many = len(renamed) > 100
    two = alt.Legend(columns=2)
    colours = SERIES_COLOURS if many else ["var(--ink)"]
    encodings = _position(panel, panel.y) | {
        "shape": by_name(alt.Shape, "kind", kinds, SERIES_SHAPES, title=None, legend=two),
        "color": by_name(alt.Color, "kind", kinds, colours, title=None, legend=two),
    }
    mark = _base(panel, renamed).mark_point(
        filled=many, size=14 if many else 70, opacity=0.8 if many else 1.0, clip=True
    )
    return [mark.encode(**encodings)]


def _areas(panel: Panel) -> list[alt.Chart]:
    if not panel.areas:
        return []
    kinds = names(panel.areas, "kind")
    rows: list[Row] = [
        {panel.x: row["x"], panel.y: row["y"], "area": row["area"], "kind": row["kind"], "corner": index}
        for index, row in enumerate(panel.areas)
    ]
    encodings = _position(panel, panel.y) | {
        "fill": by_name(
            alt.Fill,
            "kind",
            kinds,
            SERIES_COLOURS,
            title=None,
            legend=alt.Legend(columns=2, symbolType="square", symbolStrokeWidth=0),
        ),
        "detail": alt.Detail("area", type="nominal"),
        "order": alt.Order("corner", type="quantitative"),
    }
    return [
        alt.Chart(inline(rows)).mark_line(filled=True, strokeWidth=0, fillOpacity=0.16, clip=True).encode(**encodings)
    ]
