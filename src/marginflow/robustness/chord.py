r"""Lower bounds from chords: what a perturbation must reach when every opposing relu is replaced by its chord.

For perturbations z in a region where p_j = w_j . z is known to lie in [lo_j, hi_j], an opposing neuron (C_ij < 0) is
at most its chord over that interval, and a supporting neuron (C_ij > 0) is at least s_ij times its pre-activation for
any s_ij in [0, 1]. So f_i has the linear minorant

.. math:: h_i(z) = \sum_{C_{ij} > 0} C_{ij} s_{ij} a_{ij}(z)
   + \sum_{C_{ij} < 0} C_{ij} (m_{ij} a_{ij}(z) + q_{ij}) - level

and every z that flips the samples satisfies sum_i Lambda_i h_i(z) <= 0 for any weights Lambda >= 0, hence
||z|| >= sum_i Lambda_i h_i(0) / ||sum_i Lambda_i grad h_i||. The best (Lambda, s) is found by cutting planes; the bound
is then computed from (Lambda, s) alone, so nothing rests on the solver.

One sample gives the chord bound of its radius; several samples with one z give a bound for universal perturbations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.convex_concave import ConvexFunctions, project_on_convex
from marginflow.robustness.neighbourhood import Neighbourhood

# Every bound is reduced by this share of itself, far more than the rounding of its few hundred operations.
ROUNDING_SHARE = 1e-12


def relu_chords(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The lines m a + q above relu on [low, high]: the chord, or relu itself where the interval has one sign."""
    crossing = (low < 0) & (high > 0)
    width = np.where(crossing, high - low, 1.0)
    slope = np.where(crossing, high / width, np.where(low >= 0, 1.0, 0.0))
    return slope, np.where(crossing, -slope * low, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Relaxation:
    r"""Functions f_i(z) = sum_j C_ij relu(A_ij + sigma_i w_j . z) - level, with bounds lo <= W z <= hi.

    sigma_i is 1 for unsigned perturbations and for a single sample, -y_i for signed universal ones.
    """

    seen: Neighbourhood
    sigma: FloatArray
    lo: FloatArray
    hi: FloatArray

    @classmethod
    def on_ball(cls, seen: Neighbourhood, sigma: FloatArray, radius: float) -> Relaxation:
        """For perturbations z with ||z|| <= radius."""
        reach = radius * np.linalg.norm(seen.W, axis=1) * (1.0 + ROUNDING_SHARE)
        return cls(seen=seen, sigma=sigma, lo=-reach, hi=reach)

    def on_cap(self, radius: float, normal: FloatArray, lower: float) -> Relaxation:
        """For those of them in the cap {||z|| <= radius, normal . z >= lower}; all of them where normal is zero."""
        if not normal.any():
            return self
        low, high = cap_intervals(self.seen.W, radius, normal, lower)
        return replace(self, lo=np.maximum(self.lo, low), hi=np.minimum(self.hi, high))

    def chords(self) -> tuple[FloatArray, FloatArray]:
        """m_ij and q_ij with relu(a) <= m a + q on the interval of each pre-activation; shapes (n, k)."""
        s = self.sigma[:, None]
        low = self.seen.A + np.where(s > 0, s * self.lo, s * self.hi)
        high = self.seen.A + np.where(s > 0, s * self.hi, s * self.lo)
        return relu_chords(low, high)

    def minorants(self, S: FloatArray) -> tuple[FloatArray, FloatArray]:
        """h_i(0) and grad h_i for supporting slopes S in [0, 1]; shapes (n,) and (n, r)."""
        A, C, level = self.seen.A, self.seen.C, self.seen.level
        m, q = self.chords()
        slopes = C * np.where(C > 0, np.clip(S, 0.0, 1.0), m)
        constant = np.where(C < 0, C * q, 0.0).sum(axis=1)
        value = (slopes * A).sum(axis=1) + constant - level
        rounding = 8.0 * np.finfo(np.float64).eps * np.sqrt(A.shape[1])
        size = (np.abs(slopes * A) + np.abs(C * q)).sum(axis=1) + abs(level)
        return value - rounding * size, self.sigma[:, None] * (slopes @ self.seen.W)


@dataclass(frozen=True, eq=False, kw_only=True)
class ChordBound:
    """A lower bound on ||z|| with the weights and slopes that prove it.

    Parameters
    ----------
    lower : float
        The bound, valid for every flipping z in the region of the relaxation.
    weights : array, shape (n,)
        Lambda >= 0.
    slopes : array, shape (n, k)
        s_ij in [0, 1].
    normal : array, shape (r,)
        Unit vector with normal . z >= lower for every flipping z in the region.
    """

    lower: float
    weights: FloatArray
    slopes: FloatArray
    normal: FloatArray


def bound_from_multipliers(relaxation: Relaxation, weights: FloatArray, slopes: FloatArray) -> tuple[float, FloatArray]:
    """The bound that (Lambda, s) prove, and the unit normal of its half-space; no solver takes part."""
    value, gradient = relaxation.minorants(slopes)
    lam = np.maximum(weights, 0.0)
    gain, g = float(lam @ value), lam @ gradient
    length = float(np.linalg.norm(g))
    if gain <= 0:
        return 0.0, np.zeros_like(g)
    # A gradient that cancels is only known up to the rounding of its terms; counting that in keeps the bound valid.
    noise = 8.0 * np.finfo(np.float64).eps * float(lam @ np.linalg.norm(gradient, axis=1))
    if length <= noise:
        return float("inf"), np.zeros_like(g)
    return gain / (length + noise) * (1.0 - ROUNDING_SHARE), -g / length


def chord_bound_of(relaxation: Relaxation, *, deadline: float = np.inf) -> ChordBound:
    """The best (Lambda, s) by cutting planes until the `deadline`, and the bound recomputed from it."""
    seen, (m, q) = relaxation.seen, relaxation.chords()
    constant = np.where(seen.C < 0, seen.C * q, 0.0).sum(axis=1) - seen.level
    functions = ConvexFunctions(seen=seen, sigma=relaxation.sigma, slopes=m, constant=constant)
    found = project_on_convex(functions, deadline=deadline)
    lower, normal = bound_from_multipliers(relaxation, found.weights, found.supporting)
    return ChordBound(lower=lower, weights=found.weights, slopes=found.supporting, normal=normal)


def cap_intervals(W: FloatArray, radius: float, normal: FloatArray, lower: float) -> tuple[FloatArray, FloatArray]:
    r"""Range of w_j . z over the cap {||z|| <= radius, normal . z >= lower}, in closed form.

    With alpha = w . normal and beta = ||w - alpha normal||, the maximum is radius ||w|| if that point lies in the cap,
    alpha radius >= lower ||w||, and alpha lower + beta sqrt(radius^2 - lower^2) otherwise.
    """
    alpha = W @ normal
    length = np.linalg.norm(W, axis=1)
    beta = np.linalg.norm(W - alpha[:, None] * normal, axis=1)
    rim = np.sqrt(max(radius**2 - lower**2, 0.0))
    highest = np.where(alpha * radius >= lower * length, radius * length, alpha * lower + beta * rim)
    lowest = np.where(-alpha * radius >= lower * length, -radius * length, alpha * lower - beta * rim)
    margin = ROUNDING_SHARE * radius * length
    return lowest - margin, highest + margin
