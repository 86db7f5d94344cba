"""The kink samples of one neuron: what its direction is orthogonal to, and the weights that hold it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import scipy.linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.products import product
from marginflow.limit.settings import STEEPEST
from marginflow.limit.solver.kink_factors import Remembered, solve_cholesky

# Diagonal entries of R, relative to the largest, that are rounding: the sample depends on the others.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class KinkBasis:
    """The kink samples X_K of one neuron: a factorisation of X_K, and the rows of X in the smaller of two bases.

    `narrow` is X Q, Q an orthonormal basis of the rows of X_K, when at most half of the dimensions are taken by kinks;
    otherwise (`complement`) X N with N an orthonormal basis of the complement. The Gram matrix of the rows P_j x_i is
    XX^T - XQ (XQ)^T in the first case and XN (XN)^T in the second, and either costs as much as its basis is wide.

    In the first case the Cholesky factor L of the Gram matrix of X_K gives X Q = (X X_K^T) L^{-T} at a tenth of the
    cost of a QR factorisation; projections are refined once. Where L is too steep for that, and in the second case,
    X_K^T = Q R is used.
    """

    problem: Problem
    rows: IntArray
    XK: FloatArray
    complement: bool
    L: FloatArray | None = None
    Q: FloatArray | None = None
    R: FloatArray | None = None
    N: FloatArray | None = None

    @classmethod
    def of(cls, problem: Problem, kinks: BoolArray) -> KinkBasis:
        """The basis of the samples in `kinks` (a mask)."""
        rows = np.flatnonzero(kinks)
        XK, r = problem.X[rows], problem.X.shape[1]
        complement = 2 * len(XK) > r
        if len(XK) == 0:
            return cls(problem, rows, XK, False, L=np.zeros((0, 0)))
        if not complement:
            try:
                gram = problem.gram(rows, rows)
                L: FloatArray = scipy.linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                L = np.zeros((1, 1))
            steepness = np.diag(L)
            if steepness.min() > STEEPEST * steepness.max():
                return cls(problem, rows, XK, False, L=L)
        Q, R = scipy.linalg.qr(XK.T, mode="full" if complement else "economic", check_finite=False)
        width = min(r, len(XK))
        diagonal = np.abs(np.diag(R))
        if diagonal.min() <= _ROUNDING * diagonal.max():  # dependent samples: Q has directions that are none of theirs
            Q, R, order = scipy.linalg.qr(XK.T, mode="full", pivoting=True, check_finite=False)
            width = int((np.abs(np.diag(R)) > _ROUNDING * abs(R[0, 0])).sum())
            R = R[:, np.argsort(order)]
        return cls(problem, rows, XK, complement, Q=Q[:, :width], R=R[:width], N=Q[:, width:])

    @cached_property
    def narrow(self) -> FloatArray:
        """X Q or X N, shape (m, columns)."""
        narrow: FloatArray
        if self.Q is not None and self.N is not None:
            narrow = self.problem.X @ (self.N if self.complement else self.Q)
        elif self.L is not None and len(self.rows):
            cross = self.problem.gram(self.rows)
            narrow = scipy.linalg.solve_triangular(self.L, cross, lower=True, check_finite=False).T
        else:
            narrow = np.zeros((self.problem.n_samples, 0))
        return narrow

    def split(self, g: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P_j g, and c with X_K^T c = g - P_j g, of least norm when the kink samples are dependent."""
        c: FloatArray
        if self.L is not None:
            if len(self.rows) == 0:
                return g, np.zeros(0)
            c = solve_cholesky(self.L, self.XK @ g)
            c = c + solve_cholesky(self.L, self.XK @ (g - self.XK.T @ c))
            return g - self.XK.T @ c, c
        assert self.Q is not None
        assert self.R is not None
        along = self.Q.T @ g
        if self.R.shape[0] == self.R.shape[1]:
            c = scipy.linalg.solve_triangular(self.R, along, check_finite=False)
        else:
            c = scipy.linalg.lstsq(self.R, along, check_finite=False)[0]
        return g - self.Q @ along, c


class KinkBases:
    """Bases of all neurons."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.known = problem, Remembered(partial(KinkBasis.of, problem))

    def split(
        self, bases: Sequence[KinkBasis], G: FloatArray, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P_j g_j for rows g_j of G (k, r); weights c with X_K^T c = g_j - P_j g_j (m, k); X P_j g_j (m, k)."""
        D, C = np.empty_like(G), np.zeros((self.problem.n_samples, len(G)))
        for j, (basis, g) in enumerate(zip(bases, G, strict=True)):
            D[j], C[basis.rows, j] = basis.split(g)
        return D, C, product(self.problem.X, D.T, threads=threads)
