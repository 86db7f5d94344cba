"""Samples that occur more than once.

With a hard margin a copy adds no condition: the sample with all of the multiplier, its copies with none, is a KKT point
of all of them. Left in, copies make kink samples dependent and multipliers ambiguous, and no structure settles.
"""

import numpy as np

from marginflow.arrays import IntArray
from marginflow.data import Dataset
from marginflow.data.equal_rows import first_equal


def distinct(data: Dataset) -> tuple[IntArray, IntArray]:
    """Where each distinct sample (with its label) occurs first, shape (m,), and which of these each is, shape (n,)."""
    pairs = np.column_stack([first_equal(data.X), data.y])
    first = first_equal(pairs)
    alone = np.flatnonzero(first == np.arange(len(first)))
    return alone, np.searchsorted(alone, first)
