from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from marginflow.certificates import certify, minimality
from marginflow.certificates.minimality.descent import Direction, exhibit
from marginflow.certificates.minimality.dual_function import dual_values, supremum
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer


def with_zero_neuron(network: TwoLayer) -> TwoLayer:
    W = np.vstack([network.W, np.zeros((1, network.dimension))])
    b = None if network.b is None else np.r_[network.b, 0.0]
    return replace(network, W=W, b=b, v=np.r_[network.v, 0.0])


def two_negative_axes() -> SimpleNamespace:
    """x = e_1, e_2, both negative, a neuron for each: a KKT point in the plane whose kinks repel."""
    return SimpleNamespace(network=TwoLayer(W=np.eye(2), v=[-1.0, -1.0]), data=Dataset(X=np.eye(2), y=[-1, -1]))


def local_maximum_by_slopes(network: TwoLayer, data: Dataset, lam: np.ndarray) -> bool:
    """[KYS23, Def.LocMin] in augmented dimension two: no neighbouring angle of any neuron has a larger sign(v) F."""
    points = data.X if network.b is None else np.column_stack([data.X, np.ones(data.n_samples)])

    def dual(angle: float) -> float:
        return sum(
            lam[i] * data.y[i] * max(points[i, 0] * np.cos(angle) + points[i, 1] * np.sin(angle), 0.0)
            for i in range(data.n_samples)
        )

    step = 1e-6
    for j in range(network.width):
        a = network.augmented[j]
        angle, sign = np.arctan2(a[1], a[0]), np.sign(network.v[j])
        here = sign * dual(angle)
        if sign * dual(angle + step) > here + 1e-9 * abs(here) or sign * dual(angle - step) > here + 1e-9 * abs(here):
            return False
    return True


def assert_descent_is_real(result, data: Dataset) -> None:
    """Re-evaluate the exhibited network with nothing but sums over neurons."""
    before, after = result.certificate.network, result.descent.network

    def least_margin(net):
        b = np.zeros(net.width) if net.b is None else net.b
        return min(
            data.y[i] * sum(net.v[j] * max(net.W[j] @ data.X[i] + b[j], 0.0) for j in range(net.width))
            for i in range(data.n_samples)
        )

    def size(net):
        return (
            sum((net.W**2).sum(axis=1))
            + (0 if net.b is None else (net.b**2).sum())
            + ((net.v**2).sum() if net.outputs == "trained" else 0.0)
        )

    assert least_margin(after) >= 1 - 1e-12
    assert least_margin(before) >= 1 - 1e-12
    assert size(after) < size(before) * (1 - 0.5 * result.descent.decrease)
    assert result.descent.decrease > 0
    # The path leads towards the point and goes down all along it.
    distances = [distance for distance, _ in result.descent.path]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-4
    assert all(decrease > 0 for _, decrease in result.descent.path)


def test_five_points_are_a_local_minimum_and_not_a_global_one(known):
    case = known.five_points()
    result = minimality(case.network, case.data)
    assert result.verdict == "local minimum"
    assert result.supremum.lower == result.supremum.upper == pytest.approx(2.009, abs=1e-3)
    assert not result.global_minimum
    assert local_maximum_by_slopes(case.network, case.data, case.lam)


def test_five_points_with_a_zero_neuron_are_no_local_minimum(known):
    case = known.five_points()
    result = minimality(with_zero_neuron(case.network), case.data)
    assert result.verdict == "not a local minimum"
    assert result.zero_neurons == 1
    assert_descent_is_real(result, case.data)


def test_repelling_kinks_in_the_plane_are_no_local_minimum():
    case = two_negative_axes()
    assert certify(case.network, case.data).holds(1e-13)
    result = minimality(case.network, case.data)
    assert result.verdict == "not a local minimum"
    assert result.repelling.sum() == 2
    assert not local_maximum_by_slopes(case.network, case.data, np.ones(2))
    assert_descent_is_real(result, case.data)
    merged = TwoLayer(W=[[2**-0.25 * 1.0, 2**-0.25 * 1.0]], v=[-(2**0.25)])
    best = minimality(merged.at_margin_one(case.data.X, case.data.y), case.data)
    assert best.verdict == "local minimum"
    assert best.global_minimum


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_one_against_many_repels_as_soon_as_two_samples_are_negative(known, outputs):
    # Every negative sample sits, with weight 0, on the kinks of the other negative neurons. The catalogue asks for a
    # zero neuron as well; the kinks alone suffice.
    case = known.one_against_many(8, 3, balanced=outputs == "trained", outputs=outputs)
    result = minimality(case.network, case.data)
    assert result.verdict == "not a local minimum"
    assert_descent_is_real(result, case.data)


def test_one_negative_sample_against_many_is_a_global_minimum(known):
    case = known.one_against_many(8, 1, balanced=True, outputs="trained", zero_neurons=2)
    result = minimality(case.network, case.data)
    assert result.verdict == "local minimum"
    assert result.zero_neurons == 2
    assert result.global_minimum


def test_attracting_kinks_and_no_kinks_are_local_minima(known):
    pair = known.orthogonal_pair(30, 5, 6)
    assert minimality(pair.network, pair.data).verdict == "local minimum"
    assert minimality(pair.network.widened(9), pair.data).verdict == "local minimum"
    special = known.specialists(50, 4, 2.0)
    result = minimality(special.network, special.data)
    assert result.verdict == "local minimum"
    assert not result.global_minimum


