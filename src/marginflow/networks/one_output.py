"""What networks with one output and any number of layers share: margins, the scale at margin 1, and files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, one_of
from marginflow.doors import checked
from marginflow.errors import InputError
from marginflow.networks.layers import Layer, Outputs, layers_of, state_of
from marginflow.storage import load_tensors, save_tensors


class AbstractOneOutput(ABC):
    """A network N(x) of layers (W, b) with one output, of which the last layer is trained or frozen."""

    outputs: Outputs

    @property
    @abstractmethod
    def layers(self) -> list[Layer]:
        """The layers, first to last."""

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

    def state_dict(self) -> dict[str, FloatArray]:
        """Arrays under the names of `torch.nn.Sequential(Linear, ReLU, ..., Linear)`."""
        return state_of(self.layers)

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
