r"""The dual function F(u) = sum_i lambda_i y_i relu(u . xt_i) on the unit sphere, and how large it gets.

At a KKT point with trained outputs every neuron that is not zero has sign(v_j) F = 1 in its own direction. A zero
neuron may grow in any direction, so it is harmless only if |F| <= 1 everywhere; then the point is even a global
minimum. [KYS23, Def.LocMin, X.GlobalLP]
"""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray

_STARTS = 32
_ASCENT_STEPS = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class DualSupremum:
    """Bounds of the supremum of |F| over unit vectors.

    Attributes
    ----------
    lower, upper : float
        They agree, up to rounding, in augmented dimension one or two.
    direction : array, shape (D,)
        A unit vector with sign * F(direction) = lower.
    sign : float
    """

    lower: float
    upper: float
    direction: FloatArray
    sign: float


def dual_values(T: FloatArray, weights: FloatArray, directions: FloatArray) -> FloatArray:
    """F at the rows of `directions`; weights are lambda_i y_i."""
    return np.maximum(directions @ T.T, 0.0) @ weights


def supremum(
    T: FloatArray,
    weights: FloatArray,
    hints: FloatArray,
    *,
    signs: tuple[float, ...] = (1.0, -1.0),
    search: bool = True,
) -> DualSupremum:
    """Bound sup |F| over the unit sphere of R^D - or sup F, sup -F, by `signs` -; exact for D <= 2.

    Parameters
    ----------
    T : array, shape (n, D)
        Samples xt_i.
    weights : array, shape (n,)
        lambda_i y_i.
    hints : array, shape (p, D)
        Directions that are tried as they are when D > 2.
    signs : tuple
        Which of F and -F is meant.
    search : bool
        Whether to climb from the hints and from other starts; without, `lower` is just the best hint.
    """
    dimension = T.shape[1]
    if dimension == 1:
        candidates = np.array([[1.0], [-1.0]])
    elif dimension == 2:
        candidates = _circle_candidates(T, weights)
    else:
        length = np.linalg.norm(hints, axis=1)
        candidates = hints[length > 0] / length[length > 0, None]
        if search:
            candidates = np.vstack([_ascend(T, weights, candidates, sign) for sign in signs])
    signed = np.array([sign * dual_values(T, weights, candidates) for sign in signs])
    side, index = np.unravel_index(np.argmax(signed), signed.shape)
    lower = float(signed[side, index])
    upper = lower if dimension <= 2 else max(lower, _upper_bound(T, weights, signs))
    return DualSupremum(lower=lower, upper=upper, direction=candidates[index], sign=signs[side])


def _circle_candidates(T: FloatArray, weights: FloatArray) -> FloatArray:
    """The ends of the arcs on which F is linear, F(u) = S . u, and +-S/|S| for each: one is the maximiser."""
    angle = np.arctan2(T[:, 1], T[:, 0])
    ends = np.unique(np.mod(np.concatenate([angle + np.pi / 2, angle - np.pi / 2]), 2 * np.pi))
    middles = 0.5 * (ends + np.roll(ends, -1))
    middles[-1] += np.pi
    at = np.concatenate([ends, middles])
    circle = np.column_stack([np.cos(at), np.sin(at)])
    S = ((circle[ends.size :] @ T.T > 0) * weights) @ T
    length = np.linalg.norm(S, axis=1)
    S = S[length > 0] / length[length > 0, None]
    return np.vstack([circle, S, -S])


def _upper_bound(T: FloatArray, weights: FloatArray, signs: tuple[float, ...]) -> float:
    r"""F(u) <= sum_{y_i=1} lambda_i relu(u . xt_i) <= (sum_{il} lambda_i lambda_l (xt_i . xt_l)_+)^(1/2); mirrored."""
    bounds = []
    for chosen in (sign * weights > 0 for sign in signs):
        gram = np.maximum(T[chosen] @ T[chosen].T, 0.0)
        bounds.append(float(np.sqrt(np.abs(weights[chosen]) @ gram @ np.abs(weights[chosen]))))
    return max(bounds)


def _ascend(T: FloatArray, weights: FloatArray, hints: FloatArray, sign: float) -> FloatArray:
    """Normalised gradient ascent of sign * F from many starts at once; every step is kept only where it gains."""
    rng = np.random.default_rng(0)
    own = T[sign * weights > 0]
    chosen = own[rng.permutation(own.shape[0])[:_STARTS]]
    mixed = rng.random((_STARTS, own.shape[0])) @ own if own.size else np.zeros((0, T.shape[1]))
    u = np.vstack([chosen, mixed, hints[:_STARTS]])
    length = np.linalg.norm(u, axis=1)
    u = u[length > 0] / length[length > 0, None]
    value = sign * dual_values(T, weights, u)
    step = np.ones(u.shape[0])
    for _ in range(_ASCENT_STEPS):
        slope = sign * ((u @ T.T > 0) * weights) @ T
        size = np.linalg.norm(slope, axis=1, keepdims=True)
        trial = u + step[:, None] * (slope / np.where(size > 0, size, 1.0) - u)
        trial /= np.maximum(np.linalg.norm(trial, axis=1, keepdims=True), np.finfo(float).tiny)
        reached = sign * dual_values(T, weights, trial)
        gains = reached > value
        u = np.where(gains[:, None], trial, u)
        value = np.where(gains, reached, value)
        step = np.where(gains, np.minimum(1.0, 2 * step), 0.5 * step)
    climbed: FloatArray = u
    return climbed
