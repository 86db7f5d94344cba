"""First-layer training with frozen outputs through the Gram matrix: one product of size n x n x k a step."""

from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.errors import InputError
from marginflow.flow.parameters import ParameterVector
from marginflow.flow.trainable import AbstractTrainable
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


class GramTwoLayer(AbstractTrainable):
    r"""A two-layer network with frozen outputs in the coordinates B, A = A_0 + B^T X [FCB22, Setting.GD (ii)].

    .. math:: U = X A^\top = U_0 + K B, \qquad K = X X^\top, \qquad
              B_{ij} \leftarrow B_{ij} + \eta\, p_i y_i v_j 1[U_{ij} > 0].

    Worth it where d > n: the dimension does not occur, and there is one matrix product instead of two.
    """

    def __init__(self, network: TwoLayer, X: FloatArray, y: FloatArray) -> None:
        if network.outputs == "trained":
            raise InputError("The outputs are trained; the Gram engine is for frozen outputs.")
        self._network, self._y = network, y
        self._X = augmented_samples(X, bias=network.b is not None)
        self._K = self._X @ self._X.T
        self._A = network.augmented
        self._U = self._X @ self._A.T
        self._start_squared = float(np.vdot(self._A, self._A))
        self._Z = np.empty_like(self._U)
        self._active = np.empty(self._U.shape, dtype=np.bool_)
        self.shapes = [self._U.shape]
        self.margins = np.empty(y.size)

    def start(self) -> ParameterVector:
        """Zero: nothing has moved."""
        return self.vector()

    def forward(self, theta: ParameterVector) -> FloatArray:
        """Margins; leaves the activations in the buffer."""
        Z = self._Z
        np.dot(self._K, theta.parts[0], out=Z)
        np.add(Z, self._U, out=Z)
        np.maximum(Z, 0.0, out=Z)
        np.dot(Z, self._network.v, out=self.margins)
        np.multiply(self.margins, self._y, out=self.margins)
        return self.margins

    def evaluate(
        self, theta: ParameterVector, loss: AbstractLoss, out: ParameterVector, rows: IntArray | None = None
    ) -> float:
        """The descent is the matrix of p_i y_i v_j on active pairs."""
        assert rows is None, "only engines with mini-batches are asked for one"
        log_sum, p = loss.log_sum_and_weights(self.forward(theta))
        G = out.parts[0]
        np.greater(self._Z, 0.0, out=self._active)
        np.copyto(G, self._active)
        np.multiply(G, (p * self._y)[:, None], out=G)
        np.multiply(G, self._network.v, out=G)
        return log_sum

    def inner(self, first: ParameterVector, second: ParameterVector) -> float:
        """<A_0 + B_1^T X, A_0 + B_2^T X>."""
        B, C = first.parts[0], second.parts[0]
        moved = np.vdot(self._U, B) + np.vdot(self._U, C) + np.vdot(B, self._K @ C)
        return self._start_squared + float(moved)

    def squared_length(self, descent: ParameterVector) -> float:
        """||B^T X||^2 = <B, K B>."""
        B = descent.parts[0]
        return float(np.vdot(B, self._K @ B))

    def network(self, theta: ParameterVector) -> TwoLayer:
        """A_0 + B^T X."""
        A = self._A + theta.parts[0].T @ self._X
        if self._network.b is None:
            return replace(self._network, W=A)
        return replace(self._network, W=A[:, :-1], b=A[:, -1])
