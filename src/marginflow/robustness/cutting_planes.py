r"""Project the origin on a convex set by cutting planes [Kelley 1960]: one loop for one sample and for many.

Project 0 on the rows found so far, ask a separator for rows that the projection fails, repeat. The multipliers of the
rows prove the distance; whoever asks recomputes every bound from them, so nothing rests on this loop.
`convex_concave` asks for many samples at once, `radius.cuts` for one sample with branching half-spaces.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.robustness import least_distance as qp

MAX_ROWS = 160
_MAX_ROUNDS = 400


class Separator(Protocol):
    """What the loop asks: rows that a point fails."""

    def separate(self, rows: Rows, delta: FloatArray, reach: float) -> float:
        """Add rows that `delta` fails by more than about `reach`, and return the largest failure.

        Infinity: the last row added is 0 >= h > 0, so there is no point at all.
        """

    def dropped(self, owners: IntArray) -> None:
        """The loop has dropped the rows of these owners, which carried no multiplier."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Nearest:
    """The last projection, the multipliers of the rows, and the distance that they prove."""

    delta: FloatArray
    multipliers: FloatArray
    lower: float
    converged: bool
    rounds: int


def nearest(
    rows: Rows,
    separator: Separator,
    *,
    target: float = np.inf,
    tolerance: float = 1e-10,
    max_rounds: int = _MAX_ROUNDS,
    max_rows: int = MAX_ROWS,
    deadline: float = np.inf,
) -> Nearest:
    """Nearest point to 0 of all that the separator stands for, or proof that it is at least `target` away.

    `rows` holds what to begin with, and in the end what the multipliers belong to. At the `deadline`, a value of
    `time.monotonic()`, the best so far is returned.
    """
    delta = np.zeros(rows.rank)
    mu = np.zeros(rows.n)
    lower, best, converged = 0.0, mu, False
    if rows.n:
        mu = qp.active_set(rows.gram, rows.h, mu, deadline=deadline)
        delta, lower = rows.combine(mu)
        best = mu
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        if lower >= target or time.monotonic() > deadline:
            break
        before = rows.n
        worst = separator.separate(rows, delta, tolerance * max(lower, sqrt(delta @ delta)))
        if worst == np.inf:
            lower, best = np.inf, np.append(np.zeros(rows.n - 1), 1.0)
            break
        if rows.n == before:
            converged = True
            break
        mu = qp.active_set(rows.gram, rows.h, np.append(mu, np.zeros(rows.n - before)), deadline=deadline)
        mu = np.where(np.isfinite(mu), np.maximum(mu, 0.0), 0.0)
        delta, reached = rows.combine(mu)
        if reached > lower:
            lower, best = reached, mu
        elif worst <= 1e-7 * lower and reached <= lower * (1 - 1e-12):
            break  # rounding has the upper hand
        if rows.n >= max_rows:
            best = np.append(best, np.zeros(rows.n - best.size))
            kept = (mu > 0) | (best > 0)
            separator.dropped(rows.owners[: rows.n][~kept])
            rows.keep(kept)
            mu, best = mu[kept], best[kept]
            if rows.n >= max_rows - 2:
                break
    return Nearest(delta=delta, multipliers=best, lower=lower, converged=converged, rounds=rounds)


class Rows:
    """Unit rows G delta >= h with their Gram matrix, grown one row at a time."""

    def __init__(self, rank: int, n_pattern: int, capacity: int) -> None:
        self.n = 0
        self.G = np.empty((capacity, rank))
        self._gram = np.empty((capacity, capacity))
        self._h: FloatArray = np.empty(capacity)
        self.sizes: FloatArray = np.empty(capacity)
        self.owners: IntArray = np.empty(capacity, dtype=np.int64)
        self.patterns = np.empty((capacity, n_pattern), dtype=np.bool_)

    def _grow(self) -> None:
        more = self._h.size
        self.G = np.pad(self.G, ((0, more), (0, 0)))
        self._gram = np.pad(self._gram, (0, more))
        self._h = np.pad(self._h, (0, more))
        self.sizes = np.pad(self.sizes, (0, more))
        self.owners = np.pad(self.owners, (0, more))
        self.patterns = np.pad(self.patterns, ((0, more), (0, 0)))

    @property
    def gram(self) -> FloatArray:
        """G G^T."""
        return self._gram[: self.n, : self.n]

    @property
    def h(self) -> FloatArray:
        """Right-hand sides."""
        return self._h[: self.n]

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.G.shape[1])

    def add(self, row: FloatArray, h: float, owner: int, pattern: BoolArray | None) -> float:
        """One more row, scaled to unit length; its length before."""
        length = sqrt(row @ row)
        size = length if length > 0 else 1.0
        i = self.n
        if i == self._h.size:
            self._grow()
        self.G[i] = row / size
        self._h[i] = h / size
        self.sizes[i] = size
        self.owners[i] = owner
        self.patterns[i] = False if pattern is None else pattern
        products = self.G[: i + 1] @ self.G[i]
        self._gram[i, : i + 1] = products
        self._gram[: i + 1, i] = products
        self.n = i + 1
        return length

    def keep(self, kept: BoolArray) -> None:
        """Only the rows of the mask."""
        rows = np.flatnonzero(kept)
        n = rows.size
        self._gram[:n, :n] = self._gram[rows[:, None], rows]
        for array in (self.G, self._h, self.sizes, self.owners, self.patterns):
            array[:n] = array[rows]
        self.n = n

    def inside(self, delta: FloatArray, mu: FloatArray) -> FloatArray:
        """delta moved by about 1e-11 of its length to the inner side of the rows with a multiplier."""
        rows = np.flatnonzero(mu > 0)
        if rows.size == 0:
            return delta
        block = self._gram[rows[:, None], rows]
        shift = np.linalg.lstsq(block, np.ones(rows.size), rcond=1e-10)[0] @ self.G[rows]
        length = float(np.linalg.norm(delta))
        moved: FloatArray = delta + 1e-11 * length * shift
        return moved if float(np.linalg.norm(moved - delta)) <= 1e-8 * length else delta

    def combine(self, mu: FloatArray) -> tuple[FloatArray, float]:
        """delta = G^T mu, and the distance h . mu / ||G^T mu|| that the multipliers prove."""
        delta: FloatArray = mu @ self.G[: self.n]
        gain, size = float(self.h @ mu), sqrt(delta @ delta)
        if gain <= 0:
            return delta, 0.0
        return delta, gain / size if size > 0 else float("inf")
