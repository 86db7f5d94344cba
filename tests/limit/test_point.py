"""`kkt_point`: closed forms, invariances, duality, soft margins."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Orthogonal, Sphere
from marginflow.flow import angle_flow
from marginflow.limit import Limit, catastrophic, orthogonal
from marginflow.limit import assemble as assemble_room
from marginflow.networks import TwoLayer
from marginflow.robustness import one_neuron_per_sample


def largest_difference(first: TwoLayer, second: TwoLayer, points: np.ndarray) -> float:
    """Relative to the largest output."""
    return float(np.abs(first(points) - second(points)).max() / np.abs(first(points)).max())


# Closed forms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dimension", "n_samples"), [(20, 6), (20, 20), (50, 16)])
@pytest.mark.parametrize("seed", range(3))
def test_orthogonal_data_end_at_the_closed_form(seed, dimension, n_samples):
    """[VYS22, X.orthKKT], from a random initialisation of any width."""
    data = Orthogonal(dimension=dimension).sample(n_samples, seed=seed)
    exact = orthogonal(data)
    limit = mf.kkt_point(data, width=30, seed=seed)
    points = np.random.default_rng(seed).normal(size=(200, dimension))
    assert largest_difference(exact.network, limit.network, points) <= 1e-12
    np.testing.assert_allclose(limit.certificate.multipliers, exact.multipliers, rtol=1e-12)
    assert limit.certificate.norm_squared == pytest.approx(exact.network.norm_squared(), rel=1e-12)
    assert limit.compact.width == 2


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-2])
def test_a_start_near_the_closed_form_returns_to_it(noise):
    data = Orthogonal(dimension=16).sample(12, seed=5)
    exact = orthogonal(data).widened(7)
    rng = np.random.default_rng(0)
    start = replace(exact.network, W=exact.network.W * (1 + noise * rng.normal(size=exact.network.W.shape)))
    limit = mf.kkt_point(data, start=start, flow_steps=0)
    points = rng.normal(size=(200, 16))
    assert largest_difference(exact.network, limit.network, points) <= 1e-12
    assert limit.moved.cosine == pytest.approx(1.0, abs=1e-3)
    assert limit.moved.neurons_vanished == 0.0


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_one_neuron_for_all_positive_samples_and_one_for_each_negative_is_a_resting_place(outputs):
    """[KYS23, Prop. 4.6], no bias: orthonormal samples."""
    data = Dataset(X=np.eye(7), y=[-1, -1, 1, 1, 1, 1, 1])
    exact = catastrophic(data, outputs=outputs)
    limit = mf.kkt_point(data, start=exact.network, flow_steps=0)
    points = np.random.default_rng(0).normal(size=(200, 7))
    assert largest_difference(exact.network, limit.network, points) <= 1e-12
    np.testing.assert_allclose(limit.certificate.multipliers, exact.multipliers, rtol=1e-12)


def test_samples_that_occur_twice_are_the_same_problem():
    data = Orthogonal(dimension=10).sample(8, seed=1)
    doubled = Dataset(X=np.repeat(data.X, 2, axis=0), y=np.repeat(data.y, 2))
    limit = mf.kkt_point(doubled, width=30, seed=0)
    exact = orthogonal(data)
    assert limit.certificate.holds(1e-9)
    assert largest_difference(exact.network, limit.network, np.random.default_rng(0).normal(size=(100, 10))) < 1e-9
    np.testing.assert_allclose(limit.certificate.multipliers.reshape(-1, 2).sum(axis=1), exact.multipliers, rtol=1e-9)


# Invariances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_rotating_the_space_relabelling_samples_neurons_and_classes_changes_nothing_else(seed):
    """A flow of a hundred steps: later the discrete steps zigzag, and rounding errors grow by themselves."""
    rng = np.random.default_rng(seed)
    data, points = Sphere(dimension=20).sample(20, seed=seed), rng.normal(size=(200, 20))
    start = TwoLayer.initialise(50, 20, scale=0.01, seed=seed)
    base = mf.kkt_point(data, start=start, flow_steps=100).network
    Q = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    rotated = Dataset(X=data.X @ Q, y=data.y)
    turned = mf.kkt_point(rotated, start=replace(start, W=start.W @ Q), flow_steps=100).network
    assert np.abs(turned(points @ Q) - base(points)).max() <= 1e-9
    order = rng.permutation(20)
    shuffled = mf.kkt_point(data.subset(order), start=start, flow_steps=100)
    assert np.abs(shuffled.network(points) - base(points)).max() <= 1e-9
    neurons = mf.kkt_point(data, start=start.permuted(rng.permutation(50)), flow_steps=100).network
    assert np.abs(neurons(points) - base(points)).max() <= 1e-9
    mirrored = mf.kkt_point(Dataset(X=data.X, y=-data.y), start=replace(start, v=-start.v), flow_steps=100).network
    assert np.abs(mirrored(points) + base(points)).max() <= 1e-9


def test_multipliers_travel_with_their_samples():
    data = Sphere(dimension=20).sample(20, seed=2)
    order = np.random.default_rng(0).permutation(20)
    start = TwoLayer.initialise(50, 20, scale=0.01, seed=2)
    plain, shuffled = (mf.kkt_point(d, start=start, flow_steps=100) for d in (data, data.subset(order)))
    np.testing.assert_allclose(shuffled.certificate.multipliers, plain.certificate.multipliers[order], atol=1e-9)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_without_bias_longer_samples_need_proportionally_smaller_directions(factor):
    data = Sphere(dimension=12).sample(10, seed=0)
    start = TwoLayer.initialise(30, 12, scale=0.01, bias=False, seed=0)
    plain = mf.kkt_point(data, start=start, flow_steps=100)
    scaled = mf.kkt_point(Dataset(X=factor * data.X, y=data.y), start=plain.network, flow_steps=0)
    assert scaled.certificate.holds(1e-9)
    assert scaled.certificate.norm_squared == pytest.approx(plain.certificate.norm_squared / factor, rel=1e-9)


def test_the_requested_width_is_a_splitting_of_the_compact_network():
    data = Sphere(dimension=20).sample(20, seed=3)
    limit = mf.kkt_point(data, width=77, seed=3)
    points = np.random.default_rng(0).normal(size=(100, 20))
    assert limit.network.width == 77
    assert limit.compact.width < 20
    assert largest_difference(limit.compact, limit.network, points) <= 1e-13
    assert limit.compact.norm_squared() == pytest.approx(limit.network.norm_squared(), rel=1e-13)
    for network in (limit.compact, limit.network.split(0, [0.2, 0.8]), limit.network.permuted(np.arange(77)[::-1])):
        assert mf.certify(network, data).holds(1e-9)


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_point():
    data = Sphere(dimension=20).sample(30, seed=0)
    first, again, other = (mf.kkt_point(data, width=40, seed=seed) for seed in (0, 0, 1))
    assert first.network.W.tobytes() == again.network.W.tobytes()
    assert first.certificate.multipliers.tobytes() == again.certificate.multipliers.tobytes()
    assert largest_difference(first.network, other.network, data.X * 1.1) > 1e-3


# Duality, and an evaluator of its own -------------------------------------------------------------------------------


def by_hand(limit: Limit, data: Dataset) -> dict[str, float]:
    """Stationarity, margins, complementarity and gap again, by sums in plain loops."""
    net, lam, clarke = limit.network, limit.certificate.multipliers.tolist(), limit.certificate.clarke.tolist()
    X = [[*row, 1.0] if net.b is not None else list(row) for row in data.X.tolist()]
    W = [[*row, b] for row, b in zip(net.W.tolist(), net.b.tolist(), strict=True)] if net.b is not None else net.W
    y, v = data.y.tolist(), net.v.tolist()
    n, k = len(X), len(v)
    pre = [[math.fsum(a * b for a, b in zip(x, w, strict=True)) for w in W] for x in X]
    margins = [y[i] * math.fsum(v[j] * max(pre[i][j], 0.0) for j in range(k)) for i in range(n)]
    norm_squared = math.fsum(a * a for w in W for a in w) + math.fsum(a * a for a in v)
    residual = 0.0
    for j in range(k):
        for c in range(len(X[0])):
            residual += (W[j][c] - v[j] * math.fsum(lam[i] * y[i] * clarke[i][j] * X[i][c] for i in range(n))) ** 2
        residual += (v[j] - math.fsum(lam[i] * y[i] * max(pre[i][j], 0.0) for i in range(n))) ** 2
    off_kinks = [
        abs(clarke[i][j] - (pre[i][j] > 0))
        for i in range(n)
        for j in range(k)
        if abs(pre[i][j]) > 1e-9 * math.hypot(*W[j])
    ]
    return {
        "stationarity": math.sqrt(residual / norm_squared),
        "least margin": min(margins),
        "complementarity": 2 * math.fsum(lam[i] * abs(margins[i] - 1) for i in range(n)) / norm_squared,
        "gap": (norm_squared / 2 - math.fsum(lam)) / (norm_squared / 2),
        "least multiplier": min(lam),
        "clarke off kinks": max(off_kinks),
        "clarke outside": max(max(max(row) for row in clarke) - 1, -min(min(row) for row in clarke)),
    }


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_an_independent_evaluator_confirms_every_number(seed, bias):
    data = Sphere(dimension=10).sample(14, seed=seed)
    limit = mf.kkt_point(data, width=24, bias=bias, seed=seed)
    numbers = by_hand(limit, data)
    assert numbers["stationarity"] <= 1e-13
    assert numbers["least margin"] >= 1 - 1e-13
    assert numbers["complementarity"] <= 1e-12
    assert abs(numbers["gap"]) <= 1e-12
    assert numbers["least multiplier"] >= 0.0
    assert numbers["clarke off kinks"] == 0.0
    assert numbers["clarke outside"] <= 0.0
    assert abs(limit.gap) <= 1e-12
    assert limit.certificate.kinks.any()
    inside = limit.certificate.clarke[limit.certificate.kinks & (limit.certificate.multipliers > 1e-9)[:, None]]
    assert ((inside > 0) & (inside < 1)).all()  # [LIMIT.md]: every weight strictly inside, hard patterns are wrong


def test_perturbing_the_point_is_noticed_by_the_certificate():
    data = Sphere(dimension=10).sample(14, seed=0)
    limit = mf.kkt_point(data, width=24, seed=0)
    rng = np.random.default_rng(0)
    moved = replace(limit.network, W=limit.network.W * (1 + 1e-4 * rng.normal(size=limit.network.W.shape)))
    assert not mf.certify(moved, data).holds(1e-6)


def test_hard_patterns_are_left_out_where_pairs_are_many(monkeypatch):
    data = Sphere(dimension=3).sample(20, seed=1)
    whole = mf.kkt_point(data, width=10).certificate
    assert whole.kink_report.hard_residual > 1e-3
    monkeypatch.setattr(assemble_room, "HARD_PATTERNS", 199)
    short = mf.kkt_point(data, width=10).certificate
    assert short.kink_report.hard_residual is None
    np.testing.assert_array_equal(short.multipliers, whole.multipliers)


def test_negative_controls_are_rejected():
    """The robust network of [VYS22, Thm 3.1], the published recipe's end, and a flow without a polish."""
    data = Sphere(dimension=30).sample(10, seed=0)
    robust = one_neuron_per_sample(data.X, data.y).network
    assert mf.certify(robust, data).stationarity > 0.3
    recipe = mf.flow.recipes.VYS22(every=5)
    trained = mf.train(recipe.network(30, 30, seed=0), data, recipe).network
    assert trained.margins(data.X, data.y).min() > 60  # loss below 1e-30
    assert mf.certify(trained, data).stationarity > 0.1
    net = TwoLayer.initialise(30, 30, scale=0.01, seed=0)
    end = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=300, angle=0.05)
    assert mf.certify(replace(net, W=end.W, b=end.b, v=end.v), data).stationarity > 0.01


