"""One neuron at fixed multipliers: least distances with bounds on the weights."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from marginflow.limit.solver.box_projection import box_projection


def drawn(seed: int, p: int, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((p, r))
    return rows, 3.0 * rng.standard_normal(r), rng.uniform(0.01, 0.3, p), rng.uniform(-0.2, 0.5, p)


@pytest.mark.parametrize("size", [(5, 20), (40, 20), (200, 20)])
@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_that_of_bounded_least_squares_by_another_solver(size: tuple[int, int], seed: int) -> None:
    rows, g, high, weights = drawn(seed, *size)
    mu = box_projection(rows, g, high, weights)
    other = scipy.optimize.lsq_linear(rows.T, g, bounds=(np.zeros(len(high)), high), method="bvls", tol=1e-14)
    assert (mu >= 0).all()
    assert (mu <= high).all()
    np.testing.assert_allclose(g - mu @ rows, g - other.x @ rows, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_weights_inside_their_bounds_are_orthogonal_and_the_others_pull_outwards(seed: int) -> None:
    rows, g, high, weights = drawn(seed, 60, 20)
    mu = box_projection(rows, g, high, weights)
    pull = rows @ (g - mu @ rows)
    inside = (mu > 0) & (mu < high)
    assert 0 < inside.sum() < 20
    np.testing.assert_allclose(pull[inside], 0.0, atol=1e-10)
    assert (pull[mu == 0] <= 1e-10).all()
    assert (pull[mu == high] >= -1e-10).all()


def test_the_end_does_not_depend_on_the_beginning() -> None:
    rows, g, high, weights = drawn(7, 60, 20)
    near, far = box_projection(rows, g, high, weights), box_projection(rows, g, high, high)
    np.testing.assert_allclose(near @ rows, far @ rows, atol=1e-10)


def test_a_target_inside_the_zonotope_is_reached() -> None:
    rows, _, high, weights = drawn(3, 100, 10)
    inside = (0.5 * high) @ rows
    np.testing.assert_allclose(box_projection(rows, inside, high, weights) @ rows, inside, atol=1e-8)
