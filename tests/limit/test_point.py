"""`kkt_point`: closed forms, invariances, duality, options, limits in time, and input that cannot be served."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Interval, Orthogonal, Sphere, XorClusters
from marginflow.errors import InputError
from marginflow.flow import angle_flow
from marginflow.limit import Limit, Progress, catastrophic, orthogonal
from marginflow.losses import Logistic
from marginflow.networks import TwoLayer
from marginflow.robustness import one_neuron_per_sample

XOR = Dataset(X=[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], y=[1, 1, -1, -1])


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


# Options ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"flow_steps": 0},
        {"flow_steps": 30},
        {"flow_steps": 400, "angle": 0.01},
        {"scale": 1.0},
        {"scale": 1e-4},
        {"loss": Logistic()},
        {"stay_near": 0.1},
        {"stay_near": 10.0},
        {"bias": False},
        {"outputs": "frozen"},
        {"width": 12},
        {"tolerance": 1e-12},
    ],
    ids=str,
)
def test_every_option_ends_at_a_certified_point(options):
    data = Sphere(dimension=20).sample(15, seed=4)
    limit = mf.kkt_point(data, **{"width": 40, "seed": 4, **options})
    assert limit.exact
    assert limit.certificate.holds(1e-9)
    assert abs(limit.gap) <= 1e-9


def test_frozen_outputs_stay_what_they_were():
    data = XorClusters(dimension=10).sample(30, seed=0)
    start = TwoLayer.initialise(20, 10, scale=0.01, bias=False, outputs="frozen", seed=3)
    limit = mf.kkt_point(data, start=start)
    assert limit.exact
    # the certificate has its network at margin 1, and with frozen outputs only W is rescaled
    np.testing.assert_array_equal(limit.network.v, start.v)


def test_progress_is_told_round_by_round():
    seen: list[Progress] = []
    limit = mf.kkt_point(Sphere(dimension=20).sample(20, seed=0), width=40, progress=seen.append)
    assert tuple(seen)[-len(limit.history) :] == limit.history
    assert seen[-1].live_neurons >= limit.compact.width


def test_the_report_says_what_the_polish_changed():
    data = Sphere(dimension=20).sample(20, seed=0)
    limit = mf.kkt_point(data, width=40, seed=0)
    moved = limit.moved
    assert 0.5 < moved.cosine < 1.0
    assert moved.separated_by_flow
    assert moved.norm_squared_after == pytest.approx(limit.network.norm_squared(), rel=1e-12)
    assert moved.norm_squared_before > moved.norm_squared_after
    assert 0.0 < moved.patterns_changed < 1.0
    assert 0.0 < moved.neurons_vanished < 1.0
    assert 0.0 < limit.flow_seconds < limit.seconds
    early = mf.kkt_point(data, width=40, seed=0, flow_steps=5).moved
    assert not early.separated_by_flow
    assert early.norm_squared_before == np.inf


# Limits in time and input that cannot be served -----------------------------------------------------------------------


@pytest.mark.parametrize("time_limit", [1e-6, 0.02])
def test_at_a_time_limit_the_best_point_so_far_is_returned(time_limit):
    data = Sphere(dimension=100).sample(150, seed=0)
    start = TwoLayer.initialise(300, 100, scale=0.01, seed=0)
    end = angle_flow(start.W, start.b, start.v, data.X, data.y, steps=200, angle=0.05)
    start = replace(start, W=end.W, b=end.b, v=end.v).at_margin_one(data.X, data.y)
    limit = mf.kkt_point(data, start=start, flow_steps=0, time_limit=time_limit)
    assert limit.status.startswith("Stopped early")
    assert not limit.exact
    assert not limit.certificate.holds(1e-9)
    assert limit.certificate.margins.min() == pytest.approx(1.0)
    assert limit.network.norm_squared() <= start.norm_squared() * (1 + 1e-9)
    assert limit.network.width == 300


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (Dataset(X=[[1.0, 2.0], [2.0, 4.0]], y=[1, -1]), {"width": 4, "bias": False}),
        (Dataset(X=[[0.0, 0.0], [1.0, 3.0]], y=[1, -1]), {"width": 4, "bias": False}),
        (XOR, {"width": 2}),
        (XOR, {"width": 2, "bias": False}),
        (XOR, {"width": 3, "bias": False}),
    ],
    ids=["x and 2x", "zero sample", "XOR, width 2", "XOR, width 2, no bias", "XOR, width 3, no bias"],
)
@pytest.mark.parametrize("seed", range(2))
def test_data_that_the_network_cannot_separate_end_in_a_sentence(data, options, seed):
    try:
        limit = mf.kkt_point(data, seed=seed, **options)
    except InputError as error:
        sentence = str(error)
    else:
        sentence = limit.status
        assert not limit.exact
        assert limit.certificate.status == "does not separate"
        assert not limit.certificate.holds(1.0)
    known = ("Not separated", "The start has no neuron with sign", "Samples 0 and 1 lie on one ray", "Sample 0 is zero")
    assert sentence.startswith(known)
    assert sentence.endswith(".")


@pytest.mark.parametrize(("dimension", "rare", "width", "seed"), [(10, 0.25, 8, 4), (5, 0.2, 8, 7), (10, 0.1, 6, 13)])
def test_a_flow_that_kills_one_sign_is_not_the_end(dimension, rare, width, seed):
    """Few neurons and one rare label: here the flow loses every neuron of a sign, and the polish begins without it."""
    X = np.random.default_rng(0).random((40, dimension))
    data = Dataset(X=X - X.mean(axis=0), y=np.where(X[:, 0] < rare, 1.0, -1.0))
    limit = mf.kkt_point(data, width=width, seed=seed, max_iterations=100)
    assert limit.network.width == width
    assert limit.exact or limit.status.startswith("Not ")


SPHERE = Sphere(dimension=5).sample(6, seed=0)


@pytest.mark.parametrize(
    ("data", "options", "word"),
    [
        (Dataset(X=[[1.0, 2.0], [1.0, 2.0]], y=[1, -1]), {}, "identical"),
        (Dataset(X=[[1.0, 2.0], [1.0, 3.0]], y=[1, 1]), {}, "labels"),
        (SPHERE, {"width": 1}, "width"),
        (SPHERE, {"width": 0}, "width"),
        (SPHERE, {"width": 2.5}, "width"),
        (SPHERE, {"penalty": 0.0}, "penalty"),
        (Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1]), {"penalty": 1e-9, "max_iterations": 300}, "penalty"),
        (SPHERE, {"tolerance": 0.0}, "tolerance"),
        (SPHERE, {"time_limit": 0.0}, "time_limit"),
        (SPHERE, {"angle": 0.0}, "angle"),
        (SPHERE, {"flow_steps": -1}, "flow_steps"),
        (SPHERE, {"stay_near": math.nan}, "stay_near"),
        (SPHERE, {"scale": 0.0}, "scale"),
        (SPHERE, {"seed": -1}, "seed"),
        (SPHERE, {"outputs": "thawed"}, "outputs"),
        (SPHERE, {"bias": 1}, "bias"),
        (SPHERE, {"scale": 1e200}, "scale"),
        (SPHERE, {"scale": 1e-320}, "scale"),
        (SPHERE, {"width": 10**30}, "width"),
        (SPHERE, {"start": TwoLayer.initialise(5, 3)}, "dimension"),
        (SPHERE, {"start": TwoLayer(W=np.zeros((2, 5)), v=[1.0, -1.0], outputs="frozen")}, "sign"),
        (Dataset(X=np.zeros((2, 3)), y=[1, -1]), {"penalty": 1.0, "bias": False}, "zero"),
        (Interval(p=0.3).sample(50, seed=0), {"width": 4}, "width"),
    ],
)
def test_bad_input_is_refused_with_one_sentence_that_names_it(data, options, word):
    with pytest.raises(InputError, match=word) as caught:
        mf.kkt_point(data, **options)
    assert str(caught.value).endswith(".")


def test_samples_that_are_not_numbers_never_become_data():
    with pytest.raises(InputError, match="NaN"):
        Dataset(X=[[1.0, math.nan], [1.0, 3.0]], y=[1, -1])


def test_what_double_precision_leaves_is_called_that():
    """Two samples of opposite labels 1e-3 apart: margins are sums of numbers of 2000, known to about 5e-13."""
    data = Dataset(X=[[1.0, 2.0, -1.0, 0.5], [1.001, 2.0, -1.0, 0.5]], y=[1, -1])
    exact = mf.kkt_point(data, width=20)
    assert exact.status.startswith("Exact KKT point")
    asked_too_much = mf.kkt_point(data, width=20, tolerance=1e-15, time_limit=600)
    assert not asked_too_much.exact
    assert asked_too_much.stopped_by is None
    assert asked_too_much.status.startswith("Not exact: a KKT point to ")
    assert "which is what double precision leaves of margins of this size" in asked_too_much.status
    assert asked_too_much.certificate.holds(1e-11)
