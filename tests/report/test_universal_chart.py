"""One vector that flips all samples, as a picture."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.report.images import image_sums
from marginflow.report.universal_chart import universal_chart

EXAMPLE = {"values": [float(k) for k in range(16)], "sign": -1.0, "before": "label +1", "after": "read as −1"}


def test_the_curve_ends_behind_the_mark_and_is_not_stacked() -> None:
    steps = [{"norm": float(k), "share": k / 4} for k in range(5)] + [{"norm": 40.0, "share": 1.0}]
    drawn = universal_chart(
        steps, size=4.0, said=("norm 4 flips all 9,", "none shorter does"), verb="flipped", title="T"
    )
    sizes = [row[0] for row in drawn.numbers.rows]
    assert sizes == [0.0, 1.0, 2.0, 3.0, 4.0, pytest.approx(4.24)]
    area = drawn.specification["layer"][0]["encoding"]["y"]
    assert area["stack"] is None  # two corners of a step share their norm
    rows = drawn.specification["datasets"].values()
    assert any(row.get("said") == "norm 4 flips all 9,\nnone shorter does" for table in rows for row in table)


@pytest.mark.parametrize(("rises_at", "above"), [(3.5, True), (0.5, False)])
def test_the_words_stand_where_the_curve_is_not(rises_at: float, above: bool) -> None:
    steps = [{"norm": 0.0, "share": 0.0}, {"norm": rises_at, "share": 0.0}, {"norm": rises_at, "share": 0.9}]
    drawn = universal_chart(steps, size=4.0, said=("norm 4",), verb="flipped", title="T")
    tables = drawn.specification["datasets"].values()
    (words,) = {(row["norm"], row["share"]) for table in tables for row in table if "said" in row}
    assert words == ((0.0, 0.82) if above else (4.0, 0.24))


def test_a_sum_of_images_has_the_sample_the_vector_and_the_two_together() -> None:
    drawn = image_sums([EXAMPLE], list(np.linspace(-1.0, 1.0, 16)))
    assert drawn is not None
    assert [row[0] for row in drawn.numbers.rows] == ["label +1", "the vector", "read as −1"]
    texts = [row["text"] for table in drawn.specification["datasets"].values() for row in table if "text" in row]
    assert "−" in texts
    assert "+" not in texts


@pytest.mark.parametrize("vector", [[0.0] * 15, [0.0] * 25, [float("nan")] * 16])
def test_what_is_no_image_is_not_drawn(vector: list[float]) -> None:
    assert image_sums([EXAMPLE], vector) is None
