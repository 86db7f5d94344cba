r"""Several problems seen from one point that differ in their outputs only: the rivals of a class.

.. math:: g_t(\delta) = \kappa_t + \sum_j c_{tj} \, \mathrm{relu}(a_j + w_j \cdot \delta)

What concerns all of them is one array operation; a `RadiusProblem` is made of those that are searched one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.robustness.radius.normal import shifted
from marginflow.robustness.radius.reduction import RadiusProblem, Reduction


@dataclass(frozen=True, eq=False, kw_only=True)
class Problems:
    """T problems with the same neurons, in the notation of `RadiusProblem`.

    Parameters
    ----------
    W, a : arrays, shapes (k, r) and (k,)
        The neurons.
    c : array, shape (T, k)
        Output weights.
    constants, blurs, drifts : arrays, shape (T,)
        `constant`, `blur` and `blur_per_length` of each.
    noise, dimension
        The same for all.
    """

    W: FloatArray
    a: FloatArray
    c: FloatArray
    constants: FloatArray
    blurs: FloatArray
    drifts: FloatArray
    noise: float
    dimension: int

    @classmethod
    def of(cls, problem: RadiusProblem) -> Problems:
        """One problem."""
        return cls(
            W=problem.W,
            a=problem.a,
            c=problem.c[None, :],
            constants=np.array([problem.constant]),
            blurs=np.array([problem.blur]),
            drifts=np.array([problem.blur_per_length]),
            noise=problem.noise,
            dimension=problem.dimension,
        )

    def __len__(self) -> int:
        return int(self.constants.size)

    def __getitem__(self, t: int) -> RadiusProblem:
        return RadiusProblem(
            W=self.W,
            a=self.a,
            c=self.c[t],
            constant=float(self.constants[t]),
            noise=self.noise,
            blur=float(self.blurs[t]),
            blur_per_length=float(self.drifts[t]),
            dimension=self.dimension,
        )

    def chosen(self, which: IntArray) -> Problems:
        """Some of them, in this order."""
        return replace(
            self, c=self.c[which], constants=self.constants[which], blurs=self.blurs[which], drifts=self.drifts[which]
        )

    def values_and_slopes(self) -> tuple[FloatArray, FloatArray]:
        """g_t(0) and ||grad g_t(0)||."""
        gradients = (self.c * (self.a > 0)) @ self.W
        values = self.constants + self.c @ np.maximum(self.a, 0.0)
        return values, np.sqrt(np.einsum("ij,ij->i", gradients, gradients))


class Outputs:
    """The output weights of reductions with one geometry, side by side: prepared once for many points."""

    def __init__(self, reductions: list[Reduction], levels: list[float]) -> None:
        self.geometry, self.noise = reductions[0].geometry, reductions[0].noise
        self.weights = np.stack([reduction.weights for reduction in reductions])
        self.constants = np.array([reduction.constant for reduction in reductions])
        self.still = np.array([reduction.still for reduction in reductions])
        self.drifts = np.array([reduction.drift for reduction in reductions])
        self.exponents = np.array([reduction.outputs for reduction in reductions])
        self.levels = np.array(levels)

    def at(self, point: FloatArray, unit: int) -> Problems:
        """The problems seen from one point, label +1, with distances in units of 2^unit (see `Reduction.at`)."""
        x = shifted(point, -unit)
        heights = np.ldexp(self.levels, -(self.exponents + unit))
        constants, still = np.ldexp(np.stack([self.constants, self.still]), self.geometry.base - unit)
        return Problems(
            W=self.geometry.coordinates,
            a=self.geometry.distances(point, unit),
            c=self.weights,
            constants=constants - heights,
            blurs=still + self.noise * np.abs(heights) + self.drifts * sqrt(x @ x),
            drifts=self.drifts,
            noise=self.noise,
            dimension=point.size,
        )
