r"""Networks as lists of layers (W, b): the names that torch gives them, and how they are kept on disk.

`torch.nn.Sequential(Linear, ReLU, Linear, ReLU, ..., Linear)` calls the l-th linear layer `2 l` (counted from 0), so
its parameters are `{2l}.weight` of shape (out, in) and, with a bias, `{2l}.bias` of shape (out,). The same names are
used here and in `.safetensors` files, which torch therefore reads without us. Derivatives by the parameters have the
parameters' shapes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, vector
from marginflow.display import Brief
from marginflow.errors import InputError

Outputs = Literal["trained", "frozen"]
Layer = tuple[FloatArray, FloatArray | None]


def checked_layers(
    given: Mapping[str, tuple[ArrayLike, ArrayLike | None]], *, several_outputs: bool = False
) -> list[Layer]:
    """Finite layers whose shapes fit one another, or an `InputError` that names the layer; one output unless said."""
    layers: list[Layer] = []
    for name, (weight, bias) in given.items():
        W = matrix(f"{name}weight", weight)
        if layers and W.shape[1] != layers[-1][0].shape[0]:
            raise InputError(
                f"{name}weight has {W.shape[1]} columns, but the layer before it has {layers[-1][0].shape[0]} outputs."
            )
        layers.append((W, None if bias is None else vector(f"{name}bias", bias, W.shape[0])))
    last = layers[-1][0]
    if last.shape[0] != 1 and not several_outputs:
        raise InputError(f"{name}weight has {last.shape[0]} rows; a network with one output is expected.")
    return layers


def state_of(layers: Sequence[Layer]) -> dict[str, FloatArray]:
    """The arrays under torch's names, in torch's order."""
    state: dict[str, FloatArray] = {}
    for index, (W, b) in enumerate(layers):
        state[f"{2 * index}.weight"] = W
        if b is not None:
            state[f"{2 * index}.bias"] = b
    return state


def layers_of(state: Mapping[str, ArrayLike], *, several_outputs: bool = False) -> list[Layer]:
    """The inverse of `state_of`; any other set of names is refused."""
    depth = sum(name.endswith(".weight") for name in state)
    names = [f"{2 * index}." for index in range(depth)]
    known = {f"{name}{kind}" for name in names for kind in ("weight", "bias")}
    if depth == 0 or not {f"{name}weight" for name in names} <= set(state) <= known:
        raise InputError(
            f"The state holds {sorted(state)}; '0.weight', '2.weight', ... and optionally '0.bias', '2.bias', ... are "
            "expected (torch's Sequential of Linear and ReLU in turn)."
        )
    given = {name: (state[f"{name}weight"], state.get(f"{name}bias")) for name in names}
    return checked_layers(given, several_outputs=several_outputs)


@dataclass(frozen=True, eq=False, kw_only=True)
class Gradient(Brief):
    """The derivative of a scalar by the parameters of a `TwoLayer`, in the same shapes.

    The derivative by v is there for frozen outputs too; `norm_squared` leaves it out.
    """

    W: FloatArray
    b: FloatArray | None
    v: FloatArray

    def norm_squared(self, outputs: Outputs = "trained") -> float:
        """Sum of squares over the parameters that are trained."""
        total = float(np.vdot(self.W, self.W))
        if self.b is not None:
            total += float(self.b @ self.b)
        return total + (float(self.v @ self.v) if outputs == "trained" else 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class MLPGradient(Brief):
    """The derivative of a scalar by the parameters of an `MLP`, in the same shapes, first layer first.

    The derivative by the last layer is there for frozen outputs too; `norm_squared` leaves it out.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray | None, ...]

    def norm_squared(self, outputs: Outputs = "trained") -> float:
        """Sum of squares over the parameters that are trained."""
        trained = slice(None) if outputs == "trained" else slice(-1)
        total = sum(float(np.vdot(W, W)) for W in self.weights[trained])
        return total + sum(float(b @ b) for b in self.biases[trained] if b is not None)
