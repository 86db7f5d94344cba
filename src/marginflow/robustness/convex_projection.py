r"""Project the origin on {z : g_i(z) <= 0 for all i} with piecewise linear convex g_i, by cutting planes.

.. math:: g_i(z) = \sum_{C_{ij} > 0} C_{ij}\, \mathrm{relu}(a_{ij}(z))
   + \sum_{C_{ij} < 0} C_{ij} m_{ij} a_{ij}(z) + r_i , \qquad a_{ij}(z) = A_{ij} + \sigma_i\, w_j \cdot z

With m_ij in {0, 1} the opposing neurons are fixed to be active or not (the convex-concave step); with m_ij the slope
of a chord it is the relaxation of a lower bound.
"""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.robustness.cutting_planes import MAX_ROWS, Rows, nearest

# Cuts added in one round: the most violated functions first.
_CUTS_PER_ROUND = 40
# A function that exceeds 0 by less than this share of its terms is not violated.
_TOLERANCE = 1e-11


@dataclass(frozen=True, eq=False, kw_only=True)
class ConvexProjection:
    """The projection z, and the multipliers that show that nothing is nearer.

    Parameters
    ----------
    point : array, shape (r,)
        The last projection on the cuts: nearer than, or equal to, the true one.
    lower : float
        The distance that the multipliers prove; infinity, or very large, where there is no point.
    weights : array, shape (n,)
        Multiplier of each function, the sum over its cuts.
    supporting : array, shape (n, k)
        Slope in [0, 1] of each supporting relu, averaged over the cuts of its function.
    converged : bool
        Whether all functions are at most 0 at `point`, up to rounding.
    """

    point: FloatArray
    lower: float
    weights: FloatArray
    supporting: FloatArray
    converged: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class ConvexFunctions:
    """The functions g_i as a separator: `slopes` is m (read where C < 0), `constant` is r, the rest as above."""

    A: FloatArray
    C: FloatArray
    W: FloatArray
    sigma: FloatArray
    slopes: FloatArray
    constant: FloatArray

    def separate(self, rows: Rows, delta: FloatArray, reach: float) -> float:
        """The most violated functions, each cut with its slopes at delta; violations are relative to their terms."""
        a = self.A + self.sigma[:, None] * (self.W @ delta)
        active = a > 0
        coefficients = self.C * np.where(self.C > 0, active, self.slopes)
        value = (coefficients * a).sum(axis=1) + self.constant
        scale = (np.abs(self.C) * np.abs(a)).sum(axis=1) + np.abs(self.constant)
        excess = value - _TOLERANCE * scale
        broken = np.argsort(-excess)[:_CUTS_PER_ROUND]
        broken = broken[excess[broken] > 0]
        normals = -self.sigma[broken, None] * (coefficients[broken] @ self.W)
        heights = (coefficients[broken] * self.A[broken]).sum(axis=1) + self.constant[broken]
        worst = 0.0
        for i, row, height in zip(broken, normals, heights, strict=True):
            size = rows.add(row, float(height), int(i), active[i])
            if size == 0:
                return np.inf
            worst = max(worst, float(value[i]) / size)
        return worst

    def dropped(self, owners: IntArray) -> None:
        """A function may be cut again."""


def project_on_convex(
    functions: ConvexFunctions, *, target: float = np.inf, max_rounds: int = 60, deadline: float = np.inf
) -> ConvexProjection:
    """See the head of this file; stops at the distance `target` and at the `deadline`, by `time.monotonic()`."""
    (n, k), r = functions.A.shape, functions.W.shape[1]
    rows = Rows(r, k, 2 * _CUTS_PER_ROUND)
    room = MAX_ROWS + 2 * min(n, r)  # no more rows than coordinates carry a multiplier
    found = nearest(rows, functions, target=target, max_rounds=max_rounds, max_rows=room, deadline=deadline)
    used = found.multipliers.size
    multipliers, owners = found.multipliers / rows.sizes[:used], rows.owners[:used]
    weights, supporting = np.zeros(n), np.zeros((n, k))
    np.add.at(weights, owners, multipliers)
    np.add.at(supporting, owners, multipliers[:, None] * rows.patterns[:used])
    positive = weights > 0
    supporting[positive] /= weights[positive, None]  # cuts of one function combine into one minorant
    return ConvexProjection(
        point=found.delta, lower=found.lower, weights=weights, supporting=supporting, converged=found.converged
    )
