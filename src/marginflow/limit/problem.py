r"""The max-margin problem in convex clothes.

With xt = (x, 1) (or x without bias), s_j = sign v_j and u_j = |v_j| (w_j, b_j), the problem
min 1/2 ||theta||^2 s.t. y_i N(x_i) >= 1 becomes

.. math:: \min \sum_j h_j(u_j) \quad\text{s.t.}\quad y_i \sum_j s_j\,\mathrm{relu}(xt_i \cdot u_j) \ge 1 .   \tag{P}

With trained outputs h_j(u) = ||u||: at fixed u_j the cheapest split has |v_j| = ||(w_j, b_j)||. With frozen
outputs v_j the split is fixed and h_j(u) = ||u||^2 / (2 v_j^2).

A pair (i, j) is *same* when s_j = y_i and *opposite* otherwise, so every margin is a difference of convex functions:
the sum of relu(xt_i . u_j) over same pairs minus the sum over opposite pairs. Freezing A_ij = 1[xt_i . u_j > 0]
on same pairs gives the convex problem

.. math:: \min \sum_j h_j(u_j) \quad\text{s.t.}\quad
   \sum_{same} A_{ij}\, xt_i\cdot u_j - \sum_{opposite} \mathrm{relu}(xt_i\cdot u_j) \ge 1   \tag{C}

whose KKT conditions, once A agrees with the signs of its own solution, are the Clarke KKT conditions of (P).
The soft-margin problem adds C sum_i (1 - y_i N(x_i))_+ and caps every multiplier at the penalty C.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.products import factor_threads, product, times_transpose
from marginflow.limit.settings import (
    GRAM_KEPT,
    LARGE_ROTATION,
    NEARLY_SQUARE,
    RANK_TOLERANCE,
    RIDGE_SECONDS,
    RIDGE_STEPS,
    RIDGE_TOLERANCE,
    STEEP,
    WELL_CONDITIONED,
)
from marginflow.limit.tangent import Tangent
from marginflow.networks.evaluation import augmented_samples, row_blocks


@dataclass(frozen=True, eq=False)
class Problem:
    """Samples in reduced coordinates, positive labels first.

    Attributes
    ----------
    X : array, shape (m, r)
        Rows xt_i in the orthonormal basis of right singular vectors, so X^T X = diag(s2); an exact isometry
        of the span of the samples, and the minimiser never leaves that span.
    y : array, shape (m,)
        Labels, +1 before -1.
    basis : array, shape (r, d or d + 1)
        Rows are the basis vectors: u (ambient) = u (reduced) @ basis.
    order : integer array, shape (m,)
        Row i of X is sample order[i] of the user.
    penalty : float
        Cap on the multipliers; infinite for the hard margin.
    """

    X: FloatArray
    y: FloatArray
    basis: FloatArray
    s2: FloatArray
    order: IntArray
    penalty: float

    @classmethod
    def of(cls, samples: FloatArray, y: FloatArray, *, bias: bool, penalty: float = np.inf) -> Problem:
        """Reduce samples (m, d): append the bias column, rotate to singular vectors, sort by label."""
        order = np.argsort(-y, kind="stable")
        X, basis, s2 = _rotated(augmented_samples(samples, bias=bias)[order])
        return cls(X=X, y=y[order], basis=basis, s2=s2, order=order, penalty=penalty)

    @property
    def n_samples(self) -> int:
        """Number m of samples."""
        return int(self.X.shape[0])

    @property
    def n_positive(self) -> int:
        """Number of samples with label +1; they are the first rows."""
        return int((self.y > 0).sum())

    @cached_property
    def _gram(self) -> FloatArray | None:
        """All inner products, kept where they are few; nothing of size m x m is made for many samples."""
        return times_transpose(self.X) if self.n_samples <= GRAM_KEPT else None

    def gram(self, rows: IntArray, columns: IntArray | None = None) -> FloatArray:
        """Inner products of some rows of X with some others, with all of them by default."""
        if self._gram is None:
            return self.X[rows] @ (self.X if columns is None else self.X[columns]).T
        return self._gram[rows] if columns is None else self._gram[np.ix_(rows, columns)]

    @cached_property
    def rounded(self) -> NDArray[np.float32]:
        """X in single precision."""
        return self.X.astype(np.float32)

    @cached_property
    def norms(self) -> FloatArray:
        """||xt_i||, shape (m,)."""
        norms: FloatArray = np.linalg.norm(self.X, axis=1)
        return norms

    @property
    def steep(self) -> bool:
        """Whether few directions have most of the length of the samples, as in images."""
        return float(self.s2.max()) > STEEP * float(self.s2.mean())

    def reduced(self, U: FloatArray) -> FloatArray:
        """Ambient rows u_j (k, d or d + 1) in reduced coordinates: the orthogonal projection on the span."""
        return U @ self.basis.T

    def ambient(self, U: FloatArray) -> FloatArray:
        """Reduced rows u_j (k, r) in ambient coordinates."""
        return U @ self.basis

    def margins(self, U: FloatArray, s: FloatArray) -> FloatArray:
        """y_i sum_j s_j relu(x_i . u_j) for reduced rows U, shape (m,)."""
        outputs = np.empty(self.n_samples)
        for block in row_blocks(self.n_samples, len(s)):
            Z = self.X[block] @ U.T
            outputs[block] = np.maximum(Z, 0.0, out=Z) @ s
        return self.y * outputs

    def gap(
        self, U: FloatArray, s: FloatArray, lam: FloatArray, mu: FloatArray, outputs_squared: FloatArray | None = None
    ) -> float:
        """(primal - dual) / primal of the convex problem (C) at a point, from U, lambda and mu alone.

        With trained outputs the dual is max sum lambda s.t. ||sum_i y_i mu_ij x_i|| <= 1, so lambda is scaled by the
        largest of these norms; with frozen outputs it is sum lambda - 1/2 sum_j v_j^2 ||sum_i y_i mu_ij x_i||^2.
        """
        norms = np.linalg.norm((mu * self.y[:, None]).T @ self.X, axis=1)
        size = np.linalg.norm(U, axis=1)
        slack = np.maximum(1.0 - self.margins(U, s), 0.0)
        paid = self.penalty * float(slack.sum()) if np.isfinite(self.penalty) else 0.0
        if outputs_squared is not None:
            primal = 0.5 * float((size**2 / outputs_squared).sum()) + paid
            dual = float(lam.sum()) - 0.5 * float((outputs_squared * norms**2).sum())
        else:
            primal = float(size.sum()) + paid
            dual = float(lam.sum()) / max(1.0, float(norms.max(initial=0.0)))
        return (primal - dual) / primal if primal > 0 else 0.0

    def warm_multipliers(self, U: FloatArray, s: FloatArray, *, deadline: float = np.inf) -> FloatArray:
        r"""Multipliers that nearly explain the given neurons: a ridge solution of the stationarity equations.

        Least squares of u_j/||u_j|| = sum_i y_i s_j lambda_i 1[x_i . u_j > 0] x_i with weights ||u_j|| has the
        normal equations (sum_j ||u_j|| H_j) lambda = margins; negative entries are cut off. For many samples, or where
        elimination would end after `deadline`, the equations are solved step by step until then.
        """
        t = np.linalg.norm(U, axis=1)
        margins = self.margins(U, s)
        seconds = RIDGE_SECONDS * self.n_samples**2 * (self.n_samples + len(s))
        if self._gram is None or time.monotonic() + seconds > deadline:
            tangent = Tangent(self.rounded, self.y, U, s)
            lam = tangent.solve(margins, steps=RIDGE_STEPS, tolerance=RIDGE_TOLERANCE, deadline=deadline)
        else:
            active = np.where(self.X @ U.T > 0, self.y[:, None] * s, 0.0)
            H = self._gram * ((active * t) @ active.T)
            H[np.diag_indices(len(H))] += 1e-3 * np.trace(H) / len(H) + 1e-300
            lam = np.linalg.solve(H, margins)
        positive = np.clip(lam, 0.0, None)
        total = float(positive.sum())
        return positive * (float(t.sum()) / total) if total > 0 else np.full(len(lam), t.sum() / len(lam))


def _rotated(Xt: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows in an orthonormal basis in which X^T X is diagonal, that basis (as rows), and the diagonal."""
    m, r = Xt.shape
    if m >= NEARLY_SQUARE * r and float(m) * r * r > LARGE_ROTATION:
        squares = times_transpose(Xt.T)
        with factor_threads(r):
            values, vectors = np.linalg.eigh(squares)
        short = int((values <= WELL_CONDITIONED * values[-1]).sum())
        basis = vectors[:, short:][:, ::-1].T
        X, s2 = product(Xt, basis.T), values[short:][::-1]
        if short:  # squares do not resolve these directions, the samples do; none is left out, so that nothing is lost
            rest, sigma, right = np.linalg.svd(Xt @ vectors[:, :short], full_matrices=False)
            X, s2 = np.column_stack([X, rest * sigma]), np.concatenate([s2, sigma**2])
            basis = np.concatenate([basis, right @ vectors[:, :short].T])
        some = min(m, r)  # fewer samples than dimensions leave directions empty
        X, s2, basis = X[:, :some], s2[:some], basis[:some]
        return np.ascontiguousarray(X), np.ascontiguousarray(basis), s2.copy()
    with factor_threads(min(m, r)):
        left, sigma, right = np.linalg.svd(Xt, full_matrices=False)
    rank = int((sigma > RANK_TOLERANCE * sigma[0]).sum())
    return np.ascontiguousarray(left[:, :rank] * sigma[:rank]), right[:rank], sigma[:rank] ** 2
