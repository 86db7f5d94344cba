"""Newton steps by conjugate gradients, one after another: which preconditioner each of them has.

The mean field is a good guess where samples are spread evenly (five or six products a step on spheres) and a poor one
where few directions have most of their length, as in images: there the steps would end far from what they solve for.
Then the Hessian is formed after all, in single precision, and kept as long as it is a good guess of the present one.
"""

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.settings import (
    GRADIENT_STEPS,
    GRADIENT_TOLERANCE,
    GRAM_KEPT,
    KEPT_STEPS,
    KEPT_TOLERANCE,
    MEAN_FIELD_STEPS,
)
from marginflow.limit.solver.conjugate_gradients import Curvature, Saddle, solve_by_gradients
from marginflow.limit.solver.kept_hessian import KeptHessian
from marginflow.limit.solver.mean_field import MeanField
from marginflow.limit.solver.pairs import Pairs


class GradientSteps:
    """The steps of one run of Newton's method."""

    def __init__(self, problem: Problem) -> None:
        self._kept: KeptHessian | None = None
        self._met = np.zeros(problem.n_samples, dtype=bool)  # samples that have been on the margin: they may come back
        self._since = 0  # gradients since the Hessian was formed
        self._mean_field_is_poor = problem.steep

    def step(
        self,
        rows: IntArray,
        pairs: Pairs,
        t: FloatArray,
        C: FloatArray,
        f: FloatArray,
        g: FloatArray,
        *,
        damping: float,
        inertia: float,
    ) -> tuple[FloatArray, FloatArray]:
        """(x, z) with H x + C z = f and C^T x - delta z = g, about."""
        curvature = Curvature(rows, pairs, t, damping)
        large = len(rows) > GRAM_KEPT  # then nothing of size n x n is made
        if large or not self._mean_field_is_poor:
            saddle = Saddle(MeanField(rows, pairs, t, damping=damping), C, inertia)
            most = GRADIENT_STEPS if large else MEAN_FIELD_STEPS
            x, z, count = solve_by_gradients(curvature, saddle, f, g, tolerance=GRADIENT_TOLERANCE, most=most)
            if count <= most or large:
                return x, z
            self._mean_field_is_poor = True
        self._met[rows] = True
        kept = self._kept
        while True:  # at most twice
            fresh = kept is None or kept.is_held(damping) or self._since > KEPT_STEPS
            if kept is None or fresh:
                kept = self._kept = KeptHessian(np.flatnonzero(self._met), pairs, t, damping)
                self._since = 0
            saddle = Saddle(kept.on(rows, pairs, t), C, inertia)
            x, z, count = solve_by_gradients(curvature, saddle, f, g, tolerance=KEPT_TOLERANCE, most=KEPT_STEPS)
            self._since += count
            if fresh or count <= KEPT_STEPS:
                return x, z
