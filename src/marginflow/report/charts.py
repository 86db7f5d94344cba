"""Charts as Vega-Lite specifications: each takes rows of plain values and says in words what it shows."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from marginflow.report.table import Table

if TYPE_CHECKING:
    import altair as alt

Row = Mapping[str, object]
Scale = Literal["linear", "log"]

# Colours are variables of the page's style sheet, so that a chart follows the reader's light or dark mode.
SERIES_COLOURS = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)"]
SERIES_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
SERIES_SHAPES = ["circle", "square", "triangle-up", "diamond"]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A Vega-Lite specification with its title, its meaning in words and the rows behind it.

    Parameters
    ----------
    specification : mapping
        Vega-Lite as plain values; it holds its own data.
    title : str
        Short heading.
    description : str
        The text alternative: what is drawn and what there is to see.
    numbers : Table
        The rows that are drawn, for readers who cannot see the chart and for those who want the digits.
    """

    specification: Mapping[str, Any]
    title: str
    description: str
    numbers: Table


def lines(
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
    """Curves of column `y` against column `x`, one for each value of column `series`.

    `titles` names the columns for the axes, the legend and the table of numbers.
    """
    import altair as alt

    chart = alt.Chart(_data(rows)).mark_line(strokeWidth=2, interpolate="linear", clip=True)
    encodings: dict[str, Any] = {
        "x": alt.X(x, type="quantitative", title=titles[x], scale=_scale(x_scale), axis=_axis(rows, x, x_scale)),
        "y": alt.Y(y, type="quantitative", title=titles[y], scale=_scale(y_scale), axis=_axis(rows, y, y_scale)),
        "tooltip": _tooltips(rows, titles),
    }
    if series is not None:
        names = _names(rows, series)
        encodings |= {
            "color": _colour(series, names, titles[series]),
            "strokeDash": alt.StrokeDash(
                series,
                type="nominal",
                legend=_legend(names),
                title=titles[series],
                scale=alt.Scale(domain=names, range=_cycle(SERIES_DASHES, names)),
            ),
        }
    return _finished(_positive(chart, {x: x_scale, y: y_scale}).encode(**encodings), rows, titles, title, description)


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
    """How often each value of column `value` occurs, one translucent shape over the other for each of `series`."""
    import altair as alt

    names = _names(rows, series)
    steps = alt.Bin(maxbins=bins)
    bars = (
        alt.Chart(_data(rows))
        .mark_bar(fillOpacity=0.45, strokeWidth=1.5, binSpacing=0)
        .encode(
            x=alt.X(value, type="quantitative", bin=steps, title=titles[value]),
            y=alt.Y(aggregate="count", type="quantitative", stack=None, title="Samples", axis=alt.Axis(tickMinStep=1)),
            color=_colour(series, names, titles[series]),
            stroke=alt.Stroke(
                series,
                type="nominal",
                legend=_legend(names),
                title=titles[series],
                scale=alt.Scale(domain=names, range=_cycle(SERIES_COLOURS, names)),
            ),
            tooltip=[
                alt.Tooltip(value, type="quantitative", bin=steps, title=titles[value]),
                alt.Tooltip(aggregate="count", type="quantitative", title="Samples"),
                alt.Tooltip(series, type="nominal", title=titles[series]),
            ],
        )
    )
    return _finished(bars, rows, titles, title, description)


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
) -> Chart:
    """One dot per row: its value along the axis, its category as a line, its series as colour and shape.

    On a logarithmic axis values that are exactly zero are left out; the table of numbers has them.
    """
    import altair as alt

    names = _names(rows, series)
    points = (
        _positive(alt.Chart(_data(rows)), {value: scale})
        .mark_point(filled=True, size=110, opacity=1.0)
        .encode(
            x=alt.X(
                value,
                type="quantitative",
                title=titles[value],
                scale=_scale(scale, padding=12),
                axis=_axis(rows, value, scale),
            ),
            y=alt.Y(
                category,
                type="nominal",
                title=None,
                scale=alt.Scale(domain=_names(rows, category)),
                axis=alt.Axis(grid=True, labelLimit=140),
            ),
            color=_colour(series, names, titles[series]),
            shape=alt.Shape(
                series,
                type="nominal",
                legend=_legend(names),
                title=titles[series],
                scale=alt.Scale(domain=names, range=_cycle(SERIES_SHAPES, names)),
            ),
            tooltip=_tooltips(rows, titles),
        )
    )
    return _finished(points, rows, titles, title, description, height=44 * max(1, len(_names(rows, category))))