def test_zero_neuron_beside_a_dual_function_that_is_not_bounded_well_is_undecided(known):
    case = known.orthogonal_pair(30, 5, 6)
    result = minimality(with_zero_neuron(case.network), case.data)
    assert result.verdict == "undecided"
    assert result.supremum.lower < 1 + 1e-8 < result.supremum.upper


def test_specialists_with_a_zero_neuron_can_be_improved(known):
    case = known.specialists(50, 4, 2.0)
    result = minimality(with_zero_neuron(case.network), case.data)
    assert result.verdict == "not a local minimum"
    assert result.supremum.lower > 1.3
    assert_descent_is_real(result, case.data)


def test_frozen_zero_neuron_grows_at_first_order(known):
    case = known.one_against_many(6, 1, balanced=False, outputs="frozen")
    assert minimality(case.network, case.data).verdict == "local minimum"
    network = replace(case.network, W=np.vstack([case.network.W, np.zeros((1, 6))]), v=np.r_[case.network.v, 1.0])
    result = minimality(network, case.data)
    assert result.verdict == "not a local minimum"
    assert_descent_is_real(result, case.data)
    # A frozen neuron with output 0 can do nothing and changes nothing.
    idle = replace(network, v=np.r_[case.network.v, 0.0])
    assert minimality(idle, case.data).verdict == "local minimum"


def test_what_is_no_kkt_point_is_no_local_minimum(known):
    for case in (known.robust_network(20, 6), known.section_5_1(6), known.separating(9, 4, 5, 0)):
        result = minimality(case.network, case.data)
        assert result.verdict == "not a local minimum"
        assert_descent_is_real(result, case.data)


def test_random_perturbations_never_beat_a_local_minimum(known):
    rng = np.random.default_rng(0)
    for case in (known.five_points(), known.orthogonal_pair(12, 3, 4)):
        net = certify(case.network, case.data).network
        assert minimality(net, case.data).verdict == "local minimum"
        for size in (1e-2, 1e-3, 1e-4):
            for _ in range(300):
                moved = TwoLayer(
                    W=net.W + size * rng.normal(size=net.W.shape) * np.abs(net.W).max(),
                    b=net.b + size * rng.normal(size=net.b.shape) * np.abs(net.b).max(),
                    v=net.v + size * rng.normal(size=net.v.shape) * np.abs(net.v).max(),
                )
                if moved.margins(case.data.X, case.data.y).min() > 0:
                    feasible = moved.at_margin_one(case.data.X, case.data.y)
                    assert feasible.norm_squared() >= net.norm_squared() * (1 - 1e-12)


def test_descent_that_inexact_stationarity_explains_does_not_count(known):
    case = known.separating(9, 4, 5, 0)
    certificate = certify(case.network, case.data)
    net = certificate.network
    lam, y, T = certificate.multipliers, case.data.y, np.column_stack([case.data.X, np.ones(9)])
    hidden = net.augmented - net.v[:, None] * (((y * lam)[:, None] * certificate.clarke).T @ T)
    output = net.v - np.maximum(net.preactivations(case.data.X), 0.0).T @ (y * lam)
    direction = Direction(A=-hidden, v=-output)
    assert exhibit(net, case.data, direction, noise=0.0) is not None
    assert exhibit(net, case.data, direction, noise=1e-3) is not None
    assert exhibit(net, case.data, direction, noise=certificate.total) is None
    assert exhibit(net, case.data, Direction(A=hidden, v=output), noise=0.0) is None


@pytest.mark.parametrize("seed", range(5))
def test_supremum_on_the_circle_is_that_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    T = np.column_stack([rng.uniform(size=9), np.ones(9)])
    weights = rng.normal(size=9)
    found = supremum(T, weights, np.zeros((0, 2)))
    angles = np.linspace(0, 2 * np.pi, 40001)
    grid = np.abs(dual_values(T, weights, np.column_stack([np.cos(angles), np.sin(angles)]))).max()
    assert grid <= found.upper * (1 + 1e-12)
    assert grid == pytest.approx(found.upper, rel=1e-6)
    assert found.sign * dual_values(T, weights, found.direction[None])[0] == pytest.approx(found.lower)


@pytest.mark.parametrize("seed", range(4))
def test_supremum_in_higher_dimension_is_bracketed(seed):
    rng = np.random.default_rng(seed)
    T, weights = rng.normal(size=(12, 4)), rng.normal(size=12)
    found = supremum(T, weights, T)
    directions = rng.normal(size=(20000, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sampled = np.abs(dual_values(T, weights, directions)).max()
    assert 0.999 * sampled <= found.lower
    assert found.lower <= found.upper
    assert sampled <= found.upper


def test_verdict_serialises_prints_and_refuses_what_it_cannot_judge(known):
    case = known.five_points()
    result = minimality(with_zero_neuron(case.network), case.data)
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["verdict"] == "not a local minimum"
    assert "smaller by" in str(result)
    with pytest.raises(InputError, match="does not separate"):
        minimality(replace(case.network, v=-case.network.v), case.data)
    with pytest.raises(InputError, match="penalty"):
        minimality(case.network, case.data, certificate=certify(case.network, case.data, penalty=60.0))
