"""A chart draws the rows it is given, follows the page's colours and leaves out what its axis cannot show."""

from __future__ import annotations

import json
import math

import pytest

from marginflow.report import Chart, dots, lines

TITLES = {"t": "Time", "value": "Value", "name": "Name"}


def chart(rows: list[dict[str, object]], **settings: str) -> Chart:
    return lines(rows, x="t", y="value", series="name", titles=TITLES, title="T", description="D", **settings)  # type: ignore[arg-type]


def test_rows_are_drawn_unchanged_and_infinities_become_gaps() -> None:
    rows: list[dict[str, object]] = [
        {"t": 1, "value": 0.1 + 0.2, "name": "a"},
        {"t": 2, "value": math.inf, "name": "a"},
    ]
    drawn = chart(rows)
    values = drawn.specification["datasets"][drawn.specification["data"]["name"]]
    assert values == [{"t": 1, "value": 0.1 + 0.2, "name": "a"}, {"t": 2, "value": None, "name": "a"}]
    assert drawn.numbers.rows == ((1, 0.1 + 0.2, "a"), (2, math.inf, "a"))


def test_colours_are_variables_of_the_style_sheet() -> None:
    text = json.dumps(chart([{"t": 1, "value": 2, "name": "a"}]).specification)
    assert "var(--series-1)" in text
    assert "#" not in text


def test_logarithmic_axis_leaves_out_zero_and_ticks_at_powers_of_ten() -> None:
    drawn = chart([{"t": t, "value": v, "name": "a"} for t, v in enumerate((0.0, 1e-3, 20.0))], y_scale="log")
    assert drawn.specification["transform"] == [{"filter": "datum['value'] > 0"}]
    assert drawn.specification["encoding"]["y"]["axis"]["values"] == [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0]


def test_category_without_a_positive_value_keeps_its_line() -> None:
    drawn = dots(
        [{"value": 0.0, "t": "exact", "name": "a"}, {"value": 1.0, "t": "other", "name": "a"}],
        value="value",
        category="t",
        series="name",
        titles=TITLES,
        title="T",
        description="D",
        scale="log",
    )
    assert drawn.specification["encoding"]["y"]["scale"]["domain"] == ["exact", "other"]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_chart_of_nothing_can_be_made(scale: str) -> None:
    assert chart([], x_scale=scale, y_scale=scale).numbers.rows == ()
