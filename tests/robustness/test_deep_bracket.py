"""Brackets for deeper networks: against exact radii at depth two, sampling, and a network of one sign."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer
from marginflow.robustness import exact_radius
from marginflow.robustness.deep_bracket import least_value, radius_bracket


@pytest.mark.parametrize("seed", range(6))
def test_at_depth_two_the_bracket_holds_the_exact_radius(seed: int) -> None:
    network = TwoLayer.initialise(width=8, dimension=4, seed=seed)
    x = np.random.default_rng(seed).standard_normal(4)
    exact = exact_radius(network, x)
    found = radius_bracket(MLP.from_two_layer(network), x)
    assert found.lipschitz <= found.lower <= exact.upper
    assert found.upper >= exact.lower


@pytest.mark.parametrize("widths", [[6, 6], [10, 8, 6], [5, 5, 5, 5]])
def test_no_sample_of_the_ball_is_below_the_least_value(widths: list[int]) -> None:
    rng = np.random.default_rng(len(widths))
    network = MLP.initialise(widths=widths, dimension=3, bias="all", seed=1)
    x = rng.standard_normal(3)
    for radius in (0.01, 0.3, 3.0):
        steps = rng.standard_normal((500, 3))
        points = x + radius * rng.random((500, 1)) ** (1 / 3) * steps / np.linalg.norm(steps, axis=1, keepdims=True)
        for y in (-1.0, 1.0):
            assert (y * network(points)).min() >= least_value(network, x, y, radius)


def test_the_witness_is_on_the_other_side_and_the_bounds_do_not_cross() -> None:
    for seed in range(5):
        network = MLP.initialise(widths=[12, 12], dimension=5, bias="all", seed=seed)
        x = np.random.default_rng(seed).standard_normal(5)
        found = radius_bracket(network, x)
        assert 0 < found.lipschitz <= found.lower <= found.upper
        if found.witness is not None:
            assert found.label * network(found.witness[None, :])[0] <= 0
            assert np.linalg.norm(found.witness - x) == pytest.approx(found.upper)


def test_a_wrong_sample_has_the_radius_zero() -> None:
    network = MLP(weights=[np.eye(2), np.eye(2), [[1.0, 1.0]]])
    found = radius_bracket(network, [1.0, 1.0], label=-1)
    assert (found.lower, found.upper) == (0.0, 0.0)


def test_a_network_that_is_positive_everywhere_has_no_witness() -> None:
    network = MLP(weights=[np.eye(2), np.eye(2), [[1.0, 1.0]]], biases=[None, None, [1.0]])
    found = radius_bracket(network, [1.0, 1.0])
    assert found.witness is None
    assert found.upper == np.inf
    assert found.lower > 1e6


def test_what_does_not_fit_is_named() -> None:
    network = MLP.initialise(widths=[4, 4], dimension=3, seed=0)
    with pytest.raises(InputError, match="x has 2 entries, but the network has dimension 3"):
        radius_bracket(network, [1.0, 2.0])
    with pytest.raises(InputError, match=r"label is 0.5; -1, \+1 or None is expected"):
        radius_bracket(network, [1.0, 2.0, 3.0], label=0.5)
