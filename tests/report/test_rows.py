"""Charts of rows: means with intervals, and what cannot be drawn is counted."""

from __future__ import annotations

import math

from marginflow.report.chart import Chart
from marginflow.report.results.plain import row_section


def chart(rows: list[dict[str, object]], **columns: str) -> Chart:
    (drawn,) = (part for part in row_section(rows, **columns).content if isinstance(part, Chart))
    return drawn


def test_repeated_rows_become_means_with_intervals() -> None:
    rows: list[dict[str, object]] = [{"d": d, "flip": d + shift, "seed": shift} for d in (1, 2) for shift in (-1, 1)]
    drawn = chart(rows, x="d", y="flip")
    assert "Means, with 95 % intervals" in drawn.description
    assert [row[1] for row in drawn.numbers.rows] == [1.0, 2.0]


def test_what_is_infinite_or_missing_is_counted() -> None:
    rows: list[dict[str, object]] = [
        {"d": 1, "flip": 1.0},
        {"d": 2, "flip": math.inf},
        {"d": 3, "flip": None},
        {"d": None, "flip": 2.0},
    ]
    said = chart(rows, x="d", y="flip").description
    assert "1 of 4 rows have an infinite flip; 1 of 4 rows have no flip; 1 of 4 rows have no d." in said
