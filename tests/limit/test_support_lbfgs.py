"""The small L-BFGS of `support_point`: falls at every step, agrees with SciPy's where there is one minimum, ends."""

import time

import numpy as np
import pytest
from scipy.optimize import minimize

from marginflow.limit.support.lbfgs import lowered


def bowl(seed: int, d: int = 30):
    """A strictly convex quadratic whose curvatures lie four decades apart, and its minimum."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A, x = Q @ np.diag(np.geomspace(1e-2, 1e2, d)) @ Q.T, rng.standard_normal(d)
    return (lambda t: (0.5 * float((t - x) @ A @ (t - x)), A @ (t - x))), x


def rosenbrock(t):
    x, y = t
    value = (1 - x) ** 2 + 100 * (y - x * x) ** 2
    return float(value), np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_of_a_bowl_is_found_as_scipy_finds_it(seed):
    objective, _ = bowl(seed)
    start = np.random.default_rng(seed + 100).standard_normal(30)
    found = lowered(objective, start, 2000)
    theirs = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    first = objective(start)[0]
    assert objective(found)[0] <= max(objective(theirs)[0], 1e-6 * first)


def test_a_curved_valley_is_followed_to_its_end():
    found = lowered(rosenbrock, np.array([-1.2, 1.0]), 200)
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-3)


def test_every_further_step_is_lower_and_none_is_taken_at_a_minimum_and_one_after_the_deadline():
    objective, x = bowl(7)
    start = np.zeros(30)
    values = [objective(lowered(objective, start, steps))[0] for steps in range(12)]
    assert values[0] == objective(start)[0]
    assert (np.diff(values) < 0).all()
    np.testing.assert_array_equal(lowered(objective, x, 50), x)
    late = lowered(objective, start, 50, deadline=time.monotonic() - 1.0)
    np.testing.assert_array_equal(late, lowered(objective, start, 1))


def test_a_slope_that_never_ends_and_a_wall_do_not_keep_it():
    down = lowered(lambda t: (-float(t.sum()), -np.ones_like(t)), np.zeros(3), 20)
    assert np.isfinite(down).all()
    assert (down > 0).all()
    wall = lowered(lambda t: (float("nan"), np.ones_like(t)), np.zeros(3), 20)  # no step is lower
    np.testing.assert_array_equal(wall, np.zeros(3))
