"""What the training loop asks of a model: a flat parameter vector, ln L with its gradient, and lengths."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import AbstractLoss
from marginflow.networks import MLP, TwoLayer

Network = TwoLayer | MLP


class AbstractTrainable(ABC):
    """A network on fixed samples, behind a parameter vector in coordinates of its own choosing.

    The coordinates need not be the entries of W: what must hold is that theta + eta * descent, carried out in the
    coordinates, is the gradient step on the network's own parameters.
    """

    shapes: Sequence[tuple[int, ...]]
    """Of the arrays that the coordinates consist of."""
    margins: FloatArray
    """Of all samples where they were last evaluated: a buffer that the next evaluation overwrites."""

    @abstractmethod
    def start(self) -> ParameterVector:
        """The coordinates of the network that training begins with."""

    def vector(self) -> ParameterVector:
        """A new vector of zeros in the coordinates."""
        return ParameterVector(self.shapes)

    @abstractmethod
    def evaluate(
        self, theta: ParameterVector, loss: AbstractLoss, out: ParameterVector, rows: IntArray | None = None
    ) -> float:
        """Write -grad ln L into `out`; return ln of the natural sum of l(q_i) over the samples, or over `rows`.

        Not a number once the parameters have overflowed.
        """

    @abstractmethod
    def forward(self, theta: ParameterVector) -> FloatArray:
        """Margins y_i N(x_i) of all samples, shape (n,), left in `margins`."""

    def inner(self, first: ParameterVector, second: ParameterVector) -> float:
        """Inner product of two parameter vectors as parameters of the network; here in orthonormal coordinates."""
        return float(np.dot(first.flat, second.flat))

    def squared_length(self, descent: ParameterVector) -> float:
        """Squared length of a difference of parameters, such as a gradient; here in orthonormal coordinates."""
        return float(np.dot(descent.flat, descent.flat))

    def balance(self, theta: ParameterVector) -> FloatArray | None:
        """Per hidden neuron, squared outgoing minus squared incoming weights: conserved by gradient flow.

        In two layers v_j^2 - ||(w_j, b_j)||^2. None, as here, where nothing is conserved (frozen outputs).
        """
        return None

    @abstractmethod
    def network(self, theta: ParameterVector) -> Network:
        """The network with these parameters, in the user's dimension."""


class MLPTrainable(AbstractTrainable):
    """A network of any depth through its public values and gradient."""

    def __init__(self, network: MLP, X: FloatArray, y: FloatArray) -> None:
        self._network, self._X, self._y = network, X, y
        depth = network.depth if network.outputs == "trained" else network.depth - 1
        self._trained, self._frozen = network.layers[:depth], network.layers[depth:]
        self._arrays = [array for layer in self._trained for array in layer if array is not None]
        self.shapes = [array.shape for array in self._arrays]
        self.margins = np.empty(y.size)

    def start(self) -> ParameterVector:
        """The trained layers, weight and bias in turn."""
        return self.vector().fill(self._arrays)

    def network(self, theta: ParameterVector) -> MLP:
        """The network with these layers."""
        parts = iter(theta.parts)
        trained = [(next(parts), None if b is None else next(parts)) for _, b in self._trained]
        return MLP.from_layers([*trained, *self._frozen], outputs=self._network.outputs)

    def evaluate(
        self, theta: ParameterVector, loss: AbstractLoss, out: ParameterVector, rows: IntArray | None = None
    ) -> float:
        """One evaluation of the values and one of the gradient."""
        if not np.isfinite(theta.flat).all():
            return float("nan")
        network = self.network(theta)
        X, y = (self._X, self._y) if rows is None else (self._X[rows], self._y[rows])
        margins = y * network(X)
        if rows is None:
            self.margins[:] = margins
        log_sum, p = loss.log_sum_and_weights(margins)
        if np.isnan(log_sum):
            return log_sum
        gradient = network.gradient(X, y * p)
        pairs = zip(gradient.weights, gradient.biases, strict=True)
        trained = list(pairs)[: len(self._trained)]
        out.fill([array for layer in trained for array in layer if array is not None])
        return log_sum

    def forward(self, theta: ParameterVector) -> FloatArray:
        """Margins by the public values."""
        self.margins[:] = self._y * self.network(theta)(self._X)
        return self.margins

    def balance(self, theta: ParameterVector) -> FloatArray | None:
        """All hidden neurons whose outgoing weights are trained, layer after layer."""
        layers = self.network(theta).layers[: len(self._trained)]
        if len(layers) < 2:
            return None
        return np.concatenate(
            [
                (after**2).sum(axis=0) - (W**2).sum(axis=1) - (0.0 if b is None else b**2)
                for (W, b), (after, _) in pairwise(layers)
            ]
        )
