"""Margins made good by the least change of the network, and the matrix that says how margins and neurons move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit import task as task_module
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.restoration import _shortened, best_factor, restored
from marginflow.limit.solver import polish as polish_module
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.polish import polish
from marginflow.limit.starts import flow as flow_module
from marginflow.limit.starts.flow import Flow
from marginflow.limit.tangent import Tangent
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


def on_a_sphere(d: int, m: int, k: int, seed: int) -> tuple[Problem, Neurons]:
    """Random labels, and random neurons of both signs at a typical margin of 1: half of the samples are wrong."""
    data = mf.data.Sphere(dimension=d).sample(m, seed=seed)
    problem = Problem.of(data.X, data.y, bias=True)
    U = np.random.default_rng(seed).normal(size=(k, problem.X.shape[1]))
    s = np.where(np.arange(k) < k // 2, 1.0, -1.0)
    return problem, Neurons(U / np.abs(problem.margins(U, s)).mean(), s)


def jacobian(problem: Problem, U: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Margins by hidden parameters of the balanced network, written out; shape (m, k r)."""
    active = problem.X @ U.T > 0
    roots = np.sqrt(np.linalg.norm(U, axis=1))
    J = (active * problem.y[:, None] * s * roots)[:, :, None] * problem.X[:, None, :]
    return J.reshape(len(problem.X), -1)


@pytest.mark.parametrize("seed", range(3))
def test_the_tangent_is_the_derivative_of_the_margins(seed):
    problem, neurons = on_a_sphere(6, 25, 8, seed)
    U, s = neurons.U, neurons.s
    tangent, J = Tangent(problem.rounded, problem.y, U, s), jacobian(problem, U, s)
    alpha = np.random.default_rng(seed).normal(size=len(problem.y))
    np.testing.assert_allclose(tangent.times(alpha), J @ J.T @ alpha, rtol=0, atol=1e-4 * np.abs(J @ J.T).max())
    np.testing.assert_allclose(tangent.diagonal, (J**2).sum(axis=1), rtol=1e-4)
    # What the pull does to the neurons is what it does to the margins, as long as no pattern changes.
    h = 1e-6
    moved = problem.margins(U + h * tangent.pull(alpha), s) - problem.margins(U, s)
    np.testing.assert_allclose(moved / h, tangent.times(alpha), rtol=0, atol=1e-3 * np.abs(J @ J.T).max())


def test_the_tangent_is_solved_to_the_residual_that_was_asked_for():
    problem, neurons = on_a_sphere(10, 40, 60, 0)
    tangent = Tangent(problem.rounded, problem.y, neurons.U, neurons.s)
    f = np.random.default_rng(1).normal(size=40)
    shift = 1e-3 * float(tangent.diagonal.mean())
    alpha = tangent.solve(f, steps=200, tolerance=1e-4, deadline=np.inf)
    assert np.linalg.norm(tangent.times(alpha) + shift * alpha - f) < 1e-2 * np.linalg.norm(f)
    rough = tangent.solve(f, steps=1, tolerance=1e-4, deadline=np.inf)
    assert np.linalg.norm(tangent.times(rough) + shift * rough - f) > 1e-2 * np.linalg.norm(f)


@pytest.mark.parametrize("seed", range(3))
def test_restored_neurons_separate_samples_that_random_ones_do_not(seed):
    problem, neurons = on_a_sphere(20, 200, 150, seed)
    assert problem.margins(neurons.U, neurons.s).min() < -1.0
    found = restored(problem, neurons.U, neurons.s, enough=0.9)
    margins = problem.margins(found.U, neurons.s)
    assert found.least == pytest.approx(margins.min())
    assert found.least > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_a_change_is_shortened_until_margins_miss_less(seed):
    problem, neurons = on_a_sphere(5, 100, 100, seed)
    U, s = neurons.U, neurons.s
    tangent = Tangent(problem.rounded, problem.y, U, s)
    missing = np.maximum(1.0 - problem.margins(U, s), 0.0)
    change = 30.0 * tangent.pull(tangent.solve(missing, steps=20, tolerance=3e-2, deadline=np.inf))
    length, margins = _shortened(problem, U, s, change, missing, 1.0)
    assert 0.0 < length < 0.1
    np.testing.assert_allclose(margins, problem.margins(U + length * change, s))
    assert np.linalg.norm(np.maximum(1.0 - margins, 0.0)) < np.linalg.norm(missing)
    assert _shortened(problem, U, s, -change, missing, 1.0)[0] == 0.0


