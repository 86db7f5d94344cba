"""What every chart has in common: colours of the page, axes, legends that filter, hints, and the finishing touches."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from marginflow.plain import to_plain
from marginflow.report.legends import CORNERS
from marginflow.report.style import ALL_POWERS, FONT, POWER_OF_TEN, raised
from marginflow.report.vega import alt, checked_at_the_end

Row = Mapping[str, object]
Scale = Literal["linear", "log"]

# Colours are variables of the page's style sheet, so that a chart follows the reader's light or dark mode.
SERIES_COLOURS = [f"var(--series-{number})" for number in range(1, 9)]
SERIES_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 1], [1, 3], [10, 2, 2, 2, 2, 2]]
SERIES_SHAPES = list(CORNERS)
# A finger on a chart scrolls the page; only a mouse or a pen draws on it.
DRAWN_BY_MOUSE = "[pointerdown[event.pointerType !== 'touch'], window:pointerup] > window:pointermove!"
FADED = 0.12
_FEW_DECADES = 5
_TINY = -4.0  # the power of ten below which numbers are written as powers
_LESS_THAN_A_DECADE = 0.7  # below, ticks at 1, 2 and 5 are too few


def inline(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as inline data; a number that is not finite cannot be drawn on an axis and becomes a gap."""
    data = alt.InlineData(values=[{field(key): plain(entry) for key, entry in row.items()} for row in rows])
    # Altair copies a chart for every property that is set; its rows are never changed, and need no copy.
    object.__setattr__(data, "__deepcopy__", lambda _: data)
    return data


def field(column: str) -> str:
    """The column under a name that Vega reads as one word: letters, digits and underscores only.

    In the names of Vega dots, brackets and quotes are a small language of their own; a chart never speaks it.

    Examples
    --------
    >>> from marginflow.report.encodings import field
    >>> field("loss"), field("it's"), field("a[0]")
    ('loss', '_it_27_s', '_a_5b_0_5d_')
    """
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", column):
        return column
    return "_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in column)


def drawable(heading: str) -> str:
    r"""A title from a stranger's file: Vega-Lite puts it between quotes as it is, where a backslash would escape.

    Examples
    --------
    >>> from marginflow.report.encodings import drawable
    >>> drawable(r"a\b")
    'a∖b'
    """
    return heading.replace("\\", "\N{SET MINUS}")


def worded(rows: Sequence[Row], *columns: str | None) -> list[dict[str, object]]:
    """The rows with names instead of numbers in the columns that tell series and categories apart.

    The domain of such a column is a list of names, in which Vega does not find the number 1 under "1".
    """
    named = [column for column in columns if column is not None]
    return [{**row, **{column: raised(str(row[column])) for column in named}} for row in rows]


def plain(entry: object) -> object:
    """A value in terms of JSON; what is neither a number nor a word, as its text."""
    return to_plain(entry) if entry is None or isinstance(entry, str | numbers.Real) else str(entry)


def positive(chart: alt.Chart, scales: Mapping[str, Scale]) -> alt.Chart:
    """Leave out what a logarithmic axis cannot show."""
    for column, kind in scales.items():
        if kind == "log":
            chart = chart.transform_filter(f"datum.{field(column)} > 0")
    return chart


def scaled(kind: Scale, *, padding: int = 0) -> alt.Scale:
    """The scale of an axis; a linear one need not contain zero, and with padding it ends where its marks do."""
    if kind == "log":
        return alt.Scale(type="log", padding=padding)
    return alt.Scale(zero=False, padding=padding, nice=False) if padding else alt.Scale(zero=False, padding=padding)


def axis(rows: Sequence[Row], column: str, kind: Scale) -> alt.Axis:
    """On a logarithmic axis a tick at powers of ten only, at most eight of them, if there are two or more.

    Between whole numbers, such as counts, there is no tick.
    """
    values = [value for row in rows if isinstance(value := plain(row.get(column)), int | float)]
    exponents = [math.log10(value) for value in values if value > 0]
    if kind == "linear":
        if exponents and max(exponents) < _TINY:
            return alt.Axis(tickCount=6, labelExpr=POWER_OF_TEN)
        whole = bool(values) and all(value == int(value) for value in values)
        return alt.Axis(tickCount=6, format="~r", **({"tickMinStep": 1} if whole else {}))
    if not exponents:
        return alt.Axis(tickCount=6, labelExpr=POWER_OF_TEN)
    low, high = math.floor(min(exponents)), math.ceil(max(exponents))
    if max(exponents) - min(exponents) < 1.0:
        digits = (1, 2, 5) if max(exponents) - min(exponents) > _LESS_THAN_A_DECADE else (1, 1.5, 2, 3, 5, 7)
        steps = [float(f"{digit}e{exponent}") for exponent in range(low, high + 1) for digit in digits]
        return alt.Axis(values=steps, labelExpr=POWER_OF_TEN)
    step = max(1, math.ceil((high - low) / 7))
    written = POWER_OF_TEN if high - low <= _FEW_DECADES else ALL_POWERS
    return alt.Axis(values=[float(f"1e{exponent}") for exponent in range(low, high + 1, step)], labelExpr=written)


