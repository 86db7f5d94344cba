r"""Column generation for the max-margin problem over all widths: a linear program over unit directions that grows.

The program

.. math:: \min \sum_j a_j + C \sum_i \xi_i \quad\text{s.t.}\quad
          y_i \sum_j s_j a_j \,\mathrm{relu}(z_i \cdot t_j) + \xi_i \ge 1, \quad a, \xi \ge 0

has multipliers :math:`0 \le \lambda \le C`; directions with :math:`s F_\lambda(t) > 1` improve it. They are sought by
ascents from the samples, from the directions in use and from random ones. C grows until no slack is left. The program
shows the structure of a network, which Newton's method makes exact.
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from marginflow.arrays import FloatArray
from marginflow.certificates.multipliers.box_quadratic import least_squares_in_box
from marginflow.limit.bracket.dual_supremum import SignedDual
from marginflow.limit.bracket.settings import KINK_WEIGHT, PROGRAM_OPTIONS, SAME_DIRECTION, SLACK
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import equal_pattern_groups, sort_by_sign
from marginflow.limit.problem import Problem
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK


class ProgramError(RuntimeError):
    """The linear program could not be solved; so ends data that no network separates, as the penalty grows for ever."""


class Columns:
    """Unit directions with signs, the program over them, and its last solution."""

    def __init__(self, rows: FloatArray, y: FloatArray, rng: np.random.Generator) -> None:
        self.rows, self.y, self.rng = rows, y, rng
        n, r = rows.shape
        self.directions = np.zeros((0, r))
        self.signs = np.zeros(0)
        self._norms = np.linalg.norm(rows, axis=1)
        # One neuron of margin 1 per sample is the natural unit of the penalty on slack.
        self.penalty = 100.0 * float((1.0 / self._norms).max()) * n
        for i in range(n):
            self.add(rows[i], y[i])
        for direction in rng.standard_normal((2 * n, r)):
            self.add(direction, rng.choice([-1.0, 1.0]))
        self.sizes = np.zeros(0)
        self.multipliers = np.zeros(n)

    def add(self, direction: FloatArray, sign: float) -> bool:
        """Take a direction in, unless it is there already."""
        unit = direction / np.linalg.norm(direction)
        known = self.directions[self.signs == sign]
        if known.size and float(np.linalg.norm(known - unit, axis=1).min()) < SAME_DIRECTION:
            return False
        self.directions = np.vstack([self.directions, unit])
        self.signs = np.append(self.signs, sign)
        return True

    def _margins_of_columns(self) -> FloatArray:
        """What one unit of each direction adds to each margin, shape (n, c)."""
        return self.y[:, None] * np.maximum(self.rows @ self.directions.T, 0.0) * self.signs

    def solve(self, budget: Budget) -> float:
        """Solve the program; sizes and multipliers are kept, the total slack is returned."""
        n = self.y.size
        A = self._margins_of_columns()
        unit = np.abs(A).max(axis=0)
        unit[unit == 0] = 1.0
        result = linprog(
            np.concatenate([1.0 / unit, np.full(n, self.penalty)]),
            A_ub=-np.hstack([A / unit, np.eye(n)]),
            b_ub=-np.ones(n),
            method="highs-ds",
            options=PROGRAM_OPTIONS | {"time_limit": budget.left},
        )
        if result.status == 1 or result.x is None:  # 1: the time limit
            raise ProgramError(f"The linear program over {self.signs.size} directions ended with: {result.message}")
        self.sizes = result.x[: self.signs.size] / unit
        self.multipliers = np.clip(-result.ineqlin.marginals, 0.0, None)
        return float(result.x[self.signs.size :].sum())

    def centre(self, reference: FloatArray, value: float) -> FloatArray | None:
        """The multipliers nearest to the reference that sum to `value` and respect every direction; None without any.

        Where a network is optimal its multipliers need not be unique, and the program above jumps between extreme ones;
        the nearest one moves little when a direction is added.
        """
        n = self.y.size
        A = self._margins_of_columns().T
        weight = np.maximum(reference, 1e-3 * reference.max())
        near = np.hstack([np.diag(1.0 / weight), -np.ones((n, 1))])
        far = np.hstack([-np.diag(1.0 / weight), -np.ones((n, 1))])
        result = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.vstack([np.hstack([A, np.zeros((A.shape[0], 1))]), near, far]),
            b_ub=np.concatenate([np.ones(A.shape[0]), reference / weight, -reference / weight]),
            A_eq=np.append(np.ones(n), 0.0)[None] / value,
            b_eq=[1.0],
            method="highs-ds",
            options=PROGRAM_OPTIONS,
        )
        return np.clip(result.x[:n], 0.0, None) if result.status == 0 else None

    def price(self, excess: float, budget: Budget | None = None) -> tuple[int, int]:
        """Add the local maxima of s F that exceed 1 by more than `excess`; how many there are, and how many are new.

        With a budget that is over, the rest is not looked for.
        """
        found, new = 0, 0
        random = self.rng.standard_normal((10, self.rows.shape[1]))
        used = np.ones(self.signs.size, dtype=bool)  # directions that are newer than the last solution count as used
        used[: self.sizes.size] = self.sizes > 0
        in_use = {sign: self.directions[used & (self.signs == sign)] for sign in (1.0, -1.0)}
        for sign in (1.0, -1.0):
            dual = SignedDual(self.rows, self.y, self.multipliers, sign)
            own = self.rows[self.y == sign] / self._norms[self.y == sign, None]
            for start in np.vstack([in_use[sign], own, random]):
                if budget is not None and budget.over:
                    return found, new
                value, direction = dual.ascend(start)
                if value > 1.0 + excess:
                    found += 1
                    new += self.add(direction, sign)
        return found, new

    def generate(self, *, excess: float, max_rounds: int, budget: Budget) -> bool:
        """Solve and price until nothing is found that exceeds 1 by more than `excess`; whether that was reached."""
        for _ in range(max_rounds):
            slack = self.solve(budget)
            if budget.over:
                return False
            new = self.price(excess, budget)[1]
            if budget.over:
                return False
            if new == 0:
                if slack <= SLACK:
                    return True
                self.penalty *= 10.0
        return False


def structures(
    problem: Problem,
    columns: Columns,
    budget: Budget,
    *,
    excess: float,
    least_excess: float,
    rounds: int,
    most: int,
) -> Iterator[tuple[float, NewtonResult | None]]:
    """Generate columns, read the structure, try Newton's method; after every `rounds` rounds of the program.

    Each time what the dual function was allowed to exceed 1 by, and the exact point of the structure, if there is one.
    Where the program is finished and its structure is not clear, the dual function may exceed 1 by ten times less from
    then on; the iteration ends with `least_excess`, after `most` rounds, or with the budget. Between two results the
    caller may add columns.
    """
    for _ in range(0, most, rounds):
        finished = columns.generate(excess=excess, max_rounds=rounds, budget=budget)
        if budget.over:
            return
        structure = columns_structure(problem, columns)[0]
        result = newton(problem, structure, frozen=False, max_iterations=80, deadline=budget.deadline)
        yield excess, result if result.converged else None
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
