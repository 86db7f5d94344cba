"""Rows that occur more than once: found by a sum of whole numbers over each row, compared by their bytes."""

import numpy as np

from marginflow.arrays import FloatArray, IntArray

# Numbers that are summed up at once: they stay in the cache.
_AT_ONCE = 1 << 18


def first_equal(rows: FloatArray) -> IntArray:
    """Of every row the first one that is equal to it, shape (n,); 0.0 and -0.0 are equal.

    The bits of a row, as whole numbers modulo 2^64, are summed up with odd weights. Rows with a sum of their own are
    alone; only the others, which are few unless rows are copies, are compared.
    """
    n, d = rows.shape
    weights = np.random.default_rng(0).integers(0, 1 << 63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    sums = np.empty(n, dtype=np.uint64)
    step = max(1, _AT_ONCE // d)
    for start in range(0, n, step):
        some = rows[start : start + step] + 0.0  # -0.0 becomes 0.0
        sums[start : start + step] = some.view(np.uint64) @ weights
    order = np.argsort(sums, kind="stable")
    again = sums[order][1:] == sums[order][:-1]
    found = np.arange(n)
    seen: dict[bytes, int] = {}
    for i in np.unique(np.concatenate([order[1:][again], order[:-1][again]])).tolist():
        found[i] = seen.setdefault((rows[i] + 0.0).tobytes(), i)
    return found
