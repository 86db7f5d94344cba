r"""PyTorch: `TwoLayer`, `Classifier` and `MLP` to and from `torch.nn.Sequential(Linear, ReLU, ..., Linear)`.

In float64 both ways are exact, bit for bit. In float32 every number is rounded once on the way there, and not at all on
the way back. Files need no conversion: `module.load_state_dict(safetensors.torch.load_file(path))` reads what
`network.save(path)` wrote, and `TwoLayer.load` and `MLP.load` read what
`safetensors.torch.save_file(module.state_dict(), path)` wrote. What `torch.save(module.state_dict(), path)` wrote is
read by `load_state`, tensors only: nothing in the file is executed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.interop.torch_modules import exact_array, leaves
from marginflow.networks import MLP, Classifier, TwoLayer
from marginflow.networks.layers import Layer, Outputs, checked_layers
from marginflow.storage import existing_file

CHECKPOINTS = ("state_dict", "model_state_dict", "model", "net")
"""Under what a checkpoint keeps its `state_dict`."""

if TYPE_CHECKING:
    import torch


def tensors(network: TwoLayer | Classifier | MLP, *, dtype: torch.dtype | None = None) -> dict[str, torch.Tensor]:
    """The parameters as a torch `state_dict`; parameters as in `to_module`.

    Returns
    -------
    dict of torch.Tensor
        '0.weight', '0.bias', '2.weight', ... as `torch.nn.Sequential(Linear, ReLU, ..., Linear)` names them.
    """
    import torch

    wanted = torch.float64 if dtype is None else dtype
    if not isinstance(wanted, torch.dtype) or not wanted.is_floating_point:
        raise InputError(f"dtype is {wanted}; a floating type such as torch.float64 is expected.")
    converted: dict[str, torch.Tensor] = {}
    for name, array in network.state_dict().items():
        tensor = torch.tensor(array).to(wanted)
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(f"{name} has the entry {np.abs(array).max():g}, which is too large for {wanted}.")
        converted[name] = tensor
    return converted


def arrays(state: Mapping[str, torch.Tensor]) -> dict[str, FloatArray]:
    """A torch `state_dict` as float64 arrays, exactly, for `TwoLayer.from_state_dict` and `MLP.from_state_dict`."""
    return {name: exact_array(tensor, name) for name, tensor in state.items()}


def to_module(network: TwoLayer | Classifier | MLP, *, dtype: torch.dtype | None = None) -> torch.nn.Sequential:
    """The network as `torch.nn.Sequential(Linear, ReLU, ..., Linear)` on the CPU.

    The module maps (n, d) to (n, 1), or to (n, K) for a `Classifier`. Frozen outputs do not require a gradient.
    Torch's random state is not touched.

    Parameters
    ----------
    network : TwoLayer, Classifier or MLP
        What is converted.
    dtype : torch.dtype or None
        A floating type; None is `torch.float64`, the only one without rounding.

    Examples
    --------
    >>> from marginflow.interop.torch import to_module, two_layer
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer.initialise(width=3, dimension=2, seed=0)
    >>> module = to_module(network)
    >>> bool((two_layer(module).W == network.W).all())
    True
    """
    import torch

    state = tensors(network, dtype=dtype)
    pieces: list[torch.nn.Module] = []
    for W, b in network.layers:
        # On the meta device nothing is drawn, so torch's generator does not advance; the values are assigned below.
        linear = torch.nn.Linear(W.shape[1], W.shape[0], bias=b is not None, device="meta")
        pieces += [linear, torch.nn.ReLU()]
    module = torch.nn.Sequential(*pieces[:-1])
    module.load_state_dict(state, assign=True)
    if not isinstance(network, Classifier) and network.outputs == "frozen":
        for parameter in module[-1].parameters():
            parameter.requires_grad_(False)
    return module


def two_layer(module: torch.nn.Module, *, outputs: Outputs | None = None) -> TwoLayer:
    """Read a `TwoLayer` from `torch.nn.Sequential(Linear, ReLU, Linear(bias=False))`.

    Parameters
    ----------
    module : torch.nn.Module
        Linear and ReLU layers in turn, in one or in nested `Sequential`; one output.
    outputs : "trained", "frozen" or None
        None: frozen if the last layer requires no gradient while an earlier one does.
    """
    layers, found = _read(module)
    return TwoLayer.from_layers(layers, outputs=found if outputs is None else outputs)


def classifier(module: torch.nn.Module) -> Classifier:
    """Read a `Classifier` from `torch.nn.Sequential(Linear, ReLU, Linear)` with two or more outputs.

    Examples
    --------
    >>> from marginflow.interop.torch import classifier
    >>> from marginflow.networks import Classifier
    >>> network = Classifier.initialise(width=5, dimension=2, n_classes=3, seed=0)
    >>> bool((classifier(network.to_torch()).V == network.V).all())
    True
    """
    layers, _ = _read(module, several_outputs=True)
    return Classifier.from_layers(layers)


def mlp(module: torch.nn.Module, *, outputs: Outputs | None = None) -> MLP:
    """Read an `MLP` from `torch.nn.Sequential(Linear, ReLU, ..., Linear)`; parameters as in `two_layer`."""
    layers, found = _read(module)
    return MLP.from_layers(layers, outputs=found if outputs is None else outputs)


def load_state(path: str | Path) -> dict[str, FloatArray]:
    """The `state_dict` in a `.pt` file as float64 arrays, exactly, in its order.

    Read with `weights_only=True`: torch's own reader of tensors, which runs no code that a file brings. A checkpoint
    that keeps the `state_dict` under "state_dict", "model_state_dict", "model" or "net" is opened too.
    """
    source = existing_file(path)
    try:
        import torch
    except ImportError:
        raise InputError(f"Reading {source} needs the package torch; install marginflow[torch].") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old formats, which are of no use to who reads the sentence below
            content = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file shows itself in dozens of ways, none of them documented
        # torch's own text is long, coloured, and advises to run what the file brings; only the name of the class helps.
        foreign = re.search(r"Unsupported global: GLOBAL ([\w.]{1,120})", str(error))
        reason = (
            f"it holds the Python object {foreign[1]}, which is not opened because that can run code"
            if foreign is not None
            else f"it is damaged or was not written by torch.save, {type(error).__name__}"
        )
        raise InputError(
            f"{source} is not a file of tensors ({reason}); write one by torch.save(module.state_dict(), path)."
        ) from None
    for name in CHECKPOINTS:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping) or not all(isinstance(name, str) for name in content):
        raise InputError(
            f"{source} holds a {type(content).__name__}, not a state_dict; write one by "
            "torch.save(module.state_dict(), path)."
        )
    try:
        return arrays(content)
    except (RuntimeError, NotImplementedError, TypeError) as error:  # sparse, quantised, on the meta device
        raise InputError(
            f"{source} holds a tensor that cannot be read: {' '.join(str(error).split())[:200]}."
        ) from None


def _read(module: torch.nn.Module, *, several_outputs: bool = False) -> tuple[list[Layer], Outputs]:
    import torch

    if not isinstance(module, torch.nn.Module):
        raise InputError(f"module is a {type(module).__name__}; a torch.nn.Module is expected.")
    pieces = [leaf for leaf in leaves(module) if not isinstance(leaf, torch.nn.Identity)]
    # Exact types: a subclass may compute something else.
    wanted = [torch.nn.Linear if index % 2 == 0 else torch.nn.ReLU for index in range(len(pieces))]
    if len(pieces) % 2 == 0 or [type(piece) for piece in pieces] != wanted:
        found = ", ".join(type(piece).__name__ for piece in pieces)
        raise InputError(
            f"The module consists of [{found}]; Linear, ReLU, ..., Linear in turn is expected (layers kept elsewhere "
            "can be passed as torch.nn.Sequential(net.first, torch.nn.ReLU(), net.second))."
        )
    linears = pieces[::2]
    given: dict[str, Layer] = {}
    for number, linear in enumerate(linears, 1):
        name = f"Linear {number}: "
        bias = None if linear.bias is None else exact_array(linear.bias, f"{name}bias")
        given[name] = (exact_array(linear.weight, f"{name}weight"), bias)
    layers = checked_layers(given, several_outputs=several_outputs)
    trained = [any(parameter.requires_grad for parameter in linear.parameters()) for linear in linears]
    return layers, "frozen" if any(trained[:-1]) and not trained[-1] else "trained"
