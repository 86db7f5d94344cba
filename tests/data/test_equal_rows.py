"""Rows that occur more than once, against a comparison of all pairs."""

import numpy as np
import pytest

from marginflow.data import equal_rows
from marginflow.data.equal_rows import first_equal


@pytest.mark.parametrize("at_once", [1, 7, 1 << 18])
@pytest.mark.parametrize("seed", range(10))
def test_every_row_gets_the_first_one_that_equals_it(monkeypatch, seed, at_once):
    monkeypatch.setattr(equal_rows, "_AT_ONCE", at_once)
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, 2, size=(60, 3)) * rng.choice([-1.0, 0.5], size=(60, 3))
    assert np.signbit(rows[rows == 0.0]).any()
    expected = [next(j for j in range(60) if (rows[j] == rows[i]).all()) for i in range(60)]
    assert first_equal(rows).tolist() == expected
    assert len(set(expected)) < 60


def test_rows_of_one_sum_are_told_apart(monkeypatch):
    """With equal weights the order of the columns does not enter the sum."""

    class Equal:
        def integers(self, *_, size, dtype):
            return np.full(size, np.uint64((1 << 64) - 1) // np.uint64(2), dtype=dtype)

    monkeypatch.setattr(np.random, "default_rng", lambda _: Equal())
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [3.0, 0.0]])
    assert first_equal(rows).tolist() == [0, 1, 0, 3]


def test_one_row_and_equal_rows():
    assert first_equal(np.zeros((1, 4))).tolist() == [0]
    assert first_equal(np.zeros((3, 4))).tolist() == [0, 0, 0]
