r"""A step of Newton's method without its Hessian: conjugate gradients on the saddle system.

The system is [[H, C], [C^T, -delta]] (x, z) = (f, g) with H = sum_j t_j S_j X P_j X^T S_j + damping, where S_j has
sigma_ij on the diagonal for active pairs and 0 elsewhere. A product with H costs four products m x r x k and two
triangular solutions for every neuron. The preconditioner has the same constraints and a *mean field* in place of H,

.. math:: G = \mathrm{diag} + \sum_\pm T_\pm \, (p^\pm_i y_i x_i) \cdot (p^\pm_l y_l x_l) ,

p_i the share (by t) of the neurons of one sign on which sample i is active and T their total: what H would be if the
neurons were independent of each other. Its inverse needs one factor of size 2 r (Woodbury) or n. Iterates keep
C^T x - delta z = g, and on that subspace the matrix is positive: the ordinary method applies to the pair (x, z).

Newton's method corrects itself, so a relative residual of 1e-2 is enough, and the products run in single precision.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.products import times_transpose
from marginflow.limit.settings import GRADIENT_STEPS, GRADIENT_TOLERANCE
from marginflow.limit.solver.kink_factors import KinkFactor
from marginflow.limit.solver.pairs import Pairs
from marginflow.threads import parts_of, share


class Curvature:
    """H of a structure, on the given rows, as products."""

    def __init__(self, problem: Problem, rows: IntArray, pairs: Pairs, t: FloatArray, damping: float) -> None:
        real = np.float32
        self.X = problem.rounded
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
            G = (signs * scaled).T @ self.some
            Z = G @ self.X.T
            weights = np.zeros_like(Z)
            for j, factor in enumerate(self.factors[neurons]):
                weights[j, factor.rows] = factor.solve(Z[j, factor.rows])
            G -= weights @ self.X
            np.vecdot(self.some @ (self.t[neurons, None] * G).T, signs, out=images[i])

        share(add, list(enumerate(self.parts)), self.threads)
        product: FloatArray = size * images.sum(axis=0, dtype=np.float64) + self.damping * v
        return product


class MeanField:
    """[[G, C], [C^T, -delta]]^{-1} with delta = `inertia` times the average diagonal entry of C^T G^{-1} C."""

    def __init__(
        self,
        problem: Problem,
        rows: IntArray,
        pairs: Pairs,
        t: FloatArray,
        C: FloatArray,
        *,
        damping: float,
        inertia: float,
    ) -> None:
        r = problem.X.shape[1]
        weights = np.maximum(t, 0.0)
        free = np.array([1.0 - len(basis.rows) / r for basis in pairs.bases])
        active = pairs.active[rows] != 0.0
        norms = problem.norms[rows] ** 2
        diagonal = damping + norms * (active @ (weights * free))
        shares = []  # sqrt(T) p_i y_i for each sign
        for sign in (1.0, -1.0):
            own = pairs.s == sign
            total = float((weights * free)[own].sum())
            if total <= 0.0:
                continue
            share = active[:, own] @ (weights * free)[own] / total
            diagonal = diagonal - total * share**2 * norms
            shares.append(np.sqrt(total) * share * problem.y[rows])
        # A sample that is active on one neuron alone has nothing left outside the mean field.
        self.diagonal = np.maximum(diagonal, 1e-3 * float(norms.mean() * weights.sum()) / max(len(t), 1) + damping)
        self.low_rank = len(shares) * r < len(rows)
        if self.low_rank:
            self.B = np.concatenate([share[:, None] * problem.X[rows] for share in shares], axis=1)
            # Single precision changes G by far less than the mean field is off.
            scaled = (self.B / np.sqrt(self.diagonal)[:, None]).astype(np.float32)
            inner = times_transpose(scaled.T).astype(np.float64)
        else:
            scaled_shares = np.array(shares) / np.sqrt(self.diagonal)
            inner = problem.gram(rows, rows)
            inner *= scaled_shares.T @ scaled_shares
        inner[np.diag_indices(len(inner))] += 1.0
        self.inner = scipy.linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        self.C, k = C, C.shape[1]
        self.GC = self._solve(C)
        S = C.T @ self.GC
        mean = float(np.trace(S)) / max(k, 1)
        self.delta = inertia * mean
        S[np.diag_indices(k)] += self.delta + 1e-12 * mean + 1e-300
        self.schur = scipy.linalg.cho_factor(S, lower=True, check_finite=False) if k else None

    def _solve(self, f: FloatArray) -> FloatArray:
        solution: FloatArray
        if self.low_rank:
            scaled = (f.T / self.diagonal).T
            inside = scipy.linalg.cho_solve(self.inner, self.B.T @ scaled, check_finite=False)
            solution = scaled - ((self.B @ inside).T / self.diagonal).T
        else:
            root = np.sqrt(self.diagonal)
            inside = scipy.linalg.cho_solve(self.inner, (f.T / root).T, check_finite=False)
            solution = (inside.T / root).T
        return solution

    def solve(self, f: FloatArray, g: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """(x, z) with G x + C z = f and C^T x - delta z = g (0 by default)."""
        x = self._solve(f)
        if self.schur is None:
            return x, np.zeros(0)
        short = self.C.T @ x if g is None else self.C.T @ x - g
        z: FloatArray = scipy.linalg.cho_solve(self.schur, short, check_finite=False)
        return x - self.GC @ z, z


def solve_by_gradients(
    curvature: Curvature, preconditioner: MeanField, f: FloatArray, g: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(x, z) with H x + C z = f to a relative residual of `GRADIENT_TOLERANCE` and C^T x - delta z = g."""
    C = preconditioner.C
    x, z = preconditioner.solve(f, g)
    image = curvature.times(x)
    rest = f - image - C @ z
    first = max(float(f @ preconditioner.solve(f)[0]), float(x @ image))
    step, scale = preconditioner.solve(rest)
    size = float(rest @ step)
    direction, along = step, scale
    for _ in range(GRADIENT_STEPS):
        if not size > GRADIENT_TOLERANCE**2 * first:
            break
        image = curvature.times(direction) + C @ along
        curved = float(direction @ image)
        if not curved > 0.0:
            break
        length = size / curved
        x, z = x + length * direction, z + length * along
        rest = rest - length * image
        step, scale = preconditioner.solve(rest)
        before, size = size, float(rest @ step)
        direction, along = step + (size / before) * direction, scale + (size / before) * along
    return x, z
