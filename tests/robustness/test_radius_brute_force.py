"""The radius is the least of the convex problems of all subsets of opposing neurons, each solved by Clarabel."""

import numpy as np
import pytest

from marginflow.networks import TwoLayer
from marginflow.robustness.radius import check_certificate, exact_radius


def random_case(seed: int, width: int, dimension: int, opposing: int) -> tuple[TwoLayer, np.ndarray, float]:
    """A network whose value at x is positive although `opposing` neurons are negative."""
    rng = np.random.default_rng(seed)
    while True:
        v = np.abs(rng.standard_normal(width)) + 0.1
        v[:opposing] *= -1.0
        network = TwoLayer(W=rng.standard_normal((width, dimension)), b=rng.standard_normal(width), v=v)
        x = rng.standard_normal(dimension)
        if network(x[None, :])[0] > 0.3:
            label = float(rng.choice([-1.0, 1.0]))
            flipped = TwoLayer(W=network.W, b=network.b, v=label * network.v)
            return flipped, x, label


@pytest.mark.parametrize("seed", range(24))
def test_search_and_brute_force_agree(seed: int, least_over_all_subsets):
    rng = np.random.default_rng(1000 + seed)
    network, x, label = random_case(seed, width=12, dimension=int(rng.integers(2, 7)), opposing=int(rng.integers(1, 7)))
    level = float(rng.choice([0.0, -0.2, 0.1]))
    truth = least_over_all_subsets(network, x, label, level)
    radius = exact_radius(network, x, label=label, level=level)
    assert check_certificate(radius.certificate, network).holds
    if np.isinf(truth):
        assert not radius.proved or radius.status == "infinite"
        assert radius.upper == np.inf
        assert radius.lower > 1e3
    else:
        assert radius.status == "proved"
        assert radius.upper == pytest.approx(truth, rel=1e-6)
        assert radius.lower <= truth * (1 + 1e-8)


def test_twelve_opposing_neurons_agree_with_all_4096_subsets(least_over_all_subsets):
    network, x, label = random_case(7, width=20, dimension=4, opposing=12)
    truth = least_over_all_subsets(network, x, label)
    radius = exact_radius(network, x, label=label)
    assert radius.status == "proved"
    assert radius.upper == pytest.approx(truth, rel=1e-6)
    assert radius.lower <= truth * (1 + 1e-8)
    assert check_certificate(radius.certificate, network).holds
