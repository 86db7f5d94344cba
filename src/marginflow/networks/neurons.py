r"""Surgery on neurons that leaves the function unchanged: selecting, splitting, merging, balancing.

Everything here acts on the rows A_j = (w_j, b_j) (w_j alone without bias) and the output weights v_j of a two-layer
network. Neuron j computes v_j relu(A_j . x~) = sign(v_j) relu(u_j . x~) with u_j = |v_j| A_j, so the function depends
on the signs and the u_j only, and neurons of one sign with positively parallel u_j act as one with the sum of them.
"""

import heapq

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, IntArray
from marginflow.errors import InputError

Rows = tuple[FloatArray, FloatArray]


def row_norms(A: FloatArray) -> FloatArray:
    """Euclidean norms of the rows, without overflow or underflow of the squares."""
    largest = np.abs(A).max(axis=1)
    norms: FloatArray = largest * np.linalg.norm(A / np.where(largest > 0, largest, 1.0)[:, None], axis=1)
    return norms


def selection(index: ArrayLike, width: int) -> IntArray:
    """Neurons chosen by whole numbers or by a mask, as numbers in [0, width), or an `InputError`."""
    try:
        chosen = np.atleast_1d(np.asarray(index))
    except (TypeError, ValueError):
        raise InputError(f"Neurons are selected by {index!r}; a list of whole numbers or a mask is expected.") from None
    if chosen.dtype == np.bool_ and chosen.size:
        if chosen.shape != (width,):
            raise InputError(f"The mask of neurons has shape {chosen.shape}; ({width},) is expected.")
        chosen = np.flatnonzero(chosen)
    if chosen.ndim == 1 and chosen.size == 0:
        raise InputError("No neuron is selected; a network needs at least one.")
    if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
        raise InputError(f"Neurons are selected by {index!r}; a list of whole numbers or a mask is expected.")
    outside = chosen[(chosen < -width) | (chosen >= width)]
    if outside.size:
        raise InputError(f"Neuron {outside[0]} is selected, but the network has {width} neurons.")
    return chosen.astype(np.int64) % width


def split_rows(A: FloatArray, v: FloatArray, neuron: int, shares: FloatArray) -> Rows:
    """Neuron `neuron` becomes copies sqrt(share) (A_j, v_j), in its place."""
    before, after = slice(0, neuron), slice(neuron + 1, None)
    root = np.sqrt(shares)
    return (
        np.concatenate([A[before], root[:, None] * A[neuron], A[after]]),
        np.concatenate([v[before], root * v[neuron], v[after]]),
    )


def even_copies(sizes: FloatArray, total: int) -> IntArray:
    """How often to copy each neuron so that `total` remain and the largest copy is as small as can be."""
    copies = np.ones(sizes.size, dtype=np.int64)
    heap = [(-float(size), j) for j, size in enumerate(sizes)]
    heapq.heapify(heap)
    for _ in range(total - sizes.size):
        _, j = heap[0]
        copies[j] += 1
        heapq.heapreplace(heap, (-float(sizes[j]) / int(copies[j]), j))
    return copies


def widened_rows(A: FloatArray, v: FloatArray, width: int) -> Rows:
    """The same function with `width` neurons: the largest ||u_j|| are split evenly, copies side by side."""
    copies = even_copies(np.abs(v) * row_norms(A), width)
    root = np.repeat(np.sqrt(1.0 / copies), copies)
    return root[:, None] * np.repeat(A, copies, axis=0), root * np.repeat(v, copies)


def balanced_rows(U: FloatArray, signs: FloatArray) -> Rows:
    """The neurons of least norm with u_j = U_j: |v_j| = ||A_j|| = ||U_j||^(1/2)."""
    root = np.sqrt(row_norms(U))
    return U / np.where(root > 0, root, 1.0)[:, None], signs * root


def parallel_groups(A: FloatArray, v: FloatArray, tolerance: float) -> list[IntArray]:
    """Groups of neurons of one sign whose unit rows are within `tolerance` of the group's first; no dead neurons.

    Unit vectors within `tolerance` have projections on any fixed unit vector within `tolerance`, so after a sort by one
    projection each neuron meets only the few others in its window: k log k instead of k^2 comparisons.
    """
    norms = row_norms(A)
    live = np.flatnonzero((norms > 0) & (v != 0))
    if live.size == 0:
        return []
    units, signs = A[live] / norms[live, None], np.sign(v[live])
    probe = np.random.default_rng(0).standard_normal(A.shape[1])
    shadow = units @ (probe / np.linalg.norm(probe))
    order = np.argsort(shadow, kind="stable")
    rounding = 4.0 * A.shape[1] * np.finfo(np.float64).eps
    low = np.searchsorted(shadow[order], shadow - tolerance - rounding, side="left")
    high = np.searchsorted(shadow[order], shadow + tolerance + rounding, side="right")
    free = np.ones(live.size, dtype=np.bool_)
    groups: list[IntArray] = []
    for first in range(live.size):
        if free[first]:
            near = np.sort(order[low[first] : high[first]])
            near = near[free[near] & (signs[near] == signs[first])]
            distance = np.linalg.norm(units[near] - units[first], axis=1)
            group = near[(distance <= tolerance) | (near == first)]
            free[group] = False
            groups.append(live[group])
    return groups


def merged_row(A: FloatArray, v: FloatArray, group: IntArray) -> tuple[FloatArray, float]:
    r"""One neuron for parallel neurons of one sign: u = sum_j u_j, |v| = (sum_j v_j^2)^(1/2), A = u / |v|.

    It undoes a split, keeps balanced neurons balanced, and never raises the norm:
    ||u||^2 / v^2 <= sum_j ||u_j||^2 / v_j^2 by Cauchy-Schwarz, with equality when all v_j / ||A_j|| agree.
    """
    if group.size == 1:
        return A[group[0]], float(v[group[0]])
    size = float(row_norms(v[None, group])[0])
    return (np.abs(v[group]) / size) @ A[group], float(np.copysign(size, v[group[0]]))


def merged_rows(A: FloatArray, v: FloatArray, groups: list[IntArray]) -> Rows:
    """One neuron for each group, in the order given."""
    rows, sizes = zip(*(merged_row(A, v, group) for group in groups), strict=True)
    return np.array(rows), np.array(sizes)
