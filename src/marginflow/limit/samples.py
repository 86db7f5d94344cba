"""Sets of samples: those nearest to the margin, and what belongs to some of all samples."""

import numpy as np

from marginflow.arrays import FloatArray, IntArray


def spread(rows: FloatArray, index: IntArray, n: int) -> FloatArray:
    """Rows of the samples `index` where these stand among n samples, and zeros at the others."""
    every = np.zeros((n, *rows.shape[1:]))
    every[index] = rows
    return every


def nearest(margins: FloatArray, y: FloatArray, count: int) -> IntArray:
    """Of each label the samples of smallest margin, at most so many."""
    own = (np.flatnonzero(y == label) for label in (1.0, -1.0))
    return np.concatenate([rows[np.argsort(margins[rows], kind="stable")[:count]] for rows in own])
