from __future__ import annotations

import numpy as np
import pytest

from marginflow.certificates.multipliers import best as module
from marginflow.certificates.multipliers.best import best_multipliers, equal_neurons, feasible, merge
from marginflow.certificates.multipliers.least_squares import StationarityProblem, lower_bound
from marginflow.certificates.multipliers.projected_gradient import descend, project


def planted(
    n, d, k, seed, *, share=0.3, noise=0.0, cap=np.inf, interior=True
) -> tuple[StationarityProblem, np.ndarray, np.ndarray]:
    """A problem whose targets are explained by known multipliers, plus noise."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    draw = rng.random((n, k))
    draw[:, 0] = share  # every sample is active somewhere, or its multiplier would not be determined
    kink, active = draw < share, (draw >= share) & (draw < share + 0.4)
    lam = np.minimum(rng.uniform(0.5, 1.5, n) * (rng.random(n) < 0.8), cap)
    weight = rng.uniform(0.1, 0.9, (n, k)) if interior else rng.integers(0, 2, (n, k)).astype(float)
    mu = np.where(kink, lam[:, None] * weight, 0.0)
    v = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)
    U = v[:, None] * ((y[:, None] * (lam[:, None] * active + mu)).T @ T)
    U += noise * rng.normal(size=U.shape) * np.linalg.norm(U) / np.sqrt(U.size)
    rho = np.abs(rng.normal(size=(n, k))) * active
    omega = np.where(lam > 0, 0.0, rng.uniform(0.05, 0.5, n))
    problem = StationarityProblem(
        T=T, y=y, U=U, v=v, active=active, kink=kink, rho=rho, target=rho.T @ (y * lam), omega=omega, cap=cap
    )
    return problem, lam, mu


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("interior", [True, False])
def test_planted_multipliers_are_found_exactly(seed, interior):
    problem, lam, _ = planted(25, 30, 8, seed, interior=interior)
    found = best_multipliers(problem)
    assert found.size <= 1e-13 * problem.norm()
    np.testing.assert_allclose(found.lam, lam, atol=1e-10)
    assert (found.mu >= 0).all()
    assert (found.mu <= found.lam[:, None]).all()


@pytest.mark.parametrize("cap", [np.inf, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_bound_meets_the_residual_far_from_stationarity(seed, cap):
    problem, _, _ = planted(25, 10, 8, seed, noise=1.0, cap=cap)
    found = best_multipliers(problem)
    # The planted targets are no network's parameters, so <theta, g_i> may be negative and the hard bound may be void.
    assert found.bound <= found.size * (1 + 1e-9)
    if np.isfinite(cap):
        assert found.bound == pytest.approx(found.size, rel=1e-8)


def test_no_feasible_multipliers_beat_the_best_ones():
    problem, lam, mu = planted(12, 6, 5, 0, noise=0.5)
    found = best_multipliers(problem)
    rng = np.random.default_rng(1)
    for scale in (1.0, 0.1, 0.01):
        for _ in range(200):
            other = feasible(
                problem,
                found.lam + scale * rng.normal(size=lam.shape),
                found.mu + scale * rng.normal(size=mu.shape),
            )
            assert problem.residual(*other).norm() >= found.size * (1 - 1e-12)


def test_gradients_alone_reach_the_same_minimum(monkeypatch):
    problem, _, _ = planted(10, 5, 4, 3, noise=0.5)
    fast = best_multipliers(problem)
    lam, mu = descend(problem, np.zeros(10), np.zeros((10, 4)), max_steps=20000)
    slow = problem.residual(lam, mu).norm()
    assert slow == pytest.approx(fast.size, rel=1e-7)
    # With the pivoting switched off after one round the gradients must carry the method.
    monkeypatch.setattr(module, "_PIVOT_ROUNDS", 1)
    assert best_multipliers(problem).size == pytest.approx(fast.size, rel=1e-6)


def test_many_samples_are_added_as_they_are_needed(monkeypatch):
    problem, lam, _ = planted(60, 70, 6, 2)
    monkeypatch.setattr(module, "_ALL_SAMPLES", 10)
    found = best_multipliers(problem)
    assert found.size <= 1e-12 * problem.norm()
    np.testing.assert_allclose(found.lam, lam, atol=1e-9)


def test_equal_neurons_are_merged_without_changing_the_minimum():
    problem, _, _ = planted(15, 8, 4, 5, noise=0.3)
    copies = np.array([0, 1, 1, 2, 3, 3, 3])
    root = np.sqrt(np.array([1.0, 0.4, 0.6, 1.0, 0.2, 0.3, 0.5]))
    split = StationarityProblem(
        T=problem.T,
        y=problem.y,
        U=root[:, None] * problem.U[copies],
        v=root * problem.v[copies],
        active=problem.active[:, copies],
        kink=problem.kink[:, copies],
        rho=problem.rho,
        target=problem.target,
        omega=problem.omega,
    )
    groups = equal_neurons(split)
    assert sorted(sorted(group.tolist()) for group in groups) == [[0], [1, 2], [3], [4, 5, 6]]
    merged = merge(split, groups)
    assert merged.v.size == 4
    assert best_multipliers(split).size == pytest.approx(best_multipliers(problem).size, rel=1e-10)
    assert merged.norm() == pytest.approx(split.norm(), rel=1e-12)


def test_projection_is_the_nearest_feasible_point():
    rng = np.random.default_rng(0)
    rows = np.array([0, 0, 0, 1, 1, 3])
    for cap in (np.inf, 0.7):
        lam0, mu0 = rng.normal(size=4), rng.normal(size=6)
        lam, mu = project(lam0, mu0, rows, cap)
        assert (lam >= 0).all()
        assert (lam <= cap).all()
        assert (mu >= 0).all()
        assert (mu <= lam[rows]).all()
        # Variational inequality: the error makes an obtuse angle with every feasible direction.
        for _ in range(500):
            other = np.minimum(np.abs(rng.normal(size=4)), cap)
            weights = rng.random(6) * other[rows]
            assert (lam0 - lam) @ (other - lam) + (mu0 - mu) @ (weights - mu) <= 1e-9


def test_lower_bound_is_below_every_feasible_residual():
    for cap in (np.inf, 1.2):
        problem, _, _ = planted(8, 5, 3, 7, noise=0.4, cap=cap)
        rng = np.random.default_rng(0)
        points = [feasible(problem, rng.normal(size=8), rng.normal(size=(8, 3))) for _ in range(200)]
        sizes = [problem.residual(*point).norm() for point in points]
        bounds = [lower_bound(problem, *point) for point in points]
        assert max(bounds) <= min(sizes) * (1 + 1e-12)
