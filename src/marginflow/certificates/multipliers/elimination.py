r"""The least-squares problem when the state of every kink is given: free, at 0, or tied to lambda_i.

Free Clarke weights are eliminated neuron by neuron: mu_ij, i in K_j, can cancel exactly the part of the residual of
neuron j in span{xt_i : i in K_j}. What is left is a problem in lambda alone. Small problems are kept as they are and
solved by QR, because samples may nearly coincide; large ones are assembled as a Gram matrix of size n.
"""

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky, qr, solve_triangular

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates.multipliers.box_quadratic import (
    least_squares,
    least_squares_in_box,
    minimise_in_box,
    solve_ridged,
)
from marginflow.certificates.multipliers.least_squares import Point, Residual, StationarityProblem

_REFINEMENTS = 3
_SMALL_PROBLEM = 1_000_000  # numbers in the matrix of the reduced problem
_WELL_CONDITIONED = 1e-3  # how much of each sample must be new for normal equations
_RANK = 1e-11


@dataclass(frozen=True, eq=False)
class _CholeskySpan:
    """By normal equations: fast, for samples that are clearly independent. Errors are left to refinement."""

    rows: IntArray
    samples: FloatArray
    factor: FloatArray

    def coefficients(self, vector: FloatArray) -> FloatArray:
        """z, shape (q,), with sum_i z_i xt_i = the part of `vector` in the span."""
        z: FloatArray = cho_solve((self.factor, True), self.samples @ vector, check_finite=False)
        return z

    def outside(self, vector: FloatArray) -> FloatArray:
        """The part of `vector`, or of every column of a matrix, orthogonal to the span."""
        return vector - self.samples.T @ self.coefficients(vector)

    def coordinates(self, T: FloatArray, gram: FloatArray, chosen: IntArray) -> FloatArray:
        """B with B B' = the Gram matrix of the projections of the samples `chosen` on the span; shape (a, rank)."""
        B: FloatArray = solve_triangular(self.factor, gram[np.ix_(self.rows, chosen)], lower=True, check_finite=False).T
        return B


@dataclass(frozen=True, eq=False)
class _OrthogonalSpan:
    """By pivoted QR: for samples that are nearly or exactly dependent."""

    rows: IntArray
    Q: FloatArray
    R: FloatArray
    pivots: IntArray

    def coefficients(self, vector: FloatArray) -> FloatArray:
        """The same, with 0 for dependent samples."""
        z = np.zeros(self.rows.size)
        z[self.pivots] = solve_triangular(self.R, self.Q.T @ vector, check_finite=False)
        return z

    def outside(self, vector: FloatArray) -> FloatArray:
        # Twice: once is not enough in floating point.
        once = vector - self.Q @ (self.Q.T @ vector)
        return once - self.Q @ (self.Q.T @ once)

    def coordinates(self, T: FloatArray, gram: FloatArray, chosen: IntArray) -> FloatArray:
        return T[chosen] @ self.Q


