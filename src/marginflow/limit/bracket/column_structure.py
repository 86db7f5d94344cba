"""From generated columns to an exact point: generate, read the structure, let Newton's method solve it, repeat."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates.multipliers.box_quadratic import least_squares_in_box
from marginflow.limit.bracket.columns import Columns
from marginflow.limit.bracket.settings import KINK_WEIGHT
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import equal_pattern_groups, sort_by_sign
from marginflow.limit.problem import Problem
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK


@dataclass(frozen=True, eq=False)
class Generated:
    """The network and multipliers of the linear program as they are, and the exact point of its structure, if any.

    `excess` is what the dual function was allowed to exceed 1 by.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    excess: float
    exact: NewtonResult | None


def structures(
    problem: Problem,
    columns: Columns,
    budget: Budget,
    *,
    excess: float,
    least_excess: float,
    rounds: int,
    most: int,
) -> Iterator[Generated]:
    """Generate columns, read the structure, try Newton's method; after every `rounds` rounds of the program.

    Where the program is finished and its structure is not clear, the dual function may exceed 1 by ten times less from
    then on; the iteration ends with `least_excess`, after `most` rounds, or with the budget. Between two results the
    caller may add columns.
    """
    for _ in range(0, most, rounds):
        finished = columns.generate(excess=excess, max_rounds=rounds, budget=budget)
        if budget.over:
            return
        structure, U, s, lam = columns_structure(problem, columns)
        result = newton(problem, structure, frozen=False, max_iterations=80, deadline=budget.deadline)
        yield Generated(U, s, lam, excess, result if result.converged else None)
        if finished and not result.converged:
            if excess <= least_excess * (1 + 1e-9):
                return
            excess /= 10.0  # the structure is not clear yet


def columns_structure(problem: Problem, columns: Columns) -> tuple[Structure, FloatArray, FloatArray, FloatArray]:
    """What Newton's method needs, read off the linear program; and its network and multipliers as they are."""
    X, y = problem.X, problem.y
    lam = columns.multipliers
    live = columns.sizes > 1e-12 * columns.sizes.sum()
    U = (columns.sizes[:, None] * columns.directions[: columns.sizes.size])[live]
    s = columns.signs[: columns.sizes.size][live]
    order = sort_by_sign(s)
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
        mu = least_squares_in_box(X[opposite].T, target, lam[opposite], np.zeros(opposite.size))
        weight = mu / lam[opposite]
        state[opposite, j] = np.where(weight > 1 - KINK_WEIGHT, ACTIVE, np.where(weight < KINK_WEIGHT, INACTIVE, KINK))
    structure = Structure(
        s=s, state=state, free=relevant, capped=np.zeros(y.size, dtype=bool), lam=lam, t=np.linalg.norm(U, axis=1)
    )
    return structure, U, s, lam
