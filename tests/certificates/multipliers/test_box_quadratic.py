from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

from marginflow.certificates.multipliers.box_quadratic import (
    Gram,
    block_pivoting,
    least_squares,
    least_squares_in_box,
    minimise_in_box,
    projected_newton,
    solve_ridged,
)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (5, 5), (1, 4), (0, 3), (3, 0)])
def test_least_squares_and_cholesky_without_checks_are_those_of_scipy(shape):
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=shape), rng.normal(size=shape[0])
    A[:, :1] = 0.0  # of lower rank
    expected = scipy.linalg.lstsq(A, b, cond=1e-15, lapack_driver="gelsy")[0]
    np.testing.assert_array_equal(least_squares(A, b), expected)
    H, c = A.T @ A + np.eye(shape[1]), rng.normal(size=shape[1])
    np.testing.assert_array_equal(
        solve_ridged(H, c, 0.0), scipy.linalg.cho_solve(scipy.linalg.cho_factor(H, lower=True), c)
    )
    doubtful = np.ones((2, 2)) - 1e-12 * np.eye(2)  # indefinite: the ridge grows until it is not
    assert np.isfinite(solve_ridged(doubtful, np.array([1.0, 2.0]), 0.0)).all()


@pytest.mark.parametrize("seed", range(12))
def test_nonnegative_least_squares_agrees_with_lawson_and_hanson(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(20, 12)), rng.normal(size=20)
    A *= 10.0 ** rng.uniform(-4, 4, 12)  # badly scaled columns
    x = minimise_in_box(A.T @ A, A.T @ b, np.inf, np.zeros(12))
    _, expected = scipy.optimize.nnls(A, b)
    assert np.linalg.norm(A @ x - b) == pytest.approx(expected, rel=1e-9)
    assert (x >= 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_upper_bounds_agree_with_a_trust_region_method(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(15, 8)), 3 * rng.normal(size=15)
    x = minimise_in_box(A.T @ A, A.T @ b, 0.4, np.zeros(8))
    expected = scipy.optimize.lsq_linear(A, b, bounds=(0, 0.4), method="bvls", tol=1e-14)
    np.testing.assert_allclose(x, expected.x, atol=1e-8)


@pytest.mark.parametrize("shape", [(20, 5), (20, 40), (5, 40)])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_their_own_some_infinite_agree_with_bounded_variables_least_squares(shape, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=shape), 3 * rng.normal(size=shape[0])
    A[:, shape[1] // 2 :][:, :2] = A[:, :2]  # columns that stand twice
    upper = np.where(rng.random(shape[1]) < 0.3, np.inf, rng.uniform(0.01, 0.3, shape[1]))
    x = least_squares_in_box(A, b, upper, np.zeros(shape[1]))
    expected = scipy.optimize.lsq_linear(A, b, bounds=(0, upper), method="bvls", tol=1e-14).x
    assert (x >= 0).all()
    assert (x <= upper).all()
    np.testing.assert_allclose(A @ x, A @ expected, atol=1e-9)


def test_columns_of_one_orthant_take_as_many_steps_as_they_need():
    rng = np.random.default_rng(3)
    for _ in range(3):  # a cap of 200 steps left 0.04 to 0.3 undone on 10 of 36 such problems
        A = np.abs(rng.normal(size=(50, 400)))
        upper = rng.uniform(0.01, 0.3, 400)
        b = A @ (np.clip(rng.uniform(-0.5, 1.5, 400), 0, 1) * upper) + 0.3 * np.sqrt(50) * rng.normal(size=50)
        x = least_squares_in_box(A, b, upper, np.zeros(400))
        pull, low, high = A.T @ (b - A @ x), x <= 0, x >= (1 - 1e-12) * upper
        np.testing.assert_allclose(pull[~low & ~high], 0.0, atol=1e-9)
        assert (pull[low] <= 1e-9).all()
        assert (pull[high] >= -1e-9).all()


def test_singular_matrices_and_empty_columns_are_survived():
    A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    x = minimise_in_box(A.T @ A, A.T @ np.array([2.0, 2.0]), np.inf, np.zeros(3))
    np.testing.assert_allclose(A @ x, [2.0, 2.0], atol=1e-9)
    assert x[2] == 0.0
    assert (minimise_in_box(np.zeros((2, 2)), np.zeros(2), np.inf, np.ones(2)) == 0).all()


@pytest.mark.parametrize("method", [block_pivoting, projected_newton])
@pytest.mark.parametrize("upper", [np.inf, 0.1])
def test_either_method_alone_solves_well_conditioned_problems(method, upper):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A, b = rng.normal(size=(40, 15)), rng.normal(size=40)
        A /= np.linalg.norm(A, axis=0)
        x = method(Gram(A.T @ A, A.T @ b), np.full(15, upper), np.zeros(15))
        expected = scipy.optimize.lsq_linear(A, b, bounds=(0, upper), method="bvls", tol=1e-14).x
        np.testing.assert_allclose(x, expected, atol=1e-8)


def test_start_does_not_matter():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 10)), rng.normal(size=30)
    answers = [minimise_in_box(A.T @ A, A.T @ b, np.inf, s * rng.random(10)) for s in (0.0, 1.0, 100.0)]
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], atol=1e-10)
