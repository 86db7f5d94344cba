"""Charts of the figures: a panel of plain rows in, a chart out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from marginflow.experiments import Panel, Result
from marginflow.report.charts import Chart
from marginflow.report.encodings import (
    SERIES_COLOURS,
    SERIES_DASHES,
    SERIES_SHAPES,
    Row,
    axis,
    cycle,
    field,
    finished,
    inline,
    names,
    positive,
    scaled,
    tooltips,
)
from marginflow.report.page import Page, Section
from marginflow.report.table import Table

if TYPE_CHECKING:
    import altair as alt

# Reference lines carry their names at their ends, grey like the axes.
_GREY = "var(--muted)"
# More bands than this over each other are mud: the intervals are drawn as lines then.
_MOST_BANDS = 3
_MOST_TICKS = 10


def chart_of(panel: Panel) -> Chart:
    """Areas, intervals, reference lines, curves, marks and points of a panel, one over the other."""
    import altair as alt

    layers = [*_areas(panel), *_band(panel), *_references(panel), *_curves(panel), *_points(panel)]
    drawn = alt.layer(*layers).resolve_scale(color="independent", strokeDash="independent", shape="independent")
    specification = finished(drawn, description=panel.description, height=440 if panel.square else 320)
    if panel.square:
        specification["width"] = 440
    numbers = Table.of(panel.rows, columns=panel.titles, caption=f"The numbers behind “{panel.title}”")
    return Chart(specification=specification, title=panel.title, description=panel.description, numbers=numbers)


def page_of(result: Result, *, command: str, versions: dict[str, str]) -> Page:
    """The page of a figure: the outcome, the claim, the charts, the findings and how they were computed."""
    figure, outcome = result.figure, result.outcome
    found = Table(
        columns=(
            "Finding",
            "Measured",
            "95 % from",
            "95 % to",
            "Claimed",
            "Whose bound",
            "As claimed",
            "Beyond the spread",
        ),
        rows=tuple(
            (f.name, f.value, f.low, f.high, f"{f.relation} {f.bound:g}", f.basis, f.holds, f.sure)
            for f in outcome.findings
        ),
        caption="What the claim asks for, one by one",
    )
    tone: dict[str, Any] = {"borne out": "holds", "not borne out": "violated", "undecided": "open"}
    how = figure.deviations or "As the paper says."
    return Page(
        title=f"{figure.id}: {figure.title}",
        verdict=outcome.sentence,
        tone=tone[outcome.status],
        sections=(
            Section(
                heading="The claim",
                paragraphs=(figure.claim, *outcome.remarks),
                content=tuple(chart_of(panel) for panel in result.panels),
            ),
            Section(heading="Findings", content=(found,)),
            Section(heading="How it was computed", paragraphs=(how,)),
        ),
        parameters={
            "size": result.size,
            "first seed": result.seed,
            "cells": len(result.rows),
            "seconds, all cells": result.seconds,
        },
        versions=versions,
        command=command,
    )


def _position(panel: Panel, y: str) -> dict[str, Any]:
    import altair as alt

    rows = panel.rows
    return {
        "x": alt.X(
            field(panel.x),
            type="quantitative",
            title=panel.titles[panel.x],
            scale=_scale(panel, panel.x),
            axis=_x_axis(panel),
        ),
        "y": alt.Y(
            field(y),
            type="quantitative",
            title=panel.titles[panel.y],
            scale=_scale(panel, panel.y),
            axis=axis(rows, panel.y, panel.y_scale),
        ),
    }


def _x_axis(panel: Panel) -> alt.Axis:
    """On a logarithmic axis of few places a tick at each of them."""
    import altair as alt

    places = sorted(
        {float(entry) for row in panel.rows if isinstance(entry := row[panel.x], int | float) and entry > 0}
    )
    if panel.x_scale == "log" and len(places) <= _MOST_TICKS:
        return alt.Axis(values=places, format="~g", labelOverlap=True)
    return axis(panel.rows, panel.x, panel.x_scale)


def _scale(panel: Panel, column: str) -> alt.Scale:
    """Of a square panel the extent of its rows, so that both axes have the same unit."""
    import altair as alt

    if panel.square:
        reach = max((abs(entry) for row in panel.rows if isinstance(entry := row[column], int | float)), default=1.0)
        return alt.Scale(domain=[-reach, reach], nice=False)
    if column == panel.x and panel.x_scale == "log":
        return alt.Scale(type="log", nice=False)
    return scaled(panel.x_scale if column == panel.x else panel.y_scale)


def _base(panel: Panel, rows: Sequence[Row]) -> alt.Chart:
    import altair as alt

    return positive(alt.Chart(inline(rows)), {panel.x: panel.x_scale, panel.y: panel.y_scale})


def _colour(panel: Panel, *, legend: bool) -> dict[str, Any]:
    """Colour by series, with one legend for all layers."""
    import altair as alt

    if panel.series is None:
        return {}
    shown = names(panel.rows, panel.series)
    if panel.square:  # rays of a decision boundary: one colour for all of them
        return {"color": alt.value("var(--ink)"), "detail": alt.Detail(field(panel.series), type="nominal")}
    return {
        "color": alt.Color(
            field(panel.series),
            type="nominal",
            title=panel.titles[panel.series],
            scale=alt.Scale(domain=shown, range=cycle(SERIES_COLOURS, shown)),
            legend=alt.Legend(columns=_columns(shown), symbolType="stroke", symbolSize=400) if legend else None,
        )
    }


def _columns(shown: Sequence[str]) -> int:
    """As many names beside each other as fit into half of a page."""
    widest = max(len(name) for name in shown) + 4
    return max(1, min(len(shown), 60 // widest))


def _curves(panel: Panel) -> list[alt.Chart]:
    import altair as alt

    encodings = _position(panel, panel.y) | _colour(panel, legend=True)
    if panel.variant is not None:
        kinds = names(panel.rows, panel.variant)
        encodings["strokeDash"] = alt.StrokeDash(
            field(panel.variant),
            type="nominal",
            title=panel.titles[panel.variant],
            scale=alt.Scale(domain=kinds, range=cycle(SERIES_DASHES, kinds)),
            legend=alt.Legend(columns=_columns(kinds), symbolType="stroke", symbolSize=400),
        )
    curves = [_base(panel, panel.rows).mark_line(strokeWidth=2, clip=True).encode(**encodings)]
    if panel.marks:
        marks = (
            _position(panel, panel.y) | _colour(panel, legend=False) | {"tooltip": tooltips(panel.rows, panel.titles)}
        )
        if panel.variant is not None:
            kinds = names(panel.rows, panel.variant)
            marks["shape"] = alt.Shape(
                field(panel.variant),
                type="nominal",
                scale=alt.Scale(domain=kinds, range=cycle(SERIES_SHAPES, kinds)),
                legend=None,
            )
        curves.append(_base(panel, panel.rows).mark_point(filled=True, size=45, opacity=1.0).encode(**marks))
    return curves


def _band(panel: Panel) -> list[alt.Chart]:
    import altair as alt

    if panel.low is None or panel.high is None:
        return []
    encodings = _position(panel, panel.low) | _colour(panel, legend=False) | {"y2": alt.Y2(field(panel.high))}
    if panel.variant is not None:
        encodings["detail"] = alt.Detail(field(panel.variant), type="nominal")
    curves = {tuple(row.get(name) for name in (panel.series, panel.variant) if name) for row in panel.rows}
    base = _base(panel, panel.rows)
    if len(curves) > _MOST_BANDS:
        return [base.mark_rule(opacity=0.55, strokeWidth=1.5, clip=True).encode(**encodings)]
    return [base.mark_area(opacity=0.13, clip=True).encode(**encodings)]


def _references(panel: Panel) -> list[alt.Chart]:
    import altair as alt

    layers = []
    for name, points in (panel.references or {}).items():
        rows: list[Row] = [{panel.x: x, panel.y: y} for x, y in points]
        line = alt.Chart(inline(rows)).mark_line(color=_GREY, strokeWidth=1.5, strokeDash=[3, 3], clip=True)
        layers.append(line.encode(**_position(panel, panel.y)))
        first = panel.reference_names == "start"
        text = alt.Chart(inline([{**rows[0 if first else -1], "name": name}])).mark_text(
            color=_GREY,
            align="left" if first else "right",
            baseline="bottom",
            dx=6 if first else -2,
            dy=-10 if first else -4,
            fontSize=12,
        )
        layers.append(text.encode(**_position(panel, panel.y), text=alt.Text("name", type="nominal")))
    return layers


def _points(panel: Panel) -> list[alt.Chart]:
    import altair as alt

    if not panel.points:
        return []
    kinds = names(panel.points, "kind")
    renamed: list[Row] = [{panel.x: row["x"], panel.y: row["y"], "kind": row["kind"]} for row in panel.points]
    many = len(renamed) > 100
    encodings = _position(panel, panel.y) | {
        "shape": alt.Shape(
            "kind",
            type="nominal",
            title=None,
            scale=alt.Scale(domain=kinds, range=cycle(SERIES_SHAPES, kinds)),
            legend=alt.Legend(columns=2),
        ),
        "color": alt.Color(
            "kind",
            type="nominal",
            title=None,
            scale=alt.Scale(domain=kinds, range=cycle(SERIES_COLOURS, kinds) if many else ["var(--ink)"] * len(kinds)),
            legend=alt.Legend(columns=2),
        ),
    }
    mark = _base(panel, renamed).mark_point(
        filled=many, size=14 if many else 70, opacity=0.8 if many else 1.0, clip=True
    )
    return [mark.encode(**encodings)]


def _areas(panel: Panel) -> list[alt.Chart]:
    import altair as alt

    if not panel.areas:
        return []
    kinds = names(panel.areas, "kind")
    rows: list[Row] = [
        {panel.x: row["x"], panel.y: row["y"], "area": row["area"], "kind": row["kind"], "corner": place}
        for place, row in enumerate(panel.areas)
    ]
    encodings = _position(panel, panel.y) | {
        "fill": alt.Fill(
            "kind",
            type="nominal",
            title=None,
            scale=alt.Scale(domain=kinds, range=cycle(SERIES_COLOURS, kinds)),
            legend=alt.Legend(columns=2, symbolType="square", symbolStrokeWidth=0),
        ),
        "detail": alt.Detail("area", type="nominal"),
        "order": alt.Order("corner", type="quantitative"),
    }
    return [
        alt.Chart(inline(rows)).mark_line(filled=True, strokeWidth=0, fillOpacity=0.16, clip=True).encode(**encodings)
    ]
