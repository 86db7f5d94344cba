"""Universal directions by their definitions, on data small enough to do by hand."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import label_sum
from marginflow.robustness.directions import dual_sum, margin_samples, mean_sum, one_sided_direction, support_samples

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, 1.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])


def test_sums_over_all_or_some_samples_and_weighted_by_multipliers():
    np.testing.assert_array_equal(label_sum(X, Y), [5.0, 0.0])
    np.testing.assert_array_equal(label_sum(X, Y, np.array([True, True, False, False])), [1.0, -2.0])
    np.testing.assert_array_equal(dual_sum(X, Y, [2.0, 0.0, 1.0, 1.0]), [6.0, 2.0])
    np.testing.assert_array_equal(mean_sum([[1.0, 1.0], [0.0, 5.0]], [-1, 1]), [-1.0, 4.0])
    np.testing.assert_array_equal(one_sided_direction(X, Y, -1), [-2.0, 6.0])


def test_the_three_sets_of_samples_are_kept_apart():
    linear = TwoLayer(W=[[1.0, 0.0], [-1.0, 0.0]], v=[1.0, -1.0])
    points, signs = [[1.0, 0.0], [1.09, 0.0], [-1.2, 0.0], [-2.0, 0.0]], [1, 1, -1, -1]
    np.testing.assert_array_equal(margin_samples(linear, points, signs), [True, True, False, False])
    np.testing.assert_array_equal(margin_samples(linear, points, signs, tolerance=0.0), [True, False, False, False])
    np.testing.assert_array_equal(margin_samples(linear, points, signs, tolerance=1.0), True)
    np.testing.assert_array_equal(support_samples([0.5, 1e-12, 0.0, 2.0]), [True, False, False, True])


def test_bad_input_is_told_in_a_sentence():
    linear = TwoLayer(W=[[1.0, 0.0], [-1.0, 0.0]], v=[1.0, -1.0])
    with pytest.raises(InputError, match="Sample 3 has margin -1"):
        margin_samples(linear, X, [1, 1, 1, 1])
    with pytest.raises(InputError, match="multipliers must be at least 0"):
        dual_sum(X, Y, [1.0, -1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="there is no support"):
        support_samples([0.0, 0.0])
    with pytest.raises(InputError, match="a mask with 4 entries"):
        label_sum(X, Y, np.array([True]))
    with pytest.raises(InputError, match="selects no sample"):
        label_sum(X, Y, np.zeros(4, dtype=bool))
    with pytest.raises(InputError, match=r"No sample has the label \+1"):
        one_sided_direction(X, -np.ones(4), 1)
