"""Somebody's two-layer network from a file of any format that we read, or a sentence that says what to do instead.

- `.safetensors`: ours, or a torch `state_dict`;
- `.pt`, `.pth`: a torch `state_dict`, tensors only (needs the extra `torch`);
- `.onnx`: Gemm, Relu, Gemm and their other spellings (needs the extra `onnx`).
"""

import re
from collections.abc import Mapping
from pathlib import Path

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.layers import Layer, Outputs, checked_layers

SUFFIXES = (".safetensors", ".pt", ".pth", ".onnx")


def load_network(path: str | Path, *, outputs: Outputs | None = None) -> TwoLayer:
    """Read a network with one hidden layer of ReLU and one or two outputs, whatever its layers are called.

    Parameters
    ----------
    path : str or Path
        `.safetensors`, `.pt`, `.pth` or `.onnx`.
    outputs : "trained", "frozen" or None
        Whether v belongs to the parameters; None: as the file notes it, else trained.

    Returns
    -------
    TwoLayer
        Computes what the network computes; an output bias is one more neuron (`interop.folding`).
    """
    from marginflow.interop.models import read_model

    model = read_model(Path(path), outputs=outputs)
    try:
        return model.two_classes()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def layers_by_shape(state: Mapping[str, FloatArray]) -> list[Layer]:
    """The layers of a `state_dict` whatever their names: `fc1.weight`, `net.0.weight`, `module.hidden.weight`, ...

    Each layer is a prefix with a weight and perhaps a bias. They are ordered by their shapes where these allow one
    order only, else as torch would name them (numbers by size).

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.interop.files import layers_by_shape
    >>> layers = layers_by_shape({"out.weight": np.ones((1, 3)), "hidden.weight": np.ones((3, 2))})
    >>> [W.shape for W, b in layers]
    [(3, 2), (1, 3)]
    """
    weights = {name.removesuffix("weight"): array for name, array in state.items() if _ends(name, "weight")}
    biases = {name.removesuffix("bias"): array for name, array in state.items() if _ends(name, "bias")}
    foreign = [name for name in state if not (_ends(name, "weight") or _ends(name, "bias"))]
    foreign += [f"{prefix}bias" for prefix in biases if prefix not in weights]
    if foreign or not weights:
        found = f"{foreign[0][:80]!r}" if foreign else "nothing"
        raise InputError(
            f"The state holds {found}; only weights and biases of linear layers are expected, such as '0.weight', "
            "'0.bias', '2.weight' (a module itself, or TorchScript, may have BatchNorm1d too)."
        )
    for prefix, array in weights.items():
        if array.ndim != 2:
            raise InputError(f"{prefix[:80]}weight has shape {array.shape}; a matrix (two axes) is expected.")
    order = sorted(weights, key=_natural)
    orders = [order, order[::-1]] if len(order) == 2 else [order]
    fitting = [some for some in orders if len(some) != 2 or weights[some[1]].shape[1] == weights[some[0]].shape[0]]
    if not fitting:
        shapes = " and ".join(f"{prefix[:80]}weight {weights[prefix].shape}" for prefix in order)
        raise InputError(f"The weights are {shapes}; (width, dimension) and (outputs, width) are expected.")
    return checked_layers(
        {prefix: (weights[prefix], biases.get(prefix)) for prefix in fitting[0]}, several_outputs=True
    )


def _ends(name: str, word: str) -> bool:
    return name == word or name.endswith(f".{word}")


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Digits compare as numbers: `net.2` before `net.10`."""
    pieces = re.split(r"([0-9]{1,9})", name)
    return [(piece.isdigit(), int(piece) if piece.isdigit() else 0, piece) for piece in pieces]
