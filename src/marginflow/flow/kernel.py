r"""The hot loop: margins, ln L and its gradient for a two-layer network, in place and with two matrix products.

With A = (W, b), rows xt_i = (x_i, 1) of X (or x_i without bias) and p_i = -d ln L / d q_i >= 0, q_i = y_i N(x_i),

.. math:: -\nabla_{a_j} \ln L = v_j \sum_i p_i y_i 1[a_j \cdot xt_i > 0] \, xt_i, \qquad
          -\nabla_{v_j} \ln L = \sum_i p_i y_i \, \mathrm{relu}(a_j \cdot xt_i).

relu'(0) = 0. Every buffer is allocated once. Samples are taken in blocks, and since p needs the loss of *all* samples,
each block is weighted relative to the largest slope seen so far and the sums are rescaled when a larger one turns up.
With a single block the work can be shared among threads: margins by samples, then gradients by neurons.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from marginflow.arrays import FloatArray, IntArray
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import AbstractLoss
from marginflow.threads import parts_of, share

# A block of activations has at most this many numbers (32 MiB): large enough for the matrix products to run at full
# speed and for the addition of partial gradients not to count.
BLOCK_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False, slots=True)
class _Block:
    """Views of one block of samples and the buffers it works in."""

    X: FloatArray  # (rows, D)
    y: FloatArray  # (rows,)
    q: FloatArray  # (rows,), margins
    Z: FloatArray  # (rows, k), pre-activations, then activations, then slopes
    active: np.ndarray  # (rows, k), bool
    weighted: FloatArray | None  # (rows, D): rows of X times their weight; None where scaling Z is cheaper
    Z_T: FloatArray


class TwoLayerKernel:
    """Margins and gradient of ln L for fixed samples; the parameters come with each call.

    Parameters
    ----------
    X : array, shape (n, D)
        Samples, with a last column of ones where the network has biases.
    y : array, shape (n,)
        Labels.
    width : int
        Number k of neurons.
    outputs : array, shape (k,), or None
        Frozen outputs; None if v is trained and comes as the second part of the parameters.
    capacity : int or None
        Most samples that one call will use (mini-batches); None for all.
    dtype : numpy type
        Of every buffer; parameters must have it too.
    shared : bool
        Whether evaluations of all samples are shared among threads where they are large and make one block.
    """

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        width: int,
        outputs: FloatArray | None,
        capacity: int | None = None,
        dtype: DTypeLike = np.float64,
        *,
        shared: bool = False,
    ) -> None:
        self.X = np.ascontiguousarray(X, dtype)
        self.y = y.astype(dtype, copy=False)
        self.frozen = None if outputs is None else outputs.astype(dtype, copy=False)
        n, D = self.X.shape
        self.shapes: Sequence[tuple[int, ...]] = [(width, D)] if outputs is not None else [(width, D), (width,)]
        size = n if capacity is None else capacity
        rows = max(1, min(size, BLOCK_NUMBERS // width))
        self._Z = np.empty((rows, width), dtype)
        # With a number in the place of this row NumPy's maximum takes three to five times as long.
        self._zeros = np.zeros(width, dtype)
        self._active = np.empty((rows, width), dtype=np.bool_)
        self._weighted = np.empty((rows, D), dtype) if width >= D else None
        self._partial = np.empty((width, D), dtype) if rows < size else None
        self.margins = np.empty(n, dtype)
        self._rows = rows
        self._blocks = self._cut(self.X, self.y, self.margins)
        self._gather: dict[int, list[_Block]] = {}
        one = shared and len(self._blocks) == 1
        self._samples, self._neurons = (parts_of(size, float(n) * D * width if one else 0.0) for size in (n, width))

    def _cut(self, X: FloatArray, y: FloatArray, q: FloatArray) -> list[_Block]:
        blocks = []
        for start in range(0, X.shape[0], self._rows):
            part = X[start : start + self._rows]
            m = part.shape[0]
            blocks.append(
                _Block(
                    X=part,
                    y=y[start : start + m],
                    q=q[start : start + m],
                    Z=self._Z[:m],
                    active=self._active[:m],
                    weighted=None if self._weighted is None else self._weighted[:m],
                    Z_T=self._Z[:m].T,
                )
            )
        return blocks

    def _batch(self, rows: IntArray) -> list[_Block]:
        """The blocks of a mini-batch, gathered into buffers that are kept for its size."""
        m = rows.size
        if m not in self._gather:
            self._gather[m] = self._cut(
                *(np.empty(shape, self.X.dtype) for shape in ((m, self.X.shape[1]), (m,), (m,)))
            )
        blocks = self._gather[m]
        start = 0
        for block in blocks:
            chosen = rows[start : start + block.y.size]
            np.take(self.X, chosen, axis=0, out=block.X)
            np.take(self.y, chosen, out=block.y)
            start += block.y.size
        return blocks

    def forward(self, theta: ParameterVector) -> FloatArray:
        """Margins y_i N(x_i) of all samples, shape (n,), in a buffer that the next call overwrites."""
        A, v = theta.parts[0], self.frozen if self.frozen is not None else theta.parts[1]
        for block in self._blocks:
            np.dot(block.X, A.T, out=block.Z)
            np.maximum(block.Z, self._zeros, out=block.Z)
            np.dot(block.Z, v, out=block.q)
            np.multiply(block.q, block.y, out=block.q)
        return self.margins

    def evaluate(
        self, theta: ParameterVector, loss: AbstractLoss, out: ParameterVector, rows: IntArray | None = None
    ) -> float:
        """Write -grad ln L into `out` and return ln of the natural sum of l(q_i) over the samples (or `rows`).

        The margins of all samples are left in `margins` when `rows` is None. Not a number where parameters overflow.
        """
        if rows is None and len(self._samples) > 1:
            return self._evaluate_shared(theta, loss, out)
        A, v = theta.parts[0], self.frozen if self.frozen is not None else theta.parts[1]
        A_T = A.T
        G = out.parts[0]
        dv = None if self.frozen is not None else out.parts[1]
        blocks = self._blocks if rows is None else self._batch(rows)
        top, total = -math.inf, 0.0  # the largest ln(-l'(q_i)) so far, and the sum of l(q_i) e^{-top}
        for block in blocks:
            Z, q, y = block.Z, block.q, block.y
            np.dot(block.X, A_T, out=Z)
            np.maximum(Z, self._zeros, out=Z)
            np.dot(Z, v, out=q)
            np.multiply(q, y, out=q)
            log_values, log_slopes = loss.log_terms(q)
            largest = float(np.maximum.reduce(log_slopes))
            if not math.isfinite(largest):  # the parameters have overflowed
                return math.nan
            first = block is blocks[0]
            if largest > top:
                if not first:
                    out.flat *= math.exp(top - largest)
                    total *= math.exp(top - largest)
                top = largest
            g = np.exp(log_slopes - top)
            total += float(np.add.reduce(g if log_values is log_slopes else np.exp(log_values - top)))
            np.multiply(g, y, out=g)
            into = G if first or self._partial is None else self._partial
            if dv is not None:
                if first:
                    np.dot(g, Z, out=dv)
                else:
                    dv += g @ Z
            np.greater(Z, 0.0, out=block.active)  # then copied: several times faster than np.sign
            np.copyto(Z, block.active)
            if block.weighted is None:
                np.multiply(Z, g[:, None], out=Z)
                np.dot(block.Z_T, block.X, out=into)
            else:
                np.multiply(block.X, g[:, None], out=block.weighted)
                np.dot(block.Z_T, block.weighted, out=into)
            if into is not G:
                G += into
        np.multiply(G, (v / total)[:, None], out=G)
        if dv is not None:
            np.divide(dv, total, out=dv)
        return top + math.log(total)

    def _evaluate_shared(self, theta: ParameterVector, loss: AbstractLoss, out: ParameterVector) -> float:
        """The same for one block, by several threads; the bits do not depend on their number."""
        A, v = theta.parts[0], self.frozen if self.frozen is not None else theta.parts[1]
        G, dv = out.parts[0], None if self.frozen is not None else out.parts[1]
        (block,) = self._blocks
        X, Z, q, y, weighted = block.X, block.Z, block.q, block.y, block.weighted

        def forward(some: slice) -> None:
            np.dot(X[some], A.T, out=Z[some])
            np.maximum(Z[some], self._zeros, out=Z[some])
            np.dot(Z[some], v, out=q[some])
            np.multiply(q[some], y[some], out=q[some])

        share(forward, self._samples)
        log_values, log_slopes = loss.log_terms(q)
        top = float(np.maximum.reduce(log_slopes))
        if not math.isfinite(top):
            return math.nan
        g = np.exp(log_slopes - top)
        total = float(np.add.reduce(g if log_values is log_slopes else np.exp(log_values - top)))
        np.multiply(g, y, out=g)

        def weigh(some: slice) -> None:
            if weighted is not None:
                np.multiply(X[some], g[some, None], out=weighted[some])

        def backward(some: slice) -> None:
            z, active = Z[:, some], block.active[:, some]
            if dv is not None:
                dv[some] = (g @ z) / total
            np.greater(z, 0.0, out=active)
            np.copyto(z, active)
            if weighted is None:
                np.multiply(z, g[:, None], out=z)
            np.dot(z.T, X if weighted is None else weighted, out=G[some])
            np.multiply(G[some], (v[some] / total)[:, None], out=G[some])

        share(weigh, self._samples)
        share(backward, self._neurons)
        return top + math.log(total)
