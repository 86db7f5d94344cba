"""Curves of a panel: many at one x stand beside each other, and lines to compare with have names in free places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from marginflow.experiments import Panel
from marginflow.experiments.panel import over_seeds
from marginflow.report.beside import DRAWN_AT, beside, curves_of, room_beside
from marginflow.report.panels import chart_of
from marginflow.report.reference_lines import name_place


def panel(xs: Sequence[float] = (100, 200, 300), curves: int = 4, **others: Any) -> Panel:
    rows = [{"d": x, "size": 1.0, "kind": f"{kind}"} for x in xs for kind in range(curves)]
    titles = {"d": "Dimension d", "size": "Size", "kind": "Kind"}
    settings: dict[str, Any] = {"title": "Sizes", "description": "Level curves.", **others}
    return Panel(rows=rows, x="d", y="size", series="kind", titles=titles, **settings)


def drawn(specification: dict[str, Any], mark: str) -> dict[str, Any]:
    layers = [layer for layer in specification["layer"] if layer["mark"]["type"] == mark]
    return dict(layers[-1])


def test_curves_that_coincide_are_drawn_beside_each_other_and_their_numbers_stay() -> None:
    chart = chart_of(panel())
    marks = drawn(chart.specification, "point")
    assert marks["encoding"]["x"]["field"] == DRAWN_AT
    rows = [row for row in chart.numbers.rows if str(row[0]) == "100"]
    assert len(rows) == 4  # the table has the true x of each


def test_no_two_marks_of_one_x_are_at_the_same_place_and_groups_stay_apart() -> None:
    rows = beside(panel())
    places = [float(str(row[DRAWN_AT])) for row in rows]
    assert len(set(places)) == len(rows)
    ends = [[place for row, place in zip(rows, places, strict=True) if row["d"] == x] for x in (100, 200, 300)]
    assert max(ends[0]) - 100 == pytest.approx(100 - min(ends[0]))
    assert max(ends[0]) < 150 < min(ends[1])


def test_a_curve_on_a_logarithmic_axis_is_moved_by_one_factor() -> None:
    rows = beside(panel(xs=(1, 10, 100), x_scale="log"))
    factors = {row["kind"]: set[float]() for row in rows}
    for row in rows:
        factors[row["kind"]].add(round(float(str(row[DRAWN_AT])) / float(str(row["d"])), 12))
    assert all(len(seen) == 1 for seen in factors.values())


def test_where_marks_have_no_room_beside_each_other_they_stay_where_they_are() -> None:
    crowded = panel(xs=(10, 20, 1000))
    assert room_beside(crowded) == 0.0
    assert drawn(chart_of(crowded).specification, "point")["encoding"]["x"]["field"] == "d"
    many = panel(xs=tuple(range(30)))
    assert room_beside(many) == 0.0


def test_both_variants_of_a_series_are_neighbours() -> None:
    rows = [{"d": 1, "size": 1.0, "kind": kind, "way": way} for way in ("a", "b") for kind in ("x", "y")]
    titles = {"d": "d", "size": "s"}
    made = Panel(rows=rows, x="d", y="size", series="kind", variant="way", title="", description="", titles=titles)
    assert curves_of(made) == [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")]


def test_the_name_of_a_line_keeps_away_from_the_curves() -> None:
    crowded = [(100.0, 1.03), (300.0, 1.03)]  # curves touch the line from below
    tall = panel(references={"bound": crowded, "far": [(100.0, 2.0), (300.0, 2.0)]})
    assert name_place(tall, "bound", crowded).baseline == "bottom"
    below = [(100.0, 0.97), (300.0, 0.97)]  # and from above
    low = panel(references={"bound": below, "far": [(100.0, 0.0), (300.0, 0.0)]})
    assert name_place(low, "bound", below).baseline == "top"


def test_a_name_stands_at_the_end_that_is_asked_for_if_that_is_free() -> None:
    line = [(100.0, 0.0), (300.0, 2.0)]
    flat = panel(references={"y = x": line})
    assert name_place(flat, "y = x", line).x > 250
    assert name_place(panel(references={"y = x": line}, reference_names="start"), "y = x", line).x < 150


def test_of_two_seeds_the_bar_is_their_range_and_the_description_says_so() -> None:
    rows = [{"d": d, "size": float(seed)} for d in (10, 20) for seed in range(2 if d == 10 else 3)]
    made = over_seeds(rows, x="d", y="size", titles={"d": "d", "size": "Size"}, title="", description="Means.")
    two, three = made.rows
    assert (two["low"], two["high"]) == (0.0, 1.0)
    assert float(str(three["high"])) == pytest.approx(1.0 + 4.302652729911275 / 3**0.5)
    assert made.description == "Means. Of two seeds the bar is the range."


def test_no_line_and_no_band_joins_the_parts_of_a_curve_with_a_gap() -> None:
    rows = [
        {"d": d, "kind": kind, "size": 1.0 + seed, "seed": seed}
        for kind, run in (("a", (1, 2, 3)), ("b", (1, 3)))
        for d in run
        for seed in (0, 1)
    ]
    titles = {"d": "Dimension d", "size": "Size", "kind": "Kind"}
    made = over_seeds(rows, x="d", y="size", series="kind", titles=titles, title="Sizes", description="Two curves.")
    specification = chart_of(made).specification
    assert drawn(specification, "line")["encoding"]["detail"]["field"] == "part"
    assert drawn(specification, "area")["encoding"]["detail"] == [{"field": "part", "type": "nominal"}]
    assert "detail" not in drawn(chart_of(panel()).specification, "line")["encoding"]
