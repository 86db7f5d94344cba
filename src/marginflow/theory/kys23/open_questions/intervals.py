"""Lengths of sets that are unions of intervals."""

import numpy as np

from marginflow.arrays import FloatArray


def symmetric_difference(first: FloatArray, second: FloatArray) -> float:
    """The length of the set that belongs to exactly one of two unions of disjoint intervals."""
    ends = np.unique(np.concatenate([first.ravel(), second.ravel()]))
    if ends.size < 2:
        return 0.0
    middles = (ends[:-1] + ends[1:]) / 2
    inside = [((part[:, :1] <= middles) & (middles <= part[:, 1:])).any(axis=0) for part in (first, second)]
    return float(np.diff(ends)[inside[0] != inside[1]].sum())
