r"""The point of a polyhedron nearest to the origin: min ||x|| subject to G x >= h, with its multipliers.

Solved as the non-negative least-squares problem of Lawson and Hanson (Solving Least Squares Problems, ch. 23), then
polished on the active rows. Whatever the solver did, `lower` is recomputed from the multipliers alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from marginflow.arrays import FloatArray


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
    violation : float
        Largest max(0, h - G x), relative to the size of the rows and of x.
    feasible : bool
        False when the multipliers show the polyhedron to be empty.
    """

    point: FloatArray
    multipliers: FloatArray
    lower: float
    violation: float
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
    c, r = G.shape
    size = np.linalg.norm(G, axis=1)
    size = np.where(size > 0, size, 1.0)
    unit = float(np.max(h / size))
    if unit <= 0:
        return LeastDistance(point=np.zeros(r), multipliers=np.zeros(c), lower=0.0, violation=0.0, feasible=True)
    A, b = G / size[:, None], h / (size * unit)  # unit rows, and a distance of at least 1
    u, _ = nnls(np.vstack([A.T, b]), np.append(np.zeros(r), 1.0), maxiter=30 * (c + r))
    gap = 1.0 - float(b @ u)  # 1 / (1 + distance^2), so zero means that the polyhedron is empty
    if gap <= 1e-13 * (1.0 + float(np.abs(b) @ u)):
        return _empty(G, h, u / size)
    lam = _polished(A, b, u / gap)
    x = A.T @ lam
    length = float(np.linalg.norm(x))
    if length < 0.5:  # every point of the polyhedron has length 1 at least
        return _empty(G, h, u / size)
    violation = float(np.max(np.maximum(b - A @ x, 0.0))) / length
    multipliers = unit * lam / size
    return LeastDistance(
        point=unit * x,
        multipliers=multipliers,
        lower=distance_from_multipliers(G, h, multipliers),
        violation=violation,
        feasible=True,
    )


def _empty(G: FloatArray, h: FloatArray, multipliers: FloatArray) -> LeastDistance:
    """The answer for a polyhedron without points; `lower` says how far out the multipliers prove that."""
    return LeastDistance(
        point=np.zeros(G.shape[1]),
        multipliers=multipliers,
        lower=distance_from_multipliers(G, h, multipliers),
        violation=np.inf,
        feasible=False,
    )


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
