r"""Problem (C) in the variables of an interior point.

With the pattern A in [0, 1] fixed on same pairs, e_ij standing for relu(z_ij) on opposite pairs and z = X U^T,

.. math:: \min \sum_j t_j + C \sum_i \xi_i \quad\text{s.t.}\quad \|u_j\| \le t_j, \quad e \ge 0, \quad f = e - z \ge 0,
   \quad w_i = \sum_{same} A_{ij} z_{ij} - \sum_{opposite} e_{ij} + \xi_i - 1 \ge 0, \quad \xi \ge 0 .

Its multipliers are lambda (of w), alpha = lambda - mu (of e), mu (of f), C - lambda (of xi) and (1, q_j), q_j = -g_j,
g_j = sum_same A_ij lambda_i x_i - sum_opposite mu_ij x_i, of the cones. As A z <= relu(z) for every A in [0, 1], a
point of (C) is feasible for (P) whatever A is.

With frozen outputs the cost of a neuron is ||u_j||^2 / (2 v_j^2) instead of t_j. Everything is in `Units`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.problem import Problem
from marginflow.limit.units import Units


@dataclass(frozen=True, eq=False)
class InteriorProgram:
    """Samples X (m, r), labels y (m,) and penalty in units of their own."""

    X: FloatArray
    y: FloatArray
    penalty: float
    units: Units

    @classmethod
    def of(cls, problem: Problem, outputs_squared: FloatArray | None = None) -> InteriorProgram:
        """Samples, labels and penalty of a problem in units of their own."""
        units = Units.of(problem, outputs_squared)
        scaled = units.problem(problem)
        return cls(scaled.X, scaled.y, scaled.penalty, units)

    @cached_property
    def soft(self) -> bool:
        """Whether margins may be missed at a price."""
        return bool(np.isfinite(self.penalty))

    @cached_property
    def squares(self) -> FloatArray:
        """Rows x_i x_i^T, shape (m, r r): sums of them over samples, for all neurons, are one matrix product."""
        m, r = self.X.shape
        return (self.X[:, :, None] * self.X[:, None, :]).reshape(m, r * r)

    def opposite(self, s: FloatArray) -> BoolArray:
        """Pairs (m, k) of a sample and a neuron of the other sign."""
        return self.y[:, None] * s < 0

    def margins(self, U: FloatArray, s: FloatArray) -> FloatArray:
        """y_i sum_j s_j relu(x_i . u_j), shape (m,)."""
        return self.y * (np.maximum(self.X @ U.T, 0.0) @ s)

    def pattern(self, U: FloatArray, s: FloatArray) -> FloatArray:
        """The hard pattern 1[z > 0] on same pairs, zero elsewhere."""
        return np.where(self.opposite(s), 0.0, (self.X @ U.T > 0).astype(np.float64))
