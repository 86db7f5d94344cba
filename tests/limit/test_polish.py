"""From nearly a KKT point to an exact one: the loop of ADMM and Newton, its history, its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Orthogonal, Sphere
from marginflow.flow import angle_flow
from marginflow.limit import budget as budget_room
from marginflow.limit import orthogonal
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.solver import balance
from marginflow.limit.solver import collapse as collapse_room
from marginflow.limit.solver import polish as polish_room
from marginflow.limit.solver import schedule as schedule_room
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.collapse import Collapse
from marginflow.limit.solver.pairs import ACTIVE, KINK
from marginflow.limit.solver.polish import Polished, identify, polish
from marginflow.limit.solver.schedule import Schedule
from marginflow.networks import TwoLayer


def after_a_flow(
    data: Dataset, *, width: int, seed: int, steps: int = 150, penalty: float = np.inf
) -> tuple[Problem, Neurons]:
    net = TwoLayer.initialise(width, data.dimension, scale=0.01, seed=seed)
    end = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=steps, angle=0.05)
    network = replace(net, W=end.W, b=end.b, v=end.v)
    problem = Problem.of(data.X, data.y, bias=True, penalty=penalty)
    U = problem.reduced(network.directions) / network.margins(data.X, data.y).mean()
    neurons = Neurons(U, network.signs)
    return problem, add_up(neurons, gather(U, network.signs, 40))


def stationarity(problem: Problem, found: Polished) -> float:
    """max_j || u_j / ||u_j|| - s_j sum_i y_i mu_ij x_i ||."""
    pull = found.s[:, None] * ((problem.y[:, None] * found.mu).T @ problem.X)
    return float(np.abs(found.U / np.linalg.norm(found.U, axis=1, keepdims=True) - pull).max())


@pytest.mark.parametrize("seed", range(4))
def test_the_polished_point_is_stationary_feasible_and_without_duality_gap(seed):
    problem, neurons = after_a_flow(Sphere(dimension=15).sample(20, seed=seed), width=50, seed=seed)
    found = polish(problem, neurons)
    assert found.exact
    assert stationarity(problem, found) < 1e-10
    assert problem.margins(found.U, found.s).min() >= 1 - 1e-11
    assert found.lam.sum() == pytest.approx(np.linalg.norm(found.U, axis=1).sum(), rel=1e-12)
    assert (found.lam[problem.margins(found.U, found.s) > 1 + 1e-9] == 0).all()


def test_starting_at_an_exact_point_changes_nothing():
    data = Orthogonal(dimension=12).sample(10, seed=3)
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    start = Neurons(problem.reduced(exact.network.directions), exact.network.signs)
    found = polish(problem, start, multipliers=exact.multipliers[problem.order])
    assert found.exact
    np.testing.assert_allclose(problem.ambient(found.U), exact.network.directions, atol=1e-13)
    np.testing.assert_allclose(found.lam, exact.multipliers[problem.order], rtol=1e-12)
    assert found.members.tolist() == [0, 1]


def test_the_structure_is_read_off_where_the_proximal_maps_put_it():
    data = Orthogonal(dimension=12).sample(10, seed=3)
    problem, neurons = after_a_flow(data, width=30, seed=0)
    admm = Admm(problem, neurons, problem.warm_multipliers(neurons.U, neurons.s))
    admm.run(2000)
    structure = identify(admm)
    same = problem.y[:, None] == structure.s
    assert (structure.state[same] == ACTIVE).all()
    assert (structure.state[~same] == KINK).all()  # [VYS22, X.orthKKT]: every opposite pair sits on a kink
    assert structure.free.all()
    assert not structure.capped.any()
    np.testing.assert_allclose(structure.lam, orthogonal(data).multipliers[problem.order], rtol=1e-6)


def test_neurons_that_the_solution_does_not_use_are_members_of_nothing():
    problem, neurons = after_a_flow(Sphere(dimension=15).sample(20, seed=1), width=50, seed=1)
    found = polish(problem, neurons)
    assert found.members.shape == neurons.s.shape
    assert set(found.members.tolist()) <= set(range(-1, len(found.s)))
    kept = found.members >= 0
    assert (found.s[found.members[kept]] == neurons.s[kept]).all()
    assert len(found.s) <= len(neurons.s)


def test_history_and_progress_tell_the_same():
    problem, neurons = after_a_flow(Sphere(dimension=15).sample(20, seed=2), width=50, seed=2)
    seen: list[Progress] = []
    found = polish(problem, neurons, Budget(progress=seen.append))
    assert tuple(seen) == found.history
    assert seen
    iterations = [entry.iteration for entry in seen]
    assert iterations == sorted(iterations)
    assert found.iterations == iterations[-1]
    assert found.newton_steps > 0
    assert seen[-1].objective == pytest.approx(found.lam.sum(), rel=0.05)


def test_a_deadline_in_the_past_returns_the_best_point_so_far():
    problem, neurons = after_a_flow(Sphere(dimension=30).sample(40, seed=0), width=60, seed=0, steps=400)
    found = polish(problem, neurons, Budget(time_limit=0.0))
    assert not found.exact
    assert len(found.s) > 0
    assert problem.margins(found.U, found.s).min() > 0  # the flow had separated the data, and that is not lost
    assert found.iterations <= 10


def test_a_longer_search_never_returns_a_worse_point():
    problem, neurons = after_a_flow(Sphere(dimension=30).sample(40, seed=0), width=60, seed=0, steps=400)
    values = []
    for most in (10, 100, 2000):
        found = polish(problem, neurons, max_iterations=most)
        values.append(np.linalg.norm(found.U, axis=1).sum() / problem.margins(found.U, found.s).min())
    start = np.linalg.norm(neurons.U, axis=1).sum() / problem.margins(neurons.U, neurons.s).min()
    assert values == sorted(values, reverse=True)
    assert values[0] <= start * (1 + 1e-12)
    assert values[-1] < 0.9 * start


def test_a_pattern_that_cannot_separate_ends_in_bounded_time():
    """x and 2x with opposite labels, no bias: the multipliers grow without bound, and that is noticed."""
    problem = Problem.of(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([1.0, -1.0]), bias=False)
    start = Neurons(problem.reduced(np.array([[0.5, 0.5], [0.3, 0.1]])), np.array([1.0, -1.0]))
    found = polish(problem, start)
    assert not found.exact
    assert found.iterations < 20_000


def test_an_interrupt_keeps_the_best_point():
    problem, neurons = after_a_flow(Sphere(dimension=15).sample(20, seed=2), width=50, seed=2)

    def ctrl_c(_: Progress) -> None:
        raise KeyboardInterrupt

    budget = Budget(progress=ctrl_c)
    found = polish(problem, neurons, budget)
    assert budget.stopped_by == "interrupt"
    assert not found.exact
    assert len(found.s) > 0


def test_how_busy_the_machine_is_changes_no_bit(monkeypatch):
    """A made-up clock on which Newton takes no time or for ever; a point that depends on seconds is not reproducible.

    The first attempts are declared failures, so that there is something to decide about the later ones."""
    problem, neurons = after_a_flow(Sphere(dimension=10).sample(40, seed=1), width=60, seed=1)
    newton, ends = polish_room.newton, []

    class Clock:
        now, calls = 0.0, 0

        def monotonic(self) -> float:
            self.now += 1e-3
            return self.now

    for cost in (0.0, 1e9):
        clock = Clock()

        def slow_newton(*args, clock=clock, cost=cost, **kwargs):
            clock.now += cost
            clock.calls += 1
            result = newton(*args, **kwargs)
            return replace(result, converged=result.converged and clock.calls > 3)

        monkeypatch.setattr(budget_room, "time", clock)
        monkeypatch.setattr(polish_room, "newton", slow_newton)
        found = polish(problem, neurons)
        ends.append((clock.calls, found.iterations, found.U.tobytes(), found.lam.tobytes()))
    assert ends[0] == ends[1]
    assert ends[0][0] > 3


@pytest.mark.parametrize("weight", [0.1, 10.0])
def test_an_anchor_is_gone_at_the_end(weight):
    problem, neurons = after_a_flow(Sphere(dimension=15).sample(20, seed=0), width=50, seed=0)
    found = polish(problem, neurons, anchor_weight=weight / float(np.linalg.norm(neurons.U, axis=1).mean()))
    assert found.exact
    assert stationarity(problem, found) < 1e-10


def test_a_soft_margin_pays_for_what_it_leaves_out():
    problem, neurons = after_a_flow(Sphere(dimension=6).sample(40, seed=0), width=40, seed=0, penalty=0.15)
    found = polish(problem, neurons)
    assert found.exact
    assert found.lam.max() == 0.15
    short = np.maximum(1 - problem.margins(found.U, found.s), 0.0)
    assert short.max() > 0.01
    assert (found.lam[short > 1e-9] == 0.15).all()
    primal = np.linalg.norm(found.U, axis=1).sum() + 0.15 * short.sum()
    assert found.lam.sum() == pytest.approx(primal, rel=1e-12)


def live_without_multipliers_at_first(monkeypatch: pytest.MonkeyPatch, seed: int, max_iterations: int) -> list[int]:
    """Live neurons after each round; random labels, d = 10, m = 200, where the first multipliers are zero."""
    warm, calls = Problem.warm_multipliers, []

    def cold(problem: Problem, U, s, **options):
        calls.append(U)
        return np.zeros(len(problem.y)) if len(calls) == 1 else warm(problem, U, s, **options)

    data = Sphere(dimension=10, labels="both").sample(200, seed=seed)
    with monkeypatch.context() as patch:
        patch.setattr(Problem, "warm_multipliers", cold)
        limit = mf.kkt_point(data, width=150, starts=["fine bundles"], max_iterations=max_iterations)
    return [entry.live_neurons for entry in limit.history]


def test_a_weight_that_balances_the_residuals_keeps_some_starts_from_collapsing(monkeypatch):
    """Which of them is a matter of last bits, that all of them collapse without it is not."""
    balanced = [live_without_multipliers_at_first(monkeypatch, seed, 60)[0] for seed in range(6)]
    monkeypatch.setattr(balance, "BALANCED_FROM", -1.0)
    steady = [live_without_multipliers_at_first(monkeypatch, seed, 60)[0] for seed in range(6)]
    assert max(steady) <= 2
    assert max(balanced) > 20


def test_a_collapse_to_two_neurons_is_noticed_and_undone(monkeypatch):
    monkeypatch.setattr(balance, "BALANCED_FROM", -1.0)
    live = live_without_multipliers_at_first(monkeypatch, 0, 400)
    assert live[0] <= 2
    assert min(live[1:]) > 20


def test_without_the_way_back_a_collapse_is_for_ever(monkeypatch):
    monkeypatch.setattr(balance, "BALANCED_FROM", -1.0)
    monkeypatch.setattr(collapse_room, "MOST_UNDONE", 0)
    assert max(live_without_multipliers_at_first(monkeypatch, 0, 400)) <= 2


def test_a_sound_run_has_not_collapsed():
    problem, neurons = after_a_flow(Sphere(dimension=30).sample(40, seed=0), width=60, seed=0)
    admm = Admm(problem, neurons, problem.warm_multipliers(neurons.U, neurons.s))
    collapse = Collapse(admm)
    for _ in range(10):
        admm.run(60)
        assert not collapse.noticed(admm)
        collapse.remember(admm)
    assert int((admm.t > 0).sum()) < len(neurons.s)


def test_a_round_ends_early_once_residuals_are_far_below_those_of_the_last_try():
    problem, neurons = after_a_flow(Sphere(dimension=10).sample(10, seed=0), width=20, seed=0)
    admm = Admm(problem, neurons, problem.warm_multipliers(neurons.U, neurons.s))
    schedule = Schedule(problem, 0.0)
    admm.flips = 0
    admm.primal_residual = admm.dual_residual = 5e-3
    assert not schedule.round_is_over(admm)  # the first round has its length
    admm.iterations = 100
    assert schedule.round_is_over(admm)  # nothing was tried yet
    schedule.admm_worked(1000, len(admm.s))
    schedule.newton_worked(identify(admm), 1, admm)
    assert not schedule.round_is_over(admm)
    admm.primal_residual = admm.dual_residual = 5e-4
    assert schedule.round_is_over(admm)


def test_large_problems_come_to_newtons_method_later(monkeypatch):
    problem, neurons = after_a_flow(Sphere(dimension=10).sample(10, seed=0), width=20, seed=0)
    admm = Admm(problem, neurons, problem.warm_multipliers(neurons.U, neurons.s))
    admm.flips = 0
    admm.primal_residual = admm.dual_residual = 5e-3
    schedule = Schedule(problem, 0.0)
    assert schedule.newton_is_due(admm)
    monkeypatch.setattr(schedule_room.settings, "LARGE_STEP", 1.0)
    assert not schedule.newton_is_due(admm)
    admm.primal_residual = admm.dual_residual = 2e-3
    assert schedule.newton_is_due(admm)


def test_a_polish_that_begins_at_a_point_with_its_weights_ends_there():
    problem, neurons = after_a_flow(Sphere(dimension=30).sample(30, seed=1), width=60, seed=1)
    first = polish(problem, neurons)
    again = polish(problem, Neurons(first.U, first.s), multipliers=first.lam, weights=first.mu)
    assert first.exact
    assert again.exact
    np.testing.assert_allclose(again.U, first.U, atol=1e-9)
    np.testing.assert_allclose(again.mu, first.mu, atol=1e-9)


def test_where_an_iteration_takes_long_the_clock_is_looked_at_after_each(monkeypatch):
    problem, neurons = after_a_flow(Sphere(dimension=20).sample(20, seed=2), width=40, seed=2)
    whole = polish(problem, neurons)
    monkeypatch.setattr(polish_room, "FLOW_LARGE_STEP", 1.0)
    one_by_one = polish(problem, neurons)
    np.testing.assert_array_equal(one_by_one.U, whole.U)
    budget = Budget()
    budget.deadline = -1.0
    assert polish(problem, neurons, budget).iterations == 1
