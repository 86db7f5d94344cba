"""Least squares with bounds on the coefficients: the distance from a point to a zonotope, among others."""

from __future__ import annotations

import numpy as np

from marginflow.arrays import FloatArray

_AT_LOW, _FREE, _AT_HIGH = -1, 0, 1


def box_least_squares(
    rows: FloatArray, target: FloatArray, low: FloatArray, high: FloatArray, *, tolerance: float = 1e-13
) -> tuple[FloatArray, FloatArray]:
    r"""The coefficients x in [low, high] with the least :math:`\|target - \sum_i x_i rows_i\|`.

    An active-set method in the manner of Stark and Parker: solve for the free coefficients, step to the first bound
    that is met, free the bound whose gradient pulls inwards most. Whatever it returns lies in the box, so the residual
    norm is a valid upper bound on the distance even if the method is stopped early.

    Parameters
    ----------
    rows : array, shape (p, r)
    target : array, shape (r,)
    low, high : arrays, shape (p,)
        Bounds; at least one of each pair must be finite.

    Returns
    -------
    x : array, shape (p,)
    residual : array, shape (r,)
    """
    p = rows.shape[0]
    x = np.where(np.isfinite(low), low, high).astype(np.float64)
    if p == 0:
        return x, target.copy()
    state = np.where(np.isfinite(low), _AT_LOW, _AT_HIGH)
    state[low == high] = 2  # never moves
    norms = np.linalg.norm(rows, axis=1)
    scale = float(np.linalg.norm(target)) + float(norms @ np.abs(x))
    for _ in range(10 * p + 20):
        residual = target - x @ rows
        pull = rows @ residual
        gain = np.where(state == _AT_LOW, pull, np.where(state == _AT_HIGH, -pull, 0.0))
        gain = np.divide(gain, norms, out=np.zeros(p), where=norms > 0)
        entering = int(np.argmax(gain))
        if gain[entering] <= tolerance * scale:
            break
        state[entering] = _FREE
        for _ in range(p + 1):
            free = np.flatnonzero(state == _FREE)
            fixed = target - np.where(state == _FREE, 0.0, x) @ rows
            wanted = np.linalg.lstsq(rows[free].T, fixed, rcond=1e-13)[0]
            step = wanted - x[free]
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(step > 0, (high[free] - x[free]) / step, (low[free] - x[free]) / step)
            room[step == 0] = np.inf
            share = float(room.min())
            if share >= 1.0:
                x[free] = wanted
                break
            hit = int(np.argmin(room))
            x[free] += max(share, 0.0) * step
            upward = step[hit] > 0
            x[free[hit]] = high[free[hit]] if upward else low[free[hit]]
            state[free[hit]] = _AT_HIGH if upward else _AT_LOW
            if free.size == 1:
                break
    x = np.clip(x, low, high)
    return x, target - x @ rows
