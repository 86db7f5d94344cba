r"""Distance to a convex relaxation by cutting planes.

With the opposing neurons replaced by lines p_j z_j + q_j (chords, or 0 and z_j for decided neurons), g becomes convex:

.. math:: \bar g(\delta) = constant + \sum_{c_j > 0} c_j \mathrm{relu}(z_j) + \sum_{c_j < 0} c_j (p_j z_j + q_j)

The loop is `cutting_planes.nearest`. A cut is a pattern of active supporting
neurons, so the multipliers average to slopes in [0, 1], one per neuron: the certificate needs no list of cuts.
Cuts of the supporting part hold at every node, so a node starts with those its parent ended with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.robustness.cutting_planes import Nearest, Rows, nearest
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.reduction import RadiusProblem


@dataclass(frozen=True, eq=False, kw_only=True)
class Cuts:
    """Linear minorants heights + rows . delta of the supporting part, and the patterns they come from."""

    patterns: BoolArray
    rows: FloatArray
    heights: FloatArray

    @classmethod
    def none(cls, problem: RadiusProblem) -> Cuts:
        """No cut yet."""
        return cls(
            patterns=np.zeros((0, problem.supporting.c.size), dtype=np.bool_),
            rows=np.zeros((0, problem.rank)),
            heights=np.zeros(0),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Projection:
    """The last projection, the step that proves its distance, and the cuts it rests on."""

    delta: FloatArray
    step: ProofStep
    cuts: Cuts
    lower: float
    rounds: int
    table: Rows
    multipliers: FloatArray

    @cached_property
    def inner(self) -> FloatArray:
        """The projection moved inside all the rows it rests on by a tiny amount.

        Where g vanishes on a whole region, rounding leaves the projection itself just outside.
        """
        return self.table.inside(self.delta, self.multipliers)


def project(
    problem: RadiusProblem,
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
        The lines that replace the opposing neurons.
    signs : integer array, shape (k,)
        Branching half-spaces sign_j z_j >= 0; 0 for none.
    cuts : Cuts
        Where to begin.
    target : float
        Stop as soon as the distance is known to be at least this.
    """
    weights = problem.opposing.c * p
    slope = weights @ problem.opposing.W
    height = problem.constant + float(weights @ problem.opposing.a) + float(problem.opposing.c @ q)
    rows = Rows(problem.rank, problem.supporting.c.size, cuts.heights.size + 12)
    for i in range(cuts.heights.size):
        rows.add(-(cuts.rows[i] + slope), cuts.heights[i] + height, -1, cuts.patterns[i])
    found = nearest(rows, _Node(problem, signs, slope, height), target=target, tolerance=tolerance)
    return _result(problem, p, rows, found, signs)


class _Node:
    """The relaxed g and the half-spaces of a node as a separator: at most one row of each per round."""

    def __init__(self, problem: RadiusProblem, signs: IntArray, slope: FloatArray, height: float) -> None:
        self.problem, self.slope, self.height = problem, slope, height
        self.halves = signs.nonzero()[0]
        self.half_rows = signs[self.halves, None] * problem.W[self.halves]
        self.half_h = -signs[self.halves] * problem.a[self.halves]
        self.used = np.zeros(self.halves.size, dtype=np.bool_)

    def separate(self, rows: Rows, delta: FloatArray, reach: float) -> float:
        """The cut at delta, and the half-space that delta fails most."""
        worst = 0.0
        supporting = self.problem.supporting
        active = supporting.a + supporting.W @ delta > 0
        weights = supporting.c * active
        row = weights @ supporting.W + self.slope
        h = float(weights @ supporting.a) + self.height
        size = sqrt(row @ row)
        if size == 0:
            if h > 0:
                rows.add(-row, h, -1, active)
                return np.inf
        elif h + float(row @ delta) > reach * size:
            rows.add(-row, h, -1, active)
            worst = (h + float(row @ delta)) / size
        if self.halves.size:
            short = self.half_h - self.half_rows @ delta
            short[self.used] = -np.inf
            i = int(np.argmax(short))
            if short[i] > reach:
                self.used[i] = True
                rows.add(self.half_rows[i], self.half_h[i], int(self.halves[i]), None)
                worst = max(worst, short[i])
        return worst

    def dropped(self, owners: IntArray) -> None:
        """These half-spaces may be asked for again."""
        self.used[np.isin(self.halves, owners)] = False


def _result(problem: RadiusProblem, p: FloatArray, table: Rows, found: Nearest, signs: IntArray) -> Projection:
    """Multipliers gathered into one slope per neuron."""
    mu = found.multipliers
    n = mu.size
    omega = mu / table.sizes[:n]
    is_cut = table.owners[:n] < 0
    of_cuts = omega * is_cut
    scale = float(of_cuts.sum())
    slopes = np.zeros(problem.width)
    slopes[problem.supporting.index] = problem.supporting.c * (of_cuts @ table.patterns[:n])
    slopes[problem.opposing.index] = (scale * problem.opposing.c) * p
    if not is_cut.all():
        owners = table.owners[:n][~is_cut]
        slopes[owners] -= signs[owners] * omega[~is_cut]
    # The rows hold slope + cut; what is handed on is the supporting part alone, which is recomputed from the pattern.
    patterns = table.patterns[:n][of_cuts > 0]
    weights = problem.supporting.c * patterns
    cuts = Cuts(patterns=patterns, rows=weights @ problem.supporting.W, heights=weights @ problem.supporting.a)
    return Projection(
        delta=found.delta,
        step=ProofStep(scale=scale, slopes=slopes),
        cuts=cuts,
        lower=found.lower,
        rounds=found.rounds,
        table=table,
        multipliers=mu,
    )