def _span(T: FloatArray, gram: FloatArray, rows: IntArray, *, accurate: bool) -> _CholeskySpan | _OrthogonalSpan:
    """The span of the rows `rows` of T; gram = T T'. `accurate` asks for QR whatever the condition."""
    if rows.size < T.shape[1] and not accurate:
        block = gram[np.ix_(rows, rows)]
        try:
            factor = cholesky(block, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            factor = None
        # The diagonal of the factor beside the length of its row: how much of each sample is new.
        if factor is not None and (np.diagonal(factor) > _WELL_CONDITIONED * np.sqrt(np.diagonal(block))).all():
            return _CholeskySpan(rows, T[rows], factor)
    Q, R, pivots = qr(T[rows].T, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(R))
    rank = int((diagonal > _RANK * diagonal[0]).sum()) if diagonal[0] > 0 else 0
    return _OrthogonalSpan(rows, Q[:, :rank], R[:rank, :rank], pivots[:rank])


class EliminatedKinks:
    """The reduced problem in lambda for given sets of free and tied kinks.

    Parameters
    ----------
    problem : StationarityProblem
    free, tied : bool arrays, shape (n, k)
        Disjoint subsets of the kinks; the other kinks have mu_ij = 0.
    """

    def __init__(self, problem: StationarityProblem, free: BoolArray, tied: BoolArray) -> None:
        self.problem = problem
        self.tied = tied
        self.carried = problem.active | tied
        self.small = problem.T.shape[0] * problem.U.size <= _SMALL_PROBLEM
        self.spans = {
            int(j): _span(problem.T, problem.gram, np.flatnonzero(free[:, j]), accurate=self.small)
            for j in np.flatnonzero(free.any(axis=0))
        }

    def hessian(self) -> FloatArray:
        """The Gram matrix of the reduced problem, y_i y_l sum_j v_j^2 (P_j xt_i) . (P_j xt_l) + ..., shape (n, n)."""
        p = self.problem
        weighted = self.carried * np.abs(p.v)
        H: FloatArray = p.gram * (weighted @ weighted.T)
        for j, span in self.spans.items():
            rows = np.flatnonzero(self.carried[:, j])
            B = p.v[j] * span.coordinates(p.T, p.gram, rows)
            H[np.ix_(rows, rows)] -= B @ B.T
        H += p.rho @ p.rho.T
        H *= p.y[:, None]
        H *= p.y
        H += np.outer(p.omega, p.omega)
        return H

    def _matrix(self) -> FloatArray:
        """The columns of the reduced problem themselves, shape (k r + p + 1, n)."""
        p = self.problem
        n, k = self.carried.shape
        columns = np.empty((n, k, p.T.shape[1]))
        for j in range(k):
            columns[:, j] = p.T
            if j in self.spans:
                columns[:, j] = self.spans[j].outside(p.T.T).T
        columns *= (self.carried * p.v * p.y[:, None])[:, :, None]
        return np.column_stack([columns.reshape(n, -1), p.y[:, None] * p.rho, p.omega]).T

    def _outside(self, residual: Residual) -> Residual:
        """The residual without what the free kinks can cancel."""
        hidden = residual.hidden.copy()
        for j, span in self.spans.items():
            hidden[j] = span.outside(hidden[j])
        return Residual(hidden=hidden, output=residual.output, row=residual.row)

    def _score(self, residual: Residual) -> FloatArray:
        """Minus the gradient of the reduced objective at a point with that residual."""
        p = self.problem
        P = (p.T @ self._outside(residual).hidden.T) * p.v
        s: FloatArray = np.einsum("ij,ij->i", P, self.carried) + p.rho @ residual.output
        return p.y * s + p.omega * residual.row

    def _solve_kinks(self, lam: FloatArray, mu: FloatArray) -> FloatArray:
        """Add to the free mu what cancels the residual in their spans; tied mu follow lambda."""
        p = self.problem
        mu = np.where(self.tied, lam[:, None], mu)
        hidden = p.residual(lam, mu).hidden
        for j, span in self.spans.items():
            mu[span.rows, j] += p.y[span.rows] * span.coefficients(hidden[j]) / p.v[j]
        return mu

    def lift(self, z: FloatArray) -> FloatArray:
        """Weights M (n, k): z on carried pairs, and on free kinks what makes sum_i y_i M_ij xt_i orthogonal to them."""
        p = self.problem
        M: FloatArray = z[:, None] * self.carried
        sums = (p.y[:, None] * M).T @ p.T
        for j, span in self.spans.items():
            M[span.rows, j] -= p.y[span.rows] * span.coefficients(sums[j])
        return M

    def solve(self, start: FloatArray, *, deadline: float = np.inf) -> Point:
        """The minimiser over 0 <= lambda <= cap and unbounded free mu, refined against the ambient residual.

        At the deadline (a value of `time.monotonic`) the best so far.
        """
        p = self.problem
        nothing = np.zeros(p.active.shape)
        if self.small:
            A = self._matrix()
            lam = least_squares_in_box(A, self._outside(p.base).stacked(), p.cap, start, deadline=deadline)
        else:
            H = self.hessian()
            lam = minimise_in_box(H, self._score(p.base), p.cap, start, deadline=deadline)
        mu = self._solve_kinks(lam, nothing)
        free = np.flatnonzero((lam > 0) & (lam < p.cap))
        if free.size == 0:
            return lam, mu
        if self.small:
            scale = np.linalg.norm(A[:, free], axis=0)
            columns = A[:, free] / scale
        else:
            block = H[np.ix_(free, free)]
        size = p.residual(lam, mu).norm()
        for _ in range(_REFINEMENTS):
            if time.monotonic() > deadline:
                break
            residual = p.residual(lam, mu)
            if self.small:
                step = least_squares(columns, self._outside(residual).stacked()) / scale
            else:
                step = solve_ridged(block, self._score(residual)[free], 1e-15)
            better = lam.copy()
            better[free] = np.clip(lam[free] + step, 0.0, p.cap)
            better_mu = self._solve_kinks(better, mu)
            better_size = p.residual(better, better_mu).norm()
            if better_size >= size:
                break
            lam, mu, size = better, better_mu, better_size
        return lam, mu
