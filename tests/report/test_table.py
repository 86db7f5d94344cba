"""Values are shown one way, and rows fit their columns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from marginflow import InputError
from marginflow.report import Table, text_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.000123456), "0.0001235"),
        (np.int64(12), "12"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (math.nan, "–"),
        (False, "no"),
        ({"a": 1, "b": 0.5}, "a 1, b 0.5"),
        ((1, 2.5), "1, 2.5"),
    ],
)
def test_value_is_shown_with_four_digits(value: object, text: str) -> None:
    assert text_of(value) == text


def test_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InputError, match="Row 1 of the table 'T' has 1 values, but there are 2 columns"):
        Table(columns=("a", "b"), rows=((1, 2), (3,)), caption="T")


def test_columns_of_numbers_and_answers_are_set_flush_right() -> None:
    table = Table(columns=("a", "b", "c"), rows=((1, "x", True), (None, "y", False)), caption="T")
    assert table.numeric == (True, False, True)


def test_missing_values_become_gaps() -> None:
    table = Table.of([{"a": 1}, {"b": 2}], columns={"a": "A", "b": "B"}, caption="T")
    assert table.rows == ((1, None), (None, 2))
