r"""The linear program over directions, a living model to which columns are added.

.. math:: \min \sum_j a_j + C \sum_i \xi_i \quad\text{s.t.}\quad
          y_i \sum_j s_j a_j \,\mathrm{relu}(z_i \cdot u_j) + \xi_i \ge 1, \quad a, \xi \ge 0

Its multipliers satisfy :math:`0 \le \lambda \le C`. For a hard margin C is a number that grows until no slack is left.
HiGHS keeps its basis when columns join, so a round costs a few pivots; from scratch it would be most of the work.
Its tolerances are never below what rounding leaves of sums as large as the objective: there pivots would go on and on.
"""

import time

import highspy
import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.plane.settings import LARGEST_CAP, PROGRAM_ROUNDING, PROGRAM_TOLERANCE

# Primal simplex: a basis stays primal feasible when columns join.
_PRIMAL_SIMPLEX = 4


class PlaneProgramError(RuntimeError):
    """The linear program could not be solved."""


class Program:
    """Columns so far, and the program over them.

    Parameters
    ----------
    rows : array, shape (n, 3)
        z_i, of size about 1.
    y : array, shape (n,)
    caps : array, shape (n,)
        Cost of a unit of slack of each sample, the cap of its multiplier.
    """

    def __init__(self, rows: FloatArray, y: FloatArray, caps: FloatArray) -> None:
        self.rows, self.y, self.caps = rows, y, caps.copy()
        self.directions, self.signs = np.zeros((0, rows.shape[1])), np.zeros(0)
        self.sizes, self.multipliers, self.slack = np.zeros(0), np.zeros(len(y)), np.zeros(len(y))
        self.objective = np.inf
        n = len(y)
        model = highspy.Highs()
        for option, setting in (
            ("output_flag", False),
            ("presolve", "off"),
            ("threads", 1),
            ("simplex_strategy", _PRIMAL_SIMPLEX),
        ):
            model.setOptionValue(option, setting)
        nothing = np.zeros(0, dtype=np.int32)
        model.addRows(
            n, np.ones(n), np.full(n, highspy.kHighsInf), 0, np.zeros(n, dtype=np.int32), nothing, np.zeros(0)
        )
        each = np.arange(n, dtype=np.int32)
        model.addCols(n, self.caps, np.zeros(n), np.full(n, highspy.kHighsInf), n, each, each, np.ones(n))
        self._model = model

    def add(self, directions: FloatArray, signs: FloatArray) -> None:
        """Take unit directions in; those that reach no sample are left out."""
        A = self.y[:, None] * np.maximum(self.rows @ directions.T, 0.0) * signs  # (n, k)
        reach = A.any(axis=0)
        A, directions, signs = A[:, reach], directions[reach], signs[reach]
        column, row = np.nonzero(A.T)
        count = len(signs)
        starts = np.searchsorted(column, np.arange(count)).astype(np.int32)
        self._model.addCols(
            count, np.ones(count), np.zeros(count), np.full(count, highspy.kHighsInf),
            len(row), starts, row.astype(np.int32), A[row, column],
        )  # fmt: skip
        self.directions = np.vstack([self.directions, directions])
        self.signs = np.append(self.signs, signs)

    def raise_caps(self, factor: float) -> None:
        """Make slack dearer: for a hard margin, until there is none."""
        self.caps *= factor
        if self.caps.max() > LARGEST_CAP:
            raise PlaneProgramError("Slack remains at every price: rounding hides what tells the samples apart.")
        n = len(self.y)
        self._model.changeColsCost(n, np.arange(n, dtype=np.int32), self.caps)

    @property
    def tolerance(self) -> float:
        """Of margins and of reduced costs 1 - F, both sums as large as the objective of the last run."""
        size = self.objective if np.isfinite(self.objective) else 0.0
        return max(PROGRAM_TOLERANCE, PROGRAM_ROUNDING * size)

    def solve(self, deadline: float = np.inf) -> None:
        """Solve; sizes, slack, multipliers and the objective are kept. At the deadline an `OutOfTimeError`."""
        left = max(0.0, deadline - time.monotonic())
        # HiGHS counts the seconds of all runs of a model together.
        self._model.setOptionValue("time_limit", self._model.getRunTime() + left)
        for side in ("primal", "dual"):
            self._model.setOptionValue(f"{side}_feasibility_tolerance", self.tolerance)
        self._model.run()
        if self._model.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
            raise OutOfTimeError
        if self._model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise PlaneProgramError(f"The linear program ended with {self._model.getModelStatus()}.")
        solution = self._model.getSolution()
        values, n = np.asarray(solution.col_value), len(self.y)
        self.sizes, self.slack = np.maximum(values[n:], 0.0), np.maximum(values[:n], 0.0)
        self.multipliers = np.clip(np.asarray(solution.row_dual), 0.0, self.caps)
        self.objective = float(self.sizes.sum() + self.caps @ self.slack)

    def margins(self) -> FloatArray:
        """y_i N(x_i) of the columns in use, shape (n,)."""
        live = np.flatnonzero(self.sizes)
        return self.y * (np.maximum(self.rows @ self.directions[live].T, 0.0) @ (self.sizes[live] * self.signs[live]))
