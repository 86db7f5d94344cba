"""Products of a matrix with its own transpose, in blocks where they are large."""

from __future__ import annotations

import numpy as np

from marginflow.arrays import FloatArray

# Rows above which A A^T is made of ordinary products. NumPy recognises `A @ A.T` and calls the symmetric routine, which
# in OpenBLAS with several threads ends the *process* at about 20,000 rows of 784 on processors with AVX-512.
BLOCK = 4000


def times_transpose(A: FloatArray) -> FloatArray:
    """A A^T, shape (m, m)."""
    m = len(A)
    if m <= BLOCK:
        small: FloatArray = A @ A.T
        return small
    product: FloatArray = np.empty((m, m), dtype=A.dtype)
    for start in range(0, m, BLOCK):
        rows = A[start : start + BLOCK]
        for other in range(0, start, BLOCK):
            np.matmul(rows, A[other : other + BLOCK].T, out=product[start : start + len(rows), other : other + BLOCK])
            product[other : other + BLOCK, start : start + len(rows)] = product[
                start : start + len(rows), other : other + BLOCK
            ].T
        product[start : start + len(rows), start : start + len(rows)] = rows @ rows.T
    return product
