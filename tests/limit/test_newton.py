"""Newton's method on the structure: closed forms, wrong guesses repaired, and its equations recomputed by hand."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from marginflow.data import Dataset, Orthogonal, Sphere, XorClusters
from marginflow.flow import angle_flow
from marginflow.limit import ClosedForm, orthogonal
from marginflow.limit import problem as problem_module
from marginflow.limit import products as products_room
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.solver import conjugate_gradients as gradients_room
from marginflow.limit.solver import kink_factors as factors_room
from marginflow.limit.solver import pairs as pairs_room
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.conjugate_gradients import Curvature, Saddle, solve_by_gradients
from marginflow.limit.solver.hessian import hessian
from marginflow.limit.solver.kink_basis import KinkBases, KinkBasis
from marginflow.limit.solver.kink_factors import KinkFactors
from marginflow.limit.solver.mean_field import MeanField
from marginflow.limit.solver.newton import NewtonResult, Structure, newton, step_work
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK, Pairs
from marginflow.limit.solver.polish import identify
from marginflow.networks import TwoLayer


def structure_of(problem: Problem, exact: ClosedForm) -> Structure:
    """The structure of a closed-form point: one neuron per class, every opposite pair on a kink."""
    U = problem.reduced(exact.network.directions)
    Z = problem.X @ U.T
    state = np.where(np.abs(Z) < 1e-9, KINK, np.where(Z > 0, ACTIVE, INACTIVE))
    free = np.ones(problem.n_samples, dtype=bool)
    lengths = np.linalg.norm(U, axis=1)
    return Structure(
        s=exact.network.signs,
        state=state,
        free=free,
        capped=~free,
        lam=exact.multipliers[problem.order],
        t=lengths,
    )


def settled_structure(
    data: Dataset, *, width: int, seed: int, bias: bool = True, penalty: float = np.inf, frozen: bool = False
) -> tuple[Problem, Structure]:
    """What ADMM has found out after a short flow and a few hundred iterations."""
    outputs = "frozen" if frozen else "trained"
    net = TwoLayer.initialise(width, data.dimension, scale=0.01, bias=bias, outputs=outputs, seed=seed)
    end = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=150, angle=0.05, outputs=outputs)
    network = replace(net, W=end.W, b=end.b, v=end.v)
    problem = Problem.of(data.X, data.y, bias=bias, penalty=penalty)
    U = problem.reduced(network.directions) / network.margins(data.X, data.y).mean()
    neurons = Neurons(U, network.signs, network.v**2 if frozen else None)
    bundles = add_up(neurons, gather(neurons.U, neurons.s, 40))
    admm = Admm(problem, bundles, problem.warm_multipliers(bundles.U, bundles.s))
    admm.run(1500)
    return problem, identify(admm)


def assert_kkt(problem: Problem, found: NewtonResult, *, outputs_squared: np.ndarray | None = None) -> None:
    """The KKT conditions of (P) in reduced coordinates, written out with Clarke weights mu and nothing else."""
    X, y, C = problem.X, problem.y, problem.penalty
    U, s, lam, mu = found.U, found.s, found.lam, found.mu
    Z = X @ U.T
    pull = s[:, None] * ((y[:, None] * mu).T @ X)  # = d/du_j of sum_i lambda_i margin_i
    lengths = np.linalg.norm(U, axis=1)
    gradient = U / lengths[:, None] if outputs_squared is None else U / outputs_squared[:, None]
    np.testing.assert_allclose(pull, gradient, atol=1e-10)
    margins = y * (np.maximum(Z, 0.0) @ s)
    assert lam.min() >= 0.0
    assert lam.max() <= C
    assert margins[lam < C].min() >= 1 - 1e-10
    np.testing.assert_allclose(margins[(lam > 0) & (lam < C)], 1.0, atol=1e-10)
    tiny = 1e-10 * np.outer(problem.norms, lengths)
    slack = 1e-10 * lam.max()
    weight = np.broadcast_to(lam[:, None], mu.shape)
    np.testing.assert_allclose(mu[tiny < Z], weight[tiny < Z], atol=slack)
    np.testing.assert_allclose(mu[-tiny > Z], 0.0, atol=slack)
    assert (mu >= -slack).all()
    assert (mu <= weight + slack).all()
    if outputs_squared is None:
        objective = lengths.sum() + (C * np.maximum(1 - margins, 0.0).sum() if np.isfinite(C) else 0.0)
        assert lam.sum() == pytest.approx(objective, rel=1e-10)  # the duality gap of (C) is closed


@pytest.mark.parametrize("dimension", [8, 20])
@pytest.mark.parametrize("seed", range(3))
def test_a_perturbed_closed_form_is_restored_to_rounding_error(seed, dimension):
    data = Orthogonal(dimension=dimension).sample(dimension - 2, seed=seed)
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    guess = structure_of(problem, exact)
    rng = np.random.default_rng(seed)
    noisy = replace(
        guess,
        lam=guess.lam * (1 + 0.1 * rng.normal(size=guess.lam.size)),
        t=guess.t * (1 + 0.1 * rng.normal(size=guess.t.size)),
    )
    found = newton(problem, noisy, frozen=False)
    assert found.converged
    assert found.iterations <= 10  # quadratic: one digit becomes sixteen
    np.testing.assert_allclose(found.lam, exact.multipliers[problem.order], rtol=1e-12)
    np.testing.assert_allclose(problem.ambient(found.U), exact.network.directions, atol=1e-13)
    np.testing.assert_allclose(found.mu, (exact.multipliers[:, None] * exact.clarke)[problem.order], atol=1e-13)


def test_a_wrong_guess_of_single_pairs_and_samples_is_repaired():
    data = Orthogonal(dimension=12).sample(10, seed=0)
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    right = structure_of(problem, exact)
    opposite = problem.y[:, None] != right.s
    kinks = np.argwhere(opposite)
    for row, column in kinks:
        for wrong in (INACTIVE, ACTIVE):
            state = right.state.copy()
            state[row, column] = wrong
            found = newton(problem, replace(right, state=state), frozen=False)
            assert found.converged
            np.testing.assert_allclose(found.lam, right.lam, rtol=1e-12)
    for row in range(problem.n_samples):
        free = right.free.copy()
        free[row] = False
        found = newton(problem, replace(right, free=free), frozen=False)
        assert found.converged
        np.testing.assert_allclose(found.lam, right.lam, rtol=1e-12)


@pytest.mark.parametrize("lean", [False, True])
def test_it_gives_up_where_every_neuron_has_as_many_kinks_as_dimensions(lean):
    rng = np.random.default_rng(0)
    problem = Problem.of(rng.standard_normal((40, 3)), np.tile([1.0, -1.0], 20), bias=True)
    s = np.array([1.0, 1.0, -1.0, -1.0])
    state = np.where(rng.random((40, 4)) < 0.5, ACTIVE, INACTIVE)
    for neuron, sign in enumerate(s):  # no direction is left to turn to
        state[np.flatnonzero(problem.y != sign)[neuron : neuron + 4], neuron] = KINK
    every = np.ones(40, dtype=bool)
    guess = Structure(s=s, state=state, free=every, capped=~every, lam=np.full(40, 0.1), t=np.ones(4))
    assert not newton(problem, guess, frozen=False, lean=lean).converged


@pytest.mark.parametrize("seed", range(4))
def test_what_it_calls_converged_satisfies_every_kkt_condition(seed):
    problem, guess = settled_structure(Sphere(dimension=15).sample(25, seed=seed), width=60, seed=seed)
    found = newton(problem, guess, frozen=False)
    assert found.converged
    assert found.residual < 1e-12
    assert_kkt(problem, found)
    assert (found.s == guess.s[found.keep]).all()
    assert (guess.state == KINK).any()  # the projections P_j were needed


@pytest.mark.parametrize("seed", range(3))
def test_frozen_outputs_have_fixed_scales(seed):
    data = XorClusters(dimension=10).sample(30, seed=seed)
    problem, guess = settled_structure(data, width=20, seed=seed, bias=False, frozen=True)
    found = newton(problem, guess, frozen=True)
    assert found.converged
    assert_kkt(problem, found, outputs_squared=guess.t[found.keep])


@pytest.mark.parametrize("seed", range(3))
def test_a_soft_margin_has_samples_at_the_cap(seed):
    data = Sphere(dimension=6).sample(40, seed=seed)
    problem, guess = settled_structure(data, width=40, seed=seed, penalty=0.15)
    assert guess.capped.any()
    found = newton(problem, guess, frozen=False)
    assert found.converged
    assert_kkt(problem, found)
    assert (found.lam == 0.15).any()


def test_many_and_few_kinks_a_neuron_go_through_the_same_equations():
    """Three negative samples among twelve positive ones. The negative neuron has more kinks than half of the rank;
    there a basis of the complement is used. The positive one has fewer; there the kink samples are factorised."""
    data = Dataset(X=np.sqrt(20) * np.eye(20)[:15], y=np.r_[np.ones(12), -np.ones(3)])
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    guess = structure_of(problem, exact)
    many = 2 * (guess.state == KINK).sum(axis=0) > problem.X.shape[1]
    assert many.tolist() == [False, True]
    found = newton(problem, replace(guess, lam=1.1 * guess.lam), frozen=False)
    assert found.converged
    np.testing.assert_allclose(found.lam, exact.multipliers[problem.order], rtol=1e-12)
    assert_kkt(problem, found)


def test_a_hopeless_guess_is_given_up_without_a_word():
    problem, guess = settled_structure(Sphere(dimension=10).sample(12, seed=0), width=30, seed=0)
    nobody = np.zeros(problem.n_samples, dtype=bool)
    assert not newton(problem, replace(guess, free=nobody), frozen=False).converged
    upside_down = replace(guess, state=np.where(guess.state == ACTIVE, INACTIVE, ACTIVE), lam=guess.lam[::-1])
    assert not newton(problem, upside_down, frozen=False, max_iterations=1).converged


def test_a_deadline_in_the_past_ends_it_at_once():
    problem, guess = settled_structure(Sphere(dimension=10).sample(12, seed=0), width=30, seed=0)
    found = newton(problem, guess, frozen=False, deadline=time.monotonic() - 1.0)
    assert not found.converged
    assert found.U.shape == (0, problem.X.shape[1])


@pytest.mark.parametrize("dimension", [8, 20])
def test_without_the_hessian_a_perturbed_closed_form_is_restored_too(dimension):
    data = Orthogonal(dimension=dimension).sample(dimension - 2, seed=0)
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    guess = structure_of(problem, exact)
    found = newton(problem, replace(guess, lam=1.1 * guess.lam, t=0.9 * guess.t), frozen=False, lean=True)
    assert found.converged
    np.testing.assert_allclose(found.lam, exact.multipliers[problem.order], rtol=1e-12)
    np.testing.assert_allclose(problem.ambient(found.U), exact.network.directions, atol=1e-13)


@pytest.mark.parametrize(("penalty", "frozen"), [(np.inf, False), (0.3, False), (np.inf, True)])
@pytest.mark.parametrize("seed", range(2))
def test_with_and_without_the_hessian_end_at_the_same_point(seed, penalty, frozen):
    data = Sphere(dimension=20).sample(40, seed=seed)
    problem, guess = settled_structure(data, width=60, seed=seed, penalty=penalty, frozen=frozen)
    formed, lean = (newton(problem, guess, frozen=frozen, lean=how) for how in (False, True))
    assert formed.converged
    assert lean.converged
    assert (guess.state == KINK).any()  # the projections were needed
    np.testing.assert_allclose(lean.lam, formed.lam, atol=1e-11 * formed.lam.max())
    np.testing.assert_allclose(lean.U, formed.U, atol=1e-11)
    assert_kkt(problem, lean, outputs_squared=guess.t[lean.keep] if frozen else None)


def test_a_product_is_one_with_the_hessian():
    problem, guess = settled_structure(Sphere(dimension=20).sample(40, seed=1), width=60, seed=1)
    rows = np.flatnonzero(guess.free)
    lean = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    formed = Pairs(problem, KinkBases(problem), guess.s, guess.state, guess.lam)
    np.testing.assert_allclose(lean.D, formed.D, atol=1e-13)
    np.testing.assert_allclose(lean.mu, formed.mu, atol=1e-12 * guess.lam.max())
    bases = [basis for basis in formed.bases if isinstance(basis, KinkBasis)]
    H = hessian(problem, rows, formed.active[rows], bases, guess.t)
    curvature = Curvature(rows, lean, guess.t, 0.0)
    v = np.random.default_rng(0).standard_normal(len(rows))
    np.testing.assert_allclose(curvature.times(v), H @ v, atol=1e-5 * np.abs(H @ v).max())


def test_a_solution_satisfies_the_saddle_system_to_the_tolerance():
    problem, guess = settled_structure(Sphere(dimension=20).sample(40, seed=2), width=60, seed=2)
    rows = np.flatnonzero(guess.free)
    pairs = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    C = (pairs.XD * pairs.active)[rows]
    rng = np.random.default_rng(0)
    f, g = rng.standard_normal(len(rows)), rng.standard_normal(C.shape[1])
    curvature = Curvature(rows, pairs, guess.t, 1e-3)
    saddle = Saddle(MeanField(rows, pairs, guess.t, damping=1e-3), C, 0.1)
    x, z, count = solve_by_gradients(curvature, saddle, f, g, tolerance=1e-2, most=60)
    assert count <= 60
    np.testing.assert_allclose(C.T @ x - saddle.delta * z, g, atol=1e-6 * np.abs(C.T @ x).max())
    rest = f - curvature.times(x) - C @ z
    assert rest @ saddle.solve(rest)[0] <= 1e-3 * f @ saddle.solve(f)[0]


@pytest.mark.parametrize(("d", "low_rank"), [(20, False), (6, True)])
def test_the_preconditioner_inverts_its_mean_field(d, low_rank):
    """Of few samples by their inner products, of many by their coordinates; here the matrix is formed."""
    problem, guess = settled_structure(Sphere(dimension=d).sample(40, seed=2), width=60, seed=2)
    rows = np.flatnonzero(guess.free)
    pairs = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    C = (pairs.XD * pairs.active)[rows]
    mean_field = MeanField(rows, pairs, guess.t, damping=1e-3)
    saddle = Saddle(mean_field, C, 0.1)
    assert mean_field.low_rank == low_rank
    X, r = problem.X[rows], problem.X.shape[1]
    G = np.diag(mean_field.diagonal)
    for sign in (1.0, -1.0):
        own = np.flatnonzero(guess.s == sign)
        weights = guess.t[own] * [1.0 - len(pairs.bases[j].rows) / r for j in own]
        p = (pairs.active[np.ix_(rows, own)] != 0.0) @ weights / weights.sum()
        field = (p * problem.y[rows])[:, None] * X
        G += weights.sum() * field @ field.T
    f = np.random.default_rng(0).standard_normal(len(rows))
    x, z = saddle.solve(f)
    np.testing.assert_allclose(G @ x + C @ z, f, atol=1e-4)
    np.testing.assert_allclose(C.T @ x, saddle.delta * z, atol=1e-6 * np.abs(z).max())


@pytest.mark.parametrize("kind", [KinkFactors, KinkBases])
@pytest.mark.parametrize("seed", range(3))
def test_neurons_that_run_away_settle_where_bounded_least_squares_puts_them(kind, seed):
    data = Sphere(dimension=10).sample(120, seed=seed)
    problem = Problem.of(data.X, data.y, bias=True)
    rng = np.random.default_rng(seed)
    s = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    same = problem.y[:, None] * s > 0
    side = problem.X @ rng.standard_normal((problem.X.shape[1], 6)) > 0
    state = np.where(same, np.where(side, ACTIVE, INACTIVE), KINK)  # more kinks than there are dimensions
    lam = rng.uniform(0.0, 0.1, 120) * (rng.random(120) < 0.9)
    pairs = Pairs(problem, kind(problem), s, state, lam)
    given = state.copy()
    pairs.settle(lam, np.ones(6))
    np.testing.assert_array_equal(state, given)  # the caller's
    assert (pairs.next_state(lam, np.ones(6)) == pairs.state)[~same].all()
    for j in range(6):
        own = ~same[:, j] & (lam > 0)
        g = (lam * (pairs.state[:, j] == ACTIVE) * same[:, j]) @ problem.X
        other = lsq_linear(problem.X[own].T, g, bounds=(0.0, lam[own]), method="bvls", tol=1e-14)
        assert other.success
        np.testing.assert_allclose(pairs.D[j], g - other.x @ problem.X[own], atol=1e-9)
        assert 0 < np.count_nonzero(pairs.state[:, j] == KINK) < problem.X.shape[1]


@pytest.mark.parametrize("rows", [[0, 1], [0, 1, 2, 3, 4, 5]])
def test_kink_samples_that_are_nearly_dependent_still_give_a_projection(rows):
    X = np.random.default_rng(0).standard_normal((6, 5))
    X[1] = X[0] * (1 + 1e-9)
    problem = Problem.of(X, np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0]), bias=False)
    factors = KinkFactors(problem)
    kinks = np.isin(problem.order, rows)
    g = np.random.default_rng(1).standard_normal((1, 5))
    D, C, XD = factors.split(factors.known.of(kinks[:, None]), g)
    np.testing.assert_allclose(problem.X[kinks] @ D[0], 0.0, atol=1e-8)
    np.testing.assert_allclose(D[0] + problem.X[kinks].T @ C[kinks, 0], g[0], atol=1e-13)
    np.testing.assert_allclose(XD[:, 0], problem.X @ D[0], atol=1e-14)


def test_large_hessians_are_not_formed_and_small_ones_are():
    problem, guess = settled_structure(Sphere(dimension=20).sample(40, seed=1), width=60, seed=1)
    assert not step_work(problem, guess)[1]
    many = Problem.of(np.tile(problem.X, (100, 1)), np.tile(problem.y, 100), bias=False)
    large = replace(guess, state=np.tile(guess.state, (100, 30)), free=np.tile(guess.free, 100), s=np.tile(guess.s, 30))
    assert step_work(many, large)[1]


def test_no_array_has_a_row_and_a_column_for_every_sample(monkeypatch):
    """Samples far beyond the margin change nothing but m; peak memory stays below one matrix m x m."""
    monkeypatch.setattr(problem_module, "GRAM_KEPT", 0)
    few, guess = settled_structure(Sphere(dimension=20).sample(40, seed=1), width=60, seed=1)
    factor = np.r_[np.ones(40), np.full(3000, 3.0)]
    source = np.tile(np.arange(40), 76)
    problem = Problem.of(factor[:, None] * few.X[source], few.y[source], bias=False)
    m, first, source = problem.n_samples, problem.order < 40, source[problem.order]
    structure = replace(
        guess,
        state=np.where(first[:, None] | (guess.state[source] != KINK), guess.state[source], INACTIVE),
        free=first & guess.free[source],
        capped=np.zeros(m, dtype=bool),
        lam=np.where(first, guess.lam[source], 0.0),
    )
    tracemalloc.start()
    found = newton(problem, structure, frozen=False, lean=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.converged
    assert found.lam.sum() == pytest.approx(guess.lam.sum(), rel=1e-2)
    assert peak < 8 * m * m


@pytest.mark.parametrize("what", ["neurons", "products"])
def test_the_number_of_threads_changes_no_bit_of_a_step_without_hessian(monkeypatch, what):
    """Everything is counted as large work, so that even these few neurons, or products with them, are shared."""
    problem, guess = settled_structure(Sphere(dimension=20).sample(40, seed=2), width=60, seed=2)
    shared = []

    def halves(size, *_, **__):
        shared.append(size)
        return [slice(0, 2), slice(2, size)]

    for room in (pairs_room, gradients_room, factors_room) if what == "neurons" else (products_room,):
        monkeypatch.setattr(room, "parts_of", halves)
    rows = np.flatnonzero(guess.free)
    v = np.random.default_rng(0).standard_normal(len(rows))
    ends = []
    for threads in (1, 2):
        pairs = Pairs(problem, KinkFactors(problem, threads), guess.s, guess.state, guess.lam, threads=threads)
        ends.append((pairs.D, pairs.XD, pairs.mu, pairs.active, Curvature(rows, pairs, guess.t, 0.1).times(v)))
    assert shared
    for one, two in zip(*ends, strict=True):
        np.testing.assert_array_equal(one, two)
    monkeypatch.undo()
    whole = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    np.testing.assert_allclose(ends[0][0], whole.D, atol=1e-13)
    product = Curvature(rows, whole, guess.t, 0.1).times(v)
    np.testing.assert_allclose(ends[0][-1], product, atol=1e-5 * np.abs(product).max())
