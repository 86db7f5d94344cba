from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from marginflow.certificates import KINK_TOLERANCE, certify
from marginflow.certificates.pattern import recognise
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)


def test_total_never_rises_with_the_tolerance_and_drops_at_the_accuracy_of_the_kinks(known):
    case = known.orthogonal_pair(30, 5, 6)
    network = replace(case.network, b=case.network.b * (1 + 1e-6))
    tolerances = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2)
    found = {tolerance: certify(network, case.data, kink_tolerance=tolerance) for tolerance in tolerances}
    assert all(b.total <= a.total * (1 + 1e-9) for a, b in itertools.pairwise(found.values()))
    assert found[1e-8].total > 0.1
    assert found[1e-8].kink_report.count == 0
    assert found[1e-4].total < 1e-5
    assert found[1e-4].kink_report.count == 11
    assert found[1e-4].kink_report.relied_on < 1e-6


def test_any_tolerance_inside_the_reported_gap_gives_the_same_certificate(known):
    case = known.five_points()
    report = certify(case.network, case.data).kink_report
    assert report.largest_inside < KINK_TOLERANCE < report.smallest_outside
    for tolerance in np.geomspace(max(report.largest_inside, 1e-15), 0.99 * report.smallest_outside, 5):
        again = certify(case.network, case.data, kink_tolerance=float(tolerance))
        assert again.kink_report.count == report.count
        assert again.holds(1e-12)


def test_kinks_are_recognised_relative_to_the_size_of_neuron_and_sample():
    X = np.array([[3.0, 4.0], [3e6, 4e6]])
    network = TwoLayer(W=[[4.0, -3.0 + 1e-9], [4e-5, -3e-5]], v=[1.0, 1.0])
    for scale in (1e-6, 1.0, 1e6):
        pattern, _ = recognise(replace(network, W=scale * network.W), X, 1e-8)
        assert pattern.kink.all()
    pattern, Z = recognise(network, X, 1e-12)
    np.testing.assert_array_equal(pattern.kink, [[False, True], [False, True]])
    assert pattern.active[0, 0] == (Z[0, 0] > 0)


def test_zero_neurons_and_zero_samples_are_on_every_kink():
    pattern, _ = recognise(TwoLayer(W=[[0.0, 0.0], [1.0, 2.0]], v=[1.0, 1.0]), np.array([[1.0, 1.0], [0.0, 0.0]]), 0.0)
    np.testing.assert_array_equal(pattern.kink, [[True, False], [True, True]])
    assert pattern.largest_inside == 0.0
    assert pattern.smallest_outside > 0.5


@pytest.mark.parametrize("tolerance", [0.0, 1e-8])
def test_a_soft_margin_takes_a_tolerance_too(tolerance):
    network, data = TwoLayer(W=[[1.0]], v=[1.0]), Dataset(X=[[1.0]], y=[1])
    assert certify(network, data, kink_tolerance=tolerance, penalty=2.0).total == pytest.approx(0.0, abs=50 * EPS)
