"""The kink samples of all neurons where they are many: factors of their Gram matrices, and nothing else is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np
import scipy.linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.products import product, times_transpose
from marginflow.limit.settings import DEPENDENT, FEW_KINKS, FEW_OF_ALL, GENTLE, KINK_RANK, QUICK_PRODUCTS, REFINED
from marginflow.threads import parts_of, share

Factorised = TypeVar("Factorised")


@dataclass(frozen=True, eq=False)
class KinkFactor:
    """The rows of the kink samples X_K of one neuron, and the Cholesky factor L of X_K X_K^T (lower).

    A few samples that are nearly dependent have the pseudo-inverse of X_K X_K^T instead.
    """

    rows: IntArray
    L: FloatArray | None
    inverse: FloatArray | None = None

    @classmethod
    def of(cls, problem: Problem, kinks: BoolArray) -> KinkFactor:
        """Of the samples in `kinks` (a mask); LinAlgError where many of them are nearly dependent."""
        rows = np.flatnonzero(kinks)
        m, r = problem.X.shape
        quick = r <= QUICK_PRODUCTS or FEW_OF_ALL * len(rows) <= m
        gram = times_transpose(problem.X[rows]) if quick else problem.gram(rows, rows)
        if len(rows) == 0:
            return cls(rows, gram)
        if len(rows) <= r:
            with suppress(np.linalg.LinAlgError):
                factor = cls(rows, _cholesky(gram))
                if factor.steepness > DEPENDENT:
                    return factor
        if len(rows) > FEW_KINKS:
            raise np.linalg.LinAlgError("The kink samples of a neuron are nearly dependent.")
        inverse: FloatArray = np.linalg.pinv(gram, rcond=KINK_RANK, hermitian=True).astype(np.float64)
        return cls(rows, None, inverse)

    @property
    def steepness(self) -> float:
        """The smallest entry of the diagonal of L relative to the largest."""
        diagonal = np.zeros(1) if self.L is None else np.diag(self.L)
        return float(diagonal.min() / diagonal.max()) if diagonal.any() else 0.0

    def rounded(self) -> KinkFactor:
        """In single precision, where that leaves enough of it."""
        if self.L is None or self.steepness < GENTLE:
            return self
        return KinkFactor(self.rows, self.L.astype(np.float32))

    def solve(self, b: FloatArray) -> FloatArray:
        """(X_K X_K^T)^{-1} b, of least norm where samples are dependent."""
        if len(self.rows) == 0:
            return b
        if self.L is not None:
            return solve_cholesky(self.L, b)
        assert self.inverse is not None
        solution: FloatArray = self.inverse @ b
        return solution


def solve_cholesky(L: FloatArray, b: FloatArray) -> FloatArray:
    """(L L^T)^{-1} b by LAPACK itself: at these sizes the checks of `cho_solve` cost ten times as much."""
    routine = scipy.linalg.lapack.spotrs if L.dtype == np.float32 else scipy.linalg.lapack.dpotrs
    solution: FloatArray = routine(L, b, lower=1)[0]
    return solution


def _cholesky(gram: FloatArray) -> FloatArray:
    """The factor L, in the order of memory that LAPACK's solutions take; NumPy does not hold Python's lock for it."""
    return np.linalg.cholesky(gram, upper=True).T.astype(np.float64, copy=False)


class Remembered(Generic[Factorised]):
    """What is made of kink sets, remembered from one iteration to the next where the set stays the same."""

    def __init__(self, make: Callable[[BoolArray], Factorised], threads: int = 1) -> None:
        self._make, self._threads = make, threads
        self._known: dict[bytes, Factorised] = {}

    def of(self, kinks: BoolArray, *, forget: bool = True) -> list[Factorised]:
        """What is made of every column of `kinks`; what none of them has is forgotten, unless these are only some."""
        keys = [packed.tobytes() for packed in np.packbits(kinks.T, axis=1)]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: column for key, column in zip(keys, kinks.T, strict=True) if key not in found}
        new = list(missing.items())

        def make_some(part: slice) -> None:
            for key, column in new[part]:
                found[key] = self._make(column)

        work = float((kinks.sum(axis=0, dtype=np.float64) ** 3).sum())
        share(make_some, parts_of(len(new), work, smallest=1), self._threads)
        self._known = found if forget else self._known | found
        return [found[key] for key in keys]


class KinkFactors:
    """Factors of all neurons.

    Products with the kink samples of single neurons are read off products with all samples: X_K g is a part of X g, so
    that no sample is copied and every product is one of large matrices.
    """

    def __init__(self, problem: Problem, threads: int = 1) -> None:
        self.problem, self.known = problem, Remembered(partial(KinkFactor.of, problem), threads)

    def split(
        self, factors: Sequence[KinkFactor], G: FloatArray, threads: int = 1
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P_j g_j for rows g_j of G (k, r); weights c with X_K^T c = g_j - P_j g_j (m, k); X P_j g_j (m, k)."""
        X = self.problem.X
        C = np.zeros((len(G), len(X)))
        DX, largest = product(G, X.T, threads=threads), float(self.problem.norms.max())
        for _ in range(3):  # the second time for rounding, the third where samples are nearly dependent
            before = 0.0
            for j, factor in enumerate(factors):
                along = DX[j, factor.rows]
                C[j, factor.rows] += factor.solve(along)
                before = max(before, float(np.abs(along).max(initial=0.0)))
            D = G - product(C, X, threads=threads)
            product(D, X.T, out=DX, threads=threads)
            left = max((float(np.abs(DX[j, f.rows]).max(initial=0.0)) for j, f in enumerate(factors)), default=0.0)
            if left <= REFINED * max(before, largest):
                break
        return D, C.T, DX.T
