r"""How far the same points are from flipping for rules that remember the samples: what a network is compared with.

Distance to the nearest sample of the other class, and the flip distance of 1-nearest neighbour, exactly. Linear
classifiers are in `linear.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, labelled_rows, labels, matrix, read_only
from marginflow.errors import InputError
from marginflow.networks.evaluation import row_blocks
from marginflow.robustness.least_distance import least_distance

# Voronoi constraints added in one round: the most violated ones.
_CONSTRAINTS_PER_ROUND = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class NearestNeighbourRadii:
    """Exact flip distances of the 1-nearest-neighbour rule.

    Parameters
    ----------
    radii : array, shape (n,)
        Least ||delta|| for which x + delta is as near to a sample of the other label as to any of its own.
    lower : array, shape (n,)
        The same from the multipliers of the projections: radii - lower is the proof gap.
    perturbations : array, shape (n, d)
        Where it is attained.
    opposite : integer array, shape (n,)
        The sample of the other label in whose cell the perturbed point lies.
    already : boolean array, shape (n,)
        Points that the rule misclassifies (radius 0).
    """

    radii: FloatArray
    lower: FloatArray
    perturbations: FloatArray
    opposite: IntArray
    already: BoolArray


def nearest_opposite_distance(X_train: ArrayLike, y_train: ArrayLike, X: ArrayLike, y: ArrayLike) -> FloatArray:
    """Distance of each point to the nearest training sample of the other label, shape (n,)."""
    samples, signs, points, wanted = _checked(X_train, y_train, X, y)
    distance = np.sqrt(_squared_distances(points, samples))
    nearest: FloatArray = np.where(signs[None, :] != wanted[:, None], distance, np.inf).min(axis=1)
    return nearest


def nearest_neighbour_radius(
    X_train: ArrayLike, y_train: ArrayLike, X: ArrayLike, y: ArrayLike
) -> NearestNeighbourRadii:
    r"""Exact l2 flip distance of 1-NN: the least projection on the cells of the samples of the other label.

    x + delta is in the cell of the opposite sample o, as far as label y is concerned, when for every own sample s

    .. math:: \delta \cdot (o - s) \ge \tfrac12 (\|x - o\|^2 - \|x - s\|^2) .

    Each cell is one least-distance problem, solved on few rows at a time; cells whose best single row is farther away
    than the best projection so far are left out. A tie counts as flipped.

    Parameters
    ----------
    X_train, y_train : arrays, shapes (m, d) and (m,)
        The samples that the rule remembers; both labels must occur.
    X, y : arrays, shapes (n, d) and (n,)
        Points (the samples themselves, if wanted) with their labels.

    Examples
    --------
    >>> from marginflow.robustness.baselines import nearest_neighbour_radius
    >>> nearest_neighbour_radius([[0.0], [4.0]], [1, -1], [[0.0], [1.0]], [1, 1]).radii
    array([2., 1.])
    """
    samples, signs, points, wanted = _checked(X_train, y_train, X, y)
    n = points.shape[0]
    radii, lower = np.zeros(n), np.zeros(n)
    P, chosen, already = np.zeros_like(points), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    squared = _squared_distances(points, samples)
    for i in range(n):
        own, other = np.flatnonzero(signs == wanted[i]), np.flatnonzero(signs != wanted[i])
        chosen[i] = other[np.argmin(squared[i, other])]
        already[i] = squared[i, chosen[i]] <= squared[i, own].min()
        if already[i]:
            continue
        radii[i], lower[i], P[i], chosen[i] = _flip_distance(points[i], samples, own, other, squared[i])
    return NearestNeighbourRadii(
        radii=read_only(radii),
        lower=read_only(lower),
        perturbations=read_only(P),
        opposite=read_only(chosen),
        already=read_only(already),
    )


def _flip_distance(
    x: FloatArray, samples: FloatArray, own: IntArray, other: IntArray, squared: FloatArray
) -> tuple[float, float, FloatArray, int]:
    """Least projection over the cells of `other`, in the order of their cheapest lower bounds."""
    S = samples[own]
    gaps = _squared_distances(samples[other], S)
    rows = 0.5 * (squared[other][:, None] - squared[own][None, :]) / np.sqrt(np.where(gaps > 0, gaps, np.inf))
    # A copy of an own sample with the other label: its row 0 >= 0 asks nothing, unless x is nearer to an own sample.
    bounds = np.maximum(rows.max(axis=1), 0.0)
    best, proof, delta, cell = np.inf, np.inf, np.zeros_like(x), int(other[0])
    for index in np.argsort(bounds):
        if bounds[index] >= best:
            break
        o = int(other[index])
        G, h = samples[o] - S, 0.5 * (squared[o] - squared[own])
        found, certified = _project_on_cell(G, h, limit=best)
        proof = min(proof, certified)
        size = float(np.linalg.norm(found))
        if np.isfinite(certified) and size < best:
            best, delta, cell = size, found, o
    remaining = bounds[bounds >= best]
    return best, min(proof, float(remaining.min(initial=np.inf))), delta, cell


def _project_on_cell(G: FloatArray, h: FloatArray, limit: float) -> tuple[FloatArray, float]:
    """Nearest delta with G delta >= h and its lower bound from multipliers, or infinity when the cell is empty.

    Rows are added when violated; the search stops early once the multipliers put the cell beyond `limit`.
    """
    used = np.zeros(0, dtype=np.int64)
    delta = np.zeros(G.shape[1])
    lower = 0.0
    size = np.linalg.norm(G, axis=1)
    scale = np.where(size > 0, size, 1.0)
    if (h[size == 0] > 0).any():
        return delta, float("inf")
    while True:
        missing = (h - G @ delta) / scale
        missing[used] = -np.inf
        worst = np.argsort(-missing)[:_CONSTRAINTS_PER_ROUND]
        worst = worst[missing[worst] > 1e-13 * (np.abs(h[worst]) / scale[worst] + float(np.linalg.norm(delta)))]
        if worst.size == 0:
            return delta, lower
        used = np.append(used, worst)
        solved = least_distance(G[used], h[used])
        lower = solved.lower
        if not solved.feasible:
            return delta, float("inf")
        delta = solved.point
        if lower >= limit:
            return delta, lower


def _checked(
    X_train: ArrayLike, y_train: ArrayLike, X: ArrayLike, y: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    samples, signs = labelled_rows("X_train", X_train, "y_train", y_train)
    points = matrix("X", X)
    if points.shape[1] != samples.shape[1]:
        raise InputError(f"X has {points.shape[1]} columns, but X_train has {samples.shape[1]}.")
    if np.all(signs == signs[0]):
        raise InputError(
            f"All training labels are {signs[0]:+g}; both -1 and +1 must occur for there to be a boundary."
        )
    return samples, signs, points, labels("y", y, points.shape[0])


def _squared_distances(P: FloatArray, Q: FloatArray) -> FloatArray:
    """||p - q||^2 by differences, block by block: no cancellation between large norms; shape (p, q)."""
    out = np.empty((P.shape[0], Q.shape[0]))
    for rows in row_blocks(P.shape[0], Q.size, at_most=1 << 22):
        block = P[rows, None, :] - Q[None]
        out[rows] = np.einsum("ijk,ijk->ij", block, block)
    return out
