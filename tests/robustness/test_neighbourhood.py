"""A network seen from its points: values, gradients and rays in reduced coordinates."""

from __future__ import annotations

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.robustness.neighbourhood import neighbourhood
from marginflow.robustness.rays import steps_along


def test_values_gradients_and_steps_agree_with_the_network_when_dimensions_are_reduced():
    rng = np.random.default_rng(0)
    net = TwoLayer(W=rng.normal(size=(5, 30)), b=rng.normal(size=5), v=[1.0, -2.0, 0.0, 0.5, 3.0])
    X, y = rng.normal(size=(6, 30)), rng.choice([-1.0, 1.0], 6)
    seen = neighbourhood(net, X, y, level=-0.25)
    assert seen.rank == 4  # four neurons that do something
    delta = rng.normal(size=(6, 4))
    moved = X + seen.lift(delta)
    np.testing.assert_allclose(seen.values_at_zero(), y * net(X) + 0.25, rtol=1e-10)
    np.testing.assert_array_equal(seen.already(), y * net(X) <= -0.25)
    value, gradient = seen.values_and_gradients(delta)
    np.testing.assert_allclose(value, y * net(moved) + 0.25, rtol=1e-10)
    eps = 1e-6
    for axis in range(4):
        step = np.zeros(4)
        step[axis] = eps
        ahead, behind = (seen.values_and_gradients(delta + sign * step)[0] for sign in (1, -1))
        slope = (ahead - behind) / (2 * eps)
        np.testing.assert_allclose(gradient[:, axis], slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(seen.lift(delta), axis=1), np.linalg.norm(delta, axis=1), rtol=1e-12)
    rays = steps_along(net, X, y, seen.lift(delta), level=-0.25)
    np.testing.assert_allclose(seen.steps(delta), rays.first, rtol=1e-9)
    part = seen.only(np.array([4, 1]))
    np.testing.assert_allclose(part.values_at_zero(), seen.values_at_zero()[[4, 1]])


def test_directions_orthogonal_to_all_weights_change_nothing():
    net = TwoLayer(W=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], b=[0.0, 1.0], v=[1.0, -1.0])
    seen = neighbourhood(net, [[3.0, 1.0, 7.0]], [1])
    assert seen.rank == 2
    assert abs(seen.lift(np.eye(2))[:, 2]).max() < 1e-15


def test_the_zero_network_has_one_neuron_left_and_is_flipped_everywhere():
    seen = neighbourhood(TwoLayer(W=np.eye(2), v=[0.0, 0.0]), [[1.0, 2.0]], [1])
    assert seen.A.shape == (1, 1)
    assert seen.already().all()
