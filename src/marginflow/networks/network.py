"""What every network has: layers, files, and the ways to other libraries; and what those with one output share."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, one_of
from marginflow.doors import checked
from marginflow.errors import InputError
from marginflow.networks.layers import Layer, Outputs, layers_of, state_of
from marginflow.storage import load_tensors, save_tensors


class AbstractNetwork(ABC):
    """A network of layers (W, b): its arrays by name, and itself in other libraries, imported when asked for."""

    @property
    @abstractmethod
    def layers(self) -> list[Layer]:
        """The layers, first to last."""

    def state_dict(self) -> dict[str, FloatArray]:
        """Arrays under the names of `torch.nn.Sequential(Linear, ReLU, ..., Linear)`."""
        return state_of(self.layers)

    @checked
    def to_torch(self, *, dtype: Any = None) -> Any:
        """A `torch.nn.Sequential(Linear, ReLU, ..., Linear)`, float64 bit for bit; needs the extra `torch`."""
        return _door("torch").to_module(self, dtype=dtype)

    @checked
    def to_onnx(self, path: str | Path | None = None, *, dtype: Literal["float64", "float32"] = "float64") -> Any:
        """An ONNX model, or the file `path` written with it; needs the extra `onnx`."""
        door = _door("onnx")
        return door.to_model(self, dtype=dtype) if path is None else door.save(self, path, dtype=dtype)

    @checked
    def to_sklearn(self, classes: Sequence[Any] | None = None) -> Any:
        """A fitted `sklearn.neural_network.MLPClassifier` with the same weights; needs the extra `sklearn`.

        Parameters
        ----------
        classes : sequence of labels, or None
            In ascending order; None: -1 and 1 for one output, of which 1 is predicted where N(x) > 0, and
            0, ..., K - 1 for K logits.
        """
        return _door("sklearn_models").to_classifier(self, classes)


class AbstractOneOutput(AbstractNetwork):
    """A network N(x) of layers (W, b) with one output, of which the last layer is trained or frozen."""

    outputs: Outputs

    @classmethod
    @abstractmethod
    def from_layers(cls, layers: Any, *, outputs: Outputs = "trained") -> Self:
        """The inverse of `layers`."""

    @property
    @abstractmethod
    def degree(self) -> int | None:
        """Degree of homogeneity in the trained parameters; None if there is none."""

    @abstractmethod
    def __call__(self, X: ArrayLike) -> FloatArray:
        """Values N(x_i), shape (n,)."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """All trained parameters times `factor`; values are multiplied by factor^degree."""

    def margins(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """y_i N(x_i), shape (n,)."""
        values = self(X)
        return labels("y", y, values.size) * values

    def at_margin_one(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Rescale so that min_i y_i N(x_i) = 1; every constant of the theory is stated there."""
        degree = self._required_degree()
        least = float(self.margins(X, y).min())
        if least <= 0:
            raise InputError(
                f"The smallest margin is {least:g}; only a network that classifies every sample correctly "
                "can be rescaled to margin 1."
            )
        return self.scaled(least ** (-1.0 / degree))

    def _required_degree(self) -> int:
        if self.degree is None:
            raise InputError(
                "The network has a bias after its first layer and is not homogeneous; scaling its parameters does not "
                "scale its values."
            )
        return self.degree

    @classmethod
    @checked
    def from_state_dict(cls, state: Mapping[str, ArrayLike], *, outputs: Outputs = "trained") -> Self:
        """The inverse of `state_dict`; other names or several outputs are refused."""
        return cls.from_layers(layers_of(state), outputs=outputs)

    @checked
    def save(self, path: str | Path) -> Path:
        """Write as `.safetensors`, readable by torch as a `state_dict`."""
        known = {"format": "pt", "marginflow": type(self).__name__, "outputs": self.outputs}
        return save_tensors(path, self.state_dict(), known)

    @classmethod
    @checked
    def load(cls, path: str | Path) -> Self:
        """Read a network from `.safetensors`, ours or a torch `state_dict` of the same architecture."""
        state, known = load_tensors(path)
        try:
            word = one_of("outputs", known.get("outputs", "trained"), ("trained", "frozen"))  # torch does not say
            return cls.from_layers(layers_of(state), outputs="frozen" if word == "frozen" else "trained")
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _door(library: str) -> Any:
    """A door to another library, opened when it is asked for: this room knows none of them."""
    return importlib.import_module(f"marginflow.interop.{library}")
