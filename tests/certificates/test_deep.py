from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from marginflow.certificates import certify, certify_deep
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import MLP

EPS = float(np.finfo(np.float64).eps)


def diagonal_chain(depth: int) -> tuple[MLP, Dataset]:
    """x = 1, y = +1 and one neuron per layer with weight 1: theta = (1, ..., 1) is a KKT point with lambda = 1."""
    return MLP(weights=[np.ones((1, 1))] * depth), Dataset(X=[[1.0]], y=[1])


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_chain_of_ones_is_a_kkt_point_at_every_depth(depth):
    network, data = diagonal_chain(depth)
    certificate = certify_deep(network.scaled(3.0), data)
    assert certificate.holds(50 * EPS)
    assert certificate.multipliers[0] == pytest.approx(1.0)
    assert certificate.norm_identity < 50 * EPS
    assert certificate.scale == pytest.approx(1 / 3)
    # ||theta||^2 = degree * sum lambda
    assert certificate.network.norm_squared() == pytest.approx(depth * certificate.multipliers.sum())


def test_unbalanced_chain_is_refused():
    data = Dataset(X=[[1.0]], y=[1])
    certificate = certify_deep(MLP(weights=[[[2.0]], [[1.0]], [[0.5]]]), data)
    assert not certificate.holds(0.1)
    assert certificate.total_lower_bound == pytest.approx(certificate.total, rel=1e-9)
    # Best lambda in one unknown by hand: theta = (2, 1, 1/2), gradient = (1/2, 1, 2), lambda = <theta, g> / |g|^2.
    theta, g = np.array([2.0, 1.0, 0.5]), np.array([0.5, 1.0, 2.0])
    lam = theta @ g / (g @ g)
    assert certificate.multipliers[0] == pytest.approx(lam)
    assert certificate.stationarity == pytest.approx(np.linalg.norm(theta - lam * g) / np.linalg.norm(theta))


def test_depth_two_agrees_with_the_two_layer_certificate_where_nothing_is_on_a_kink(known):
    for seed, bias, outputs in [(0, True, "trained"), (1, False, "trained"), (2, True, "frozen")]:
        case = known.separating(9, 4, 5, seed, bias=bias, outputs=outputs)
        shallow = certify(case.network, case.data)
        deep = certify_deep(MLP.from_two_layer(case.network), case.data)
        assert shallow.kink_report.count == deep.near_kinks == 0
        assert deep.total == pytest.approx(shallow.total, rel=1e-9)
        np.testing.assert_allclose(deep.multipliers, shallow.multipliers, rtol=1e-7, atol=1e-10)
        assert deep.total_lower_bound == pytest.approx(shallow.total_lower_bound, rel=1e-6)


def test_specialists_hold_and_kinks_are_counted_not_fitted(known):
    case = known.specialists(50, 4, 2.0)
    assert certify_deep(MLP.from_two_layer(case.network), case.data).holds(1e-13)
    pair = known.orthogonal_pair(30, 5, 6)
    deep = certify_deep(MLP.from_two_layer(pair.network), pair.data)
    assert deep.near_kinks == 11
    assert not deep.holds(0.1)
    assert "not fitted" in str(deep)


def test_random_deep_network_is_refused_with_a_matching_lower_bound():
    network = MLP.initialise(widths=[6, 5], dimension=3, bias="first", seed=0)
    X = np.random.default_rng(0).normal(size=(40, 3))
    values = network(X)
    chosen = np.argsort(-np.abs(values))[:10]
    data = Dataset(X=X[chosen], y=np.where(values[chosen] > 0, 1.0, -1.0))
    certificate = certify_deep(network, data)
    assert 0.1 < certificate.total_lower_bound <= certificate.total
    assert certificate.total == pytest.approx(certificate.total_lower_bound, rel=1e-6)
    assert certificate.total**2 == pytest.approx(certificate.stationarity**2 + certificate.complementarity**2)
    rng = np.random.default_rng(1)
    for _ in range(50):
        lam = certificate.multipliers * rng.uniform(0.5, 1.5, 10)
        gradient = certificate.network.gradient(data.X, data.y * lam)
        parts = [W - G for W, G in zip(certificate.network.weights, gradient.weights, strict=True)]
        b, db = certificate.network.biases[0], gradient.biases[0]
        size = np.sqrt(sum((R**2).sum() for R in parts) + ((b - db) ** 2).sum())
        norm = np.sqrt(certificate.network.norm_squared())
        row = 3 * lam @ (certificate.margins - 1) / norm**2
        assert np.hypot(size / norm, row) >= certificate.total_lower_bound
    json.dumps(certificate.to_dict(), allow_nan=False)


def test_bad_input_and_networks_that_do_not_separate():
    network, data = diagonal_chain(3)
    wrong = certify_deep(network, Dataset(X=[[1.0]], y=[-1]))
    assert not wrong.separates
    assert not wrong.holds(np.inf)
    assert "does not separate" in str(wrong)
    with pytest.raises(InputError, match="homogeneous"):
        certify_deep(MLP.initialise(widths=[3, 3], dimension=1, bias="all"), data)
    with pytest.raises(InputError, match="columns"):
        certify_deep(network, Dataset(X=[[1.0, 2.0]], y=[1]))


@pytest.mark.parametrize("exponent", [-500, -300, 300, 500, 1000])
@pytest.mark.parametrize("depth", [2, 3, 5])
def test_a_network_of_any_size_has_the_certificate_of_its_direction(depth, exponent):
    """Values are multiplied by 2^(depth exponent), beyond float64; the conditions ask about the direction alone."""
    rng = np.random.default_rng(depth)
    widths = [3, *[6] * (depth - 1), 1]
    data = Dataset(X=np.abs(rng.standard_normal((4, 3))), y=[1, 1, 1, 1])
    weights = [np.abs(rng.standard_normal((b, a))) for a, b in itertools.pairwise(widths)]
    network = MLP(weights=weights, biases=[np.ones(6), *[None] * (depth - 1)])
    here = certify_deep(network, data)
    there = certify_deep(network.scaled(2.0**exponent), data)
    assert here.separates
    assert there.scale == pytest.approx(here.scale * 2.0**-exponent)
    assert there.total == pytest.approx(here.total, rel=1e-9)
    assert there.total_lower_bound == pytest.approx(here.total_lower_bound, rel=1e-6)
    np.testing.assert_allclose(there.multipliers, here.multipliers, rtol=1e-7, atol=1e-12)


def test_samples_too_large_to_square_are_refused_with_a_sentence():
    with pytest.raises(InputError, match="squares exceed float64"):
        certify_deep(MLP(weights=[[[1.0]], [[1.0]]]), Dataset(X=[[1e200]], y=[1]))
