"""Numbers as tables write them, and the cells that could be two of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginflow.data.numerals import Numeral, number, readings, settled

POINT, COMMA = Numeral(), Numeral(decimal=",")


@pytest.mark.parametrize(
    ("cell", "by_point", "by_comma"),
    [
        ("1.5", 1.5, None),
        ("1,5", None, 1.5),
        ("1,234", 1234.0, 1.234),
        ("1.234", 1.234, 1234.0),
        ("0.123", 0.123, None),  # no group begins with 0
        ("1,234,567", 1234567.0, None),
        ("12,34,567", None, None),
        ("1.234,5", None, 1234.5),
        ("1,234.5", 1234.5, None),
        ("1.234.5", None, None),
        ("1\u00a0234,5", None, 1234.5),
        ("-1'234'567.25", -1234567.25, None),
        ("+2e3", 2000.0, 2000.0),
        ("1,5e-1", None, 0.15),
        (".5", 0.5, None),
        (",5", None, 0.5),
        ("1_0", None, None),
        ("2020-01-02", None, None),
        ("12:30", None, None),
        ("inf", None, None),
        ("12 %", None, None),
        ("", None, None),
    ],
)
def test_a_cell_is_read_with_either_mark(cell: str, by_point: float | None, by_comma: float | None) -> None:
    assert POINT.value(cell) == by_point
    assert COMMA.value(cell) == by_comma


@pytest.mark.parametrize(
    ("cells", "sign", "values"),
    [
        (["12%", "-3.5 %"], "%", [12.0, -3.5]),
        (["$1,200.50", "-$3.00"], "$", [1200.5, -3.0]),
        (["3 \u20ac", "4,50 \u20ac"], "\u20ac", [3.0, 4.5]),
    ],
)
def test_a_sign_that_every_cell_has_is_left_out(cells: list[str], sign: str, values: list[float]) -> None:
    (way,) = readings([*cells, ""])
    assert way.sign == sign
    assert [way.value(cell) for cell in cells] == values


@pytest.mark.parametrize("cells", [["12%", "0.12"], ["0.12", "12%"], ["$3", "\u20ac3"], ["1,5", "2.5"], ["a1", "a2"]])
def test_what_is_not_one_kind_of_number_is_words(cells: list[str]) -> None:
    assert readings(cells) == ()


def test_columns_that_say_it_decide_for_those_that_do_not() -> None:
    open_commas, open_points, commas, points, whole = ["1,234"], ["1.234"], ["1,5"], ["1.5"], ["12"]
    assert settled({0: open_commas, 1: commas})[0] == (COMMA,)
    assert settled({0: open_commas, 1: points})[0] == (POINT,)
    assert settled({0: open_commas, 1: points}, decimal=",")[0] == (COMMA,)
    assert settled({0: open_points, 1: commas})[0] == (COMMA,)
    for others in ({}, {1: whole}, {1: commas, 2: points}):
        assert settled({0: open_commas} | others)[0] == (POINT, COMMA)
    assert settled({0: open_points})[0] == (POINT,)
    assert settled({0: open_points}, semicolons=True)[0] == (POINT, COMMA)
    assert settled({0: open_points, 1: commas, 2: points})[0] == (POINT, COMMA)


@given(st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_every_number_comes_back_with_a_comma_too(value: float, grouped: bool) -> None:
    text = f"{value:,.6f}" if grouped else repr(value)
    expected = float(text.replace(",", ""))
    assert POINT.value(text) == expected
    swapped = text.translate(str.maketrans(",.", ".,"))
    assert COMMA.value(swapped) == expected


@given(st.text(max_size=8))
def test_any_text_is_a_finite_number_or_none(cell: str) -> None:
    for way in (POINT, COMMA, *readings([cell])):
        value = way.value(cell)
        assert value is None or math.isfinite(value)
    assert number(cell) is None or POINT.value(cell) == number(cell)
