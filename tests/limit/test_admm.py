"""ADMM on the convex problem (C), judged by duality, by hand-solved cases and by the procedure that it speeds up."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.certificates import certify
from marginflow.data import Dataset, Sphere
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.solver import admm as admm_room
from marginflow.limit.solver import balance
from marginflow.limit.solver.admm import Admm
from marginflow.networks import TwoLayer
from marginflow.threads import one_thread, share


def own_labels(
    seed: int, *, m: int = 15, d: int = 6, k: int = 8, bias: bool = True, penalty: float = np.inf, frozen: bool = False
) -> tuple[Problem, Neurons, np.ndarray]:
    """Samples labelled by a random network, and that network: (C) of its own pattern is feasible."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(k, d + bias))
    s = np.r_[np.ones(k // 2), -np.ones(k - k // 2)]
    X = rng.normal(size=(20 * m, d))
    values = TwoLayer.from_directions(U, s, bias=bias)(X)
    chosen = np.r_[np.argsort(values)[: m // 2], np.argsort(-values)[: m - m // 2]]
    problem = Problem.of(X[chosen], np.sign(values[chosen]), bias=bias, penalty=penalty)
    U = problem.reduced(U)
    U = U / problem.margins(U, s).min()
    return problem, Neurons(U, s, rng.random(k) + 0.2 if frozen else None), X[chosen]


def pattern_of(problem: Problem, neurons: Neurons) -> np.ndarray:
    return problem.X @ neurons.U.T > 0


def primal_and_dual(admm: Admm, A: np.ndarray) -> tuple[float, float]:
    """Values of (C) with pattern A at a feasible primal and a feasible dual point made from the iterate.

    Nothing of ADMM enters but U and the multipliers: U is scaled until every margin of (C) is 1 (hard margin),
    lambda and mu are clipped to [0, C] and [0, lambda] and scaled until every neuron's constraint holds.
    """
    problem, U, s = admm.problem, admm.U, admm.s
    C, a2 = problem.penalty, admm.a2
    same = problem.y[:, None] == s
    Z = problem.X @ U.T
    margins = np.where(same, A * Z, -np.maximum(Z, 0.0)).sum(axis=1)
    lengths = np.linalg.norm(U, axis=1)
    scale = 1.0 if np.isfinite(C) else 1.0 / margins.min()
    cost = scale * lengths.sum() if a2 is None else 0.5 * (scale**2 * lengths**2 / a2).sum()
    primal = cost + (C * np.maximum(1.0 - margins, 0.0).sum() if np.isfinite(C) else 0.0)
    lam = np.clip(admm.multipliers, 0.0, C)
    mu = np.where(same, lam[:, None] * A, np.clip(admm.rho * admm.Y, 0.0, lam[:, None]))
    pull = np.linalg.norm((problem.y[:, None] * mu).T @ problem.X, axis=1)
    if a2 is not None:
        return float(primal), float(lam.sum() - 0.5 * (a2 * pull**2).sum())
    return float(primal), float(lam.sum() / max(1.0, pull.max()))


def settle(admm: Admm, A: np.ndarray | None, *, most: int, enough: float) -> tuple[float, float]:
    """Run until the values of (C) meet, with the pattern A that is kept, or with the own one that is refreshed."""
    for _ in range(0, most, 250):
        admm.run(250, refresh=A is None)
        primal, dual = primal_and_dual(admm, admm.A if A is None else A)
        if primal - dual <= enough * primal and (A is not None or admm.flips == 0):
            break
    return primal, dual


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("penalty", [np.inf, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_primal_and_dual_values_of_the_convex_problem_meet(seed, penalty, frozen, bias):
    problem, neurons, _ = own_labels(seed, bias=bias, penalty=penalty, frozen=frozen)
    admm = Admm(problem, neurons)
    primal, dual = settle(admm, admm.A.copy(), most=4000, enough=1e-9)
    assert dual <= primal * (1 + 1e-12)
    assert primal - dual <= 1e-9 * primal
    lam = admm.multipliers
    assert lam.min() >= 0.0
    assert lam.max() <= penalty * (1 + 1e-12)


def test_two_orthogonal_samples_by_hand():
    """x_1 = 2 e_1 (+), x_2 = e_2 (-): u_1 = e_1 / 2, u_2 = e_2, objective 3/2, lambda = (1/2, 1)."""
    problem = Problem.of(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), bias=False)
    start = Neurons(problem.reduced(np.array([[1.0, 0.1], [-0.2, 3.0]])), np.array([1.0, -1.0]))
    admm = Admm(problem, start)
    admm.run(2000)
    np.testing.assert_allclose(problem.ambient(admm.U), [[0.5, 0.0], [0.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(admm.multipliers, [0.5, 1.0], rtol=1e-12)
    assert admm.objective == pytest.approx(1.5, rel=1e-12)


def test_two_orthogonal_samples_with_frozen_outputs_by_hand():
    """min ||u||^2 / (2 a^2) subject to x . u >= 1: u = x / ||x||^2, lambda = 1 / (a ||x||)^2."""
    problem = Problem.of(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), bias=False)
    start = Neurons(problem.reduced(np.eye(2)), np.array([1.0, -1.0]), np.array([0.25, 4.0]))
    admm = Admm(problem, start)
    admm.run(2000)
    np.testing.assert_allclose(problem.ambient(admm.U), [[0.5, 0.0], [0.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(admm.multipliers, [1.0, 0.25], rtol=1e-10)
    assert admm.objective == pytest.approx(0.5 + 0.125, rel=1e-10)


@pytest.mark.parametrize("penalty", [0.3, 0.7])
def test_a_soft_margin_caps_the_multipliers_by_hand(penalty):
    """One sample of norm 2 a class: lambda = 1/2 if C allows it, otherwise the neuron is not worth its cost."""
    problem = Problem.of(2.0 * np.eye(2), np.array([1.0, -1.0]), bias=False, penalty=penalty)
    admm = Admm(problem, Neurons(problem.reduced(np.eye(2)), np.array([1.0, -1.0])))
    admm.run(3000)
    np.testing.assert_allclose(admm.multipliers, min(penalty, 0.5), rtol=1e-9)
    assert admm.objective == pytest.approx(1.0 if penalty > 0.5 else 0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_rounds_of_the_convex_concave_procedure_never_raise_the_objective_and_come_to_rest_at_a_kkt_point(seed):
    """Facts 1 and 2: each convex optimum is feasible for (P), the next starts from it, patterns are finitely many."""
    problem, neurons, samples = own_labels(seed, m=12, d=5, k=8)
    objectives, patterns = [np.linalg.norm(neurons.U, axis=1).sum()], []
    for _ in range(30):
        admm = Admm(problem, neurons)
        settle(admm, admm.A.copy(), most=6000, enough=1e-10)
        U = np.where((np.abs(problem.X @ admm.U.T) > 1e-8).any(axis=0)[:, None], admm.U, 0.0)
        assert problem.margins(U, admm.s).min() >= 1 - 1e-7
        objectives.append(admm.objective)
        same = problem.y[:, None] == admm.s
        patterns.append((problem.X @ U.T > 1e-8) & same & (admm.t > 1e-8))
        if len(patterns) > 1 and (patterns[-1] == patterns[-2]).all():
            break
        live = admm.t > 1e-8
        neurons = Neurons(admm.U[live] * (1 + 1e-12), admm.s[live])
        patterns[-1] = patterns[-1][:, live]
    else:
        pytest.fail("patterns did not come to rest in 30 rounds")
    assert (np.diff(objectives) <= 1e-7 * objectives[0]).all()
    assert objectives[-1] < 0.99 * objectives[0]  # and it did something
    live = admm.t > 1e-8
    network = TwoLayer.from_directions(problem.ambient(admm.U[live]), admm.s[live], bias=True)
    y = np.empty(len(samples))
    y[problem.order] = problem.y
    certificate = certify(network, Dataset(X=samples, y=y), kink_tolerance=1e-6)
    assert certificate.stationarity < 1e-5
    assert certificate.complementarity < 1e-5
    assert certificate.multipliers.sum() == pytest.approx(objectives[-1], rel=1e-5)  # fact 3


@pytest.mark.parametrize("seed", range(2))
def test_refreshing_the_pattern_inside_one_run_ends_at_the_convex_problem_of_its_own_pattern(seed):
    problem, neurons, _ = own_labels(seed, m=20, d=8, k=12)
    admm = Admm(problem, neurons)
    primal, dual = settle(admm, None, most=6000, enough=1e-9)
    assert admm.flips == 0
    same = problem.y[:, None] == admm.s
    clear = np.abs(problem.X @ admm.U.T) > 1e-7
    assert ((problem.X @ admm.U.T > 0) == admm.A)[same & clear].all()
    assert primal - dual <= 1e-8 * primal
    assert problem.margins(admm.U, admm.s).min() >= 1 - 1e-8


@pytest.mark.parametrize("penalty", [np.inf, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_neurons_with_weights_of_their_own_end_at_the_convex_problem_of_their_pattern(seed, penalty, monkeypatch):
    monkeypatch.setattr(balance, "UNEVEN_FROM", 0.0)
    problem, neurons, _ = own_labels(seed, penalty=penalty)
    admm = Admm(problem, neurons)
    primal, dual = settle(admm, None, most=6000, enough=1e-8)
    assert admm.flips == 0
    assert (admm.scales != 1.0).any()
    assert primal - dual <= 1e-8 * primal


def test_a_neuron_that_is_zero_keeps_its_pattern_unless_samples_are_many(monkeypatch):
    problem, neurons, _ = own_labels(0)
    for most, kept in ((np.inf, True), (0.0, False)):
        monkeypatch.setattr(admm_room, "ASLEEP_UP_TO", most)
        admm = Admm(problem, neurons)
        admm.idle[0] = 1
        admm.U[0] = admm.t[0] = 0.0
        pattern = admm.A[:, 0].copy()
        admm._refresh(problem.X @ admm.U.T)
        assert (admm.A[:, 0] == pattern).all() == kept
        assert pattern.any()


def test_merging_keeps_track_of_every_neuron_of_the_start():
    problem, neurons, _ = own_labels(1, m=10, d=4, k=6)
    doubled = Neurons(np.repeat(neurons.U, 2, axis=0) * np.tile([[0.25], [0.75]], (6, 1)), np.repeat(neurons.s, 2))
    admm = Admm(problem, doubled)
    before = problem.margins(admm.U, admm.s)
    admm.merge()
    assert len(admm.s) <= 6
    assert (admm.members[::2] == admm.members[1::2]).all()
    for j in range(len(admm.s)):
        np.testing.assert_allclose(admm.U[j], doubled.U[admm.members == j].sum(axis=0), rtol=1e-12)
        assert set(doubled.s[admm.members == j]) == {admm.s[j]}
    assert (problem.margins(admm.U, admm.s) >= before - 1e-12).all()
    assert admm.Z.shape == admm.Y.shape == admm.A.shape == (10, len(admm.s))
    admm.run(2000, refresh=False)
    primal, dual = primal_and_dual(admm, admm.A)
    assert primal - dual <= 1e-8 * primal


def test_rows_of_pairs_stay_contiguous_when_neurons_are_merged_and_dropped():
    problem, neurons, _ = own_labels(1, m=10, d=4, k=6)
    admm = Admm(problem, Neurons(np.repeat(neurons.U, 2, axis=0), np.repeat(neurons.s, 2)))
    admm.merge()
    merged = len(admm.s)
    assert merged <= 6
    assert all(pairs.flags.c_contiguous for pairs in (admm.Z, admm.Y, admm.A))
    admm.idle[0] = 1000
    admm.drop_idle()
    assert len(admm.s) == merged - 1
    assert all(pairs.flags.c_contiguous for pairs in (admm.Z, admm.Y, admm.A))


def test_neurons_that_stay_zero_are_dropped_but_never_the_last_of_a_sign():
    problem, neurons, _ = own_labels(2, k=10)
    admm = Admm(problem, neurons)
    admm.idle[:] = 1000
    admm.idle[3] = 999
    admm.drop_idle()
    assert admm.s.tolist() == [1.0, -1.0]
    assert (admm.members >= 0).sum() == 2
    assert admm.members[3] == 0
    frozen = Admm(problem, Neurons(neurons.U, neurons.s, np.ones(10)))
    frozen.idle[:] = 1000
    frozen.drop_idle()
    assert len(frozen.s) == 10  # a frozen output keeps its neuron


def test_a_sample_that_no_same_neuron_reaches_gets_the_one_that_comes_closest():
    """Otherwise (C) has no feasible point; a soft margin may leave the sample behind."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    y = np.array([1.0, 1.0, -1.0])
    start = np.array([[1.0, 0.2], [0.5, 0.2], [0.0, 1.0]])
    for penalty, reached in ((np.inf, True), (1.0, False)):
        problem = Problem.of(X, y, bias=False, penalty=penalty)
        admm = Admm(problem, Neurons(problem.reduced(start), np.array([1.0, 1.0, -1.0])))
        row = int(np.flatnonzero(problem.order == 1)[0])
        assert admm.A[row, :2].any() == reached
        assert not admm.A[row, 0]  # -1 there, -1/2 at the other one


def test_an_anchor_holds_the_neurons_where_they_began():
    problem, neurons, _ = own_labels(3)
    moved = []
    for weight in (0.0, 1.0, 1e3, 1e6):
        admm = Admm(problem, neurons, anchor_weight=weight)
        admm.run(400, refresh=False)
        moved.append(float(np.linalg.norm(admm.U - neurons.U) / np.linalg.norm(neurons.U)))
    assert moved == sorted(moved, reverse=True)
    assert moved[0] > 0.1
    assert moved[-1] < 1e-3


def test_warm_multipliers_start_the_dual_where_they_say():
    problem, neurons, _ = own_labels(4, penalty=0.5)
    lam = np.linspace(0.0, 1.0, problem.n_samples)
    np.testing.assert_allclose(Admm(problem, neurons, lam).multipliers, np.minimum(lam, 0.5), rtol=1e-12)
    assert not Admm(problem, neurons).multipliers.any()


def test_the_same_start_gives_the_same_bits():
    ends = []
    for _ in range(2):
        problem, neurons, _ = own_labels(5)
        admm = Admm(problem, neurons)
        admm.run(300)
        ends.append((admm.U.tobytes(), admm.tau.tobytes(), admm.members.tobytes()))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_single_precision_finds_the_same_samples_at_the_penalty_and_the_same_value(seed, frozen):
    problem, neurons, _ = own_labels(seed, penalty=0.05, frozen=frozen)
    double, single = Admm(problem, neurons), Admm(problem, neurons, precision="single")
    for admm in (double, single):
        admm.run(2000, refresh=False)
    assert double.capped.any()  # otherwise this says nothing
    assert np.array_equal(single.capped, double.capped)
    assert single.objective == pytest.approx(double.objective, rel=1e-4)


def test_sharpening_goes_on_to_double_precision_from_where_single_precision_ends():
    problem, neurons, _ = own_labels(0)
    admm = Admm(problem, neurons, precision="single")
    A = admm.A.copy()
    assert not admm.exhausted
    admm.run(1500, refresh=False)
    primal, dual = primal_and_dual(admm, A)
    before = primal - dual
    admm.sharpen()
    assert admm.U.dtype == admm.Z.dtype == admm.tau.dtype == np.float64
    assert not admm.exhausted
    primal, dual = settle(admm, A, most=4000, enough=1e-9)
    assert primal - dual <= 1e-9 * primal
    assert primal - dual < before


def test_a_run_that_begins_with_the_weights_of_another_goes_on_from_there():
    problem, neurons, _ = own_labels(0)
    first = Admm(problem, neurons)
    first.run(4000, refresh=False)
    left = Neurons(first.U, first.s)
    again = Admm(problem, left, first.multipliers, weights=first.weights)
    forgotten = Admm(problem, left, first.multipliers)
    for admm in (again, forgotten):
        admm.A[:] = first.A
        admm._pattern_changed()
        admm.run(1, refresh=False)
    moved = [float(np.abs(admm.U - first.U).max()) for admm in (again, forgotten)]
    assert moved[0] < 1e-9
    assert moved[1] > 1e-6  # otherwise this says nothing
    assert first.weights.min() >= 0.0


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("penalty", [np.inf, 0.5])
def test_neither_the_number_of_threads_nor_the_order_of_parts_changes_a_bit(monkeypatch, precision, penalty):
    """Large enough to be shared; threads that come late take whatever is left."""
    data = Sphere(dimension=60).sample(400, seed=3)
    problem = Problem.of(data.X, data.y, bias=True, penalty=penalty)
    rng, k = np.random.default_rng(1), 1300
    neurons = Neurons(rng.standard_normal((k, 61)) / k, np.where(np.arange(k) < 700, 1.0, -1.0))
    shared, ends = [], []

    def backwards(work, parts, threads=None):
        shared.append(len(parts))
        for part in reversed(parts):
            work(part)

    def by_two(work, parts, threads=None):
        share(work, parts, 2)

    for way in (share, by_two, backwards):
        with one_thread():
            run = Admm(problem, neurons, np.ones(400), precision=precision)
        monkeypatch.setattr(admm_room, "share", way)
        run.run(12)
        ends.append(run)
    assert max(shared) > 1
    for other in ends[1:]:
        for name in ("U", "Z", "Y", "tau", "t", "A"):
            np.testing.assert_array_equal(getattr(other, name), getattr(ends[0], name))
        assert other.dual_residual == ends[0].dual_residual
