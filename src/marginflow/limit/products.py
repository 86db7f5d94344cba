"""Large products, in parts that several threads may take at the same time; the bits do not depend on how many do.

The threads of BLAS wait busily for each other's next product, and take the time of whoever else computes; those that
`share` hands parts to sleep.
"""

from contextlib import AbstractContextManager
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from marginflow.arrays import FloatArray
from marginflow.threads import available_threads, blas_threads, one_thread, parts_of, share

Real = TypeVar("Real", np.float32, np.float64)

# For whoever multiplies in single precision, and looks at the numbers where it matters that they are finite: kernels
# with AVX-512 raise the flag "invalid" from lanes that nobody reads.
without_flags = np.errstate(over="ignore", invalid="ignore")
# Rows above which A A^T is made of ordinary products. NumPy recognises `A @ A.T` and calls the symmetric routine, which
# in OpenBLAS with several threads ends the *process* at about 20,000 rows of 784 on processors with AVX-512.
BLOCK = 4000
# Size from which on factors have several threads of BLAS. With two, under load, CPU s: Cholesky factors of 1,300 in
# single precision 0.25 instead of 0.02, eigenvectors of 785 about 1.5 instead of 0.13.
LARGE_FACTOR = 2500


@without_flags
def product(
    A: NDArray[Real], B: NDArray[Real], *, out: NDArray[Real] | None = None, threads: int | None = None
) -> NDArray[Real]:
    """A B, shape (m, k), by rows of A or columns of B, of which there are more: what is read by all parts is small."""
    m, k, threads = len(A), B.shape[1], available_threads() if threads is None else threads
    C: NDArray[Real] = np.empty((m, k), dtype=A.dtype) if out is None else out

    def multiply(part: slice) -> None:
        rows, columns = (part, slice(None)) if m >= k else (slice(None), part)
        np.matmul(A[rows], B[:, columns], out=C[rows, columns])

    with one_thread():
        share(multiply, parts_of(max(m, k), float(A.size) * k), threads)
    return C


@without_flags
def times_transpose(A: FloatArray, *, threads: int | None = None) -> FloatArray:
    """A A^T, shape (m, m)."""
    m, threads = len(A), available_threads() if threads is None else threads
    blocks = symmetric_blocks(m, 0.5 * float(A.size) * m)
    C: FloatArray = np.empty((m, m), dtype=A.dtype)

    def multiply(block: tuple[slice, slice]) -> None:
        rows, columns = block
        if rows == columns:
            C[block] = A[rows] @ A[rows].T
        else:
            np.matmul(A[rows], A[columns].T, out=C[block])
            C[columns, rows] = C[block].T

    with one_thread():
        share(multiply, blocks, threads)
    return C


def symmetric_blocks(m: int, multiplications: float) -> list[tuple[slice, slice]]:
    """The blocks of an m x m matrix on its diagonal and above it: rows and columns, for `share`.

    Those on the diagonal are half as much work, and come last.
    """
    cut = [piece for part in parts_of(m, multiplications) for piece in pieces(part.start, part.stop, BLOCK)]
    above = [(rows, columns) for i, rows in enumerate(cut) for columns in cut[i + 1 :]]
    return above + [(piece, piece) for piece in cut]


def factor_threads(size: int, threads: int | None = None) -> AbstractContextManager[None]:
    """A context for a factor of a matrix of this size: threads of BLAS only where they pay."""
    return blas_threads(1 if size < LARGE_FACTOR else available_threads() if threads is None else threads)


def pieces(first: int, end: int, most: int) -> list[slice]:
    """Consecutive slices of about the same size, at most `most`."""
    number = -(-(end - first) // most)
    ends = [first + (end - first) * i // max(number, 1) for i in range(number + 1)]
    return [slice(*pair) for pair in pairwise(ends)]
