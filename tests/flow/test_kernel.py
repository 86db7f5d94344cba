"""The hot loop against the network's own gradient and against finite differences."""

import numpy as np
import pytest

from marginflow.flow import kernel as module
from marginflow.flow.kernel import TwoLayerKernel
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import Exponential, Logistic
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples

LOSSES = [Exponential(), Logistic(), Logistic("mean", "2")]


def problem(n=37, d=5, k=11, *, bias=True, outputs="trained", seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n)
    return X, y, TwoLayer.initialise(k, d, bias=bias, outputs=outputs, seed=seed)


def kernel_of(X, y, net, **options):
    kernel = TwoLayerKernel(
        augmented_samples(X, bias=net.b is not None),
        y,
        net.width,
        net.v if net.outputs == "frozen" else None,
        **options,
    )
    arrays = [net.augmented] if net.outputs == "frozen" else [net.augmented, net.v]
    return kernel, ParameterVector(kernel.shapes).fill(arrays), ParameterVector(kernel.shapes)


def expected(X, y, net, loss):
    gradient = net.gradient(X, y * loss.weights(net.margins(X, y)))
    parts = [gradient.W if net.b is None else np.column_stack([gradient.W, gradient.b])]
    return parts if net.outputs == "frozen" else [*parts, gradient.v]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize("shape", [(37, 5, 11), (6, 30, 4), (20, 1, 8)])
def test_kernel_computes_the_gradient_of_minus_log_loss(loss, bias, outputs, shape):
    X, y, net = problem(*shape, bias=bias, outputs=outputs)
    kernel, theta, out = kernel_of(X, y, net)
    log_sum = kernel.evaluate(theta, loss, out)
    assert log_sum + loss.log_scale(y.size) == pytest.approx(loss.log_value(net.margins(X, y)), abs=1e-13)
    for part, truth in zip(out.parts, expected(X, y, net, loss), strict=True):
        np.testing.assert_allclose(part, truth, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.margins, net.margins(X, y), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("rows", [1, 4, 10, 36])
def test_blocks_of_samples_change_nothing_but_rounding(loss, rows, monkeypatch):
    X, y, net = problem()
    scaled = net.scaled(6.0)  # margins of very different sizes, so that weights are rescaled between blocks
    monkeypatch.setattr(module, "BLOCK_NUMBERS", rows * net.width)
    kernel, theta, out = kernel_of(X, y, scaled)
    log_sum = kernel.evaluate(theta, loss, out)
    assert log_sum == pytest.approx(loss.log_sum(scaled.margins(X, y)), rel=1e-13)
    for part, truth in zip(out.parts, expected(X, y, scaled, loss), strict=True):
        np.testing.assert_allclose(part, truth, rtol=1e-11, atol=1e-13)


def test_gradient_is_the_derivative_of_the_log_loss_far_below_the_smallest_float():
    # Margins near 2000 put the loss near 10^-870; finite differences of ln L still see the gradient.
    rng = np.random.default_rng(1)
    X, y = np.linalg.qr(rng.standard_normal((12, 8)))[0].T, rng.choice([-1.0, 1.0], 8)
    loss = Exponential()
    fitted = TwoLayer(W=X, b=np.full(8, -0.1), v=y).scaled(np.sqrt(2200.0))  # orthonormal: N(x_i) = 1980 y_i
    kernel, theta, out = kernel_of(X, y, fitted)
    assert kernel.evaluate(theta, loss, out) < -1900.0
    direction = rng.standard_normal(theta.flat.size)
    h = 1e-6
    ends = []
    for sign in (1.0, -1.0):
        moved = ParameterVector(kernel.shapes)
        moved.flat[:] = theta.flat + sign * h * direction
        ends.append(loss.log_sum(kernel.forward(moved)))
    assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(-out.flat @ direction, rel=1e-4)


@pytest.mark.parametrize("size", [1, 5, 13])
def test_mini_batches_see_their_own_samples_only(size, monkeypatch):
    X, y, net = problem()
    monkeypatch.setattr(module, "BLOCK_NUMBERS", 4 * net.width)
    kernel, theta, out = kernel_of(X, y, net, capacity=13)
    rng = np.random.default_rng(3)
    for _ in range(3):
        rows = rng.permutation(y.size)[:size]
        kernel.evaluate(theta, Logistic(), out, rows)
        for part, truth in zip(out.parts, expected(X[rows], y[rows], net, Logistic()), strict=True):
            np.testing.assert_allclose(part, truth, rtol=1e-12, atol=1e-14)


def test_overflow_is_reported_as_not_a_number():
    X, y, net = problem()
    kernel, theta, out = kernel_of(X, y, net)
    theta.flat *= 1e200
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(kernel.evaluate(theta, Exponential(), out))
