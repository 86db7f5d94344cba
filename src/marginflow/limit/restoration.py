r"""Margins that are missed, made good by the least change of the network.

To first order margins move by J d theta, and of all changes that move them by f the shortest is J^T alpha with
J J^T alpha = f (`limit/tangent.py`). At a KKT point u_j = t_j sum_i sigma_ij mu_ij x_i; so this change is what the
point becomes when alpha is added to its multipliers. As far as it was stationary before, it is afterwards, to first
order.

Patterns change on the way. Where a whole step would lead to margins that miss more, a part of it is taken.
"""

import time
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.problem import Problem
from marginflow.limit.settings import (
    RESTORING_GAIN,
    RESTORING_ROUNDS,
    RESTORING_STEPS,
    RESTORING_TOLERANCE,
    RESTORING_WORK,
    SHORTEST_RESTORING,
)
from marginflow.limit.tangent import Tangent


@dataclass(frozen=True, eq=False)
class Restored:
    """Neurons (k, r) in reduced coordinates, their multipliers (m,) and weights (m, k) if known, the least margin."""

    U: FloatArray
    least: float
    lam: FloatArray | None = None
    mu: FloatArray | None = None


def restored(
    problem: Problem,
    U: FloatArray,
    s: FloatArray,
    *,
    enough: float,
    multipliers: tuple[FloatArray, FloatArray] | None = None,
    deadline: float = np.inf,
) -> Restored:
    """Neurons near U of which no margin is below `enough`, or what a few rounds or the time that is left lead to.

    Of all rounds, that of the given neurons included, the one of the largest least margin is returned.
    """
    margins = problem.margins(U, s)
    lam, mu = (None, None) if multipliers is None else multipliers
    best, length = Restored(U, float(margins.min()), lam, mu), 1.0
    work = RESTORING_STEPS * float(problem.X.size) * len(s)
    for _ in range(int(np.clip(RESTORING_WORK / work, *RESTORING_ROUNDS))):
        if best.least >= enough or time.monotonic() > deadline:
            break
        tangent = Tangent(problem.rounded, problem.y, U, s)
        missing = np.maximum(1.0 - margins, 0.0)
        alpha = tangent.solve(missing, steps=RESTORING_STEPS, tolerance=RESTORING_TOLERANCE, deadline=deadline)
        change = tangent.pull(alpha)
        length, margins = _shortened(problem, U, s, change, missing, min(1.0, 2.0 * length))
        if length == 0.0:
            break
        U = U + length * change
        if lam is not None and mu is not None:
            lam = np.maximum(lam + length * alpha, 0.0)
            mu = np.clip(mu + length * alpha[:, None] * tangent.active, 0.0, lam[:, None])
        if float(margins.min()) > best.least:
            best = Restored(U, float(margins.min()), lam, mu)
    return best


def _shortened(
    problem: Problem, U: FloatArray, s: FloatArray, change: FloatArray, missing: FloatArray, length: float
) -> tuple[float, FloatArray]:
    """The part of a change, halved from `length` on, after which margins miss less, and the margins; 0 if none is."""
    before = float(missing @ missing)
    while length > SHORTEST_RESTORING:
        margins = problem.margins(U + length * change, s)
        left = np.maximum(1.0 - margins, 0.0)
        if float(left @ left) < before * (1.0 - RESTORING_GAIN * length):
            return length, margins
        length *= 0.5
    return 0.0, 1.0 - missing


def best_factor(problem: Problem, U: FloatArray, s: FloatArray, mu: FloatArray) -> float:
    """The factor on weights mu (m, k) with which they explain the directions of the neurons best, by least squares.

    Multipliers of an iterate that has not settled may all be too large: ADMM lets them swing about their sum.
    """
    G = s[:, None] * ((mu * problem.y[:, None]).T @ problem.X)
    explained = float(np.vecdot(U, G).sum())
    squares = float(np.linalg.norm(U, axis=1) @ np.vecdot(G, G))
    return explained / squares if explained > 0.0 else 1.0
