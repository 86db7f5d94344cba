"""Two-layer networks with two matrix products a step, in the span of the data where that is smaller."""

from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data.reduction import in_span
from marginflow.flow.kernel import TwoLayerKernel
from marginflow.flow.parameters import ParameterVector
from marginflow.flow.trainable import AbstractTrainable
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


class DenseTwoLayer(TwoLayerKernel, AbstractTrainable):
    r"""A two-layer network in the coordinates (A, v), where the rows of A are (w_j Q^T, b_j).

    With X = Z Q and Q Q^T = I, the gradient by w_j lies in the rows of Q, so only w_j Q^T moves; the part of w_j
    outside the span of the data stays as it was, counts in every length, and is there again in `network`.

    Parameters
    ----------
    network : TwoLayer
        Where training begins.
    X, y : arrays, shapes (n, d) and (n,)
        Samples and labels.
    reduce : bool
        Whether to work in the span of the data; otherwise Q is the identity.
    capacity : int or None
        Most samples in one evaluation of the gradient (the mini-batch); None for all.
    """

    def __init__(
        self, network: TwoLayer, X: FloatArray, y: FloatArray, *, reduce: bool, capacity: int | None = None
    ) -> None:
        self._network = network
        if reduce:
            Z, self._Q = in_span(X)
            self._W = network.W @ self._Q.T
            self._outside = ((network.W - self._W @ self._Q) ** 2).sum(axis=1)
        else:
            Z, self._W = X, network.W
            self._outside = np.zeros(network.width)
        self._reduced = reduce
        self._total_outside = float(self._outside.sum())
        frozen = network.v if network.outputs == "frozen" else None
        samples = augmented_samples(Z, bias=network.b is not None)
        super().__init__(samples, y, network.width, frozen, capacity=capacity)

    def start(self) -> ParameterVector:
        """A and, if trained, v."""
        b, v = self._network.b, self._network.v
        A = self._W if b is None else np.column_stack([self._W, b])
        return self.vector().fill([A, v] if self._network.outputs == "trained" else [A])

    def inner(self, first: ParameterVector, second: ParameterVector) -> float:
        """Euclidean, with what lies outside the span; a difference of parameters has nothing there."""
        return super().inner(first, second) + self._total_outside

    def balance(self, theta: ParameterVector) -> FloatArray | None:
        """v_j^2 - ||(w_j, b_j)||^2."""
        if self._network.outputs == "frozen":
            return None
        A, v = theta.parts
        balance: FloatArray = v**2 - np.einsum("jd,jd->j", A, A) - self._outside
        return balance

    def network(self, theta: ParameterVector) -> TwoLayer:
        """The network with the part of W outside the span put back."""
        A = theta.parts[0]
        W = A if self._network.b is None else A[:, :-1]
        return replace(
            self._network,
            W=self._network.W + (W - self._W) @ self._Q if self._reduced else W,
            b=None if self._network.b is None else A[:, -1],
            v=self._network.v if self._network.outputs == "frozen" else theta.parts[1],
        )
