"""Exact points of the interior point, judged by an evaluator that shares no code with the library."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.limit.budget import Budget
from marginflow.limit.interior import sample_set
from marginflow.limit.interior.point import affordable, interior_point
from marginflow.limit.interior.sample_set import interior_point_of_few
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem


def worst_residual(X, y, U, s, lam, mu, penalty=np.inf):
    """The largest violation of the KKT conditions of (P), each in its own unit; plain loops over neurons."""
    Z = X @ U.T
    worst = 0.0
    margins = np.zeros(len(y))
    for j in range(len(s)):
        margins += y * s[j] * np.maximum(Z[:, j], 0.0)
        scale = np.linalg.norm(U[j]) * np.linalg.norm(X, axis=1)
        kink = np.abs(Z[:, j]) <= 1e-9 * scale
        weight = np.where(kink, mu[:, j], np.where(Z[:, j] > 0, lam, 0.0))
        pull = (s[j] * y * weight) @ X
        worst = max(worst, float(np.linalg.norm(U[j] / np.linalg.norm(U[j]) - pull)))
        worst = max(worst, float((weight - lam).max() / lam.max()), float(-weight.min() / lam.max()))
    worst = max(worst, float(-lam.min() / lam.max()), float((lam - penalty).max() / lam.max()))
    if np.isinf(penalty):
        worst = max(worst, float((1.0 - margins).max()))
        return max(worst, float(np.abs(lam * (margins - 1.0)).max() / lam.max()))
    above, below = np.maximum(margins - 1.0, 0.0), np.maximum(1.0 - margins, 0.0)
    return max(worst, float((lam * above + (penalty - lam) * below).max() / penalty))


def solved(X, y, *, bias=True, penalty=np.inf, neurons=60, manner=None, seed=0):
    """The interior point from random neurons, and its residual on the samples as they were given."""
    problem = Problem.of(X, y, bias=bias, penalty=penalty)
    U = np.random.default_rng(seed).standard_normal((neurons, problem.X.shape[1])) / np.sqrt(problem.s2)
    s = np.repeat([1.0, -1.0], neurons // 2)
    U *= len(y) / np.abs(problem.margins(U, s)).sum()
    point = interior_point(problem, Neurons(U, s), Budget(), manner=manner)
    assert point is not None
    Xt = np.column_stack([X, np.ones(len(y))]) if bias else X
    order = np.argsort(problem.order)
    residual = worst_residual(Xt, y, problem.ambient(point.U), point.s, point.lam[order], point.mu[order], penalty)
    return point, residual


@pytest.mark.parametrize("manner", ["hard", "soft"])
@pytest.mark.parametrize(("d", "m"), [(3, 50), (5, 60), (10, 80)])
def test_many_samples_to_a_dimension_have_an_exact_point(d: int, m: int, manner) -> None:
    data = Sphere(dimension=d).sample(m, seed=m)
    _, residual = solved(data.X, data.y, neurons=4 * m, manner=manner)
    assert residual < 1e-10


@pytest.mark.parametrize("penalty", [0.3, 3.0, 30.0])
def test_a_soft_margin_caps_the_multipliers(penalty: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(60) > 0, 1.0, -1.0)
    point, residual = solved(X, y, penalty=penalty)
    assert residual < 1e-10
    assert point.lam.max() <= penalty * (1 + 1e-12)


def test_networks_without_bias_have_one_too() -> None:
    data = Sphere(dimension=5).sample(50, seed=2)
    _, residual = solved(data.X, data.y, bias=False, neurons=200)
    assert residual < 1e-10


@pytest.mark.parametrize("factor", [2.0**-20, 2.0**40])
def test_samples_of_any_size_lead_to_the_same_point(factor: float) -> None:
    data = Sphere(dimension=4).sample(30, seed=1)
    problem = Problem.of(data.X, data.y, bias=True)
    U, s = np.random.default_rng(0).standard_normal((120, 5)), np.repeat([1.0, -1.0], 60)
    unit = interior_point(problem, Neurons(U, s), Budget())
    larger = replace(problem, X=factor * problem.X, s2=factor**2 * problem.s2)
    point = interior_point(larger, Neurons(U / factor, s), Budget())
    assert unit is not None
    assert point is not None
    np.testing.assert_array_equal(point.U * factor, unit.U)
    np.testing.assert_array_equal(point.lam * factor, unit.lam)


def test_an_offset_and_close_samples_with_opposite_labels_are_no_obstacle() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), rng.choice([-1.0, 1.0], 30)
    assert mf.kkt_point(Dataset(X=X + 1e3, y=y), width=100, seed=0).exact
    X[1], y[1] = X[0] + 1e-3, -y[0]
    assert mf.kkt_point(Dataset(X=X, y=y), width=100, seed=0).exact


def test_multipliers_are_those_of_a_nonnegative_least_squares_problem() -> None:
    """lambda and mu explain the unit vectors u_j / ||u_j|| as well as SciPy's solver can."""
    data = Sphere(dimension=4).sample(30, seed=5)
    problem = Problem.of(data.X, data.y, bias=True)
    point, _ = solved(data.X, data.y, neurons=120)
    Z = problem.X @ point.U.T
    k, r = point.U.shape
    columns, targets = [], (point.U / np.linalg.norm(point.U, axis=1)[:, None]).ravel()
    kinks = np.abs(Z) <= 1e-9 * np.abs(Z).max(axis=0)
    for i in range(len(problem.y)):
        block = np.zeros((k, r))
        for j in range(k):
            if Z[i, j] > 0 and not kinks[i, j]:
                block[j] = problem.y[i] * point.s[j] * problem.X[i]
        columns.append(block.ravel())
    for i, j in zip(*np.nonzero(kinks), strict=True):
        block = np.zeros((k, r))
        block[j] = problem.y[i] * point.s[j] * problem.X[i]
        columns.append(block.ravel())
    _, distance = nnls(np.array(columns).T, targets)
    assert distance < 1e-9