def _finished(
    chart: alt.Chart, rows: Sequence[Row], titles: Mapping[str, str], title: str, description: str, height: int = 240
) -> Chart:
    import altair as alt

    sized = chart.properties(width="container", height=height, description=description, background="transparent")
    styled = sized.configure(
        font="system-ui, sans-serif",
        axis=alt.AxisConfig(
            labelColor="var(--muted)",
            titleColor="var(--ink)",
            titleFontWeight="normal",
            gridColor="var(--line)",
            domainColor="var(--line)",
            tickColor="var(--line)",
            labelFontSize=12,
            titleFontSize=12,
        ),
        legend=alt.LegendConfig(
            labelColor="var(--ink)",
            titleColor="var(--muted)",
            titleFontWeight="normal",
            labelFontSize=12,
            titleFontSize=12,
            orient="top",
            direction="horizontal",
            labelLimit=280,
            symbolStrokeWidth=2,
        ),
        view=alt.ViewConfig(stroke="transparent"),
        line=alt.LineConfig(color="var(--series-1)"),
    )
    numbers_behind = Table.of(rows, columns=titles, caption=f"The numbers behind “{title}”")
    return Chart(specification=styled.to_dict(), title=title, description=description, numbers=numbers_behind)


def _data(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as inline data; a number that is not finite has no place on an axis and becomes a gap."""
    import altair as alt

    return alt.InlineData(values=[{key: _plain(entry) for key, entry in row.items()} for row in rows])


def _plain(entry: object) -> object:
    if entry is None or isinstance(entry, str | bool):
        return entry
    if isinstance(entry, numbers.Integral):
        return int(entry)
    if isinstance(entry, numbers.Real):
        return float(entry) if math.isfinite(entry) else None
    return str(entry)


def _positive(chart: alt.Chart, scales: Mapping[str, Scale]) -> alt.Chart:
    """Leave out what a logarithmic axis cannot show."""
    for column, scale in scales.items():
        if scale == "log":
            chart = chart.transform_filter(f"datum[{column!r}] > 0")
    return chart


def _scale(kind: Scale, *, padding: int = 0) -> alt.Scale:
    import altair as alt

    return alt.Scale(type="log", padding=padding) if kind == "log" else alt.Scale(zero=False, padding=padding)


def _axis(rows: Sequence[Row], column: str, kind: Scale) -> alt.Axis:
    """On a logarithmic axis a tick at powers of ten only, at most eight of them."""
    import altair as alt

    if kind == "linear":
        return alt.Axis(tickCount=6)
    exponents = [
        math.log10(value) for row in rows if isinstance(value := _plain(row.get(column)), int | float) and value > 0
    ]
    if not exponents:
        return alt.Axis()
    low, high = math.floor(min(exponents)), math.ceil(max(exponents))
    step = max(1, math.ceil((high - low) / 7))
    return alt.Axis(values=[float(f"1e{exponent}") for exponent in range(low, high + 1, step)], format=".0e")


def _colour(series: str, names: list[str], title: str) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=names, range=_cycle(SERIES_COLOURS, names))
    return alt.Color(series, type="nominal", title=title, scale=scale, legend=_legend(names))


def _legend(names: list[str]) -> alt.Legend:
    """Names beside each other where they fit on a telephone, below each other where they do not."""
    import altair as alt

    return alt.Legend(columns=len(names) if sum(len(name) + 4 for name in names) <= 28 else 1)


def _names(rows: Sequence[Row], column: str) -> list[str]:
    """The values of a column in order of first appearance."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def _cycle(options: list[Any], names: list[str]) -> list[Any]:
    return [options[place % len(options)] for place in range(max(1, len(names)))]


def _tooltips(rows: Sequence[Row], titles: Mapping[str, str]) -> list[alt.Tooltip]:
    import altair as alt

    words = {column for column in titles if any(isinstance(row.get(column), str) for row in rows)}
    return [
        alt.Tooltip(column, type="nominal", title=heading)
        if column in words
        else alt.Tooltip(column, type="quantitative", format=".4~g", title=heading)
        for column, heading in titles.items()
    ]
