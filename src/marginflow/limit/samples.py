"""Sets of samples: those nearest to the margin, each of them once, and what belongs to some of all samples."""

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.data.equal_rows import first_equal


def distinct(data: Dataset) -> tuple[IntArray, IntArray]:
    """Where each distinct sample (with its label) occurs first, shape (m,), and which of these each is, shape (n,).

    With a hard margin a copy adds no condition: the sample with all of the multiplier, its copies with none, is a KKT
    point of all of them. Left in, copies make kink samples dependent and multipliers ambiguous, and no structure
    settles.
    """
    pairs = np.column_stack([first_equal(data.X), data.y])
    first = first_equal(pairs)
    alone = np.flatnonzero(first == np.arange(len(first)))
    return alone, np.searchsorted(alone, first)


def spread(rows: FloatArray, index: IntArray, n: int) -> FloatArray:
    """Rows of the samples `index` where these stand among n samples, and zeros at the others."""
    every = np.zeros((n, *rows.shape[1:]))
    every[index] = rows
    return every


def nearest(margins: FloatArray, y: FloatArray, count: int) -> IntArray:
    """Of each label the samples of smallest margin, at most this many."""
    own = (np.flatnonzero(y == label) for label in (1.0, -1.0))
    return np.concatenate([rows[np.argsort(margins[rows], kind="stable")[:count]] for rows in own])
