"""A chart draws the rows it is given, follows the page's colours and leaves out what its axis cannot show."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from marginflow import InputError
from marginflow.report import Chart, dots, draw, histogram, lines, points
from marginflow.report.charts import strips
from marginflow.report.style import colours

TITLES = {"t": "Time", "value": "Value", "name": "Name"}


def chart(rows: list[dict[str, object]], **settings: str) -> Chart:
    return lines(rows, x="t", y="value", series="name", titles=TITLES, title="T", description="D", **settings)


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
    for layer in drawn.specification["layer"]:
        assert layer["transform"] == [{"filter": "datum.value > 0"}]
        assert layer["encoding"]["y"]["axis"]["values"] == [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0]


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


def test_every_chart_answers_hover_and_legend() -> None:
    rows: list[dict[str, object]] = [{"t": t, "value": float(t), "name": "a"} for t in range(3)]
    for drawn in (
        chart(rows),
        points(rows, x="t", y="value", series="name", titles=TITLES, title="T", description="D"),
        histogram(rows, value="value", series="name", titles=TITLES, title="T", description="D"),
        dots(rows, value="value", category="t", series="name", titles=TITLES, title="T", description="D"),
    ):
        text = json.dumps(drawn.specification)
        assert '"tooltip"' in text
        assert '"bind": "legend"' in text


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_chart_is_drawn_as_a_file_in_colours_that_need_no_style_sheet(suffix: str, tmp_path: Path) -> None:
    drawn = chart([{"t": t, "value": 2.0**-t, "name": "a"} for t in range(4)])
    content = draw(drawn, tmp_path / f"chart{suffix}").read_bytes()
    assert content[:4] == {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix]
    if suffix == ".svg":
        assert b"var(" not in content
        assert colours()["series-1"].encode() in content


def test_unknown_ending_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in '\.gif'"):
        draw(chart([{"t": 1, "value": 2, "name": "a"}]), tmp_path / "chart.gif")
    assert list(tmp_path.iterdir()) == []


def test_numbers_that_tell_series_and_categories_apart_are_drawn_by_name() -> None:
    rows: list[dict[str, object]] = [{"value": float(t), "t": t, "name": 10 * t} for t in range(2)]
    drawn = dots(rows, value="value", category="t", series="name", titles=TITLES, title="T", description="D")
    (values,) = drawn.specification["datasets"].values()
    encoding = drawn.specification["encoding"]
    assert [row["t"] for row in values] == encoding["y"]["scale"]["domain"]
    assert [row["name"] for row in values] == encoding["color"]["scale"]["domain"]


def test_a_histogram_of_one_series_has_no_legend_and_fewer_bins_for_fewer_values() -> None:
    def drawn(count: int, series: int) -> dict[str, Any]:
        rows: list[dict[str, object]] = [{"value": float(t), "name": f"{t % series}"} for t in range(count)]
        made = histogram(rows, value="value", series="name", titles=TITLES, title="T", description="D")
        bars: dict[str, Any] = made.specification["layer"][0]["encoding"]
        return bars

    assert drawn(10, 1)["color"]["legend"] is drawn(10, 1)["stroke"]["legend"] is None
    assert drawn(10, 2)["color"]["legend"] is not None
    assert drawn(10, 1)["x"]["bin"]["maxbins"] < drawn(400, 1)["x"]["bin"]["maxbins"] == 40


def test_strips_keep_every_value_and_the_order_of_the_classes() -> None:
    rows: list[dict[str, object]] = [{"value": t / 7, "name": t % 10} for t in range(100)]
    made = strips(
        sorted(rows, key=lambda row: str(row["name"])),
        value="value",
        category="name",
        titles=TITLES,
        title="T",
        description="D",
    )
    assert made.specification["encoding"]["y"]["scale"]["domain"] == [str(k) for k in range(10)]
    assert sorted(row[1] for row in made.numbers.rows if isinstance(row[1], float)) == [t / 7 for t in range(100)]


def axes(part: Any, channel: str) -> list[dict[str, Any]]:
    """The axes of a channel in all layers of a specification."""
    if isinstance(part, list):
        return [found for inner in part for found in axes(inner, channel)]
    if not isinstance(part, dict):
        return []
    own = [part[channel]["axis"]] if isinstance(part.get(channel), dict) and "axis" in part[channel] else []
    return own + [found for inner in part.values() for found in axes(inner, channel)]


def test_whole_numbers_have_no_ticks_between_them() -> None:
    rows = [{"t": t, "value": 0.5 * t, "name": "a"} for t in (0, 1, 2)]
    specification = chart(rows).specification
    assert {axis.get("tickMinStep") for axis in axes(specification, "x")} == {1}
    assert {axis.get("tickMinStep") for axis in axes(specification, "y")} == {None}


def test_residuals_of_one_size_are_drawn_on_the_whole_way_to_one() -> None:
    rows: list[dict[str, object]] = [{"value": value, "t": "a", "name": "n"} for value in (2e-15, 0.0, 3e-15)]
    drawn = dots(
        rows, value="value", category="t", series="name", titles=TITLES, title="T", description="D", scale="log",
        span=(1e-17, 1.0),
    )  # fmt: skip
    along = drawn.specification["encoding"]["x"]
    assert along["scale"]["domain"] == [1e-17, 1.0]
    assert along["axis"]["values"][0] == 1e-17
    assert all(math.log10(tick) == round(math.log10(tick)) for tick in along["axis"]["values"])


def test_a_histogram_names_whole_counts_only_and_without_a_decimal_point() -> None:
    rows: list[dict[str, object]] = [{"value": value, "name": "a"} for value in (1.0, 2.0, 2.0)]
    drawn = histogram(rows, value="value", series="name", titles=TITLES, title="T", description="D")
    assert "format(datum.value, ',d')" in json.dumps(drawn.specification)


def test_the_axis_under_bins_has_few_round_numbers() -> None:
    """Margins from 1 to 779 in 40 bins were once labelled 1.6e+2, 2.8e+2."""
    for low, high, marks in (
        (1.0, 779.0, [100.0 * n for n in range(1, 8)]),
        (0.299, 1.28, [0.4, 0.6, 0.8, 1.0, 1.2]),
        (1.0, 3.95, [1.0, 1.5, 2.0, 2.5, 3.0, 3.5]),
        (2.0, 2.0, None),
    ):
        rows: list[dict[str, object]] = [{"value": value, "name": "a"} for value in (low, high)]
        made = histogram(rows, value="value", series="name", titles=TITLES, title="T", description="D")
        assert made.specification["layer"][0]["encoding"]["x"]["axis"].get("values") == marks


def test_names_of_series_have_real_minus_signs_and_powers() -> None:
    drawn = chart([{"t": t, "value": t, "name": f"label {s}, at 1e-8"} for t in (1, 2) for s in (-1, 1)])
    assert "label −1, at 10⁻⁸" in json.dumps(drawn.specification, ensure_ascii=False)
