r"""Distance to a convex relaxation by cutting planes.

With the opposing neurons replaced by lines p_j z_j + q_j (chords, or 0 and z_j for decided neurons), g becomes convex:

.. math:: \bar g(\delta) = constant + \sum_{c_j > 0} c_j \mathrm{relu}(z_j) + \sum_{c_j < 0} c_j (p_j z_j + q_j)

Project 0 on the cuts, cut where the projection fails, repeat [Kelley 1960]. A cut is a pattern of active supporting
neurons, so the multipliers average to slopes in [0, 1], one per neuron: the certificate needs no list of cuts.
Cuts of the supporting part hold at every node, so a node starts with those its parent ended with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.robustness import least_distance as qp
from marginflow.robustness.radius.certificate import Step
from marginflow.robustness.radius.reduction import Problem

_MAX_ROWS = 160
_MAX_ROUNDS = 400


@dataclass(frozen=True, eq=False, kw_only=True)
class Cuts:
    """Linear minorants heights + rows . delta of the supporting part, and the patterns they come from."""

    patterns: BoolArray
    rows: FloatArray
    heights: FloatArray

    @classmethod
    def none(cls, problem: Problem) -> Cuts:
        """No cut yet."""
        return cls(
            patterns=np.zeros((0, problem.supporting.size), dtype=np.bool_),
            rows=np.zeros((0, problem.rank)),
            heights=np.zeros(0),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Projection:
    """The last projection, the step that proves its distance, and the cuts it rests on.

    `inner` is the projection moved inside all the rows it rests on by a tiny amount: where g vanishes on a whole
    region, rounding leaves the projection itself just outside.
    """

    delta: FloatArray
    inner: FloatArray
    step: Step
    cuts: Cuts
    lower: float
    converged: bool
    rounds: int


def project(
    problem: Problem,
    p: FloatArray,
    q: FloatArray,
    *,
    signs: IntArray,
    cuts: Cuts,
    target: float,
    tolerance: float = 1e-10,
) -> Projection:
    """Nearest point to 0 of the convex relaxation, or proof that it is at least `target` away.

    Parameters
    ----------
    p, q : arrays, shape (number of opposing neurons,)
        The lines that replace the opposing neurons; an infinite q drops the constraint g <= 0 altogether.
    signs : integer array, shape (k,)
        Branching half-spaces sign_j z_j >= 0; 0 for none.
    cuts : Cuts
        Where to begin.
    target : float
        Stop as soon as the distance is known to be at least this.
    """
    c = problem.c[problem.supporting]
    a = problem.a[problem.supporting]
    c_opposing = problem.c[problem.opposing]
    usable = bool(np.isfinite(q).all())
    slope = (c_opposing * p) @ problem.W_opposing
    height = problem.constant + float(c_opposing @ (p * problem.a[problem.opposing] + q)) if usable else 0.0
    halves = np.flatnonzero(signs)
    half_rows = signs[halves, None] * problem.W[halves]
    half_h = -signs[halves] * problem.a[halves]

    table = _Table(problem.rank, problem.supporting.size, cuts.heights.size + 12)
    if usable:
        for i in range(cuts.heights.size):
            table.add(-(cuts.rows[i] + slope), cuts.heights[i] + height, -1, cuts.patterns[i])
    delta = np.zeros(problem.rank)
    mu = np.zeros(table.n)
    lower, best, converged = 0.0, mu, False
    used = np.zeros(halves.size, dtype=np.bool_)
    if table.n:
        mu = qp.active_set(table.gram, table.h, mu)
        delta, lower = table.combine(mu)
        best = mu
    rounds = 0
    while rounds < _MAX_ROUNDS:
        rounds += 1
        if lower >= target:
            break
        before = table.n
        worst = 0.0
        reach = tolerance * max(lower, float(np.linalg.norm(delta)))
        if usable:
            active = a + problem.W_supporting @ delta > 0
            weights = np.where(active, c, 0.0)
            row = weights @ problem.W_supporting + slope
            h = float(weights @ a) + height
            size = float(np.linalg.norm(row))
            if size == 0:
                if h > 0:
                    table.add(-row, h, -1, active)
                    lower, best = float("inf"), np.append(np.zeros(before), 1.0)
                    break
            elif h + float(row @ delta) > reach * size:
                table.add(-row, h, -1, active)
                worst = (h + float(row @ delta)) / size
        if halves.size:
            short = half_h - half_rows @ delta
            short[used] = -np.inf
            i = int(np.argmax(short))
            if short[i] > reach:
                used[i] = True
                table.add(half_rows[i], half_h[i], int(halves[i]), None)
                worst = max(worst, short[i])
        if table.n == before:
            converged = True
            break
        mu = qp.active_set(table.gram, table.h, np.append(mu, np.zeros(table.n - before)))
        mu = np.where(np.isfinite(mu), np.maximum(mu, 0.0), 0.0)
        delta, reached = table.combine(mu)
        if reached > lower:
            lower, best = reached, mu
        elif worst <= 1e-7 * lower and reached <= lower * (1 - 1e-12):
            break  # rounding has the upper hand
        if table.n >= _MAX_ROWS:
            best = best[: table.n] if best.size >= table.n else np.append(best, np.zeros(table.n - best.size))
            kept = (mu > 0) | (best > 0)
            used[np.isin(halves, table.owners[: table.n][~kept])] = False
            table.keep(kept)
            mu, best = mu[kept], best[kept]
            if table.n >= _MAX_ROWS - 2:
                break
    return _result(problem, p, table, best, signs, delta, lower, converged, rounds)


def _result(
    problem: Problem,
    p: FloatArray,
    table: _Table,
    mu: FloatArray,
    signs: IntArray,
    delta: FloatArray,
    lower: float,
    converged: bool,
    rounds: int,
) -> Projection:
    """Multipliers gathered into one slope per neuron."""
    n = mu.size
    omega = mu / table.sizes[:n]
    is_cut = table.owners[:n] < 0
    scale = float(omega[is_cut].sum())
    slopes = np.zeros(problem.width)
    slopes[problem.supporting] = problem.c[problem.supporting] * (omega[is_cut] @ table.patterns[:n][is_cut])
    slopes[problem.opposing] = scale * problem.c[problem.opposing] * p
    owners = table.owners[:n][~is_cut]
    slopes[owners] -= signs[owners] * omega[~is_cut]
    held = np.flatnonzero(is_cut & (mu > 0))
    # The rows hold slope + cut; what is handed on is the supporting part alone, which is recomputed from the pattern.
    patterns = table.patterns[held]
    weights = np.where(patterns, problem.c[problem.supporting], 0.0)
    cuts = Cuts(patterns=patterns, rows=weights @ problem.W_supporting, heights=weights @ problem.a[problem.supporting])
    return Projection(
        delta=delta,
        inner=table.inside(delta, mu),
        step=Step(scale=scale, slopes=slopes),
        cuts=cuts,
        lower=lower,
        converged=converged,
        rounds=rounds,
    )


class _Table:
    """Unit rows G delta >= h with their Gram matrix, grown one row at a time."""

    def __init__(self, rank: int, n_supporting: int, capacity: int) -> None:
        self.n = 0
        self.G = np.empty((capacity, rank))
        self._gram = np.empty((capacity, capacity))
        self._h: FloatArray = np.empty(capacity)
        self.sizes: FloatArray = np.empty(capacity)
        self.owners: IntArray = np.empty(capacity, dtype=np.int64)
        self.patterns = np.empty((capacity, n_supporting), dtype=np.bool_)

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
        return self._gram[: self.n, : self.n]

    @property
    def h(self) -> FloatArray:
        return self._h[: self.n]

    def add(self, row: FloatArray, h: float, owner: int, pattern: BoolArray | None) -> None:
        """One more row, scaled to unit length."""
        size = float(np.linalg.norm(row))
        size = size if size > 0 else 1.0
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
        gain, size = float(self.h @ mu), float(np.linalg.norm(delta))
        if gain <= 0:
            return delta, 0.0
        return delta, gain / size if size > 0 else float("inf")
