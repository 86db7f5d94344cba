r"""The intervals of the neurons after a step of a proof, as the judge computes them (see `checker`).

Networks that differ in their outputs only are cases of one problem: the steps of many of them, and of many regions of
each, are read at once and taken at the same time. No row of an array enters another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.normal import LARGE, SMALL, shifted

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases:
    """g_t(delta) >= constants_t + sum_j c_tj relu(a_j + w_j . delta) for ||delta|| <= L, in the units of the judge.

    Parameters
    ----------
    W, a : arrays, shapes (k, r) and (k,)
        The neurons, no row longer than `longest` up to rounding.
    c, constants : arrays, shapes (T, k) and (T,)
        What belongs to each case.
    farther, higher : integer arrays, shape (T,)
        The steps of a case are in units of 2^farther (distances) and 2^higher (outputs).
    noise, L : float
        The charge for rounding, and the claimed bound.
    """

    W: FloatArray
    longest: float
    a: FloatArray
    c: FloatArray
    constants: FloatArray
    farther: IntArray
    higher: IntArray
    noise: float
    L: float

    @cached_property
    def Z(self) -> FloatArray:
        """The largest |a_j + w_j . delta| on the ball."""
        return np.abs(self.a) + self.L

    @cached_property
    def lowest(self) -> FloatArray:
        """a less what the rounding of a pre-activation can add."""
        return self.a - self.noise * self.Z

    @cached_property
    def highest(self) -> FloatArray:
        """a and what the rounding of a pre-activation can take away."""
        return self.a + self.noise * self.Z

    @cached_property
    def sizes(self) -> FloatArray:
        """The magnitudes that enter each g on the ball."""
        return np.abs(self.constants) + np.abs(self.c) @ self.Z


class ShrinkingSteps:
    """Some steps, read once: all that does not depend on the intervals.

    A step is refused, and leaves the intervals as they are, where a number of it is too large or its shape is wrong; a
    tau that is too large or negative counts as 0, which says no more than the ball itself.
    """

    def __init__(self, cases: Cases, of: Sequence[int], steps: Sequence[ProofStep]) -> None:
        self.cases, self.of = cases, np.array(of)
        shape, noise = cases.a.shape, cases.noise
        farther, higher = cases.farther[self.of], cases.higher[self.of]
        fits = np.array([step.slopes.shape == shape for step in steps])
        slopes = [step.slopes if fit else np.zeros(shape) for step, fit in zip(steps, fits.tolist(), strict=True)]
        self.pi = shifted(np.array(slopes, dtype=np.float64), higher[:, None])
        self.s = np.array([step.scale for step in steps], dtype=np.float64)
        self.s[np.abs(self.s) < SMALL] = 0.0
        sizes = np.abs(self.pi)
        fits &= (self.s >= 0) & (self.s <= LARGE) & (sizes <= LARGE).all(axis=1)
        tau = shifted(_padded([step.taus for step in steps]), (farther - higher)[:, None])
        self.tau = np.where((tau >= 0) & (tau <= LARGE), tau, 0.0)
        self.kappa = {
            i: shifted(step.curvatures, int(higher[i] - farther[i]))
            for i, step in enumerate(steps)
            if step.curvatures is not None
        }
        for i, kappa in self.kappa.items():
            fits[i] &= kappa.shape == shape and bool(np.abs(kappa).max(initial=0.0) <= LARGE)
        self.refused = not fits.all()
        self.fits = fits
        # Lines: psi(delta) = h + p . delta, and h is this height plus the remainders theta of the neurons.
        self.sc = self.s[:, None] * cases.c[self.of]
        p = self.pi @ cases.W
        self.magnitudes = self.s * cases.sizes[self.of] + sizes @ cases.Z + SMALL
        self.heights = self.s * cases.constants[self.of] + self.pi @ cases.a - noise * self.magnitudes
        self.drop = 0.25 * self.tau * self.tau * (p * p).sum(axis=1)[:, None]
        self.most = (1.0 + noise) * cases.L**2 + (1.0 + noise) * self.drop
        self.looser = noise * np.sqrt(self.drop)
        self.along = -0.5 * (p @ cases.W.T)

    def shrunk(self, which: IntArray, ends: FloatArray) -> FloatArray:
        """The intervals, shape (2, n, k), after one step for each of n regions; low > high if no delta is left."""
        if self.refused or self.kappa:
            before, ends = ends, ends.copy()
            for row, i in enumerate(which.tolist()):
                if not self.fits[i]:
                    continue
                if i in self.kappa and self.kappa[i].any():
                    ends[:, row] = self._by_a_parabola(i, before[:, row])
                else:
                    ends[:, row : row + 1] = self._by_lines(which[row : row + 1], before[:, row : row + 1])
            return ends
        return self._by_lines(which, ends)

    def _by_lines(self, which: IntArray, ends: FloatArray) -> FloatArray:
        """psi is linear, the ellipsoids are balls around multiples of its gradient."""
        of: IntArray | slice = slice(which[0], which[0] + 1) if which.size == 1 else which  # a slice copies nothing
        cases, tau = self.cases, self.tau[of]
        remainders = self.sc[of] * np.maximum(ends, 0.0)
        remainders -= self.pi[of] * ends
        theta = np.minimum(remainders[0], remainders[1])
        np.minimum(theta, 0.0, where=(ends[0] < 0) & (ends[1] > 0), out=theta)
        h = self.heights[of] + np.add.reduce(theta, axis=1)
        room = self.most[of] - tau * h[:, None]
        extent = ((1.0 + cases.noise) * cases.longest) * np.sqrt(room) + self.looser[of]
        centres = tau[:, :, None] * self.along[of][:, None, :]
        return _cut(centres, extent[:, :, None], room, ends, cases.lowest, cases.highest)

    def _by_a_parabola(self, i: int, ends: FloatArray) -> FloatArray:
        """One region, with curvatures."""
        cases, s, pi, kappa, case = self.cases, self.s[i], self.pi[i], self.kappa[i], self.of[i]
        W, a, c, noise, L = cases.W, cases.a, cases.c[case], cases.noise, cases.L
        low, high = ends
        bend = np.where(kappa == 0, 1.0, 2.0 * kappa)
        points = [low, high, *(np.clip(turn, low, high) for turn in (0.0 * a, -pi / bend, (s * c - pi) / bend))]
        theta = np.min([s * c * np.maximum(z, 0.0) - pi * z - kappa * z * z for z in points], axis=0)
        h = float(s * cases.constants[case] + (kappa * a * a + pi * a + theta).sum())
        # Turn the coordinates so that M is diagonal.
        M = W.T @ (kappa[:, None] * W)
        curve, Q = np.linalg.eigh(M)
        noise += float(np.linalg.norm(Q.T @ Q - np.eye(curve.size))) + _EPS * curve.size**2
        h -= float(np.linalg.norm((Q * curve) @ Q.T - M)) * L**2
        W, p = W @ Q, (pi + 2.0 * kappa * a) @ W @ Q
        h -= noise * float(self.magnitudes[i] + np.abs(kappa) @ cases.Z**2)
        tau = self.tau[i][:, None]
        tau = tau[(1.0 + tau * curve > 0).all(axis=1)]
        H = 1.0 + tau * curve
        x = -0.5 * tau * p / H  # the centre of the ellipsoid, where ||delta||^2 + tau psi(delta) is least: tau h - drop
        drop = (H * x * x).sum(axis=1, keepdims=True)
        room = L**2 - tau * h + drop + noise * (L**2 * (1.0 + tau * np.abs(curve).max()) + drop)
        extent = (1.0 + noise) * np.sqrt(room * ((1.0 / H) @ (W * W).T))
        extent += noise * np.linalg.norm(x, axis=1, keepdims=True)
        charge = noise * cases.Z
        return _cut((x @ W.T)[None], extent[None], room[None, :, 0], ends[:, None], a - charge, a + charge)[:, 0]


def _padded(rows: list[tuple[float, ...]]) -> FloatArray:
    """The rows with zeros behind."""
    longest = max(map(len, rows))
    return np.array([[*row, *(0.0,) * (longest - len(row))] for row in rows], dtype=np.float64)


def _cut(
    centres: FloatArray, extent: FloatArray, room: FloatArray, ends: FloatArray, lowest: FloatArray, highest: FloatArray
) -> FloatArray:
    """Intervals within every ellipsoid, one for each row and tau; low > high where one is empty.

    `lowest` and `highest` are a, moved by the charge for rounding.
    """
    cut = np.empty_like(ends)
    np.maximum.reduce(centres - extent, axis=1, initial=-np.inf, out=cut[0])
    np.minimum.reduce(centres + extent, axis=1, initial=np.inf, out=cut[1])
    cut[0] += lowest
    cut[1] += highest
    np.maximum(ends[0], cut[0], out=cut[0])
    np.minimum(ends[1], cut[1], out=cut[1])
    empty = np.logical_or.reduce(room < 0, axis=1)
    if empty.any():
        cut[0, empty], cut[1, empty] = np.inf, -np.inf
    return cut
