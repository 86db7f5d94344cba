"""Problem (P) and the convex problem (C): coordinates, costs and the inequalities that the whole method rests on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.data import Dataset
from marginflow.limit import specialist
from marginflow.limit.problem import Problem
from marginflow.networks import TwoLayer


def random_problem(seed: int, *, bias: bool = True, wide: bool = False) -> tuple[Problem, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 12))
    d = int(rng.integers(m + 1, 25) if wide else rng.integers(1, 9))
    samples = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-2, 2)
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    return Problem.of(samples, y, bias=bias), samples, y


def margins_of_c(problem: Problem, U: np.ndarray, s: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Left side of the constraints of (C): linear on same pairs with the frozen pattern A, -relu on opposite pairs."""
    Z = problem.X @ U.T
    same = problem.y[:, None] == s
    return np.where(same, A * Z, -np.maximum(Z, 0.0)).sum(axis=1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_reduced_coordinates_keep_every_inner_product(seed, wide, bias):
    problem, samples, y = random_problem(seed, bias=bias, wide=wide)
    augmented = np.column_stack([samples, np.ones(len(y))]) if bias else samples
    gram = augmented @ augmented.T
    size = np.abs(gram).max()
    np.testing.assert_allclose(
        problem.gram(np.arange(len(y))), gram[np.ix_(problem.order, problem.order)], atol=1e-13 * size
    )
    np.testing.assert_allclose(problem.X.T @ problem.X, np.diag(problem.s2), atol=1e-12 * size)
    np.testing.assert_allclose(problem.ambient(problem.X), augmented[problem.order], atol=1e-13 * np.sqrt(size))
    np.testing.assert_allclose(problem.basis @ problem.basis.T, np.eye(problem.X.shape[1]), atol=1e-13)
    np.testing.assert_allclose(problem.norms, np.linalg.norm(augmented, axis=1)[problem.order])


def test_positive_samples_come_first_and_keep_their_order():
    y = np.array([-1.0, 1.0, -1.0, 1.0, 1.0])
    problem = Problem.of(np.arange(10.0).reshape(5, 2), y, bias=True)
    assert problem.order.tolist() == [1, 3, 4, 0, 2]
    assert problem.y.tolist() == [1, 1, 1, -1, -1]
    assert (problem.n_samples, problem.n_positive) == (5, 3)


def test_repeated_and_dependent_samples_lower_the_rank():
    samples = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 0.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    assert Problem.of(samples, y, bias=False).X.shape == (4, 2)
    assert Problem.of(samples, y, bias=True).X.shape == (4, 3)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_what_a_neuron_has_outside_the_span_changes_no_margin(seed, bias):
    problem, samples, y = random_problem(seed, bias=bias, wide=True)
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(7, samples.shape[1] + bias))
    s = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    inside = problem.ambient(problem.reduced(U))
    assert (np.linalg.norm(inside, axis=1) < np.linalg.norm(U, axis=1)).all()
    for rows in (U, inside):
        network = TwoLayer.from_directions(rows, s, bias=bias)
        np.testing.assert_allclose(
            problem.margins(problem.reduced(U), s), network.margins(samples, y)[problem.order], rtol=1e-10
        )


@pytest.mark.parametrize("spread", [1.0, 1e-6], ids=["eigenvectors", "ill-conditioned: singular vectors"])
@pytest.mark.parametrize(("m", "d"), [(1500, 299), (480, 490)], ids=["tall", "nearly square"])
def test_tall_samples_are_rotated_to_a_diagonal_without_changing_an_inner_product(spread, m, d):
    rng = np.random.default_rng(0)
    samples, y = rng.normal(size=(m, d)) * np.geomspace(1.0, spread, d), rng.choice([-1.0, 1.0], m)
    problem = Problem.of(samples, y, bias=True)
    augmented = np.column_stack([samples, np.ones(len(y))])[problem.order]
    np.testing.assert_allclose(problem.basis @ problem.basis.T, np.eye(min(m, d + 1)), atol=1e-12)
    np.testing.assert_allclose(problem.ambient(problem.X), augmented, atol=1e-11 * problem.norms.max())
    np.testing.assert_allclose(problem.X.T @ problem.X, np.diag(problem.s2), atol=1e-11 * problem.s2.max())
    assert (np.diff(problem.s2) <= 0).all()


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_half_the_squared_norm_is_at_least_the_sum_of_the_lengths_with_equality_when_balanced(seed):
    rng = np.random.default_rng(seed)
    network = TwoLayer(W=rng.normal(size=(5, 3)), b=rng.normal(size=5), v=rng.normal(size=5))
    lengths = np.linalg.norm(network.directions, axis=1).sum()
    assert 0.5 * network.norm_squared() >= lengths
    balanced = TwoLayer.from_directions(network.directions, network.signs, bias=True)
    assert 0.5 * balanced.norm_squared() == pytest.approx(lengths, rel=1e-13)
    points = rng.normal(size=(20, 3))
    np.testing.assert_allclose(balanced(points), network(points), atol=1e-12)


