"""The chain of linear maps and rectifiers in a torch module, traced, or in a TorchScript archive."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.interop.folding import HEADS, AsRows, Entrywise, Linear, Piece, Readout, Rectifier, entrywise

if TYPE_CHECKING:
    import torch

_FIRST_COLUMN = ((slice(None), 0), (slice(None), -1), (Ellipsis, 0), (Ellipsis, -1))
# Stands for the number of samples in a shape.
_SAMPLES = object()
_ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "div": "div"}
# The argument behind the value under its name in Python, and what it is where it is not given.
_NAMED = {"leaky_relu": ("negative_slope", 0.01), "flatten": ("start_dim", 0), "reshape": ("shape", None)}
_FORWARD = "Linear, ReLU, LeakyReLU, BatchNorm1d, Flatten, Dropout and Identity in a chain are expected"


def pieces_of(module: torch.nn.Module) -> list[Piece]:
    """What the module computes in evaluation, in order; any other layer is refused by name.

    A `Sequential`, nested or not, is read as it stands; a class with a `forward` of its own is traced.
    """
    import torch
    from torch.nn.utils.parametrize import is_parametrized

    if isinstance(module, torch.jit.ScriptModule):
        return script_pieces(module)
    if not isinstance(module, torch.nn.Module):
        kind = type(module).__name__
        of = ", which torch.export made of a module" if kind == "ExportedProgram" else ""
        article = "an" if kind[0] in "AEIOU" else "a"
        raise InputError(f"The model is {article} {kind}{of}; a torch.nn.Module is expected.")
    module = unwrapped(module)
    layers = leaves(module)
    if all(is_parametrized(layer) or not list(layer.children()) for layer in layers):  # none has its own forward
        return [piece for layer in layers for piece in _piece(layer)]
    graph = traced(
        module, f"{_FORWARD}. Or compute the features in front of its last layers and audit these on them, as"
    )
    modules = dict(module.named_modules())
    for node in graph.nodes:  # a foreign layer says more than what is done with its inputs
        if node.op == "call_module":
            _piece(modules[str(node.target)])
    pieces: list[Piece] = []
    constants: dict[Any, Any] = {}
    before: Any = None
    for node in graph.nodes:
        if node.op == "get_attr":
            constants[node] = operator.attrgetter(str(node.target))(module)
            continue
        if node.op == "placeholder":
            if before is not None:
                raise InputError(f"{type(module).__name__} takes several inputs; one is expected.")
        elif node.op == "output":
            if node.args[0] is not before:
                raise InputError(
                    f"{type(module).__name__} does not return what it computed last; {_FORWARD}, and {HEADS}."
                )
            break
        else:
            if set(node.all_input_nodes) - constants.keys() != {before}:
                raise InputError(
                    f"{node.name} in {type(module).__name__} takes something else than what is before it; {_FORWARD}, "
                    f"and {HEADS}."
                )
            pieces += node_pieces(node, modules, constants)
        before = node
    return pieces


def traced(module: torch.nn.Module, advice: str, *, of: object = None) -> torch.fx.Graph:
    """What a module computes, node by node; the sentence for one that cannot be followed ends in a Sequential."""
    import torch

    try:
        return torch.fx.symbolic_trace(module).graph
    except Exception as error:  # whatever the forward of somebody's class stumbles over when it is traced
        raise InputError(
            f"What {type(of or module).__name__} computes cannot be followed ({type(error).__name__}); {advice} a "
            "torch.nn.Sequential."
        ) from None


def unwrapped(module: torch.nn.Module) -> torch.nn.Module:
    """The module that `torch.compile`, `DataParallel` or `DistributedDataParallel` was given."""
    wrappers = {"OptimizedModule": "_orig_mod", "DataParallel": "module", "DistributedDataParallel": "module"}
    while (name := wrappers.get(type(module).__name__)) and type(module).__module__.startswith("torch."):
        module = getattr(module, name)
    return module


def leaves(module: torch.nn.Module) -> list[Any]:
    """What a nest of `Sequential` holds, in order, or the module itself."""
    import torch

    if isinstance(module, torch.nn.Sequential):
        return [leaf for child in module for leaf in leaves(child)]
    return [module]


def node_pieces(node: Any, modules: dict[str, Any], constants: dict[Any, Any] | None = None) -> list[Piece]:
    """What a node of a traced module computes; `constants` are the tensors that the module keeps."""
    if node.op == "call_module":
        return _piece(modules[str(node.target)])
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    keyword, default = _NAMED.get(name, ("", None))
    other = node.args[1] if len(node.args) > 1 else node.kwargs.get(keyword, node.kwargs.get("size", default))
    found = _operation(name, node.args[1:] if name in ("view", "reshape") and len(node.args) > 2 else other)
    if found is not None:
        return found
    if node.target is operator.getitem and node.args[1] in _FIRST_COLUMN:
        return [Readout(name=name, of_one=True)]
    limits = dict(zip(("input", "min", "max"), node.args, strict=False)) | node.kwargs
    if name in ("clamp", "clamp_min") and (limits.get("min"), limits.get("max")) == (0, None):
        return [Rectifier()]
    if name in _ARITHMETIC and len(node.args) == 2 and not node.kwargs:
        return [_entrywise(_ARITHMETIC[name], node.args, constants or {})]
    raise InputError(f"The network computes {name!r}; {_FORWARD}, and {HEADS}.")


def _operation(name: str, other: Any) -> list[Piece] | None:
    """What a function of torch does to the value before, by its name and its next argument; None for one unknown."""
    match name:
        case "relu" | "relu_":
            return [Rectifier()]
        case "leaky_relu":
            return [Rectifier(slope=float(other or 0.0))]
        case "flatten":
            _check_flatten(other)
            return []
        case "view" | "reshape":
            return [_rows(other)]
        case "sigmoid" | "softmax" | "log_softmax" | "squeeze":
            return [Readout(name=name, of_one=name == "squeeze")]
        case "dropout" | "feature_dropout" | "contiguous" | "float" | "double":
            return []
    return None


def _entrywise(kind: str, operands: tuple[Any, ...], constants: dict[Any, Any]) -> Piece:
    """The value before and a number, or a vector that the module keeps, entry by entry."""
    values = [constants.get(operand, operand) for operand in operands]
    value_first = isinstance(values[1], int | float) or operands[1] in constants
    number = values[1] if value_first else values[0]
    array = np.array(float(number)) if isinstance(number, int | float) else exact_array(number)
    array = array[0] if array.ndim == 2 and array.shape[0] == 1 else array
    found = None if array.ndim > 1 else entrywise(kind, array, value_first=value_first)
    if found is None:
        raise InputError(f"The network computes {kind!r} of what is before and something else; {_FORWARD}.")
    return found


def _piece(layer: Any) -> list[Piece]:
    """A layer as a piece. Exact types: a subclass may compute something else.

    A parametrized layer (weight_norm, spectral_norm) counts as what it was; its weight is what it is in evaluation.
    """
    import torch
    from torch.nn.utils.parametrize import type_before_parametrizations

    kind: Any = type_before_parametrizations(layer)
    name = kind.__name__
    if kind is torch.nn.Linear:
        was_training = layer.training
        layer.eval()  # in training the weight of spectral_norm changes whenever it is looked at
        weight = layer.weight
        layer.train(was_training)
        trained = any(parameter.requires_grad for parameter in layer.parameters())
        b = None if layer.bias is None else exact_array(layer.bias)
        return [Linear(W=exact_array(weight), b=b, name=name, outputs_trained=trained)]
    if kind is torch.nn.ReLU:
        return [Rectifier()]
    if kind is torch.nn.LeakyReLU:
        return [Rectifier(slope=float(layer.negative_slope))]
    if kind is torch.nn.PReLU and len(set(exact_array(layer.weight).tolist())) == 1:
        return [Rectifier(slope=float(exact_array(layer.weight)[0]))]
    if kind is torch.nn.BatchNorm1d:
        if layer.running_mean is None:
            raise InputError("BatchNorm1d keeps no running statistics; in evaluation it depends on the other samples.")
        return [_batch_norm(layer.weight, layer.bias, layer.running_mean, layer.running_var, layer.eps)]
    if kind is torch.nn.Flatten:
        _check_flatten(layer.start_dim)
        return []
    if kind in (torch.nn.Dropout, torch.nn.Identity, torch.nn.AlphaDropout):
        return []
    if kind in (torch.nn.Sigmoid, torch.nn.Softmax, torch.nn.LogSoftmax):
        return [Readout(name=name)]
    if isinstance(layer, torch.nn.modules.lazy.LazyModuleMixin):
        raise InputError(f"The network has the layer {name}, which has no weights before its first samples.")
    if "quantized" in kind.__module__:
        name = f"quantized {name}"
    raise InputError(f"The network has the layer {name}; {_FORWARD}, and {HEADS}.")


def _check_flatten(start: object) -> None:
    """Refuse to flatten across samples, as `torch.flatten(x)` does."""
    if start != 1:
        raise InputError(f"The network flattens from dimension {start}, across samples; flatten(1) is expected.")


def _rows(shape: object) -> Piece:
    """The length of a row; a change of shape that may take samples apart is refused: `x.view(-1, d)` does not."""
    sizes = list(shape) if isinstance(shape, list | tuple) else [shape]
    if len(sizes) != 2 or not (sizes[0] == -1 or sizes[0] is _SAMPLES):
        what = ", ".join(str(size) if isinstance(size, int) else "a size" for size in sizes)
        raise InputError(f"The network changes the shape to ({what}); (-1, d), a row for each sample, is expected.")
    return AsRows(size=sizes[1] if isinstance(sizes[1], int) else -1)


def script_pieces(module: torch.jit.ScriptModule) -> list[Piece]:
    """The chain in a TorchScript module: its graph in evaluation with every weight in place, read and not run."""
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch would rather have people export
            graph = torch.jit.freeze(module.eval().double()).inlined_graph
    except Exception as error:  # of torch's compiler
        raise InputError(f"The TorchScript cannot be read ({type(error).__name__}); {_FORWARD}.") from None
    inputs = list(graph.inputs())
    values: dict[str, Any] = {}
    current = inputs[-1].debugName()
    pieces: list[Piece] = []
    for node in graph.nodes():
        kind, names = node.kind(), [value.debugName() for value in node.inputs()]
        if kind == "prim::Constant":
            value = node.output()
            values[value.debugName()] = value.toIValue()
            continue
        if kind == "prim::ListConstruct":
            values[node.output().debugName()] = [values.get(name) for name in names]
            continue
        if kind in ("prim::NumToTensor", "aten::Int"):
            values[node.output().debugName()] = values.get(names[0])
            continue
        if current not in names:  # checks of shapes, which do not touch the values
            continue
        others = [values.get(name) for name in names if name != current]
        found = _operation(kind.removeprefix("aten::"), others[0] if others else None)
        if found is not None:
            pieces += found
        elif kind == "aten::linear":
            pieces.append(Linear(W=exact_array(others[0]), b=None if others[1] is None else exact_array(others[1])))
        elif kind == "aten::batch_norm":
            weight, bias, mean, variance, _, _, eps = others[:7]
            pieces.append(_batch_norm(weight, bias, mean, variance, eps))
        elif kind == "aten::size" and others == [0]:
            values[node.output().debugName()] = _SAMPLES
            continue
        else:
            if not list(node.outputs()) or str(node.output().type()) != "Tensor":
                continue  # asks for a size or a type
            raise InputError(f"The TorchScript computes {kind[:60]!r}; {_FORWARD}, and {HEADS}.")
        current = node.output().debugName()
    if current != next(graph.outputs()).debugName():
        raise InputError(f"The TorchScript does not return what it computed last; {_FORWARD}.")
    return pieces


def _batch_norm(weight: Any, bias: Any, mean: Any, variance: Any, eps: Any) -> Piece:
    """BatchNorm1d in evaluation: x -> weight (x - mean) / sqrt(variance + eps) + bias."""
    scale = 1.0 / np.sqrt(exact_array(variance) + float(eps))
    scale = scale if weight is None else scale * exact_array(weight)
    shift = -scale * exact_array(mean)
    return Entrywise(scale=scale, shift=shift if bias is None else shift + exact_array(bias), name="BatchNorm1d")


def exact_array(tensor: Any, name: str = "A weight of the network") -> FloatArray:
    """A tensor as float64, exactly."""
    import torch

    if not isinstance(tensor, torch.Tensor) or tensor.is_complex():
        raise InputError(f"{name} is not a tensor of real numbers.")
    if tensor.is_meta:
        raise InputError("The weights of the network are on torch's meta device, which keeps no numbers.")
    exact: FloatArray = tensor.detach().cpu().to(torch.float64).numpy().copy()
    return exact
