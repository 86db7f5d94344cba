r"""Two-layer ReLU networks with K logits, f(x) = V relu(W x + b) + c."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, IntArray, matrix, read_only, real_number, vector, whole_number
from marginflow.doors import checked
from marginflow.errors import InputError
from marginflow.networks import initialisation
from marginflow.networks.evaluation import HiddenLayer
from marginflow.networks.layers import Layer, layers_of
from marginflow.networks.network import AbstractNetwork
from marginflow.networks.two_layer import TwoLayer
from marginflow.storage import load_tensors, save_tensors


def class_numbers(name: str, y: ArrayLike, n_classes: int, length: int | None = None) -> IntArray:
    """Classes 0, ..., K - 1 as a vector of whole numbers, or an `InputError` that names the first other value."""
    given = vector(name, y, length)
    foreign = given[(given != np.floor(given)) | (given < 0) | (given >= n_classes)]
    if foreign.size:
        raise InputError(
            f"{name} contains the value {foreign[0]:g}; classes are whole numbers from 0 to {n_classes - 1}."
        )
    return given.astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Classifier(HiddenLayer, AbstractNetwork):
    r"""A two-layer ReLU network with one logit for each of K classes.

    .. math:: f(x) = V \, \mathrm{relu}(W x + b) + c , \qquad \text{class of } x = \arg\max_t f_t(x)

    Parameters
    ----------
    W : array, shape (k, d)
        Rows are the input weights w_j.
    V : array, shape (K, k)
        Output weights, a row for each class; K is at least 2.
    b : array, shape (k,), or None
        Hidden biases; None for a network without bias.
    c : array, shape (K,), or None
        Output biases; with one the network is not homogeneous in its parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.networks import Classifier
    >>> net = Classifier(W=np.eye(2), V=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> net([[3.0, 1.0]])
    array([[3., 1., 2.]])
    >>> net.predict([[3.0, 1.0], [0.0, 1.0]])
    array([0, 1])
    >>> net.margins([[3.0, 1.0]], [0])
    array([1.])
    """

    W: FloatArray
    V: FloatArray
    b: FloatArray | None = None
    c: FloatArray | None = None

    def __post_init__(self) -> None:
        W, V = matrix("W", self.W), matrix("V", self.V)
        k = W.shape[0]
        if V.shape[1] != k:
            raise InputError(f"V has {V.shape[1]} columns, but W has {k} rows; one column for each neuron is expected.")
        if V.shape[0] < 2:
            raise InputError(
                "V has one row; at least two classes are expected (a network with one output is a TwoLayer)."
            )
        object.__setattr__(self, "W", read_only(W))
        object.__setattr__(self, "V", read_only(V))
        if self.b is not None:
            object.__setattr__(self, "b", read_only(vector("b", self.b, k)))
        if self.c is not None:
            object.__setattr__(self, "c", read_only(vector("c", self.c, V.shape[0])))

    @classmethod
    @checked
    def initialise(
        cls,
        width: int,
        dimension: int,
        n_classes: int,
        *,
        law: initialisation.AbstractInitialisation | None = None,
        scale: float = 1.0,
        bias: bool = True,
        seed: int = 0,
    ) -> Classifier:
        """A random network without output bias; parameters as in `TwoLayer.initialise`.

        Examples
        --------
        >>> from marginflow.networks import Classifier
        >>> Classifier.initialise(width=20, dimension=4, n_classes=3, seed=0)
        Classifier(3 classes, width=20, dimension=4, with bias)
        """
        sizes = (whole_number("dimension", dimension), whole_number("width", width))
        n_classes = whole_number("n_classes", n_classes, minimum=2)
        layers = initialisation.drawn_layers(law, (*sizes, n_classes), (bias, False), outputs="trained", seed=seed)
        return cls.from_layers(layers).scaled(scale)

    # Shape and size -------------------------------------------------------------------------------

    @property
    def n_classes(self) -> int:
        """Number K of classes."""
        return int(self.V.shape[0])

    @property
    def homogeneous(self) -> bool:
        """Whether f(c theta) = c^2 f(theta) for c > 0: there is no output bias."""
        return self.c is None or not self.c.any()

    def norm_squared(self) -> float:
        """||theta||^2 over all parameters."""
        arrays = (self.W, self.V, self.b, self.c)
        return float(sum(float((array**2).sum()) for array in arrays if array is not None))

    def __repr__(self) -> str:
        bias = "with bias" if self.b is not None else "without bias"
        if self.c is not None:
            bias += ", with output bias"
        return f"Classifier({self.n_classes} classes, width={self.width}, dimension={self.dimension}, {bias})"

    # Evaluation -----------------------------------------------------------------------------------

    def __call__(self, X: ArrayLike) -> FloatArray:
        """Logits, shape (n, K); evaluated in blocks of samples."""
        logits = self._combined(X, self.V.T)
        return logits if self.c is None else logits + self.c

    def predict(self, X: ArrayLike) -> IntArray:
        """The class with the largest logit, the first of several; shape (n,)."""
        classes: IntArray = self(X).argmax(axis=1)
        return classes

    def margins(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """min over t != y_i of f_{y_i}(x_i) - f_t(x_i), shape (n,)."""
        logits = self(X)
        own = class_numbers("y", y, self.n_classes, logits.shape[0])
        index = np.arange(own.size)
        value = logits[index, own]
        logits[index, own] = -np.inf
        least: FloatArray = value - logits.max(axis=1)
        return least

    def difference(self, first: int, second: int) -> tuple[TwoLayer, float]:
        """The network N with f_first - f_second = N - level, and that level: -(c_first - c_second).

        Its output weights are differences rounded to float64, which changes N by no more than its evaluation does.
        """
        K = self.V.shape[0]
        if not (type(first) is type(second) is int and 0 <= first < K and 0 <= second < K):  # asked for every rival
            first, second = class_numbers("classes", [first, second], self.n_classes).tolist()
        return _difference(self, first, second)

    def scaled(self, factor: float) -> Classifier:
        """W, b and V times `factor`; without output bias, logits are multiplied by its square."""
        factor = real_number("factor", factor, above=0.0)
        return replace(self, W=factor * self.W, b=None if self.b is None else factor * self.b, V=factor * self.V)

    # Two classes ----------------------------------------------------------------------------------

    @classmethod
    def of_two(cls, network: TwoLayer) -> Classifier:
        r"""Two classes, 1 where N > 0, with f_1 - f_0 = N up to rounding.

        V has the rows -+2^(-3/4) v and (W, b) the factor 2^(-1/4). Then ||theta||^2 is 2^(-1/2) times that of the
        network, and one is a KKT point of its max-margin problem exactly when the other is, with multipliers in the
        same proportion.
        """
        inner, outer = 2.0**-0.25, 2.0**-0.75 * network.v
        b = None if network.b is None else inner * network.b
        return cls(W=inner * network.W, b=b, V=np.stack([-outer, outer]))

    # Files ----------------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Layer]:
        """The two layers [(W, b), (V, c)]."""
        return [(self.W, self.b), (self.V, self.c)]

    @classmethod
    def from_layers(cls, layers: list[Layer]) -> Classifier:
        """The inverse of `layers`; another depth is refused."""
        if len(layers) != 2:
            raise InputError(f"The network has depth {len(layers)}; depth 2 is expected.")
        (W, b), (V, c) = layers
        return cls(W=W, b=b, V=V, c=c)

    @classmethod
    def from_state_dict(cls, state: Mapping[str, ArrayLike]) -> Classifier:
        """The inverse of `state_dict`; other names are refused."""
        return cls.from_layers(layers_of(state, several_outputs=True))

    @checked
    def save(self, path: str | Path) -> Path:
        """Write as `.safetensors`, readable by torch as a `state_dict`."""
        return save_tensors(path, self.state_dict(), {"format": "pt", "marginflow": "Classifier"})

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Classifier:
        """Read a network from `.safetensors`, ours or a torch `state_dict` of the same architecture."""
        state, _ = load_tensors(path)
        try:
            return cls.from_state_dict(state)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


@lru_cache(maxsize=256)
def _difference(classifier: Classifier, first: int, second: int) -> tuple[TwoLayer, float]:
    """Remembered, since networks cannot change; W and b are shared."""
    level = 0.0 if classifier.c is None else float(classifier.c[second] - classifier.c[first])
    return TwoLayer(W=classifier.W, b=classifier.b, v=classifier.V[first] - classifier.V[second]), level


def load_network(path: str | Path) -> TwoLayer | Classifier:
    """A `TwoLayer` or a `Classifier`, whichever the number of outputs in the file says."""
    state, _ = load_tensors(path)
    last = state.get("2.weight")
    return Classifier.load(path) if last is not None and last.ndim == 2 and last.shape[0] > 1 else TwoLayer.load(path)