@settings(max_examples=100)
@given(st.integers(0, 10**6))
def test_a_point_of_the_convex_problem_is_a_point_of_the_original_whatever_the_pattern(seed):
    """relu(z) >= A z for A in {0, 1}: margins of (P) are never below those of (C)."""
    problem, _, _ = random_problem(seed)
    rng = np.random.default_rng(seed + 1)
    k = int(rng.integers(1, 9))
    U, s = rng.normal(size=(k, problem.X.shape[1])), np.where(rng.random(k) < 0.5, 1.0, -1.0)
    A = rng.random((problem.n_samples, k)) < 0.5
    true = problem.margins(U, s)
    slack = 1e-12 * np.abs(problem.X @ U.T).sum(axis=1)
    assert (true - margins_of_c(problem, U, s, A) >= -slack).all()


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_the_convex_problem_of_its_own_pattern_has_the_margins_of_the_original(seed):
    problem, _, _ = random_problem(seed)
    rng = np.random.default_rng(seed + 1)
    U, s = rng.normal(size=(6, problem.X.shape[1])), np.where(rng.random(6) < 0.5, 1.0, -1.0)
    Z = problem.X @ U.T
    tolerance = 1e-12 * np.abs(Z).sum(axis=1).max()
    np.testing.assert_allclose(problem.margins(U, s), margins_of_c(problem, U, s, Z > 0), atol=tolerance)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
def test_margins_of_the_convex_problem_are_concave(seed, share):
    problem, _, _ = random_problem(seed)
    rng = np.random.default_rng(seed + 1)
    k, r = 5, problem.X.shape[1]
    U, V = rng.normal(size=(2, k, r))
    s, A = np.where(rng.random(k) < 0.5, 1.0, -1.0), rng.random((problem.n_samples, k)) < 0.5
    between = margins_of_c(problem, share * U + (1 - share) * V, s, A)
    ends = share * margins_of_c(problem, U, s, A) + (1 - share) * margins_of_c(problem, V, s, A)
    assert (between >= ends - 1e-12 * np.abs(ends).max(initial=1.0)).all()


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_no_point_of_the_dual_exceeds_a_point_of_the_convex_problem(seed):
    """Weak duality of (C): sum lambda <= sum ||u_j|| if ||sum_i y_i mu_ij x_i|| <= 1 and margins of (C) are >= 1."""
    rng = np.random.default_rng(seed)
    m, k, d = int(rng.integers(2, 12)), 6, int(rng.integers(1, 9))
    samples, U, s = rng.normal(size=(m, d)), rng.normal(size=(k, d + 1)), np.repeat([1.0, -1.0], 3)
    values = TwoLayer.from_directions(U, s, bias=True)(samples)
    problem = Problem.of(samples, np.where(values > 0, 1.0, -1.0), bias=True)  # labels that this network separates
    U = problem.reduced(U)
    U = U / problem.margins(U, s).min(initial=np.inf, where=np.abs(values[problem.order]) > 0)
    Z = problem.X @ U.T
    lam = rng.random(m) * (np.abs(values[problem.order]) > 0)  # no multiplier where the network is silent
    mu = lam[:, None] * np.where(problem.y[:, None] == s, Z > 0, rng.random((m, k)))
    pull = np.linalg.norm((problem.y[:, None] * mu).T @ problem.X, axis=1)
    assert lam.sum() <= pull.max() * np.linalg.norm(U, axis=1).sum() * (1 + 1e-12)


def test_warm_multipliers_are_those_of_a_kkt_point_without_kinks():
    """Where no pair sits on a kink least squares finds the true multipliers, up to its ridge."""
    means = np.linalg.cholesky((10 + 1.5) * np.eye(4) - 1.5 * np.ones((4, 4)))
    exact = specialist(Dataset(X=means, y=[1.0, -1.0, 1.0, -1.0]))
    problem = Problem.of(means, np.array([1.0, -1.0, 1.0, -1.0]), bias=True)
    U = problem.reduced(exact.network.directions)
    lam = problem.warm_multipliers(U, exact.network.signs)
    np.testing.assert_allclose(lam, exact.multipliers[problem.order], rtol=5e-3)
    assert lam.sum() == pytest.approx(np.linalg.norm(U, axis=1).sum(), rel=1e-12)


def test_warm_multipliers_of_neurons_that_explain_nothing_are_equal():
    """Every margin negative: the least-squares multipliers are all cut off, and no sample is preferred."""
    problem = Problem.of(np.eye(3), np.array([1.0, 1.0, -1.0]), bias=False)
    U, s = problem.reduced(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])), np.array([-1.0, 1.0])
    lam = problem.warm_multipliers(U, s)
    assert lam == pytest.approx(np.full(3, (np.sqrt(2.0) + 1.0) / 3))
