"""Options of `kkt_point`, limits in time, and input that cannot be served."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Interval, Sphere, XorClusters
from marginflow.errors import InputError
from marginflow.flow import angle_flow
from marginflow.limit import Progress
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.starts import interior as interior_start
from marginflow.losses import Logistic
from marginflow.networks import TwoLayer

XOR = Dataset(X=[[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], y=[1, 1, -1, -1])


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
    assert mf.kkt_point(data, width=20).exact  # which start finds it is up to the last bits
    asked_too_much = mf.kkt_point(data, width=20, tolerance=1e-15, time_limit=600)
    assert not asked_too_much.exact
    assert asked_too_much.stopped_by is None
    assert asked_too_much.status.startswith("Not exact: a KKT point to ")
    assert "which is all that double precision allows for such margins" in asked_too_much.status
    assert asked_too_much.certificate.holds(1e-11)


@pytest.mark.parametrize("factor", [1e40, 1e150])
def test_samples_larger_than_single_precision_holds_end_at_an_exact_point(factor):
    X = np.random.default_rng(0).standard_normal((10, 5))
    limit = mf.kkt_point(mf.data.Dataset(X=factor * X, y=np.tile([1.0, -1.0], 5)), width=20, seed=0)
    assert limit.exact


@pytest.mark.parametrize("factor", [1e-20, 1e-150])
def test_samples_that_vanish_beside_the_bias_are_called_so(factor):
    X = np.random.default_rng(0).standard_normal((10, 5))
    data = mf.data.Dataset(X=factor * X, y=np.tile([1.0, -1.0], 5))
    limit = mf.kkt_point(data, width=20, seed=0)
    assert not limit.exact
    assert "times longer in one direction than in another" in limit.status
    plane = mf.data.Dataset(X=data.X[:, :2], y=data.y)
    with pytest.raises(mf.InputError, match="does not settle in floating point"):
        mf.kkt_point(plane, optimum="global")


def test_frozen_outputs_whose_squares_vanish_are_refused():
    data = Dataset(X=np.eye(3), y=[1.0, -1.0, 1.0])
    start = mf.networks.TwoLayer(W=np.eye(3), b=None, v=[1e-201, -1e-201, 1e-201], outputs="frozen")
    with pytest.raises(mf.InputError, match="squares are zero"):
        mf.kkt_point(data, start=start, penalty=1.0)


def test_the_optimum_that_frozen_outputs_on_a_line_look_at_keeps_to_the_limit_in_time(monkeypatch):
    budgets = []

    def out_of_time(budget, data):
        budgets.append(budget)
        raise OutOfTimeError

    monkeypatch.setattr(interior_start, "max_margin_within", out_of_time)
    rng = np.random.default_rng(3)
    data = Dataset(X=np.sort(rng.uniform(0, 1, 12))[:, None], y=rng.choice([-1.0, 1.0], 12))
    limit = mf.kkt_point(data, width=100, outputs="frozen", time_limit=60.0, seed=0)
    assert limit.network.width == 100  # there is a result without it
    assert budgets
    assert all(math.isfinite(budget.deadline) for budget in budgets)