def test_samples_that_eight_whole_changes_mostly_leave_on_the_wrong_side_are_separated(monkeypatch):
    """Where whole changes lead is chaos, which other kernels lead elsewhere: of six draws at least half fail."""
    draws = [on_a_sphere(5, 100, 100, seed) for seed in range(6)]
    assert all(restored(problem, neurons.U, neurons.s, enough=0.5).least > 0.0 for problem, neurons in draws)
    room = "marginflow.limit.restoration."
    monkeypatch.setattr(room + "RESTORING_ROUNDS", (8, 8))
    monkeypatch.setattr(room + "_shortened", lambda problem, U, s, change, *_: (1.0, problem.margins(U + change, s)))
    whole = [restored(problem, neurons.U, neurons.s, enough=0.5).least for problem, neurons in draws]
    assert sum(least < 0.0 for least in whole) >= 3


def test_neurons_that_miss_nothing_are_left_alone():
    problem, neurons = on_a_sphere(20, 60, 150, 0)
    U = restored(problem, neurons.U, neurons.s, enough=0.9).U
    enough = 1.2 * U / problem.margins(U, neurons.s).min()
    assert restored(problem, enough, neurons.s, enough=0.9).U is enough


def test_without_time_nothing_changes():
    problem, neurons = on_a_sphere(20, 60, 150, 0)
    assert restored(problem, neurons.U, neurons.s, enough=0.9, deadline=0.0).U is neurons.U


def test_multipliers_follow_the_neurons(monkeypatch):
    """u_j - t_j sum_i sigma_ij mu_ij x_i is the same before and after, where no weight is cut off and t stays."""
    monkeypatch.setattr("marginflow.limit.restoration.RESTORING_ROUNDS", (1, 1))
    problem, neurons = on_a_sphere(20, 60, 150, 0)
    U, s = neurons.U, neurons.s
    active = problem.X @ U.T > 0
    lam = np.full(60, 1e3)
    found = restored(problem, U, s, enough=0.9, multipliers=(lam, lam[:, None] * active))
    sigma, t = problem.y[:, None] * s, np.linalg.norm(U, axis=1)
    pulled = t[:, None] * ((found.mu - lam[:, None] * active) * sigma).T @ problem.X
    assert np.abs(found.U - U).max() > 1e-3
    np.testing.assert_allclose(found.U - U, pulled, rtol=0, atol=1e-4 * np.abs(pulled).max())
    assert (found.mu <= found.lam[:, None]).all()


def test_multipliers_that_are_all_too_large_are_scaled():
    problem, neurons = on_a_sphere(20, 20, 30, 0)
    exact = polish(problem, neurons)
    assert exact.exact
    assert best_factor(problem, exact.U, exact.s, exact.mu) == pytest.approx(1.0, abs=1e-9)
    assert best_factor(problem, 7.0 * exact.U, exact.s, 3.0 * exact.mu) == pytest.approx(1.0 / 3.0, abs=1e-9)
    assert best_factor(problem, exact.U, exact.s, -exact.mu) == 1.0


def test_a_flow_that_does_not_separate_the_samples_is_made_to_where_no_interior_point_follows(monkeypatch):
    data = mf.data.Sphere(dimension=20).sample(200, seed=3)
    start = TwoLayer.initialise(100, 20, scale=0.01, seed=3)
    monkeypatch.setattr(task_module, "FLOW_DEAREST", 1.0)  # 60 steps of 0.1, which do not separate them
    monkeypatch.setattr(task_module, "FLOW_CHEAP", 1.0)
    task = Task(data, start)
    network = task.flow(None, Budget()).network
    assert network.margins(task.X, task.data.y).min() < 0
    as_it_is = Flow().propose(task, Budget())
    monkeypatch.setattr(flow_module, "affordable", lambda problem, k: False)
    made_good = Flow().propose(task, Budget())
    assert task.problem.margins(as_it_is.neurons.U, as_it_is.neurons.s).min() < 0
    assert not as_it_is.feasible
    problem, (U, s), lam = task.problem, (made_good.neurons.U, made_good.neurons.s), made_good.multipliers
    assert problem.margins(U, s).min() > 0.5
    assert made_good.feasible
    assert best_factor(problem, U, s, lam[:, None] * (problem.X @ U.T > 0)) == pytest.approx(1.0)


