r"""A step of Newton's method without its Hessian: conjugate gradients on the saddle system.

The system is [[H, C], [C^T, -delta]] (x, z) = (f, g) with H = sum_j t_j S_j X P_j X^T S_j + damping, where S_j has
sigma_ij on the diagonal for active pairs and 0 elsewhere. A product with H costs four products m x r x k and two
triangular solutions for every neuron. The preconditioner has the same constraints and in place of H a *mean field*
(`mean_field.py`) or, where that is too poor a guess, a Hessian that was formed some steps ago (`kept_hessian.py`).
Iterates keep C^T x - delta z = g, and on that subspace the matrix is positive: the ordinary method applies to the pair
(x, z).

Newton's method corrects itself, so a relative residual of 1e-2 is enough, and the products run in single precision.
"""

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.products import product
from marginflow.limit.settings import (
    GRADIENT_STEPS,
    GRADIENT_TOLERANCE,
    GRAM_KEPT,
    KEPT_STEPS,
    KEPT_TOLERANCE,
    MEAN_FIELD_STEPS,
)
from marginflow.limit.solver.kept_hessian import KeptHessian, KeptInverse
from marginflow.limit.solver.kink_factors import KinkFactor
from marginflow.limit.solver.mean_field import MeanField
from marginflow.limit.solver.pairs import Pairs
from marginflow.threads import parts_of, share


class Curvature:
    """H of a structure, on the given rows, as products."""

    def __init__(self, rows: IntArray, pairs: Pairs, t: FloatArray, damping: float) -> None:
        real = np.float32
        self.X = pairs.problem.rounded
        self.rows, self.damping = rows, damping
        self.some = self.X[rows] if len(rows) < len(self.X) else self.X
        self.signs = pairs.active[rows].astype(real)
        self.t = np.maximum(t, 0.0).astype(real)  # t_j < 0 only while a neuron is on its way out
        self.factors = [basis.rounded() for basis in pairs.bases if isinstance(basis, KinkFactor)]
        self.parts, self.threads = parts_of(len(t), float(self.X.size) * len(t)), pairs.threads

    def times(self, v: FloatArray) -> FloatArray:
        """H v, shape (n,)."""
        size = float(np.abs(v).max(initial=0.0)) or 1.0
        scaled = (v / size).astype(self.X.dtype)[:, None]
        images = np.empty((len(self.parts), len(v)), dtype=self.X.dtype)

        def add(part: tuple[int, slice]) -> None:
            i, neurons = part
            signs = self.signs[:, neurons]
            G = product((signs * scaled).T, self.some, threads=threads)
            Z = product(G, self.X.T, threads=threads)
            weights = np.zeros_like(Z)
            for j, factor in enumerate(self.factors[neurons]):
                weights[j, factor.rows] = factor.solve(Z[j, factor.rows])
            G -= product(weights, self.X, threads=threads)
            np.vecdot(product(self.some, (self.t[neurons, None] * G).T, threads=threads), signs, out=images[i])

        threads = self.threads if len(self.parts) == 1 else 1  # for the products of one part, or for the parts
        share(add, list(enumerate(self.parts)), self.threads)
        image: FloatArray = size * images.sum(axis=0, dtype=np.float64) + self.damping * v
        return image


class Saddle:
    """[[G, C], [C^T, -delta]]^{-1} by that of G; delta = `inertia` times the mean diagonal entry of C^T G^{-1} C."""

    def __init__(self, inverse: MeanField | KeptInverse, C: FloatArray, inertia: float) -> None:
        self._inverse, self.C, k = inverse, C, C.shape[1]
        self._GC = inverse.solve(C)
        S = C.T @ self._GC
        mean = float(np.trace(S)) / max(k, 1)
        self.delta = inertia * mean
        S[np.diag_indices(k)] += self.delta + 1e-12 * mean + 1e-300
        self._schur = scipy.linalg.cho_factor(S, lower=True, check_finite=False) if k else None

    def solve(self, f: FloatArray, g: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """(x, z) with G x + C z = f and C^T x - delta z = g (0 by default)."""
        x = self._inverse.solve(f)
        if self._schur is None:
            return x, np.zeros(0)
        short = self.C.T @ x if g is None else self.C.T @ x - g
        z: FloatArray = scipy.linalg.cho_solve(self._schur, short, check_finite=False)
        return x - self._GC @ z, z


def solve_by_gradients(
    curvature: Curvature, saddle: Saddle, f: FloatArray, g: FloatArray, *, tolerance: float, most: int
) -> tuple[FloatArray, FloatArray, int]:
    """(x, z) with C^T x - delta z = g and H x + C z = f to a relative residual, and the steps that it took.

    These are more than `most` where so many do not reach it.
    """
    C = saddle.C
    x, z = saddle.solve(f, g)
    image = curvature.times(x)
    rest = f - image - C @ z
    first = max(float(f @ saddle.solve(f)[0]), float(x @ image))
    step, scale = saddle.solve(rest)
    size = float(rest @ step)
    direction, along = step, scale
    for count in range(most):
        if not size > tolerance**2 * first:
            return x, z, count
        image = curvature.times(direction) + C @ along
        curved = float(direction @ image)
        if not curved > 0.0:
            return x, z, count  # rounding is all that is left
        length = size / curved
        x, z = x + length * direction, z + length * along
        rest = rest - length * image
        step, scale = saddle.solve(rest)
        before, size = size, float(rest @ step)
        direction, along = step + (size / before) * direction, scale + (size / before) * along
    return x, z, most if not size > tolerance**2 * first else most + 1


class GradientSteps:
    """The steps of one run of Newton's method: which preconditioner each of them has.

    The mean field is a good guess where samples are spread evenly (five or six products a step on spheres) and a poor
    one where few directions have most of their length, as in images: there the steps would end far from what they solve
    for. Then the Hessian is formed after all, in single precision, and kept as long as it is a good guess of the
    present one.
    """

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
