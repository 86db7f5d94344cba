"""Samples that occur more than once.

With a hard margin a copy adds no condition: the sample with all of the multiplier, its copies with none, is a KKT point
of all of them. Left in, copies make kink samples dependent and multipliers ambiguous, and no structure settles.
"""

from __future__ import annotations

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset


def distinct(data: Dataset) -> tuple[IntArray, IntArray]:
    """Where each distinct sample (with its label) occurs first, shape (m,), and which of these each is, shape (n,)."""
    seen: dict[bytes, int] = {}
    index = np.empty(data.n_samples, dtype=np.int64)
    first: list[int] = []
    for i, (row, label) in enumerate(zip(data.X + 0.0, data.y, strict=True)):  # -0.0 becomes 0.0
        index[i] = seen.setdefault(row.tobytes() + label.tobytes(), len(first))
        if index[i] == len(first):
            first.append(i)
    return np.array(first, dtype=np.int64), index


def at_first(rows: FloatArray, first: IntArray, n: int) -> FloatArray:
    """Rows of the distinct samples where these occur first among n samples, and zeros at their copies."""
    if len(first) == n:
        return rows
    spread = np.zeros((n, *rows.shape[1:]))
    spread[first] = rows
    return spread
