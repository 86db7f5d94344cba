"""Neurons of problem (P) as rows u_j with signs, positive ones first; those of equal patterns merge, any may split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray, read_only
from marginflow.errors import InputError
from marginflow.limit.settings import NEARLY_PARALLEL
from marginflow.networks import TwoLayer
from marginflow.networks.neurons import even_copies, row_norms


@dataclass(frozen=True, eq=False)
class Neurons:
    """Rows u_j in reduced coordinates (k, r), signs s_j (+1 before -1), frozen squared outputs or None.

    `outputs_squared` holds v_j^2 when outputs are frozen; where neurons are added up, so are they.
    """

    U: FloatArray
    s: FloatArray
    outputs_squared: FloatArray | None = None

    def take(self, rows: IntArray) -> Neurons:
        """Some of them."""
        a = self.outputs_squared
        return Neurons(self.U[rows], self.s[rows], None if a is None else a[rows])


def follow(members: IntArray, rows: IntArray) -> IntArray:
    """Members, -1 for none, after each has gone where `rows` (-1 for nowhere) says."""
    return np.where(members >= 0, rows[members], -1)


def survivors(members: IntArray, kept: IntArray) -> IntArray:
    """Members after only the rows `kept` are left."""
    row = np.full(int(max(members.max(initial=-1), kept.max(initial=-1))) + 2, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    return row[members]  # -1 stays -1: the last entry is never kept


def sort_by_sign(s: FloatArray) -> IntArray:
    """Order that puts positive neurons first and keeps the order within a sign."""
    return np.argsort(-s, kind="stable")


def equal_pattern_groups(A: BoolArray, s: FloatArray, y: FloatArray) -> IntArray:
    """Group number of every neuron; neurons of one sign with equal patterns on their *same* samples share one.

    Two such neurons merge into one, u = u_1 + u_2, without raising the cost (triangle inequality) and without
    lowering a margin: same pairs add up exactly and relu(z_1 + z_2) <= relu(z_1) + relu(z_2) on opposite pairs.
    Group numbers ascend with the first member, so positive groups come first.
    """
    numbers = np.empty(len(s), dtype=np.int64)
    seen: dict[tuple[float, bytes], int] = {}
    for sign in (1.0, -1.0):
        of_sign = np.flatnonzero(s == sign)
        packed = np.ascontiguousarray(np.packbits(A[np.ix_(y == sign, of_sign)], axis=0).T)
        for j, pattern in zip(of_sign, packed, strict=True):
            numbers[j] = seen.setdefault((sign, pattern.tobytes()), len(seen))
    return numbers


def gather(U: FloatArray, s: FloatArray, most: int, *, cosine: float = NEARLY_PARALLEL) -> IntArray:
    """Group number of every neuron, at most `most` groups of nearly parallel neurons of one sign.

    A flow from small initialisation ends with bundles of nearly parallel neurons. Adding up a bundle keeps its
    contribution wherever its members agree in sign, costs nothing (triangle inequality), and makes everything
    that follows as much cheaper as there are fewer neurons. Leaders are chosen greedily: the longest of each sign,
    however short beside the other sign; next comes the neuron that loses most, ||u_j|| (1 - cosine to the nearest
    leader), until every neuron is within `cosine` of a leader or there are `most` leaders. Positive groups come first;
    zero neurons get the group -1.
    """
    t = np.linalg.norm(U, axis=1)
    unit = U / np.where(t > 0, t, 1.0)[:, None]
    nearest = np.where(t > 0, -np.inf, 1.0)
    leader = np.full(len(s), -1, dtype=np.int64)
    for _ in range(max(most, len(np.unique(s[t > 0])))):
        alone = (leader < 0) & (t > 0)  # a sign without a leader
        loss = np.where(alone, t, 0.0) if alone.any() else t * np.where(nearest < cosine, 1.0 - nearest, 0.0)
        j = int(np.argmax(loss))
        if loss[j] <= 0.0:
            break
        closeness = np.where(s == s[j], unit @ unit[j], -np.inf)
        closeness[j] = 2.0  # a leader follows itself
        closer = closeness > nearest
        nearest[closer], leader[closer] = closeness[closer], j
    leaders = np.unique(leader[t > 0])
    leaders = leaders[np.argsort(-s[leaders], kind="stable")]
    number = np.full(len(s), -1, dtype=np.int64)
    number[leaders] = np.arange(len(leaders))
    return np.where(t > 0, number[leader], -1)


def add_up(neurons: Neurons, groups: IntArray) -> Neurons:
    """One neuron per group: directions (and frozen squared outputs) are summed."""
    used = groups >= 0
    n_groups = int(groups.max()) + 1
    sums = np.zeros((n_groups, len(groups)))
    sums[groups[used], np.flatnonzero(used)] = 1.0
    s = np.zeros(n_groups)
    s[groups[used]] = neurons.s[used]
    a = neurons.outputs_squared
    return Neurons(sums @ neurons.U, s, None if a is None else sums @ a)


class Merging:
    """Columns of neurons in groups, added up or averaged; a group of one neuron, as most are, is left as it is.

    Groups by number, all of which occur, and sizes t (k,), by which neurons are weighed in averages.
    """

    def __init__(self, groups: IntArray, t: FloatArray, real: np.dtype[Any]) -> None:
        self.groups = groups
        self.first = np.unique(groups, return_index=True)[1]
        self._shared = np.flatnonzero(np.bincount(groups) > 1)
        self._several = np.flatnonzero(np.isin(groups, self._shared))
        self._ones = np.zeros((len(self._several), len(self._shared)), dtype=real)
        self._ones[np.arange(len(self._several)), np.searchsorted(self._shared, groups[self._several])] = 1.0
        weight = np.maximum(t[self._several], 1e-30)
        self._shares = self._ones * (weight / (self._ones @ (weight @ self._ones)))[:, None]

    def __len__(self) -> int:
        return len(self.first)

    def added_up(self, columns: FloatArray) -> FloatArray:
        """The sum of each group, shape (..., groups), of columns (..., k)."""
        return self._combined(columns, self._ones)

    def averaged(self, columns: FloatArray) -> FloatArray:
        """The average of each group with weights t."""
        return self._combined(columns, self._shares)

    def _combined(self, columns: FloatArray, factors: FloatArray) -> FloatArray:
        of_groups: FloatArray = np.take(columns, self.first, axis=-1)
        of_groups[..., self._shared] = np.take(columns, self._several, axis=-1) @ factors
        return of_groups


def split_to_width(network: TwoLayer, clarke: FloatArray, width: int) -> tuple[TwoLayer, FloatArray]:
    """The network with `width` neurons, and the Clarke weights of its neurons.

    A copy has the direction and the sign of the neuron that it comes from, hence also its column of Clarke
    weights (n, k): stationarity of a copy is stationarity of the original times the root of its share.
    """
    if width < network.width:
        raise InputError(
            f"width is {width}, but this point has {network.width} different neurons; at least as many are expected."
        )
    copies = even_copies(np.abs(network.v) * row_norms(network.augmented), width)
    return network.widened(width), read_only(clarke[:, np.repeat(np.arange(network.width), copies)])
