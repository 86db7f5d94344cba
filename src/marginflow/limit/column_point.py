r"""A KKT point from column generation: for few dimensions and samples, where a flow settles on no structure.

Between samples of the plane with random labels a flow often cannot separate the data, and patterns are too entangled
for ADMM. There a linear program over directions, which grows by the maxima of the dual function, finds the structure
of a network close to the *global* optimum, and Newton's method makes it exact.
"""

from __future__ import annotations

import time

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.bracket.box_least_squares import box_least_squares
from marginflow.limit.bracket.columns import Columns, ProgramError
from marginflow.limit.neurons import equal_pattern_groups, sort_by_sign
from marginflow.limit.problem import Problem
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK

# Pairs whose Clarke weight is this far from 0 and 1 are on a kink.
_KINK_WEIGHT = 1e-5
# Dimensions (with the bias) and samples up to which directions are generated.
_MOST_DIMENSIONS, _MOST_SAMPLES = 6, 100
# What the dual function may exceed 1 by, one after the other, and the rounds of the program for each.
_EXCESSES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
_ROUNDS, _BLOCKS = 5, 8


def column_point(problem: Problem, *, seed: int, deadline: float = np.inf) -> NewtonResult | None:
    """An exact point of (P) with trained outputs and a hard margin; None where there is none in reach."""
    if not in_reach(problem):
        return None
    try:
        return _generate(problem, Columns(problem.X, problem.y, np.random.default_rng(seed)), deadline)
    except ProgramError:
        return None


def in_reach(problem: Problem) -> bool:
    """Whether columns are generated for a problem of this size: few dimensions, few samples, a hard margin."""
    m, r = problem.X.shape
    return r <= _MOST_DIMENSIONS and m <= _MOST_SAMPLES and np.isinf(problem.penalty) and bool(problem.norms.all())


def _generate(problem: Problem, columns: Columns, deadline: float) -> NewtonResult | None:
    for excess in _EXCESSES:
        for _ in range(_BLOCKS):
            if time.monotonic() > deadline:
                return None
            finished = columns.generate(excess=excess, max_rounds=_ROUNDS)
            if finished:
                break
        exact = newton_on_columns(problem, columns_structure(problem, columns))
        if exact is not None:
            return exact
    return None


def newton_on_columns(
    problem: Problem, guess: tuple[Structure, FloatArray, FloatArray, FloatArray]
) -> NewtonResult | None:
    """Newton's method from the structure; None unless it ends in a consistent one."""
    result = newton(problem, guess[0], frozen=False, max_iterations=80)
    return result if result.converged else None


def columns_structure(problem: Problem, columns: Columns) -> tuple[Structure, FloatArray, FloatArray, FloatArray]:
    """What Newton's method needs, read off the linear program; and its network and multipliers as they are."""
    X, y = problem.X, problem.y
    lam = columns.multipliers
    live = columns.sizes > 1e-12 * columns.sizes.sum()
    U = (columns.sizes[:, None] * columns.directions[: columns.sizes.size])[live]
    s = columns.signs[: columns.sizes.size][live]
    order = sort_by_sign(U, s)
    U, s = U[order], s[order]
    relevant = (lam > 1e-9 * lam.max()) | (problem.margins(U, s) < 1 + 1e-5)
    groups = equal_pattern_groups((X[relevant] @ U.T) > 0, s, y[relevant])
    U = np.array([U[groups == g].sum(axis=0) for g in range(int(groups.max()) + 1)])
    s = np.array([s[groups == g][0] for g in range(int(groups.max()) + 1)])
    state = np.where(X @ U.T > 0, ACTIVE, INACTIVE)
    for j in range(s.size):
        # The Clarke weights are the coefficients of the projection on the zonotope of the opposite samples.
        opposite = np.flatnonzero((y != s[j]) & (lam > 0))
        target = (lam * ((y == s[j]) & (X @ U[j] > 0))) @ X
        mu, _ = box_least_squares(X[opposite], target, np.zeros(opposite.size), lam[opposite])
        weight = mu / lam[opposite]
        state[opposite, j] = np.where(
            weight > 1 - _KINK_WEIGHT, ACTIVE, np.where(weight < _KINK_WEIGHT, INACTIVE, KINK)
        )
    structure = Structure(
        s=s, state=state, free=relevant, capped=np.zeros(y.size, dtype=bool), lam=lam, t=np.linalg.norm(U, axis=1)
    )
    return structure, U, s, lam
