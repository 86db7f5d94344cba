"""The parts of the interior point: cones, the Newton step, the convex problem against Clarabel, the structure."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from marginflow.data import Sphere
from marginflow.limit.budget import Budget
from marginflow.limit.interior.cones import Scaling, _reach
from marginflow.limit.interior.finish import finish
from marginflow.limit.interior.iterate import System
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.rounds import Effort, converge, hard_rounds, started
from marginflow.limit.interior.structure import read_structures
from marginflow.limit.neurons import Neurons, survivors
from marginflow.limit.problem import Problem


def in_cones(rng, k, r):
    u = rng.standard_normal((k, r))
    return np.linalg.norm(u, axis=1) * (1.0 + rng.exponential(size=k)), u


@given(seed=st.integers(0, 10**6))
def test_the_scaling_maps_a_point_and_its_dual_to_the_same_vector(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, u = in_cones(rng, 3, 4)
    d0, d1 = in_cones(rng, 3, 4)
    q = d1 / d0[:, None]
    scaling = Scaling(t, u, q)
    l0, l1 = scaling.invert(np.ones(3), q)
    np.testing.assert_allclose(scaling.l0, l0, rtol=1e-9)
    np.testing.assert_allclose(scaling.l1, l1, rtol=1e-9, atol=1e-9 * np.abs(l0).max())
    x0, x1 = scaling.divide(l0, l1)
    np.testing.assert_allclose(scaling.l0 * x0 + (scaling.l1 * x1).sum(axis=1), l0, rtol=1e-9)


@given(seed=st.integers(0, 10**6))
def test_the_step_to_the_boundary_of_a_cone_ends_on_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, u = in_cones(rng, 1, 3)
    dt, du = rng.standard_normal(1), rng.standard_normal((1, 3))
    step = _reach(t, u, dt, du)
    for share in (0.0, 0.5, 0.999):
        x = min(step, 1e6) * share
        assert t[0] + x * dt[0] >= np.linalg.norm(u + x * du) * (1 - 1e-9)
    if step < 1e30:
        end = t[0] + step * dt[0]
        assert end == pytest.approx(np.linalg.norm(u + step * du), rel=1e-6, abs=1e-9)


def small(seed: int = 0, penalty: float = np.inf):
    data = Sphere(dimension=3).sample(12, seed=seed)
    problem = Problem.of(data.X, data.y, bias=True, penalty=penalty)
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((10, problem.X.shape[1]))
    program = InteriorProgram.of(problem)
    return program, started(program, Neurons(U, np.repeat([1.0, -1.0], 5)), np.ones(12), 1.0)


@pytest.mark.parametrize("penalty", [np.inf, 5.0])
def test_a_whole_newton_step_satisfies_every_linear_equation(penalty: float) -> None:
    program, at = small(1, penalty)
    rng = np.random.default_rng(0)
    at.w, at.e = at.w * rng.uniform(0.5, 2, at.w.shape), np.where(at.opposite, 1.3 * at.e, 1.0)  # off the equations
    step = System(at).solve(0.1, None)
    at.move(step, 1.0)
    X = program.X
    pull = np.where(at.opposite, -at.mu, at.A * at.lam[:, None]).T @ X
    np.testing.assert_allclose(at.cones.q, -pull, atol=1e-10)
    np.testing.assert_allclose(at.shortfall, 0.0, atol=1e-10)
    np.testing.assert_allclose(np.where(at.opposite, at.e - X @ at.U.T - at.f, 0.0), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.where(at.opposite, at.lam[:, None] - at.alpha - at.mu, 0.0), 0.0, atol=1e-10)
    if program.soft:
        np.testing.assert_allclose(at.lam + at.beta, program.penalty, atol=1e-10)


def clarabel_value(program: InteriorProgram, s, A) -> float:
    """The value of (C) at the pattern A, posed to Clarabel in the variables (U, t, e, xi)."""
    X, m, k, r = program.X, len(program.y), len(s), program.X.shape[1]
    opposite = program.y[:, None] * s < 0
    pairs = list(zip(*np.nonzero(opposite), strict=True))
    at_t, at_e, at_xi = k * r, k * r + k, k * r + k + len(pairs)
    n = at_xi + m
    cost = np.zeros(n)
    cost[at_t : at_t + k] = 1.0
    cost[at_xi:] = program.penalty if program.soft else 0.0
    rows, right = [], []
    for p, (i, j) in enumerate(pairs):
        low, high = np.zeros(n), np.zeros(n)
        low[at_e + p] = high[at_e + p] = -1.0
        high[j * r : (j + 1) * r] = X[i]
        rows += [low, high]
        right += [0.0, 0.0]
    for i in range(m):
        row = np.zeros(n)
        for j in range(k):
            if not opposite[i, j]:
                row[j * r : (j + 1) * r] = -A[i, j] * X[i]
        for p, (a, _) in enumerate(pairs):
            if a == i:
                row[at_e + p] = 1.0
        row[at_xi + i] = -1.0
        slack = np.zeros(n)
        slack[at_xi + i] = -1.0
        rows += [row, slack]
        right += [-1.0, 0.0]
        if not program.soft:
            rows.append(-slack)
            right.append(0.0)
    cones = [clarabel.NonnegativeConeT(len(rows))]
    for j in range(k):
        top = np.zeros(n)
        top[at_t + j] = -1.0
        rows.append(top)
        for a in range(r):
            row = np.zeros(n)
            row[j * r + a] = -1.0
            rows.append(row)
        right += [0.0] * (r + 1)
        cones.append(clarabel.SecondOrderConeT(r + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((n, n)), cost, sparse.csc_matrix(np.array(rows)), np.array(right), cones, settings
    )
    return float(solver.solve().obj_val)


@pytest.mark.parametrize(("seed", "penalty"), [(0, np.inf), (1, np.inf), (2, np.inf), (0, 2.0), (1, 0.5)])
def test_the_convex_problem_has_the_value_that_clarabel_finds(seed: int, penalty: float) -> None:
    program, at = small(seed, penalty)
    value = clarabel_value(program, at.s, at.A)
    assert converge(at, 1e-9, Effort(Budget()))
    assert at.cost == pytest.approx(value, rel=1e-6)
    assert at.lam.sum() == pytest.approx(value, rel=1e-6)


def test_a_structure_that_is_read_early_is_that_of_the_end_and_newton_makes_it_exact() -> None:
    program, at = small(3)
    at, trail = hard_rounds(at, Effort(Budget()))
    assert trail is not None
    early = next(read_structures(at, trail))
    assert converge(at, 1e-9, Effort(Budget()), trail=trail)
    late = next(read_structures(at, trail))
    np.testing.assert_array_equal(early.state, late.state)
    np.testing.assert_array_equal(early.free, late.free)
    end = finish(program, late)
    assert end is not None
    assert end.residual < 1e-10


def test_survivors_follow_what_is_kept() -> None:
    members = np.array([0, 2, -1, 1, 2])
    np.testing.assert_array_equal(survivors(members, np.array([0, 2])), [0, 1, -1, -1, 1])
