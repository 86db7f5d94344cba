"""What every network does with its samples: check them, take them in blocks, differentiate the ReLU."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, matrix, real_number, vector
from marginflow.errors import InputError

# Samples are processed in blocks of rows so that no temporary exceeds this many numbers (8 MiB of float64): their
# products are as fast as those of larger ones, and what is done with them is up to twice as fast.
BLOCK_NUMBERS = 1 << 20
# The same where many cheap steps go over one block: about what a processor's own cache holds (2 MiB of float64).
CACHED_NUMBERS = 1 << 18
# Multiplications from which on it pays to look for copies of neurons: some milliseconds.
LARGE_PRODUCT = 1e8


def checked_points(X: ArrayLike, dimension: int) -> FloatArray:
    """Finite samples as rows of the given dimension, or an `InputError`."""
    rows = matrix("X", X)
    if rows.shape[1] != dimension:
        raise InputError(f"X has {rows.shape[1]} columns, but the network has dimension {dimension}.")
    return rows


def checked_point(name: str, x: ArrayLike, dimension: int) -> FloatArray:
    """A finite vector of the given dimension, or an `InputError`."""
    point = vector(name, x)
    if point.size != dimension:
        raise InputError(f"{name} has {point.size} entries, but the network has dimension {dimension}.")
    return point


def augmented_samples(X: FloatArray, *, bias: bool) -> FloatArray:
    """The rows (x_i, 1), or x_i for a network without bias."""
    return np.column_stack([X, np.ones(X.shape[0])]) if bias else X


def row_blocks(n: int, numbers_per_row: int, *, at_most: int | None = None) -> list[slice]:
    """Consecutive slices of n rows, each with at most `at_most` numbers, else `BLOCK_NUMBERS`; at least a row."""
    rows = max(1, (BLOCK_NUMBERS if at_most is None else at_most) // max(1, numbers_per_row))
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def count_wrong(margins: FloatArray) -> int:
    """How many samples are on the wrong side of the boundary, or on it: margins of at most 0."""
    return int((margins <= 0).sum())


def checked_kink(kink: float) -> float:
    """The value of relu'(0): any number in [0, 1] is a Clarke subgradient."""
    return real_number("kink", kink, at_least=0.0, at_most=1.0)


def relu_slopes(Z: FloatArray, kink: float) -> FloatArray:
    """relu'(Z) with relu'(0) = `kink`."""
    # A comparison and a cast: twelve times as fast as numpy.heaviside.
    slopes = (Z > 0).astype(np.float64)
    if kink:
        slopes[Z == 0] = kink
    return slopes


class HiddenLayer:
    """What networks with one hidden layer share: its sizes, its pre-activations, sums of its outputs."""

    W: FloatArray
    b: FloatArray | None

    @property
    def width(self) -> int:
        """Number k of hidden neurons."""
        return int(self.W.shape[0])

    @property
    def dimension(self) -> int:
        """Input dimension d."""
        return int(self.W.shape[1])

    @property
    def augmented(self) -> FloatArray:
        """The rows (w_j, b_j), or w_j without bias; shape (k, d + 1) or (k, d)."""
        return self.W if self.b is None else np.column_stack([self.W, self.b])

    @cached_property
    def _copies(self) -> tuple[IntArray, IntArray] | None:
        """One neuron of each kind, and of which kind every neuron is; None unless most are copies, bit for bit.

        A KKT point has few neurons; a requested width is met by splitting them.
        """
        if 2 * np.unique(self.W[:, 0]).size > self.width:
            return None
        known: dict[bytes, int] = {}
        kinds = np.array([known.setdefault(row.tobytes(), len(known)) for row in np.ascontiguousarray(self.augmented)])
        return (np.unique(kinds, return_index=True)[1], kinds) if 2 * len(known) <= self.width else None

    def _preactivations(self, X: FloatArray) -> FloatArray:
        """Copies of a neuron are evaluated once where that saves time."""
        copies = self._copies if float(X.shape[0]) * self.W.size >= LARGE_PRODUCT else None
        first, kinds = (slice(None), slice(None)) if copies is None else copies
        Z: FloatArray = X @ self.W[first].T
        if self.b is not None:
            Z += self.b[first]
        return Z[:, kinds]

    def preactivations(self, X: ArrayLike) -> FloatArray:
        """w_j . x_i + b_j, shape (n, k)."""
        return self._preactivations(checked_points(X, self.dimension))

    def patterns(self, X: ArrayLike) -> BoolArray:
        """Which neurons are strictly active, w_j . x_i + b_j > 0; shape (n, k)."""
        return self.preactivations(X) > 0

    def _combined(self, X: ArrayLike, weights: FloatArray) -> FloatArray:
        """relu(W x_i + b) @ weights, in blocks of samples."""
        rows = checked_points(X, self.dimension)
        values = np.empty((rows.shape[0], *weights.shape[1:]))
        for block in row_blocks(rows.shape[0], self.width):
            Z = self._preactivations(rows[block])
            values[block] = np.maximum(Z, 0.0, out=Z) @ weights
        return values
