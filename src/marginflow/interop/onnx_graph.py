"""From an ONNX graph to the layers (W, b) of a ReLU network, or a sentence that names the node that does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.interop.folding import HEADS, AsRows, Entrywise, Linear, Piece, Readout, Rectifier, entrywise
from marginflow.interop.onnx_labels import without_labels
from marginflow.networks.layers import Layer, Outputs, checked_layers

if TYPE_CHECKING:
    import onnx

_EXPECTED = "Gemm (or MatMul and Add), Relu, Gemm is expected"
_ATTRIBUTES: dict[str, dict[str, float | int | None]] = {
    "Gemm": {"alpha": None, "beta": None, "transA": 0, "transB": None},
    "Transpose": {"perm": None},
    "Constant": {"value": None},
    "LeakyRelu": {"alpha": None},
    "BatchNormalization": {"epsilon": None, "momentum": None, "training_mode": 0, "spatial": None},
    "Flatten": {"axis": 1},
    "Dropout": {"ratio": None, "seed": None},
    "Softmax": {"axis": None},
    "Reshape": {"allowzero": None},
    "Cast": {"to": None, "saturate": None},
    "Squeeze": {"axes": None},
    "Clip": {},
}
# Layers that are named before what stands around them.
_LAYERS = frozenset({"Conv", "ConvTranspose", "MaxPool", "AveragePool", "LayerNormalization", "LSTM", "GRU", "RNN"})
# What a graph of a ReLU network may hold; the second set only where scalers, BatchNorm and class ends are read too.
_PLAIN = frozenset({"Gemm", "MatMul", "Add", "Relu", "Identity", "Transpose", "Constant"})
_FOLDED = frozenset(
    {"LeakyRelu", "PRelu", "Clip", "Max", "BatchNormalization", "Sub", "Div", "Mul", "Flatten", "Reshape", "Squeeze"}
    | {"Dropout", "Cast", "Sigmoid", "Softmax"}
)
# The numbers that ONNX has for float32 and float64: whoever casts to them keeps the value, up to its rounding.
_FLOATS = (1, 11)


def read_pieces(model: onnx.ModelProto) -> tuple[list[Piece], Outputs]:
    """The chain of linear maps and rectifiers of a graph, for `folding.fold`, and the note on its outputs.

    Beyond what `read_graph` takes: several outputs, LeakyRelu, BatchNormalization, linear maps one after another,
    Flatten, Dropout, a scaler in front, Sigmoid or Softmax at the end, which do not change who is predicted, and behind
    them the label and the probabilities that scikit-learn's classifiers have (`onnx_labels`).
    """
    return _walked(model, strict=False)


def read_graph(model: onnx.ModelProto, *, several_outputs: bool = False) -> tuple[list[Layer], Outputs]:
    """The layers of a graph of linear maps and ReLU in turn, and the note of `to_model` on its outputs, if any.

    Parameters
    ----------
    model : onnx.ModelProto
        As parsed; it need not have passed `onnx.checker`.
    several_outputs : bool
        Whether there may be more than one.

    Returns
    -------
    list of (W, b), and "trained" or "frozen"
    """
    pieces, noted = _walked(model, strict=True)
    maps = [piece for piece in pieces if isinstance(piece, Linear)]
    given = {f"Linear map {number}: ": (piece.W, piece.b) for number, piece in enumerate(maps, 1)}
    return checked_layers(given, several_outputs=several_outputs), noted


def _walked(model: onnx.ModelProto, *, strict: bool) -> tuple[list[Piece], Outputs]:
    graph = model.graph
    outputs = [value.name for value in graph.output]
    nodes, output = (list(graph.node), outputs[0] if len(outputs) == 1 else "") if strict else without_labels(graph)
    _refuse_operators(nodes, strict=strict)
    used = {name for node in nodes for name in node.input}
    shapes = {node.input[1] for node in nodes if node.op_type in ("Reshape", "Squeeze") and len(node.input) == 2}
    constants = {
        tensor.name: (_shape if tensor.name in shapes else _array)(tensor, f"The initializer {tensor.name!r}")
        for tensor in graph.initializer
        if strict or tensor.name in used
    }
    given = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in given]
    if graph.sparse_initializer:
        raise InputError("The graph has sparse weights; dense ones are expected.")
    if len(inputs) != 1 or not output:
        raise InputError(
            f"The graph has {len(inputs)} inputs and {len(graph.output)} outputs; one of each is expected."
        )
    if model.functions:
        raise InputError(f"The model defines the function {model.functions[0].name!r}; {_EXPECTED}.")
    walk = _Walk(constants=constants, value=inputs[0], strict=strict, shapes=shapes, samples=_samples(graph, inputs[0]))
    for number, node in enumerate(nodes):
        walk.step(node, _named(number, node))
    if walk.value != output:
        raise InputError(f"The output of the graph is {output[:80]!r}, which is not what its last node computes.")
    if not walk.open:
        last = "Relu" if walk.maps else "nothing"
        raise InputError(f"The graph ends in {last}; {_EXPECTED}.")
    noted = {entry.key: entry.value for entry in model.metadata_props}.get("outputs")
    return walk.pieces, "frozen" if noted == "frozen" else "trained"


def _refuse_operators(nodes: list[Any], *, strict: bool) -> None:
    """Refuse the first node that no ReLU network has, before anything else is said of the graph.

    A layer is named rather than what only asks for shapes in front of it.
    """
    for number, node in sorted(enumerate(nodes), key=lambda numbered: numbered[1].op_type not in _LAYERS):
        known = node.op_type in _PLAIN or (not strict and node.op_type in _FOLDED)
        scaler = node.domain == "ai.onnx.ml" and node.op_type == "Scaler" and not strict
        if not scaler and (not known or node.domain not in ("", "ai.onnx")):
            origin = "" if node.domain in ("", "ai.onnx") else f" of the domain {node.domain[:80]!r}"
            raise InputError(f"{_named(number, node)}{origin} is not of a ReLU network; {_EXPECTED}, and {HEADS}.")


def _named(number: int, node: Any) -> str:
    return f"Node {number} ({node.op_type[:40]!r}, named {node.name[:80]!r})"


def _samples(graph: Any, name: str) -> int:
    """The number of samples that the graph is made for, if it is made for one number; else 0."""
    shape = next(value.type.tensor_type.shape.dim for value in graph.input if value.name == name)
    return int(shape[0].dim_value) if len(shape) else 0


@dataclass(kw_only=True)
class _Walk:
    """One pass along the nodes: what is constant, which value flows, and the pieces that were passed."""

    constants: dict[str, FloatArray]
    value: str
    strict: bool
    shapes: set[str]
    samples: int
    pieces: list[Piece] = field(default_factory=list)

    @property
    def maps(self) -> bool:
        """Whether a linear map was passed."""
        return any(isinstance(piece, Linear) for piece in self.pieces)

    @property
    def open(self) -> bool:
        """Whether a linear map was passed and no rectifier since, so that one may follow."""
        last = next((piece for piece in reversed(self.pieces) if isinstance(piece, Linear | Rectifier)), None)
        return isinstance(last, Linear)

    def step(self, node: Any, named: str) -> None:
        if node.op_type == "Scaler":
            self._scaler(node, named)
            return
        attributes = _attributes(node, named)
        inputs = list(node.input)
        while inputs and inputs[-1] == "":  # a trailing optional input that is left out
            inputs.pop()
        if len(node.output) != 1 or not node.output[0]:
            raise InputError(f"{named} has {len(node.output)} outputs; one is expected.")
        output = node.output[0]
        if output in self.constants or output == self.value:
            raise InputError(f"{named} writes {output[:80]!r}, which exists already.")
        if node.op_type == "Constant":
            self.constants[output] = (_shape if output in self.shapes else _array)(attributes["value"], named)
        elif node.op_type in ("Identity", "Transpose") and len(inputs) == 1 and inputs[0] in self.constants:
            self.constants[output] = self._transposed(node.op_type, attributes, inputs[0], named)
        else:
            self._along_the_value(node.op_type, attributes, inputs, named)
            self.value = output

    def _scaler(self, node: Any, named: str) -> None:
        """(x - offset) scale, in front of the first linear map."""
        numbers = {entry.name: np.array(entry.floats, dtype=np.float64) for entry in node.attribute}
        offset, scale = numbers.get("offset"), numbers.get("scale")
        if list(node.input) != [self.value] or len(node.output) != 1 or offset is None or scale is None:
            raise InputError(f"{named} does not scale the value before it by an offset and a scale.")
        if self.maps or offset.shape != scale.shape:
            raise InputError(f"{named} stands behind a linear map, or its numbers do not fit each other.")
        self.pieces.append(Entrywise(scale=scale, shift=-scale * offset, name="Scaler"))
        self.value = node.output[0]

    def _transposed(self, kind: str, attributes: dict[str, Any], name: str, named: str) -> FloatArray:
        array = self.constants[name]
        if kind == "Identity":
            return array
        if array.ndim != 2 or list(attributes.get("perm", [1, 0])) != [1, 0]:
            raise InputError(f"{named} permutes the axes of a constant of shape {array.shape}; a matrix is expected.")
        return array.T

    def _along_the_value(self, kind: str, attributes: dict[str, Any], inputs: list[str], named: str) -> None:
        if inputs.count(self.value) != 1:
            known = "twice" if self.value in inputs else "not at all"
            raise InputError(f"{named} takes the value before it {known}; a chain of nodes is expected.")
        others = [self._constant(name, named) for name in inputs if name != self.value]
        match kind:
            case "Identity" if not others:
                pass
            case "Flatten" | "Dropout" if len(inputs) <= 3:
                pass
            case "Reshape" if len(others) == 1 and inputs[0] == self.value:
                self._reshape(others[0], bool(attributes.get("allowzero", 0)), named)
            case "Cast" if not others and attributes.get("to") in _FLOATS:
                pass
            case "Sub" | "Div" | "Mul" | "Add" if self._scales(others):
                number = others[0].ravel() if others[0].size > 1 else others[0].reshape(())
                found = entrywise(kind.lower(), number, value_first=inputs[0] == self.value)
                if found is None:
                    raise InputError(f"{named} divides by the value before it, or by 0; {_EXPECTED}.")
                self.pieces.append(found)
            case "Sigmoid" | "Softmax" if not others:
                self.pieces.append(Readout(name=kind))
            case "Squeeze" if _last_axis(others, attributes):
                self.pieces.append(Readout(name=kind, of_one=True))
            case "Clip" | "Max" if self._rectifies(inputs, others):
                self.pieces.append(Rectifier())
            case "PRelu" if len(others) == 1 and np.ptp(others[0]) == 0.0:
                self.pieces.append(Rectifier(slope=float(others[0].flat[0])))
            case "LeakyRelu" if not others:
                self.pieces.append(Rectifier(slope=float(attributes.get("alpha", 0.01))))
            case "BatchNormalization" if len(others) == 4 and inputs[0] == self.value:
                weight, bias, mean, variance = others
                scale = weight / np.sqrt(variance + float(attributes.get("epsilon", 1e-5)))
                self.pieces.append(Entrywise(scale=scale, shift=bias - scale * mean, name="BatchNormalization"))
            case "Relu" if not others:
                if not self.open:
                    raise InputError(f"{named} does not follow a linear map; {_EXPECTED}.")
                self.pieces.append(Rectifier())
            case "Gemm" if len(others) in (1, 2) and inputs[0] == self.value:
                matrix = float(attributes.get("alpha", 1.0)) * others[0]
                self._linear(matrix, named, turned=not attributes.get("transB", 0))
                if len(others) == 2:
                    self._bias(float(attributes.get("beta", 1.0)) * others[1], named)
            case "MatMul" if len(others) == 1 and inputs[0] == self.value:
                self._linear(others[0], named, turned=True)
            case "Add" if len(others) == 1:
                self._bias(others[0], named)
            case "Identity" | "Relu" | "Gemm" | "MatMul" | "Add":
                raise InputError(f"{named} has {len(inputs)} inputs in an order that is not expected; {_EXPECTED}.")
            case _:
                raise InputError(f"{named} is not of a ReLU network; {_EXPECTED}, and {HEADS}.")

    def _reshape(self, shape: FloatArray, zeros: bool, named: str) -> None:
        """Refuse a change of shape that may take samples apart: rows must stay samples."""
        if shape.size != 2 or shape[0] not in (-1, self.samples or -1, -1 if zeros else 0):
            sizes = ", ".join(f"{size:g}" for size in shape.ravel()[:8])
            raise InputError(f"{named} changes the shape to ({sizes}); (-1, d), a row for each sample, is expected.")
        self.pieces.append(AsRows(size=int(shape[1]) or -1))

    def _scales(self, others: list[FloatArray]) -> bool:
        """Whether all features have one number or each its own, in front of the first linear map."""
        if self.strict or self.maps or len(others) != 1:
            return False
        return others[0].size == 1 or (others[0].ndim in (1, 2) and others[0].shape[-1] == others[0].size)

    def _rectifies(self, inputs: list[str], others: list[FloatArray]) -> bool:
        """Whether the larger of the value and 0 is taken."""
        alone = len(others) == 1 and inputs[0] == self.value
        return alone and others[0].size == 1 and float(others[0].flat[0]) == 0.0

    def _constant(self, name: str, named: str) -> FloatArray:
        if name not in self.constants:
            raise InputError(f"{named} takes {name[:80]!r}, which is not a constant; a chain of nodes is expected.")
        return self.constants[name]

    def _linear(self, array: FloatArray, named: str, *, turned: bool) -> None:
        if array.ndim != 2 or array.size == 0:
            raise InputError(f"{named} multiplies by weights of shape {array.shape}; a matrix is expected.")
        if self.open and self.strict:
            raise InputError(f"{named} follows another linear map without a Relu between them; {_EXPECTED}.")
        self.pieces.append(Linear(W=np.ascontiguousarray(array.T if turned else array)))

    def _bias(self, array: FloatArray, named: str) -> None:
        """The bias of the linear map before or, behind a BatchNorm, a shift of its own."""
        last = self.pieces[-1] if self.open else None
        if last is None or (isinstance(last, Linear) and last.b is not None):
            raise InputError(f"{named} does not follow a linear map without bias; {_EXPECTED}.")
        k = next(piece.W.shape[0] for piece in reversed(self.pieces) if isinstance(piece, Linear))
        if array.shape not in ((), (1,), (k,), (1, 1), (1, k)):
            raise InputError(f"{named} adds a constant of shape {array.shape}; a bias of shape ({k},) is expected.")
        b = np.broadcast_to(array.reshape(-1), (k,)).copy()
        if isinstance(last, Linear):
            self.pieces[-1] = replace(last, b=b)
        else:
            self.pieces.append(Entrywise(scale=np.ones(k), shift=b, name="Add"))


def _last_axis(others: list[FloatArray], attributes: dict[str, Any]) -> bool:
    axes = others[0].tolist() if len(others) == 1 else list(attributes.get("axes", []))
    return axes in ([1], [-1])


def _attributes(node: Any, named: str) -> dict[str, Any]:
    """The attributes of a node, as far as we know what they mean; the others are refused."""
    import onnx

    known = _ATTRIBUTES.get(node.op_type, {})
    if node.op_type not in (*_ATTRIBUTES, "Identity", "Relu", "MatMul", "Add"):
        return {}
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        try:
            value = onnx.helper.get_attribute_value(attribute)
        except ValueError:
            raise InputError(f"{named} has an attribute {attribute.name[:80]!r} of no known type.") from None
        if attribute.name not in known:
            raise InputError(f"{named} has the attribute {attribute.name[:80]!r}; {_EXPECTED}.")
        wanted = known[attribute.name]
        if wanted is not None and value != wanted:
            raise InputError(f"{named} has {attribute.name} = {value!s:.40}; {wanted} is expected.")
        found[attribute.name] = value
    if "transB" in found and found["transB"] not in (0, 1):
        raise InputError(f"{named} has transB = {found['transB']!s:.40}; 0 or 1 is expected.")
    if "perm" in found and not isinstance(found["perm"], list | tuple):
        raise InputError(f"{named} has a perm that is not a list of axes.")
    if node.op_type == "Constant" and not isinstance(found.get("value"), onnx.TensorProto):
        raise InputError(f"{named} holds no tensor; a constant with the attribute 'value' is expected.")
    return found


def _shape(tensor: Any, named: str) -> FloatArray:
    """The sizes that a Reshape asks for."""
    from onnx import TensorProto

    if tensor.data_type != TensorProto.INT64 or tensor.external_data or len(tensor.dims) != 1 or tensor.dims[0] > 8:
        raise InputError(f"{named} is not a short list of whole numbers, which a shape is expected to be.")
    return _numbers(tensor, named)


def _array(tensor: Any, named: str) -> FloatArray:
    """A tensor as float64, exactly; kept in another file, of another type or damaged, it is refused."""
    from onnx import TensorProto

    if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
        raise InputError(
            f"{named} keeps its numbers in another file, which is not opened; save the model with its weights inside."
        )
    if tensor.data_type not in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BFLOAT16):
        kinds = dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
        kind = kinds.get(tensor.data_type, str(tensor.data_type))
        raise InputError(f"{named} holds numbers of type {kind}; floating point is expected, and {HEADS}.")
    shape = tuple(tensor.dims)
    if any(length < 0 for length in shape) or prod(shape) > tensor.ByteSize():  # every number takes at least one byte
        raise InputError(f"{named} has the shape {shape!s:.80}, which does not fit what it holds.")
    return _numbers(tensor, named)


def _numbers(tensor: Any, named: str) -> FloatArray:
    from onnx import numpy_helper

    try:
        return np.asarray(numpy_helper.to_array(tensor), dtype=np.float64).reshape(tuple(tensor.dims))
    except (ValueError, TypeError) as error:
        raise InputError(f"{named} is damaged: {' '.join(str(error).split())}.") from None
