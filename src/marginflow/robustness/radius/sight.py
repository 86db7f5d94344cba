"""The hidden neurons as the judge sees them from a point: unit rows, groups, and what is wrong with taking them so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.robustness.radius.normal import InputForm, exponent, shifted


@dataclass(frozen=True, eq=False, kw_only=True)
class SeenNeurons:
    """The hidden neurons from a point, in units of 2^unit: the part of the judgement that does not know the outputs.

    `away` is what a neuron may differ from the first of its group on the ball, and `astray` what a neuron without a
    group may from the constant `steady`, rounding included; `a` are the distances to the first of each group.
    """

    grouped: Grouped
    unit: int
    L: float
    largest: float
    away: FloatArray
    astray: FloatArray
    steady: FloatArray
    a: FloatArray


def sight(inputs: InputForm, groups: IntArray, point: FloatArray, lower: float, noise: float) -> SeenNeurons:
    """What is seen within the ball of radius `lower`; the last one is remembered."""
    grouped = _grouped(inputs, np.asarray(groups, dtype=np.int64).tobytes())
    return _sight(inputs, grouped, np.asarray(point, dtype=np.float64).tobytes(), lower, noise)


@lru_cache(maxsize=1)
def _sight(inputs: InputForm, grouped: Grouped, given: bytes, lower: float, noise: float) -> SeenNeurons:
    point = np.frombuffer(given)
    k = exponent(np.array(lower))
    x, L, b = shifted(point, -k), float(np.ldexp(lower, -k)), inputs.biases(k)
    live, first, group = grouped.live, grouped.first, grouped.group
    reach, offsets = float(np.linalg.norm(x)) + L, b[live] / grouped.size
    return SeenNeurons(
        grouped=grouped,
        unit=k,
        L=L,
        largest=max(float(np.abs(x).max()), float(np.abs(b).max())),
        away=grouped.apart * reach + np.abs(offsets - offsets[first][group]) + noise * (reach + np.abs(offsets)),
        astray=grouped.sums[~live] * reach + noise * np.abs(b[~live]),
        steady=np.maximum(b[~live], 0.0),
        a=grouped.rows @ x + offsets[first],
    )


@dataclass(frozen=True, eq=False)
class Grouped:
    """Neurons with a group, the first of each group, their norms and unit rows, and how far from the first they are."""

    live: BoolArray
    first: IntArray
    group: IntArray
    size: FloatArray
    rows: FloatArray
    apart: FloatArray
    sums: FloatArray

    def summed(self, weights: FloatArray) -> FloatArray:
        """The weights of the neurons, shape (T, l), added within groups."""
        if self.first.size == self.group.size:  # each has a group of its own
            return weights[:, self.first]
        return np.stack([np.bincount(self.group, row).astype(np.float64) for row in weights])

    @cached_property
    def longest(self) -> float:
        """The largest length of a row, as computed."""
        return float(np.sqrt((self.rows * self.rows).sum(axis=1)).max(initial=0.0))

    @cached_property
    def span(self) -> tuple[FloatArray, float, float]:
        """Rows in a basis Q of their span, how far Q is from giving them, and how far from orthogonal."""
        Q, R = np.linalg.qr(self.rows.T)
        loose = float(np.linalg.norm(Q.T @ Q - np.eye(self.rows.shape[0])))
        return R.T, float(np.linalg.norm(self.rows - R.T @ Q.T)), loose


@lru_cache(maxsize=1)
def _grouped(inputs: InputForm, given: bytes) -> Grouped:
    groups = np.frombuffer(given, dtype=np.int64)
    live = groups >= 0
    size = np.linalg.norm(inputs.W[live], axis=1)
    units = inputs.W[live] / size[:, None]
    _, first, group = np.unique(groups[live], return_index=True, return_inverse=True)
    apart = np.linalg.norm(units - units[first][group], axis=1)
    return Grouped(live, first, group, size, units[first], apart, np.abs(inputs.W).sum(axis=1))
