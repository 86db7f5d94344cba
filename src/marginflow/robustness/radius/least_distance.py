r"""The point of a polyhedron nearest to the origin, by an active set on few rows.

.. math:: \min_\delta \tfrac12 \|\delta\|^2 \; \text{s.t.} \; G \delta \ge h
   \qquad\text{dual:}\qquad \max_{\mu \ge 0} \; h \cdot \mu - \tfrac12 \mu^T G G^T \mu , \quad \delta = G^T \mu

The multipliers are all that is used of the result: whoever asks recomputes every bound from them, so a wrong answer
makes a bound weak and never false.
"""

from __future__ import annotations

import numpy as np

from marginflow.arrays import FloatArray

# A multiple of the mean diagonal added to the Gram matrix: rows may repeat, and an empty polyhedron (unbounded dual)
# then shows as very large multipliers, that is as a very large bound.
_RIDGE = 1e-13


def least_distance(gram: FloatArray, h: FloatArray, start: FloatArray) -> FloatArray:
    """Multipliers of min ||delta||, G delta >= h, from gram = G G^T.

    Parameters
    ----------
    gram : array, shape (q, q)
        Gram matrix of rows of about unit length.
    h : array, shape (q,)
        Right-hand sides.
    start : array, shape (q,)
        Non-negative multipliers of an earlier, smaller problem (zeros elsewhere); their support is tried first.

    Returns
    -------
    array, shape (q,)
        Non-negative multipliers.
    """
    q = h.size
    mu = start.copy()
    held = mu > 0
    ridge = _RIDGE * float(np.trace(gram)) / q
    enough = 1e-13 * float(np.abs(h).max())
    if held.any():
        _settle(gram, h, mu, held, ridge)
    for _ in range(4 * q + 8):
        gain = h - gram @ mu
        gain[held] = -np.inf
        j = int(np.argmax(gain))
        if not gain[j] > enough:
            break
        held[j] = True
        _settle(gram, h, mu, held, ridge)
        if not held[j]:  # the row left at once: rounding, and nothing more to gain
            break
    return mu


def _settle(gram: FloatArray, h: FloatArray, mu: FloatArray, held: np.ndarray, ridge: float) -> None:
    """Solve on the held rows; rows whose multiplier would be negative are dropped at the point where it vanishes."""
    while True:
        rows = np.flatnonzero(held)
        if rows.size == 0:
            mu[:] = 0.0
            return
        block = gram[rows[:, None], rows]
        block.flat[:: rows.size + 1] += ridge
        try:
            target = np.linalg.solve(block, h[rows])
        except np.linalg.LinAlgError:
            held[rows[-1]] = False
            mu[rows[-1]] = 0.0
            continue
        if target.min() > 0:
            # One refinement takes the ridge out again; near an empty polyhedron it may overshoot, then it is left.
            refined = target + np.linalg.solve(block, h[rows] - gram[rows[:, None], rows] @ target)
            mu[:] = 0.0
            mu[rows] = refined if refined.min() > 0 else target
            return
        current = mu[rows]
        falling = target <= 0
        step = current[falling] / (current[falling] - target[falling] + 1e-300)
        shortest = float(step.min())
        mu[rows] = np.maximum(current + shortest * (target - current), 0.0)
        gone = rows[falling][step <= shortest * (1 + 1e-12)]
        mu[gone] = 0.0
        held[gone] = False