# Soft margin --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.1, 0.3])
def test_a_soft_margin_needs_no_separable_data(penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    data = Dataset(X=np.vstack([X, X[:3]]), y=np.r_[np.sign(X[:, 0] * X[:, 1]), -np.sign(X[:3, 0] * X[:3, 1])])
    limit = mf.kkt_point(data, width=40, penalty=penalty, seed=0)
    certificate = limit.certificate
    assert limit.exact
    assert certificate.holds(1e-9)
    assert certificate.penalty == penalty
    assert certificate.multipliers.max() <= penalty * (1 + 1e-12)
    short = np.maximum(1 - certificate.margins, 0.0)
    assert certificate.multipliers[short > 1e-9] == pytest.approx(penalty, rel=1e-9)
    primal = 0.5 * limit.network.norm_squared() + penalty * short.sum()
    assert certificate.multipliers.sum() == pytest.approx(primal, rel=1e-9)
    assert abs(limit.gap) <= 1e-9


def test_a_penalty_out_of_reach_is_a_hard_margin():
    data = Sphere(dimension=20).sample(20, seed=0)
    hard = mf.kkt_point(data, width=40, seed=0)
    soft = mf.kkt_point(data, start=hard.network, flow_steps=0, penalty=10 * hard.certificate.multipliers.max())
    np.testing.assert_allclose(soft.certificate.margins, hard.certificate.margins, atol=1e-9)
    np.testing.assert_allclose(soft.certificate.multipliers, hard.certificate.multipliers, atol=1e-9)
