"""Columns of neurons in groups, added up or averaged; a group of one neuron, as most are, is left as it is."""

from typing import Any

import numpy as np

from marginflow.arrays import FloatArray, IntArray


class Merging:
    """Groups by number, all of which occur, and sizes t (k,), by which neurons are weighed in averages."""

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
