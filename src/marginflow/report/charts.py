"""Charts as Vega-Lite specifications: each takes rows of plain values and says in words what it shows.

Each answers the mouse: a hint at every datum, a legend that filters, and either a brush that counts what lies under it
or, on curves, moving (drag), zooming (shift and wheel) and back again (double click).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from marginflow.report.content import Chart
from marginflow.report.encodings import (
    DRAWN_BY_MOUSE,
    SERIES_COLOURS,
    SERIES_SHAPES,
    Row,
    Scale,
    axis,
    by_name,
    by_number,
    chosen_opacity,
    field,
    inline,
    legend,
    legend_filter,
    names,
    plain,
    positive,
    scaled,
    tooltips,
    worded,
)
from marginflow.report.panels import chart_of
from marginflow.report.style import POWER_OF_TEN
from marginflow.report.vega import alt

_FEWEST_BINS = 12


def lines(rows: Sequence[Row], **panel: Any) -> Chart:
    """Curves of column `y` against column `x`, one for each value of column `series`, without marks.

    `panel` are further fields of a `Panel`; `chart_of` draws all that a panel can hold.
    """
    from marginflow.experiments.panel import Panel

    return chart_of(Panel(rows=rows, marks=False, **panel))


def stairs(steps: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of the step function that jumps to each height at its x.

    Examples
    --------
    >>> from marginflow.report.charts import stairs
    >>> stairs([(0.0, 1.0), (2.0, 0.5)])
    [(0.0, 1.0), (2.0, 1.0), (2.0, 0.5)]
    """
    corners: list[tuple[float, float]] = []
    for x, height in steps:
        corners += [(x, corners[-1][1]), (x, height)] if corners else [(x, height)]
    return corners


def points(
    rows: Sequence[Row],
    *,
    x: str,
    y: str,
    series: str | None = None,
    titles: Mapping[str, str],
    title: str,
    description: str,
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
) -> Chart:
    """One point per row at (`x`, `y`), coloured by `series`; a brush says how many it holds and how large `y` is."""
    rows = worded(rows, series)
    base = positive(alt.Chart(inline(rows)), {x: x_scale, y: y_scale})
    encodings = {
        "x": _along(alt.X, rows, x, titles, x_scale, padding=8),
        "y": _along(alt.Y, rows, y, titles, y_scale, padding=8),
    }
    brush = _brush()
    marks = base.mark_point(filled=True, size=70, clip=True).add_params(brush)
    visible: Any = brush
    if series is not None:
        chosen = legend_filter(series)
        marks = marks.add_params(chosen)
        encodings |= _told_apart(rows, series, titles, "color", "shape", alone=True)
        visible = brush & chosen
    marks = marks.encode(
        **encodings,
        opacity=alt.condition(visible, alt.value(0.9), alt.value(0.15)),
        tooltip=tooltips(rows, titles),
    )
    return Chart.of(alt.layer(marks, _under_the_brush(base, visible, y)), rows, titles, title, description)


def histogram(
    rows: Sequence[Row],
    *,
    value: str,
    series: str,
    titles: Mapping[str, str],
    title: str,
    description: str,
    bins: int = 40,
) -> Chart:
    """How often each value of column `value` occurs, one translucent shape over the other for each of `series`.

    A brush along the axis says how many values lie under it, and their smallest, median and largest.
    """
    rows = worded(rows, series)
    steps = alt.Bin(maxbins=min(bins, max(_FEWEST_BINS, 4 * math.isqrt(len(rows)))))
    base = alt.Chart(inline(rows))
    chosen = legend_filter(series)
    brush = _brush(encodings=["x"])
    bars = (
        base.mark_bar(strokeWidth=1.5, binSpacing=0)
        .encode(
            x=alt.X(
                field(value),
                type="quantitative",
                bin=steps,
                title=titles[value],
                axis=_binned([row[value] for row in rows]),
            ),
            y=alt.Y(aggregate="count", type="quantitative", stack=None, title="Samples", axis=_counted()),
            **_told_apart(rows, series, titles, "color", "stroke"),
            fillOpacity=alt.condition(brush & chosen, alt.value(0.45), alt.value(0.08)),
            strokeOpacity=alt.condition(brush & chosen, alt.value(1.0), alt.value(0.15)),
            tooltip=[
                alt.Tooltip(field(value), type="quantitative", bin=steps, title=titles[value]),
                alt.Tooltip(aggregate="count", type="quantitative", title="Samples"),
                alt.Tooltip(field(series), type="nominal", title=titles[series]),
            ],
        )
        .add_params(brush, chosen)
    )
    return Chart.of(alt.layer(bars, _under_the_brush(base, brush & chosen, value)), rows, titles, title, description)


def _binned(values: Sequence[object]) -> alt.Axis:
    """An axis under bins: round numbers, not their edges, which Vega writes with as few digits as their width has."""
    found = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
    axis = alt.Axis(labelExpr=POWER_OF_TEN, grid=False, labelOverlap="greedy", labelSeparation=6)
    if found and (low := min(found)) < (high := max(found)):
        power = 10.0 ** math.floor(math.log10((high - low) / 4.0))
        step = next(step for step in (5, 2, 1) if 4.0 * step * power <= high - low) * power
        axis.values = [
            float(f"{step * number:.9g}") for number in range(math.ceil(low / step), math.floor(high / step) + 1)
        ]
    return axis