def test_rows_of_the_start_are_followed_to_rows_of_the_point() -> None:
    data = Sphere(dimension=5).sample(50, seed=1)
    point, _ = solved(data.X, data.y, neurons=200)
    assert point.members.shape == (200,)
    assert point.members.max() == len(point.s) - 1
    signs = np.repeat([1.0, -1.0], 100)
    kept = point.members >= 0
    np.testing.assert_array_equal(point.s[point.members[kept]], signs[kept])


def test_a_start_of_zeros_and_a_deadline_that_has_passed_lead_to_nothing() -> None:
    data = Sphere(dimension=3).sample(20, seed=0)
    problem = Problem.of(data.X, data.y, bias=True)
    s = np.array([1.0, -1.0])
    assert interior_point(problem, Neurons(np.zeros((2, 4)), s), Budget()) is None
    late = Budget(time_limit=1e-9)
    time.sleep(1e-3)
    assert interior_point(problem, Neurons(np.eye(4)[:2], s), late) is None


def test_large_problems_are_not_affordable() -> None:
    data = Sphere(dimension=40).sample(500, seed=0)
    problem = Problem.of(data.X, data.y, bias=True)
    assert affordable(problem, 100)
    assert not affordable(problem, 10_000)


def test_kkt_point_says_that_an_interior_point_was_needed_and_how_far_it_moved() -> None:
    data = Sphere(dimension=5).sample(90, seed=0)
    limit = mf.kkt_point(data, width=100, seed=0)
    assert limit.exact
    assert "interior point" in limit.status
    assert limit.moved is not None
    assert limit.network.width == 100
    assert any(entry.stage == "interior point" for entry in limit.history)


def test_where_one_set_of_other_neurons_leads_to_nothing_the_next_is_tried() -> None:
    """Ten pairs of opposite labels 1e-3 apart, of which the first set of neurons ends on no consistent structure."""
    rng = np.random.default_rng((0, 12, 12))
    X = rng.standard_normal((10, 5))
    near = X + 1e-3 * rng.standard_normal((10, 5)) / np.sqrt(5)
    data = Dataset(X=np.vstack([X, near]), y=np.repeat([1.0, -1.0], 10))
    limit = mf.kkt_point(data, width=100, seed=12)
    assert limit.exact, limit.status
    net, lam, clarke = limit.network, limit.certificate.multipliers, limit.certificate.clarke
    Xt = np.column_stack([data.X, np.ones(20)])
    U = np.abs(net.v)[:, None] * np.column_stack([net.W, net.b])
    assert worst_residual(Xt, data.y, U, np.sign(net.v), lam, lam[:, None] * clarke) < 1e-9


@pytest.mark.parametrize("penalty", [None, 1.0])
def test_few_of_many_samples_decide_and_the_point_is_one_of_all(penalty) -> None:
    data = mf.data.circles(240, seed=5)
    problem = Problem.of(data.X, data.y, bias=True, penalty=np.inf if penalty is None else penalty)
    U = np.random.default_rng(0).standard_normal((60, 3)) / np.sqrt(problem.s2)
    neurons = Neurons(U, np.repeat([1.0, -1.0], 30))
    point = interior_point_of_few(problem, neurons, Budget())
    assert point is not None
    assert 0 < (point.lam > 0).sum() < 120
    residual = worst_residual(
        problem.X, problem.y, point.U, point.s, point.lam, point.mu, np.inf if penalty is None else penalty
    )
    assert residual < 1e-10
    kept = point.members[point.members >= 0]
    assert set(point.s[kept]) == {-1.0, 1.0}
    assert (neurons.s[point.members >= 0] == point.s[kept]).all()


def test_where_nearly_every_sample_decides_all_are_solved_at_once(monkeypatch) -> None:
    solved_with: list[int] = []
    whole = sample_set.interior_point

    def counted(part, *arguments, **options):
        solved_with.append(part.n_samples)
        return whole(part, *arguments, **options)

    monkeypatch.setattr(sample_set, "interior_point", counted)
    data = Sphere(dimension=4).sample(150, seed=1)
    limit = mf.kkt_point(data, width=120, seed=0)
    assert limit.exact
    assert solved_with[0] < 150
    assert solved_with[-1] == 150
