r"""The point of a polyhedron nearest to the origin: min ||x|| subject to G x >= h, with its multipliers.

.. math:: \min_x \tfrac12 \|x\|^2 \; \text{s.t.} \; G x \ge h
   \qquad\text{dual:}\qquad \max_{\mu \ge 0} \; h \cdot \mu - \tfrac12 \mu^T G G^T \mu , \quad x = G^T \mu

`least_distance` solves it as the non-negative least-squares problem of Lawson and Hanson (Solving Least Squares
Problems, ch. 23), which also recognises an empty polyhedron, and polishes on the active rows. `active_set` goes on from
the multipliers of a smaller problem, for few rows that are added one by one; there an empty polyhedron shows as a very
large bound. The multipliers are all that is used of either: whoever asks recomputes every bound from them, so a wrong
answer makes a bound weak and never false.
"""

import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from marginflow.arrays import BoolArray, FloatArray

# A multiple of the mean diagonal added to the Gram matrix: rows may repeat, and an empty polyhedron (unbounded dual)
# then shows as very large multipliers, that is as a very large bound.
_RIDGE = 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class LeastDistance:
    """Nearest point of {x : G x >= h} to the origin.

    Parameters
    ----------
    point : array, shape (r,)
        The minimiser; meaningless when `feasible` is False.
    multipliers : array, shape (c,)
        lambda >= 0 with point = G^T lambda.
    lower : float
        h . lambda / ||G^T lambda||, a lower bound on the distance whatever the solver did.
    feasible : bool
        False when the multipliers show the polyhedron to be empty.
    """

    point: FloatArray
    multipliers: FloatArray
    lower: float
    feasible: bool


def distance_from_multipliers(G: FloatArray, h: FloatArray, multipliers: FloatArray) -> float:
    r"""h . lambda / ||G^T lambda||: every x with G x >= h satisfies lambda . G x >= lambda . h, so ||x|| is no less.

    Infinity when G^T lambda vanishes while h . lambda > 0 (no x at all); 0 when h . lambda <= 0 (nothing is shown).
    """
    lam = np.maximum(multipliers, 0.0)
    gain = float(h @ lam)
    if gain <= 0:
        return 0.0
    length = float(np.linalg.norm(lam @ G))
    return gain / length if length > 0 else float("inf")


def least_distance(G: FloatArray, h: FloatArray) -> LeastDistance:
    """Project the origin on {x : G x >= h}; rows of G need not be scaled."""

    def found(point: FloatArray, multipliers: FloatArray, *, feasible: bool) -> LeastDistance:
        lower = distance_from_multipliers(G, h, multipliers)
        return LeastDistance(point=point, multipliers=multipliers, lower=lower, feasible=feasible)

    c, r = G.shape
    origin = np.zeros(r)
    size = np.linalg.norm(G, axis=1)
    size = np.where(size > 0, size, 1.0)
    unit = float(np.max(h / size))
    if unit <= 0:
        return found(origin, np.zeros(c), feasible=True)
    A, b = G / size[:, None], h / (size * unit)  # unit rows, and a distance of at least 1
    u, _ = nnls(np.vstack([A.T, b]), np.append(np.zeros(r), 1.0), maxiter=30 * (c + r))
    gap = 1.0 - float(b @ u)  # 1 / (1 + distance^2), so zero means that the polyhedron is empty
    if gap <= 1e-13 * (1.0 + float(np.abs(b) @ u)):
        return found(origin, u / size, feasible=False)
    lam = _polished(A, b, u / gap)
    x = A.T @ lam
    if float(np.linalg.norm(x)) < 0.5:  # every point of the polyhedron has length 1 at least
        return found(origin, u / size, feasible=False)
    return found(unit * x, unit * lam / size, feasible=True)


def _polished(A: FloatArray, b: FloatArray, lam: FloatArray) -> FloatArray:
    """Multipliers solved once more on their support, kept only if they stay non-negative and are no worse."""
    support = np.flatnonzero(lam > 0)
    better = np.zeros_like(lam)
    better[support] = np.linalg.lstsq(A[support] @ A[support].T, b[support], rcond=None)[0]
    if (better < 0).any():
        return lam

    def worst(multipliers: FloatArray) -> float:
        slack = A @ (A.T @ multipliers) - b
        return max(float(-slack.min()), float(np.abs(slack[support]).max()))

    return better if worst(better) <= worst(lam) else lam


def active_set(gram: FloatArray, h: FloatArray, start: FloatArray, *, deadline: float = np.inf) -> FloatArray:
    """Multipliers of min ||delta||, G delta >= h, from gram = G G^T.

    Parameters
    ----------
    gram : array, shape (q, q)
        Gram matrix of rows of about unit length.
    h : array, shape (q,)
        Right-hand sides.
    start : array, shape (q,)
        Non-negative multipliers of an earlier, smaller problem (zeros elsewhere); their support is tried first.
    deadline : float
        The value of `time.monotonic()` after which the multipliers so far are returned.

    Returns
    -------
    array, shape (q,)
        Non-negative multipliers.
    """
    q = h.size
    if q == 1:
        return np.maximum(h, 0.0) / gram[0] if gram[0, 0] > 0 else start
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
        if not gain[j] > enough or time.monotonic() > deadline:
            break
        held[j] = True
        _settle(gram, h, mu, held, ridge)
        if not held[j]:  # the row left at once: rounding, and nothing more to gain
            break
    return mu


def _settle(gram: FloatArray, h: FloatArray, mu: FloatArray, held: BoolArray, ridge: float) -> None:
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