def test_a_pattern_that_was_made_to_satisfy_the_margins_is_kept_until_iterates_do():
    problem, neurons = on_a_sphere(20, 200, 150, 0)
    U = restored(problem, neurons.U, neurons.s, enough=0.9).U
    poor = np.full(200, 1e-3)  # multipliers that let the neurons shrink
    patient, hasty = (
        Admm(problem, replace(neurons, U=U), poor, weight=0.01, balanced_from=10**6, feasible=feasible)
        for feasible in (True, False)
    )
    for admm in (patient, hasty):
        admm.run(1)  # merges equal patterns
    first = patient.A.copy()
    for admm in (patient, hasty):
        admm.run(130)
        assert problem.margins(admm.U, admm.s).min() < 0.5
    np.testing.assert_array_equal(patient.A, first)
    assert hasty.A.shape != first.shape or (hasty.A != first).any()


def test_the_last_iterate_of_a_polish_that_time_ends_is_made_to_separate_the_samples():
    problem, neurons = on_a_sphere(20, 200, 300, 5)
    admm = Admm(problem, neurons, problem.warm_multipliers(neurons.U, neurons.s), precision="single")
    best = polish_module._iterate(admm)
    assert problem.margins(best.U, best.s).min() < 0
    admm.run(10)
    found = polish_module._restored(admm, best, np.inf, np.inf)
    assert problem.margins(found.U, found.s).min() > 0.5
    cheaper = np.linalg.norm(found.U, axis=1).sum() / 1e3
    assert polish_module._restored(admm, best, cheaper, np.inf) is best


@pytest.mark.parametrize("limit", [1e6, None])
@pytest.mark.parametrize("penalty", [np.inf, 1.0])
@pytest.mark.parametrize("large", [1.0, 1e12])
def test_time_is_kept_for_it_where_there_is_a_limit_and_iterations_are_dear(monkeypatch, limit, penalty, large):
    monkeypatch.setattr(polish_module, "FLOW_LARGE_STEP", large)
    problem, neurons = on_a_sphere(10, 40, 20, 0)
    problem = replace(problem, penalty=penalty)
    admm, budget = Admm(problem, neurons), Budget(time_limit=limit)
    before = budget.deadline
    kept = polish_module._keep_time(admm, budget, 1)
    asked = limit is not None and np.isinf(penalty) and large == 1.0
    assert (kept > 0.0) == asked
    assert (budget.deadline < before) == asked


def test_no_more_time_is_kept_than_there_is(monkeypatch):
    """Half of what is left, where an iteration took longer than that."""
    monkeypatch.setattr(polish_module, "FLOW_LARGE_STEP", 1.0)
    monkeypatch.setattr(polish_module, "RESTORING_KEPT", 1e12)
    problem, neurons = on_a_sphere(10, 40, 20, 0)
    budget = Budget(time_limit=1e6)
    before = budget.deadline
    kept = polish_module._keep_time(Admm(problem, neurons), budget, 1)
    assert kept == before - budget.deadline
    assert 0.0 < kept <= 0.5e6


def test_a_large_polish_ends_with_what_was_made_good(monkeypatch):
    monkeypatch.setattr(polish_module, "FLOW_LARGE_STEP", 1.0)
    problem, neurons = on_a_sphere(20, 200, 300, 5)
    given = []

    def spy(admm, best, best_value, deadline):
        given.append((admm.iterations, deadline))
        return best

    monkeypatch.setattr(polish_module, "_restored", spy)
    found = polish(problem, neurons, Budget(time_limit=1e6), max_iterations=1)
    assert not found.exact
    assert given[0][0] == found.iterations
    polish(problem, neurons, Budget(), max_iterations=1)
    assert len(given) == 1
