r"""Networks as lists of layers (W, b): the names that torch gives them, and how they are kept on disk.

`torch.nn.Sequential(Linear, ReLU, Linear, ReLU, ..., Linear)` calls the l-th linear layer `2 l` (counted from 0), so
its parameters are `{2l}.weight` of shape (out, in) and, with a bias, `{2l}.bias` of shape (out,). The same names are
used here and in `.safetensors` files, which torch therefore reads without us.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, vector
from marginflow.errors import InputError

Outputs = Literal["trained", "frozen"]
Layer = tuple[FloatArray, FloatArray | None]


def checked_layers(
    weights: Sequence[ArrayLike],
    biases: Sequence[ArrayLike | None],
    names: Sequence[str],
    *,
    several_outputs: bool = False,
) -> list[Layer]:
    """Finite layers whose shapes fit one another, or an `InputError` that names the layer; one output unless said."""
    layers: list[Layer] = []
    for name, weight, bias in zip(names, weights, biases, strict=True):
        W = matrix(f"{name}weight", weight)
        if layers and W.shape[1] != layers[-1][0].shape[0]:
            raise InputError(
                f"{name}weight has {W.shape[1]} columns, but the layer before it has {layers[-1][0].shape[0]} outputs."
            )
        layers.append((W, None if bias is None else vector(f"{name}bias", bias, W.shape[0])))
    last = layers[-1][0]
    if last.shape[0] != 1 and not several_outputs:
        raise InputError(f"{names[-1]}weight has {last.shape[0]} rows; a network with one output is expected.")
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
    return checked_layers(
        [state[f"{name}weight"] for name in names],
        [state.get(f"{name}bias") for name in names],
        names,
        several_outputs=several_outputs,
    )