def by_name(
    channel: Any, column: str, listed: list[str], options: list[Any], *, title: str | None, legend: Any = None
) -> Any:
    """A channel such as colour, shape or dashes that gives each name of a column an option of its own."""
    scale = alt.Scale(domain=listed, range=cycle(options, listed))
    return channel(field(column), type="nominal", title=title, scale=scale, legend=legend)


def by_number(channel: Any, column: str, *, title: str, scale: Any, axis: Any) -> Any:
    """A position along an axis of numbers."""
    return channel(field(column), type="quantitative", title=title, scale=scale, axis=axis)


def legend(series_names: list[str]) -> alt.Legend:
    """Names beside each other where they fit on a telephone, below each other where they do not."""
    columns = len(series_names) if sum(len(name) + 4 for name in series_names) <= 32 else 1
    # The offset leaves room for the line of text that tells what is under the brush.
    return alt.Legend(columns=columns, offset=26)


def legend_filter(series: str) -> alt.Parameter:
    """A click on a name of the legend leaves only that series (with shift: this one too); a double click, all."""
    return alt.selection_point(name="chosen", fields=[field(series)], bind="legend")


def chosen_opacity(chosen: alt.Parameter) -> Any:
    """Full strength where the legend says so, faint elsewhere."""
    return alt.condition(chosen, alt.value(1.0), alt.value(FADED))


def names(rows: Sequence[Row], column: str) -> list[str]:
    """The values of a column in order of first appearance."""
    return list(dict.fromkeys(str(row[column]) for row in rows))


def cycle(options: list[Any], series_names: list[str]) -> list[Any]:
    """As many options as names, from the start again where they run out."""
    return [options[index % len(options)] for index in range(max(1, len(series_names)))]


def tooltips(rows: Sequence[Row], titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """What a hint says: every column that has a title."""
    words = {column for column in titles if any(isinstance(row.get(column), str) for row in rows)}
    return [
        alt.Tooltip(field(column), type="nominal", title=heading)
        if column in words
        else alt.Tooltip(field(column), type="quantitative", format=".4~g", title=heading)
        for column, heading in titles.items()
    ]


@checked_at_the_end()
def finished(chart: Any, *, description: str, height: int, width: int | str = "container") -> dict[str, Any]:
    """The specification with a size and the style of the page, checked against the schema of Vega-Lite."""
    sized = chart.properties(width=width, height=height, description=description, background="transparent")
    axes = alt.AxisConfig(
        labelColor="var(--muted)",
        titleColor="var(--ink)",
        titleFontWeight="normal",
        gridColor="var(--line)",
        domainColor="var(--line)",
        tickColor="var(--line)",
        labelFontSize=13,
        titleFontSize=13,
    )
    legends = alt.LegendConfig(
        labelColor="var(--ink)",
        titleColor="var(--muted)",
        titleFontWeight="normal",
        labelFontSize=13,
        titleFontSize=13,
        orient="top",
        direction="horizontal",
        labelLimit=280,
        symbolStrokeWidth=2,
    )
    styled = sized.configure(
        font=FONT,
        axis=axes,
        legend=legends,
        view=alt.ViewConfig(stroke="transparent"),
        line=alt.LineConfig(color="var(--series-1)"),
        point=alt.MarkConfig(color="var(--series-1)"),
        text=alt.MarkConfig(color="var(--muted)"),
    )
    specification: dict[str, Any] = styled.to_dict()
    # Two legends beside each other are wider than a telephone.
    specification["config"]["legend"]["layout"] = {"top": {"anchor": "start", "direction": "vertical", "margin": 4}}
    return specification
