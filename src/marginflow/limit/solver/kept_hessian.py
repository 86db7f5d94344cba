"""The Hessian of a structure, formed and factorised in single precision, as preconditioner of later ones.

From one step of Newton's method to the next few samples enter or leave the margin and few kinks change, so that the
inverse of one Hessian is nearly that of the next. Samples that have left are taken out exactly, by a small Schur
complement; those that have come in are on their own.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.products import factor_threads, symmetric_blocks, times_transpose, without_flags
from marginflow.limit.settings import COLUMNS_AT_ONCE, KEPT_DAMPING, KEPT_SHIFTS
from marginflow.limit.solver.blocked_factor import BlockedFactor
from marginflow.limit.solver.pairs import Pairs
from marginflow.threads import share


class KeptHessian:
    """sum_j t_j H_j + damping of one structure on its free rows (n,), as a Cholesky factor."""

    def __init__(self, rows: IntArray, pairs: Pairs, t: FloatArray, damping: float) -> None:
        self.rows, self.damping = rows, damping
        H = _formed(rows, pairs, np.maximum(t, 0.0))
        whole = _diagonal_without_kinks(rows, pairs, t)
        self.mean = float(np.trace(H)) / max(len(rows), 1)
        self.share = float(np.trace(H)) / max(float(whole.sum()), 1e-300)  # what the projections leave of it
        H[np.diag_indices(len(rows))] += damping
        self.factor = BlockedFactor(_factorised(H, float(whole.mean()), pairs.threads), pairs.threads)

    def is_held(self, damping: float) -> bool:
        """Whether its own damping is too much for a step with this one."""
        return self.damping - damping > KEPT_DAMPING * self.mean

    def on(self, rows: IntArray, pairs: Pairs, t: FloatArray) -> KeptInverse:
        """Its inverse as a guess for a structure with these free rows."""
        others = self.share * _diagonal_without_kinks(rows, pairs, t)
        return KeptInverse(self, rows, np.maximum(others, 1e-3 * float(others.mean()) + 1e-300) + self.damping)


class KeptInverse:
    """The inverse on other rows: `rows` (n,), and the diagonal (n,) for those that the Hessian does not have."""

    def __init__(self, kept: KeptHessian, rows: IntArray, diagonal: FloatArray) -> None:
        self._factor, self._size = kept.factor, len(kept.rows)
        known = np.isin(rows, kept.rows)
        self._known, self._new = np.flatnonzero(known), np.flatnonzero(~known)
        self._at = np.searchsorted(kept.rows, rows[known])  # rows ascend
        self._diagonal = diagonal[~known]
        self._gone = np.flatnonzero(~np.isin(kept.rows, rows))
        if self._gone.size:
            units: FloatArray = np.zeros((self._size, self._gone.size), dtype=np.float32, order="F")
            units[self._gone, np.arange(self._gone.size)] = 1.0
            self._columns = self._factor.solve(units)
            schur = self._columns[self._gone].astype(np.float64)
            self._schur = scipy.linalg.cho_factor(0.5 * (schur + schur.T), lower=True, check_finite=False)

    @without_flags
    def solve(self, f: FloatArray) -> FloatArray:
        """The inverse times f, of one or several columns (n, ...)."""
        size = float(np.abs(f).max(initial=0.0)) or 1.0  # single precision holds numbers of ordinary size
        inside = np.zeros((self._size, *f.shape[1:]), dtype=np.float32, order="F")
        inside[self._at] = f[self._known] / size
        inside = self._factor.solve(inside)
        if self._gone.size:
            held = scipy.linalg.cho_solve(self._schur, inside[self._gone].astype(np.float64), check_finite=False)
            inside = inside - self._columns @ held.astype(np.float32)
        solution = np.empty_like(f)
        solution[self._known] = size * inside[self._at].astype(np.float64)
        solution[self._new] = (f[self._new].T / self._diagonal).T
        return solution


def _factorised(H: FloatArray, size: float, threads: int) -> FloatArray:
    """The Cholesky factor of H in single precision, with as little on its diagonal as rounding allows.

    `size` is what the entries of H are differences of.
    """
    for shift in KEPT_SHIFTS:
        H[np.diag_indices(len(H))] += shift * size + 1e-30
        with factor_threads(len(H), threads):
            factor, failed = scipy.linalg.lapack.spotrf(H.T, lower=1, clean=0)
        if not failed:
            found: FloatArray = factor
            return found
    raise np.linalg.LinAlgError("The Hessian is not positive.")


def _diagonal_without_kinks(rows: IntArray, pairs: Pairs, t: FloatArray) -> FloatArray:
    diagonal: FloatArray = pairs.problem.norms[rows] ** 2 * ((pairs.active[rows] != 0.0) @ np.maximum(t, 0.0))
    return diagonal


@without_flags
def _formed(rows: IntArray, pairs: Pairs, t: FloatArray) -> FloatArray:
    """sum_j t_j H_j on the rows: inner products times shared patterns, less what the kinks of each neuron take away.

    Of a symmetric matrix, diagonal and what is above it; in blocks that several threads may take. A neuron whose kinks
    are nearly dependent keeps them: that makes the guess poorer and nothing wrong.
    """
    problem, n = pairs.problem, len(rows)
    others = np.setdiff1d(np.concatenate([basis.rows for basis in pairs.bases]), rows)
    samples = np.concatenate([rows, others])
    inner = times_transpose(problem.rounded[samples], threads=pairs.threads)
    at = np.empty(problem.n_samples, dtype=np.int64)
    at[samples] = np.arange(len(samples))
    signs, weights = pairs.active[rows].astype(np.float32), t.astype(np.float32)
    H: FloatArray = np.zeros((n, n), dtype=np.float32)

    def begin(block: tuple[slice, slice]) -> None:
        first, second = block
        np.multiply(inner[block], (signs[first] * weights) @ signs[second].T, out=H[block])

    def take_away(block: tuple[slice, slice]) -> None:
        first, second = block
        H[block] -= A[:, first].T @ A[:, second]

    blocks = symmetric_blocks(n, float(n) ** 2 * problem.X.shape[1])
    share(begin, blocks, pairs.threads)
    taken: list[FloatArray] = []
    columns = 0
    for j, basis in enumerate(pairs.bases):
        if basis.L is not None and len(basis.rows):
            cross = inner[at[basis.rows], :n]
            within = scipy.linalg.solve_triangular(basis.L, cross, lower=True, check_finite=False).astype(np.float32)
            within *= np.float32(np.sqrt(t[j])) * signs[:, j]
            taken.append(within)
            columns += len(within)
        if taken and (columns > COLUMNS_AT_ONCE or j == len(pairs.bases) - 1):
            A = np.concatenate(taken)
            share(take_away, blocks, pairs.threads)
            taken, columns = [], 0
    return H
