r"""Multipliers that prove a network optimal, where the network alone does not determine them.

Where more samples lie on the margin than the neurons have freedoms, the equations of the neurons leave a family
:math:`\lambda_0 + N x` of multipliers, and not all of them keep :math:`|F_\lambda| \le 1` everywhere. F is linear in
x at every direction, so the x that keeps the largest peak lowest is found by cutting planes: the peaks of one x are the
constraints of the next.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from marginflow.arrays import FloatArray
from marginflow.limit.plane.arrangement import Survey
from marginflow.limit.plane.finish import FinishedPlane
from marginflow.limit.plane.settings import MULTIPLIER_ROUNDING, MULTIPLIER_ROUNDS, NEAR_PEAK, PEAKS_A_ROUND


def admissible(
    rows: FloatArray,
    y: FloatArray,
    caps: FloatArray,
    end: FinishedPlane,
    look: Callable[[FloatArray, float], Survey],
    *,
    excess: float,
    deadline: float = np.inf,
) -> FinishedPlane | None:
    """The point with those of its multipliers whose dual function is lowest, and at best nowhere above 1 + excess.

    None where no solution of the equations lies between 0 and the caps. `look` surveys the dual function of multipliers
    above a level; the deadline is that of each linear program, and `look` has its own.
    """
    N = end.freedom
    cuts: list[FloatArray] = []
    heights: list[float] = []
    lam = end.lam
    slack = MULTIPLIER_ROUNDING * float(np.abs(lam).max())
    if (lam < -slack).any() or (lam > caps + slack).any():
        inside = _lowest(np.zeros((0, N.shape[1])), np.zeros(0), N, lam, caps, deadline) if N.shape[1] else None
        if inside is None:
            return None
        lam = lam + N @ inside
    lam = np.clip(lam, 0.0, caps)
    best, least = replace(end, lam=lam), np.inf
    for _ in range(MULTIPLIER_ROUNDS if N.shape[1] else 1):
        found = look(lam, 1.0 - NEAR_PEAK)
        if found.supremum < least:
            best, least = replace(end, lam=lam), found.supremum
        if least <= 1.0 + excess or N.shape[1] == 0:
            break
        for part in found.peaks:
            relu = np.maximum(rows @ part.directions[:PEAKS_A_ROUND].T, 0.0)  # (n, p)
            slopes = part.sign * (relu * y[:, None]).T @ N
            moves = np.abs(slopes).max(axis=1, initial=0.0) > 1e-9  # where a neuron stands nothing changes
            cuts += list(slopes[moves])
            heights += list((part.sign * (relu.T @ (y * end.lam)))[moves])
        if not cuts:
            break
        lowest = _lowest(np.array(cuts), np.array(heights), N, end.lam, caps, deadline)
        if lowest is None:
            break
        lam = np.clip(end.lam + N @ lowest, 0.0, caps)
    return best


def _lowest(
    cuts: FloatArray, heights: FloatArray, N: FloatArray, lam: FloatArray, caps: FloatArray, deadline: float
) -> FloatArray | None:
    """min over x of the largest height + cut . x, subject to 0 <= lam + N x <= caps; None where there is none."""
    f = N.shape[1]
    touched = np.abs(N).max(axis=1) > 0
    result = linprog(
        np.append(np.zeros(f), 1.0),
        A_ub=np.vstack(
            [
                np.column_stack([cuts, -np.ones(len(cuts))]),
                np.column_stack([-N[touched], np.zeros(int(touched.sum()))]),
                np.column_stack([N[touched], np.zeros(int(touched.sum()))]),
            ]
        ),
        b_ub=np.concatenate([-heights, lam[touched], (caps - lam)[touched]]),
        bounds=[(None, None)] * f + [(0.0, None)],
        method="highs-ds",
        options={"time_limit": max(0.0, deadline - time.monotonic())},
    )
    return None if result.x is None else np.asarray(result.x[:f])
