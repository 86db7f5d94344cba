r"""Project the origin on {z : g_i(z) <= 0 for all i} with piecewise linear convex g_i, by cutting planes.

.. math:: g_i(z) = \sum_{C_{ij} > 0} C_{ij}\, \mathrm{relu}(a_{ij}(z))
   + \sum_{C_{ij} < 0} C_{ij} m_{ij} a_{ij}(z) + r_i , \qquad a_{ij}(z) = A_{ij} + \sigma_i\, w_j \cdot z

With m_ij in {0, 1} the opposing neurons are fixed to be active or not (the convex-concave step); with m_ij the slope
of a chord it is the relaxation of a lower bound. Project on the cuts, cut where the projection fails, drop cuts that
carry no multiplier: distances grow strictly and there are finitely many cuts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.robustness.least_distance import least_distance

# Cuts added in one round: the most violated functions first.
_CUTS_PER_ROUND = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Projection:
    """The projection z, and the multipliers that show that nothing is nearer.

    Parameters
    ----------
    point : array, shape (r,)
        The last projection on the cuts: nearer than, or equal to, the true one.
    weights : array, shape (n,)
        Multiplier of each function, the sum over its cuts.
    supporting : array, shape (n, k)
        Slope in [0, 1] of each supporting relu, averaged over the cuts of its function.
    feasible : bool
        False when the cuts admit no point at all.
    converged : bool
        Whether all functions are at most 0 at `point`, up to rounding.
    """

    point: FloatArray
    weights: FloatArray
    supporting: FloatArray
    feasible: bool
    converged: bool


def project_on_convex(
    *,
    A: FloatArray,
    C: FloatArray,
    W: FloatArray,
    sigma: FloatArray,
    slopes: FloatArray,
    constant: FloatArray,
    max_rounds: int = 60,
    tolerance: float = 1e-11,
) -> Projection:
    """See the head of this file; `slopes` is m (read where C < 0) and `constant` is r."""
    n, k = A.shape
    support = C > 0
    rows, heights = np.zeros((0, W.shape[1])), np.zeros(0)
    owners, patterns = np.zeros(0, dtype=np.int64), np.zeros((0, k), dtype=np.bool_)
    z = np.zeros(W.shape[1])
    weights, supporting = np.zeros(n), np.zeros((n, k))
    feasible, converged, distance = True, False, 0.0
    for _ in range(max_rounds):
        a = A + sigma[:, None] * (W @ z)
        active = a > 0
        coefficients = C * np.where(support, active, slopes)
        value = (coefficients * a).sum(axis=1) + constant
        scale = (np.abs(C) * np.abs(a)).sum(axis=1) + np.abs(constant)
        excess = value - tolerance * scale
        broken = np.argsort(-excess)[:_CUTS_PER_ROUND]
        broken = broken[excess[broken] > 0]
        if broken.size == 0:
            converged = True
            break
        rows = np.vstack([rows, -sigma[broken, None] * (coefficients[broken] @ W)])
        heights = np.append(heights, (coefficients[broken] * A[broken]).sum(axis=1) + constant[broken])
        owners = np.append(owners, broken)
        patterns = np.vstack([patterns, active[broken]])
        solved = least_distance(rows, heights)
        weights, supporting = _gathered(solved.multipliers, owners, patterns, n)
        if not solved.feasible:
            feasible = False
            break
        z = solved.point
        if solved.lower <= distance * (1.0 + 1e-12):  # a new cut moves the projection away; rounding does not
            break
        distance = solved.lower
        keep = solved.multipliers > 0
        rows, heights, owners, patterns = rows[keep], heights[keep], owners[keep], patterns[keep]
    return Projection(point=z, weights=weights, supporting=supporting, feasible=feasible, converged=converged)


def _gathered(multipliers: FloatArray, owners: IntArray, patterns: BoolArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Cuts of one function combine into one minorant: weights add up, slopes average."""
    weights, slopes = np.zeros(n), np.zeros((n, patterns.shape[1]))
    np.add.at(weights, owners, multipliers)
    np.add.at(slopes, owners, multipliers[:, None] * patterns)
    positive = weights > 0
    slopes[positive] /= weights[positive, None]
    return weights, slopes
