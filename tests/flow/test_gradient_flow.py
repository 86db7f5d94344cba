"""Gradient flow against closed forms, its own invariants, and itself with half the step."""

import math

import numpy as np
import pytest
from scipy.special import expi

from marginflow.data import Dataset, Sphere
from marginflow.errors import InputError
from marginflow.flow import GradientFlow, LossBelow, Recording, Steps, train
from marginflow.losses import Exponential, Logistic
from marginflow.networks import TwoLayer, initialisation

EVERY = Recording(ratio=1.0)


def vector(net):
    return np.concatenate([net.augmented.ravel(), *([net.v] if net.outputs == "trained" else [])])


def sine(u, w):
    return math.sqrt(max(0.0, 1.0 - (u @ w / np.linalg.norm(u) / np.linalg.norm(w)) ** 2))


def pair(outputs, size=2.0):
    """Two orthogonal samples of opposite labels, each seen by a neuron of its own: the loss is 2 e^{-q} for ever."""
    W = [[0.5 / size, 0.0], [0.0, 0.5 / size]]
    v = [0.5 / size, -0.5 / size] if outputs == "trained" else [1.0, -1.0]
    net = TwoLayer(W=W, v=v, outputs=outputs)
    return net, Dataset(X=size * np.eye(2), y=[1, -1])


def test_log_time_of_a_linear_margin_is_exact():
    # Frozen outputs: q' = |x|^2 e^{-q}, hence e^q = e^{q_0} + |x|^2 t.
    net, data = pair("frozen")
    run = train(net, data, GradientFlow(stop=[LossBelow(1e-12)]), recording=EVERY)
    q, path = run.trajectory.least_margin, run.trajectory
    exact = np.log(np.expm1(q[1:] - q[0])) + q[0] - math.log(4.0)
    np.testing.assert_allclose(path.log_time[1:], exact, atol=2e-4)


@pytest.mark.parametrize(("angle", "decrease"), [(0.01, 0.04), (0.005, 0.02)])
def test_log_time_of_a_balanced_neuron_is_an_exponential_integral(angle, decrease):
    # Trained outputs with v = ||w||: q' = 2 |x| q e^{-q}, hence 2 |x| t = Ei(q) - Ei(q_0).
    net, data = pair("trained")
    run = train(net, data, GradientFlow(angle=angle, decrease=decrease, stop=[LossBelow(1e-12)]), recording=EVERY)
    q, path = run.trajectory.least_margin, run.trajectory
    exact = np.log((expi(q[1:]) - expi(q[0])) / 4.0)
    # Second order away from kinks: the error is quartered when the step is halved.
    assert np.abs(path.log_time[1:] - exact).max() < 1e-3 * (decrease / 0.04) ** 2
    assert np.abs(path.balance).max() < 1e-3 * (decrease / 0.04) ** 2


FLOWS = [(seed, loss) for seed in range(2) for loss in (Exponential(), Logistic("mean"))]


@pytest.mark.parametrize(("seed", "loss"), FLOWS, ids=str)
def test_smoothed_margin_never_falls_once_positive(seed, loss):
    data = Sphere(dimension=20).sample(20, seed=seed)
    net = TwoLayer.initialise(30, 20, scale=0.1, law=initialisation.Balanced(), seed=seed)
    stop = [LossBelow(log_value=-20.0 + loss.log_scale(20))]
    run = train(net, data, GradientFlow(loss=loss, stop=stop), recording=EVERY)
    smoothed = run.trajectory.smoothed_margin
    below = run.trajectory.log_loss < loss.log_threshold(20)
    np.testing.assert_array_equal(below, smoothed > 0.0)  # positive exactly where the loss is below its threshold
    assert below.sum() > 500
    assert (np.diff(smoothed[below]) > 0.0).all()
    assert (np.diff(run.trajectory.log_loss) < 0.0).all()
    assert (np.diff(run.trajectory.log_time[1:]) > 0.0).all()
    # The margin itself is not monotone; its smoothed form is below it, by at most ln n for the exponential loss.
    assert (smoothed <= run.trajectory.normalised_margin + 1e-12).all()


def test_smoothed_margin_never_falls_with_frozen_outputs_of_degree_one():
    data = Sphere(dimension=20).sample(15, seed=0)
    net = TwoLayer.initialise(30, 20, bias=False, outputs="frozen", seed=0)
    run = train(net, data, GradientFlow(stop=[LossBelow(1e-8)]), recording=EVERY)
    smoothed = run.trajectory.smoothed_margin
    assert (np.diff(smoothed[smoothed > 0.0]) > 0.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_halving_the_step_turns_the_path_by_less_than_the_stated_tolerance(seed):
    data = Sphere(dimension=20).sample(20, seed=seed + 1)
    net = TwoLayer.initialise(30, 20, scale=0.1, law=initialisation.Balanced(), seed=seed)
    whole = train(net, data, GradientFlow(stop=[LossBelow(1e-8)]))
    half = train(net, data, GradientFlow(angle=0.0025, decrease=0.01, stop=[LossBelow(1e-8)]))
    assert half.steps > 1.9 * whole.steps
    assert sine(vector(whole.network), vector(half.network)) < 2e-3
    assert half.log_time == pytest.approx(whole.log_time, abs=0.02)
    assert sine(vector(whole.network), vector(net)) > 0.5  # the path did go somewhere


@pytest.mark.parametrize("law", [initialisation.Balanced(), initialisation.TorchDefault()], ids=["balanced", "torch"])
def test_balance_of_every_neuron_is_conserved_and_better_with_smaller_steps(law):
    data = Sphere(dimension=20).sample(20, seed=1)
    net = TwoLayer.initialise(30, 20, law=law, scale=0.3, seed=0)
    drifts = []
    for shrink in (1.0, 0.5):
        recipe = GradientFlow(angle=0.005 * shrink, decrease=0.02 * shrink, stop=[LossBelow(1e-8)])
        path = train(net, data, recipe).trajectory
        drifts.append(np.abs(path.balance - path.balance[0]).max() / path.norm[-1] ** 2)
    assert drifts[0] < 1e-4
    assert drifts[1] < 0.7 * drifts[0]


def test_flow_in_the_span_of_the_data_is_the_flow():
    data = Sphere(dimension=60).sample(10, seed=0)
    net = TwoLayer.initialise(12, 60, seed=0)
    recipe = GradientFlow(stop=[Steps(100)])
    span, dense = train(net, data, recipe), train(net, data, recipe, engine="dense")
    assert (span.engine, dense.engine) == ("span", "dense")
    np.testing.assert_allclose(span.network.W, dense.network.W, atol=1e-11)
    np.testing.assert_allclose(span.trajectory.cosine[1:], dense.trajectory.cosine[1:], atol=1e-11)


def test_bad_flows_are_refused_in_one_sentence():
    with pytest.raises(InputError, match="angle is -1"):
        GradientFlow(angle=-1.0, stop=[Steps(1)])
    with pytest.raises(InputError, match="loss is 'exp'"):
        GradientFlow(loss="exp", stop=[Steps(1)])
