r"""ONNX: `TwoLayer`, `Classifier` and `MLP` to and from graphs of Gemm and Relu in turn.

In float64 both ways are exact, bit for bit; in float32 every number is rounded once on the way there, and not at all on
the way back. Written is Gemm(transB=1) - Relu - ... - Gemm with the weights as torch keeps them. Read is whatever means
the same: Gemm with or without transB and bias, MatMul with or without Add, weights as initializers or constants,
Identity and Transpose in between. Any other node is refused by name, since a network that computes something else
must not be audited as if it did not.

Needs the extra `onnx`, which is imported when a function is called. Nothing in a file is executed, and weights that a
file says are kept in another file are not looked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from marginflow.errors import InputError
from marginflow.interop.onnx_graph import read_graph
from marginflow.networks import MLP, Classifier, TwoLayer
from marginflow.networks.layers import Outputs
from marginflow.storage import existing_file, write_bytes

if TYPE_CHECKING:
    import onnx

Precision = Literal["float64", "float32"]

# Old enough for every runtime of the last years; Gemm and Relu have not changed since.
_OPSET, _IR_VERSION = 13, 8


def to_model(network: TwoLayer | Classifier | MLP, *, dtype: Precision = "float64") -> onnx.ModelProto:
    """The network as an ONNX model with input `x`, shape (n, d), and output `N`, shape (n, 1) or (n, K).

    Parameters
    ----------
    network : TwoLayer, Classifier or MLP
    dtype : "float64" or "float32"
        float64 is exact; float32 rounds every weight once, and is what most runtimes are fast at.

    Examples
    --------
    >>> from marginflow.interop.onnx import to_model, two_layer
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer.initialise(width=3, dimension=2, seed=0)
    >>> model = to_model(network)
    >>> [node.op_type for node in model.graph.node]
    ['Gemm', 'Relu', 'Gemm']
    >>> bool((two_layer(model).W == network.W).all())
    True
    """
    from onnx import TensorProto, helper, numpy_helper

    if dtype not in ("float64", "float32"):
        raise InputError(f"dtype is {dtype!r}; 'float64' or 'float32' is expected.")
    kind = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
    nodes, weights = [], []
    value = "x"
    state = network.state_dict()
    for name, array in state.items():
        with np.errstate(over="ignore"):
            rounded = np.ascontiguousarray(array, dtype=np.dtype(dtype))
        if not np.isfinite(rounded).all():
            raise InputError(f"{name} has the entry {np.abs(array).max():g}, which is too large for {dtype}.")
        weights.append(numpy_helper.from_array(rounded, name))
    for index in range(len(network.layers)):
        names = [name for name in state if name.startswith(f"{2 * index}.")]
        last = index == len(network.layers) - 1
        following = "N" if last else f"hidden_{index + 1}"
        nodes.append(
            helper.make_node("Gemm", [value, *names], [following], name=f"linear_{index + 1}", alpha=1.0, transB=1)
        )
        value = following
        if not last:
            nodes.append(helper.make_node("Relu", [value], [f"{value}_relu"], name=f"relu_{index + 1}"))
            value = f"{value}_relu"
    graph = helper.make_graph(
        nodes,
        "marginflow",
        [helper.make_tensor_value_info("x", kind, ["n", network.layers[0][0].shape[1]])],
        [helper.make_tensor_value_info("N", kind, ["n", network.layers[-1][0].shape[0]])],
        initializer=weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="marginflow")
    model.ir_version = _IR_VERSION
    outputs = "trained" if isinstance(network, Classifier) else network.outputs
    helper.set_model_props(model, {"marginflow": type(network).__name__, "outputs": outputs})
    return model


def save(network: TwoLayer | Classifier | MLP, path: str | Path, *, dtype: Precision = "float64") -> Path:
    """Write the network as `.onnx`, whole or not at all."""
    if Path(path).suffix.lower() != ".onnx":
        raise InputError(f"{path} ends in {Path(path).suffix!r}; .onnx is expected.")
    content: bytes = to_model(network, dtype=dtype).SerializeToString()
    return write_bytes(path, content)


def two_layer(model: onnx.ModelProto, *, outputs: Outputs | None = None) -> TwoLayer:
    """Read a `TwoLayer` from a model; an `InputError` names the first node that does not fit.

    Parameters
    ----------
    model : onnx.ModelProto
    outputs : "trained", "frozen" or None
        None: as `to_model` noted it, else trained.
    """
    layers, noted = read_graph(model)
    return TwoLayer.from_layers(layers, outputs=noted if outputs is None else outputs)


def classifier(model: onnx.ModelProto) -> Classifier:
    """Read a `Classifier` from a model with two or more outputs."""
    layers, _ = read_graph(model, several_outputs=True)
    return Classifier.from_layers(layers)


def mlp(model: onnx.ModelProto, *, outputs: Outputs | None = None) -> MLP:
    """Read an `MLP` from a model; parameters as in `two_layer`."""
    layers, noted = read_graph(model)
    return MLP.from_layers(layers, outputs=noted if outputs is None else outputs)


def load(path: str | Path, *, outputs: Outputs | None = None) -> TwoLayer:
    """Read a `TwoLayer` from an `.onnx` file."""
    model = load_model(path)
    try:
        return two_layer(model, outputs=outputs)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def load_model(path: str | Path) -> onnx.ModelProto:
    """The model in an `.onnx` file."""
    source = existing_file(path)
    try:
        import onnx
    except ImportError:
        raise InputError(f"Reading {source} needs the package onnx; install marginflow[onnx].") from None
    from google.protobuf.message import DecodeError

    try:
        # From bytes: the reader that takes a name would also open files that this one points to.
        return onnx.load_model_from_string(source.read_bytes())
    except (DecodeError, OSError, ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{source} is not a readable .onnx file: {' '.join(str(error).split())}.") from None
