"""Angle-bounded steps on raw arrays."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from marginflow.data import NoisySphere, Sphere
from marginflow.errors import InputError
from marginflow.flow import AngleBounded, Descent, Steps, angle_flow, train
from marginflow.flow.angle import AngleSteps
from marginflow.flow.kernel import TwoLayerKernel
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import Exponential, Logistic
from marginflow.networks import TwoLayer


def sphere(n=15, d=12, seed=0):
    return Sphere(dimension=d).sample(n, seed=seed)


def flat(W, b, v, outputs):
    parts = [np.ravel(W)] + ([] if b is None else [b]) + ([v] if outputs == "trained" else [])
    return np.concatenate(parts)


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize("bias", [True, False])
def test_every_step_has_the_length_of_the_angle_and_lies_along_the_gradient(outputs, bias):
    data = sphere()
    net = TwoLayer.initialise(20, 12, bias=bias, outputs=outputs, seed=1)
    loss = Logistic()
    W, b, v = net.W, net.b, net.v
    for _ in range(5):
        now = TwoLayer(W=W, b=b, v=v, outputs=outputs)
        end = angle_flow(W, b, v, data.X, data.y, steps=1, angle=0.03, outputs=outputs, loss=loss)
        gradient = now.gradient(data.X, data.y * loss.weights(now.margins(data.X, data.y)))
        down = flat(gradient.W, gradient.b, gradient.v, outputs)
        moved = flat(end.W, end.b, end.v, outputs) - flat(W, b, v, outputs)
        assert np.linalg.norm(moved) == pytest.approx(0.03 * np.sqrt(now.norm_squared()), rel=1e-12)
        assert moved @ down == pytest.approx(np.linalg.norm(moved) * np.linalg.norm(down), rel=1e-12)
        W, b, v = end.W, end.b, end.v
    if outputs == "frozen":
        np.testing.assert_array_equal(v, net.v)


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_it_is_the_loop_of_train_with_the_angle_bounded_schedule(outputs):
    data = sphere()
    net = TwoLayer.initialise(20, 12, outputs=outputs, scale=0.1, seed=1)
    end = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=60, angle=0.01, outputs=outputs, decrease=0.1)
    run = train(net, data, Descent(loss=Exponential(), schedule=AngleBounded(0.01, 0.1), stop=[Steps(60)]))
    np.testing.assert_allclose(end.W, run.network.W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(end.v, run.network.v, rtol=1e-9, atol=1e-12)
    assert end.log_loss == pytest.approx(run.log_loss, abs=1e-9)


def test_it_separates_and_then_grows_margins_beyond_any_loss_a_float_can_hold():
    data = sphere()
    net = TwoLayer.initialise(60, 12, scale=0.1, seed=1)
    end = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=1500, angle=0.02)
    assert end.separated
    assert end.log_loss < -1e5
    assert end.log_loss == pytest.approx(Exponential().log_value(end.margins))
    np.testing.assert_allclose(end.margins, TwoLayer(W=end.W, b=end.b, v=end.v).margins(data.X, data.y), rtol=1e-10)


def test_same_start_same_bits_and_the_start_is_untouched():
    data = sphere()
    net = TwoLayer.initialise(20, 12, seed=1)
    W = net.W.copy()
    first, second = (angle_flow(W, net.b, net.v, data.X, data.y, steps=50, angle=0.02) for _ in range(2))
    assert first.W.tobytes() == second.W.tobytes()
    assert first.margins.tobytes() == second.margins.tobytes()
    np.testing.assert_array_equal(W, net.W)


def test_a_dead_network_makes_no_step():
    end = angle_flow([[-1.0]], None, [1.0], [[1.0], [2.0]], [1, -1], steps=10, angle=0.1)
    assert end.steps == 0
    assert not end.separated


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"angle": 0.0}, "angle is 0"),
        ({"angle": 2.0}, "angle is 2"),
        ({"steps": -1}, "steps is -1"),
        ({"decrease": -0.1}, "decrease is -0.1"),
        ({"outputs": "thawed"}, "outputs is 'thawed'"),
        ({"X": [[1.0]]}, "X has 1 columns, but W has 2"),
        ({"y": [1.0, 0.0]}, "y contains the value 0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(change, sentence):
    given = {"W": np.eye(2), "b": None, "v": [1.0, -1.0], "X": np.eye(2), "y": [1.0, -1.0], "steps": 1, "angle": 0.1}
    given.update(change)
    with pytest.raises(InputError, match=sentence):
        angle_flow(given.pop("W"), given.pop("b"), given.pop("v"), given.pop("X"), given.pop("y"), **given)


def test_single_precision_follows_double_within_its_rounding():
    data = sphere(12, 10)
    start = TwoLayer.initialise(20, 10, scale=0.1, seed=0)
    double, single = (
        angle_flow(start.W, start.b, start.v, data.X, data.y, steps=40, angle=0.02, precision=precision)
        for precision in ("double", "single")
    )
    assert single.W.dtype == np.float64
    difference = np.linalg.norm(single.W - double.W) / np.linalg.norm(double.W)
    assert 0.0 < difference < 1e-5


@pytest.mark.parametrize("precision", ["single", "double"])
def test_steps_some_at_a_time_are_the_steps_of_one_call(precision):
    """Looking in between costs a gradient that the next step uses; it changes no bit."""
    data = Sphere(dimension=12).sample(20, seed=4)
    net = TwoLayer.initialise(15, 12, scale=0.01, seed=5)
    options = {"angle": 0.02, "precision": precision}
    at_once = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=100, **options)
    flow = AngleSteps(net.W, net.b, net.v, data.X, data.y, **options)
    for some, look in ((1, True), (0, True), (30, False), (9, True), (60, True)):
        assert flow.take(some) == some
        if look:
            margins = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=flow.steps, **options).margins
            assert flow.separated == (margins.min() > 0.0)
    for field in ("W", "b", "v", "margins"):
        np.testing.assert_array_equal(getattr(flow.end, field), getattr(at_once, field))
    assert flow.log_loss == pytest.approx(at_once.log_loss, rel=1e-6)


def test_steps_end_where_every_margin_is_positive_and_not_before():
    data = Sphere(dimension=12).sample(20, seed=4)
    net = TwoLayer.initialise(15, 12, scale=0.01, seed=5)
    flow = AngleSteps(net.W, net.b, net.v, data.X, data.y, angle=0.02)
    made = flow.take(2000, until_separated=True)
    assert 0 < made < 2000
    assert flow.take(5, until_separated=True) == 0
    separated = [
        angle_flow(net.W, net.b, net.v, data.X, data.y, steps=steps, angle=0.02).separated for steps in range(made + 1)
    ]
    assert separated == [False] * made + [True]


def test_steps_end_before_numbers_overflow():
    """Margins grow by a factor with every step, until squares of single precision are infinite."""
    flow = AngleSteps([[1.0]], None, [1.0], [[1.0], [1.0 - 1e-3]], [1, 1], angle=1.0, precision="single")
    made = flow.take(500)
    assert 0 < made < 500
    W, _, v = flow.parameters
    assert np.isfinite(W).all()
    assert np.isfinite(v).all()


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize(("d", "width"), [(50, 4000), (600, 300)])
def test_shared_gradients_are_those_of_one_thread_bit_for_bit_and_of_one_block_to_rounding(outputs, d, width):
    """Wider and narrower than the samples: the two ways to weigh them."""
    n = 200
    data = Sphere(dimension=d).sample(n, seed=1)
    net = TwoLayer.initialise(width, d, scale=0.1, seed=2)
    frozen = None if outputs == "trained" else net.v
    alone, shared = (TwoLayerKernel(data.X, data.y, width, frozen, shared=shared) for shared in (False, True))
    assert len(shared._neurons) > 1
    theta = ParameterVector(alone.shapes).fill([net.W, net.v][: len(alone.shapes)])
    ends = []
    for kernel, threads in ((alone, 1), (shared, 1), (shared, 2)):
        out = ParameterVector(alone.shapes)
        with threadpool_limits(threads, user_api="blas"):
            value = kernel.evaluate(theta, Exponential(), out)
        ends.append((value, kernel.margins.copy(), out.flat))
    for whole, one, two in zip(*ends, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, whole, rtol=1e-9, atol=1e-12)
    theta.flat[:] = np.inf
    with np.errstate(invalid="ignore"):
        assert np.isnan(shared.evaluate(theta, Exponential(), ParameterVector(alone.shapes)))


def test_momentum_separates_noisy_labels_of_one_class_in_fewer_steps():
    # Every sample pulls at the common part of the network, so that plain steps swing across it.
    data = NoisySphere(dimension=60, p=0.3).sample(120, seed=0)
    start = TwoLayer.initialise(200, 60, scale=0.01, seed=0)

    def steps(angle, momentum):
        flow = AngleSteps(start.W, start.b, start.v, data.X, data.y, angle=angle)
        flow.momentum = momentum
        flow.take(2000, until_separated=True)
        assert flow.separated
        return flow.steps

    assert 2 * steps(0.15, 0.95) < steps(0.05, 0.0)


def test_momentum_averages_unit_gradients_with_falling_weights():
    data = NoisySphere(dimension=4, p=0.3).sample(10, seed=1)
    start = TwoLayer.initialise(6, 4, scale=0.5, seed=1)
    flow = AngleSteps(start.W, start.b, start.v, data.X, data.y, angle=0.1)
    flow.momentum = 0.75
    average = np.zeros_like(flow._theta.flat)
    for _ in range(3):
        flow.log_loss  # noqa: B018  (evaluates the descent direction)
        before, gradient = flow._theta.flat.copy(), flow._descent.flat.copy()
        flow.take(1)
        average = 0.75 * average + 0.25 * gradient / np.linalg.norm(gradient)
        step = 0.1 * np.linalg.norm(before) * average
        np.testing.assert_allclose(flow._theta.flat - before, step, atol=1e-13 * np.linalg.norm(before))
