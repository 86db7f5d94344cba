r"""The convex-concave procedure for perturbations that flip one sample, or several samples with one vector.

f_i = C_i - D_i with C_i (supporting neurons) and D_i (opposing neurons) convex. Fix the opposing neurons active at a
flipping z: then D_i is replaced by the linear function it equals there and never exceeds elsewhere, the constraint
becomes convex, z stays feasible, and projecting the origin on it cannot make z longer.

The projection is by cutting planes, on {z : g_i(z) <= 0 for all i} with

.. math:: g_i(z) = \sum_{C_{ij} > 0} C_{ij}\, \mathrm{relu}(a_{ij}(z))
   + \sum_{C_{ij} < 0} C_{ij} m_{ij} a_{ij}(z) + r_i , \qquad a_{ij}(z) = A_{ij} + \sigma_i\, w_j \cdot z

With m_ij in {0, 1} the opposing neurons are fixed to be active or not; with m_ij the slope of a chord it is the
relaxation of a lower bound (see `chord`).
"""

import time
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.robustness.cutting_planes import MAX_ROWS, Rows, nearest
from marginflow.robustness.neighbourhood import Neighbourhood
from marginflow.robustness.piecewise import first_steps, without_noise

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

    seen: Neighbourhood
    sigma: FloatArray
    slopes: FloatArray
    constant: FloatArray

    def separate(self, rows: Rows, delta: FloatArray, reach: float) -> float:
        """The most violated functions, each cut with its slopes at delta; violations are relative to their terms."""
        A, C, W = self.seen.A, self.seen.C, self.seen.W
        a = A + self.sigma[:, None] * (W @ delta)
        active = a > 0
        coefficients = C * np.where(C > 0, active, self.slopes)
        value = (coefficients * a).sum(axis=1) + self.constant
        scale = (np.abs(C) * np.abs(a)).sum(axis=1) + np.abs(self.constant)
        excess = value - _TOLERANCE * scale
        broken = np.argsort(-excess)[:_CUTS_PER_ROUND]
        broken = broken[excess[broken] > 0]
        normals = -self.sigma[broken, None] * (coefficients[broken] @ W)
        heights = (coefficients[broken] * A[broken]).sum(axis=1) + self.constant[broken]
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
    """The point nearest to the origin; stops at the distance `target` and at the `deadline`, by `time.monotonic()`."""
    (n, k), r = functions.seen.A.shape, functions.seen.rank
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


def descend(
    seen: Neighbourhood, sigma: FloatArray, start: FloatArray, *, max_steps: int = 30, deadline: float = np.inf
) -> FloatArray:
    r"""Shorten a vector z that flips all points of `seen` at once, x_i + sigma_i z; shape (r,).

    Parameters
    ----------
    seen : Neighbourhood
    sigma : array, shape (n,)
        1 for an unsigned perturbation, -y_i for a signed universal one.
    start : array, shape (r,)
        A vector that flips all points, up to rounding.
    deadline : float
        The value of `time.monotonic()` after which the shortest vector so far is returned.

    Returns
    -------
    array, shape (r,)
        A vector no longer than `start` that flips all points up to rounding; `start` itself if nothing is shorter.
    """
    z, size = start, float(np.linalg.norm(start))
    for _ in range(max_steps):
        if time.monotonic() > deadline:
            break
        a = seen.A + sigma[:, None] * (seen.W @ z)
        slopes, constant = (a > 0).astype(np.float64), np.full(seen.n_points, -seen.level)
        fixed = ConvexFunctions(seen=seen, sigma=sigma, slopes=slopes, constant=constant)
        found = project_on_convex(fixed, target=size, deadline=deadline)
        if found.lower >= size or not found.point.any():
            break
        # The projection comes from outside; the exact ray takes it to where all points are flipped.
        step = common_step(seen, sigma, found.point)
        shorter = step * float(np.linalg.norm(found.point))
        if not shorter < size * (1.0 - 1e-10):
            break
        z, size = step * found.point, shorter
    return z


def common_step(seen: Neighbourhood, sigma: FloatArray, direction: FloatArray) -> float:
    """Smallest t near the largest first flip at which t * direction flips all points; infinity if there is none.

    Exact when the flips are monotone; otherwise the candidate max_i first_i is checked and refused if it fails.
    """
    along = without_noise(seen.W @ direction, np.abs(seen.W) @ np.abs(direction))
    G = sigma[:, None] * along
    step = float(first_steps(seen.A, G, seen.C, seen.level).max())
    if not np.isfinite(step):
        return step
    Z = seen.A + step * G
    values = (np.maximum(Z, 0.0) * seen.C).sum(axis=1) - seen.level
    scale = (np.abs(Z) * np.abs(seen.C)).sum(axis=1) + abs(seen.level)
    return step if (values <= 1e-12 * scale).all() else float("inf")
