r"""The span of the samples on the kinks of a neuron: projections on it and coefficients in it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray

_WELL_CONDITIONED = 1e-3
_RANK = 1e-11


class AbstractKinkSpan(ABC):
    """span{xt_i : i in rows}."""

    rows: IntArray

    @abstractmethod
    def coefficients(self, vector: FloatArray) -> FloatArray:
        """z, shape (q,), with sum_i z_i xt_i = the part of `vector` in the span; dependent samples get 0."""

    @abstractmethod
    def outside(self, vector: FloatArray) -> FloatArray:
        """The part of `vector`, or of every column of a matrix, orthogonal to the span."""

    @abstractmethod
    def coordinates(self, T: FloatArray, gram: FloatArray, chosen: IntArray) -> FloatArray:
        """B with B B' = the Gram matrix of the projections of the samples `chosen` on the span; shape (a, rank)."""


@dataclass(frozen=True, eq=False)
class CholeskySpan(AbstractKinkSpan):
    """By normal equations: fast, for samples that are clearly independent. Errors are left to refinement."""

    rows: IntArray
    samples: FloatArray
    factor: FloatArray

    def coefficients(self, vector: FloatArray) -> FloatArray:
        """Solve the normal equations."""
        z: FloatArray = scipy.linalg.cho_solve((self.factor, True), self.samples @ vector, check_finite=False)
        return z

    def outside(self, vector: FloatArray) -> FloatArray:
        """Subtract the combination of the samples."""
        return vector - self.samples.T @ self.coefficients(vector)

    def coordinates(self, T: FloatArray, gram: FloatArray, chosen: IntArray) -> FloatArray:
        """One triangular solve with the factor."""
        B: FloatArray = scipy.linalg.solve_triangular(
            self.factor, gram[np.ix_(self.rows, chosen)], lower=True, check_finite=False
        ).T
        return B


@dataclass(frozen=True, eq=False)
class OrthogonalSpan(AbstractKinkSpan):
    """By pivoted QR: for samples that are nearly or exactly dependent."""

    rows: IntArray
    Q: FloatArray
    R: FloatArray
    pivots: IntArray

    def coefficients(self, vector: FloatArray) -> FloatArray:
        """Back substitution on the pivots."""
        z = np.zeros(self.rows.size)
        z[self.pivots] = scipy.linalg.solve_triangular(self.R, self.Q.T @ vector, check_finite=False)
        return z

    def outside(self, vector: FloatArray) -> FloatArray:
        """Subtract the projection, twice: once is not enough in floating point."""
        once = vector - self.Q @ (self.Q.T @ vector)
        return once - self.Q @ (self.Q.T @ once)

    def coordinates(self, T: FloatArray, gram: FloatArray, chosen: IntArray) -> FloatArray:
        """Coordinates in the orthonormal basis."""
        return T[chosen] @ self.Q


def kink_span(T: FloatArray, gram: FloatArray, rows: IntArray, *, accurate: bool) -> AbstractKinkSpan:
    """The span of the rows `rows` of T; gram = T T'. `accurate` asks for QR whatever the condition."""
    if rows.size < T.shape[1] and not accurate:
        block = gram[np.ix_(rows, rows)]
        try:
            factor = scipy.linalg.cholesky(block, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            factor = None
        # The diagonal of the factor beside the length of its row: how much of each sample is new.
        if factor is not None and (np.diagonal(factor) > _WELL_CONDITIONED * np.sqrt(np.diagonal(block))).all():
            return CholeskySpan(rows, T[rows], factor)
    Q, R, pivots = scipy.linalg.qr(T[rows].T, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(R))
    rank = int((diagonal > _RANK * diagonal[0]).sum()) if diagonal[0] > 0 else 0
    return OrthogonalSpan(rows, Q[:, :rank], R[:rank, :rank], pivots[:rank])