def _counted() -> alt.Axis:
    """An axis of counts: half a sample has neither a name nor a line."""
    whole = alt.condition("datum.value % 1 === 0", alt.value(1), alt.value(0))
    label = "datum.value % 1 ? '' : format(datum.value, ',d')"  # the default writes 2.0 beside an unnamed 1.5
    return alt.Axis(tickMinStep=1, labelExpr=label, gridOpacity=whole, tickOpacity=whole)


def dots(
    rows: Sequence[Row],
    *,
    value: str,
    category: str,
    series: str,
    titles: Mapping[str, str],
    title: str,
    description: str,
    scale: Scale = "linear",
    span: tuple[float, float] | None = None,
) -> Chart:
    """One dot per row: its value along the axis, its category as a line, its series as colour and shape.

    On a logarithmic axis values that are exactly zero are left out; the table of numbers has them. The axis has `span`
    in it, so that charts of the same quantity can be compared.
    """
    rows = worded(rows, series, category)
    categories = names(rows, category)
    chosen = legend_filter(series)
    marks = (
        positive(alt.Chart(inline(rows)), {value: scale})
        .mark_point(filled=True, size=110)
        .encode(
            x=_along(alt.X, rows, value, titles, scale, padding=12, span=span),
            y=_one_below_the_other(category, categories, title=None, grid=True),
            **_told_apart(rows, series, titles, "color", "shape"),
            opacity=chosen_opacity(chosen),
            tooltip=tooltips(rows, titles),
        )
        .add_params(chosen)
    )
    return Chart.of(marks, rows, titles, title, description, height=44 * max(1, len(categories)))


def strips(
    rows: Sequence[Row],
    *,
    value: str,
    category: str,
    titles: Mapping[str, str],
    title: str,
    description: str,
) -> Chart:
    """One stroke per row: its value along the axis, its category as a line; many categories need no colours."""
    rows = worded(rows, category)
    categories = names(rows, category)
    marks = (
        alt.Chart(inline(rows))
        .mark_tick(thickness=1.5, opacity=0.5, color="var(--series-1)")
        .encode(
            x=_along(alt.X, rows, value, titles, "linear", padding=8),
            y=_one_below_the_other(category, categories, title=titles[category]),
            tooltip=tooltips(rows, titles),
        )
    )
    return Chart.of(marks, rows, titles, title, description, height=24 * max(1, len(categories)))


def _along(
    channel: Any,
    rows: Sequence[Row],
    column: str,
    titles: Mapping[str, str],
    scale: Scale,
    padding: int,
    span: tuple[float, float] | None = None,
) -> Any:
    """The position along an axis, with room beside the first and the last mark, or with both ends of `span` on it."""
    marked = axis([*rows, *({column: end} for end in span or ())], column, scale)
    along = scaled(scale, padding=padding)
    if span is not None:
        found = [value for row in rows if isinstance(value := plain(row.get(column)), int | float)]
        drawn = [value for value in found if value > 0 or scale == "linear"]
        along.domain = [min([span[0], *drawn]), max([span[1], *drawn])]
    return by_number(channel, column, title=titles[column], scale=along, axis=marked)


def _one_below_the_other(category: str, categories: list[str], *, title: str | None, **axis: Any) -> alt.Y:
    """A line for each category."""
    scale, lines = alt.Scale(domain=categories), alt.Axis(labelLimit=140, **axis)
    return alt.Y(field(category), type="nominal", title=title, scale=scale, axis=lines)


def _told_apart(
    rows: Sequence[Row], series: str, titles: Mapping[str, str], *channels: str, alone: bool = False
) -> dict[str, Any]:
    """Channels such as "color" and "shape" by series; one `alone` needs no legend unless that is said."""
    listed = names(rows, series)
    named = legend(listed) if alone or len(listed) > 1 else None
    return {
        name: by_name(
            getattr(alt, name.capitalize()),
            series,
            listed,
            SERIES_SHAPES if name == "shape" else SERIES_COLOURS,
            title=titles[series],
            legend=named,
        )
        for name in channels
    }


def _brush(**options: Any) -> alt.Parameter:
    """A rectangle that is drawn and moved by the mouse."""
    return alt.selection_interval(name="brush", on=DRAWN_BY_MOUSE, translate=DRAWN_BY_MOUSE, zoom=False, **options)


def _under_the_brush(base: alt.Chart, visible: Any, column: str) -> Any:
    """One line of text: how many rows the brush and the legend leave, and their smallest, median and largest value."""
    name = field(column)
    number = "format(datum.{}, '.3~g')"
    words = " + ".join(
        [
            "datum.rows_held",
            "' values: '",
            number.format("least"),
            "' … '",
            number.format("largest"),
            "', median '",
            number.format("middle"),
        ]
    )
    return (
        base.transform_filter(visible)
        .transform_aggregate(
            rows_held="count()", least=f"min({name})", middle=f"median({name})", largest=f"max({name})"
        )
        .transform_calculate(summary=words)
        .mark_text(align="left", baseline="bottom", fontSize=13)
        .encode(x=alt.value(0), y=alt.value(-4), text=alt.Text("summary", type="nominal"))
    )
