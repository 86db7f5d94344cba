"""Charts of rows: means with intervals, and what cannot be drawn is counted."""

from __future__ import annotations

import math

from marginflow.report.content import Chart, Table
from marginflow.report.results.plain import row_section, rows


def chart(found: list[dict[str, object]], **columns: str) -> Chart:
    (drawn,) = (part for part in row_section(found, **columns).content if isinstance(part, Chart))
    return drawn


def test_repeated_rows_become_means_with_intervals() -> None:
    found: list[dict[str, object]] = [{"d": d, "flip": d + shift, "seed": shift} for d in (1, 2) for shift in (-1, 1)]
    drawn = chart(found, x="d", y="flip")
    assert "Means, with 95 % intervals" in drawn.description
    assert [row[1] for row in drawn.numbers.rows] == [1.0, 2.0]


def test_what_is_infinite_or_missing_is_counted() -> None:
    found: list[dict[str, object]] = [
        {"d": 1, "flip": 1.0},
        {"d": 2, "flip": math.inf},
        {"d": 3, "flip": None},
        {"d": None, "flip": 2.0},
    ]
    said = chart(found, x="d", y="flip").description
    assert "1 of 4 rows have an infinite flip; 1 of 4 rows have no flip; 1 of 4 rows have no d." in said


def table(found: list[dict[str, object]]) -> Table:
    (shown,) = (part for part in row_section(found).content if isinstance(part, Table))
    return shown


def test_what_is_the_same_in_every_row_is_said_once() -> None:
    found: list[dict[str, object]] = [{"law": "sphere", "clusters": None, "d": d, "norm": 2.0 * d} for d in (1, 2)]
    shown = table(found)
    assert shown.columns == ("d", "norm")
    assert shown.caption == "2 rows; in all of them law sphere"
    assert table(found[:1]).columns == ("law", "clusters", "d", "norm")  # of one row nothing is the same
    assert table([found[0], found[0]]).columns == ("law", "clusters", "d", "norm")
    assert table([found[0], {"d": 2}]).columns == ("law", "clusters", "d", "norm")  # what is missing is not the same


def test_the_first_sentence_says_what_is_drawn_and_judges_nothing() -> None:
    found: list[dict[str, object]] = [
        {"d": d, "direction": name, "seed": 0, "norm": 1.5 * d} for d in (1, 2) for name in ("sum", "dual")
    ]
    summary = rows(found)
    assert (summary.sentence, summary.tone) == ("4 rows: norm against d, a curve for each direction.", "neutral")
    assert rows([{"a": 1}]).sentence == "1 row."
