"""The end of an ONNX graph that names classes: what scikit-learn's classifiers become, cut back to their last values.

Behind Sigmoid or Softmax such a graph has two outputs: the label (ArgMax, the entry of a list of classes, changes of
shape and type) and the probabilities (for one value s of Sigmoid, 1 - s and s beside each other). Both say who is
predicted in the order of the classes and nothing else, so the graph may be read up to Sigmoid or Softmax. Every node
of the end is looked at; one that could do something else is refused.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from marginflow.errors import InputError


def without_labels(graph: Any) -> tuple[list[Any], str]:
    """The nodes up to the values that decide, and the name of these.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from marginflow.interop.onnx_labels import without_labels
    >>> without_labels(SimpleNamespace(node=[], output=[SimpleNamespace(name="N")]))
    ([], 'N')
    """
    nodes, outputs = list(graph.node), [value.name for value in graph.output]
    at = next((i for i, node in enumerate(nodes) if node.op_type in ("Sigmoid", "Softmax") and not node.domain), None)
    if len(outputs) != 2 or at is None:
        return nodes, outputs[0] if len(outputs) == 1 else ""
    scores = nodes[at].output[0]
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    known = {scores: "score" if nodes[at].op_type == "Sigmoid" else "shares"}
    for number, node in enumerate(nodes[at + 1 :], at + 1):
        kind = _kind(node, known, tensors)
        if kind is None or len(node.output) != 1:
            raise InputError(
                f"Node {number} ({node.op_type[:40]!r}, named {node.name[:80]!r}) stands behind {nodes[at].op_type}; "
                "there only the label and the probabilities of a classifier are expected."
            )
        known[node.output[0]] = kind
    if sorted(known.get(name, "") for name in outputs) != ["label", "shares"]:
        raise InputError("The graph has two outputs, but they are not the label and the probabilities of a classifier.")
    return nodes[: at + 1], scores


def _kind(node: Any, known: dict[str, str], tensors: dict[str, Any]) -> str | None:
    """What a node of the end computes; None if it is not one of the few that are expected."""
    given = [known.get(name, "constant" if name in tensors else "") for name in node.input]
    axis = next((entry.i for entry in node.attribute if entry.name == "axis"), None)
    match node.op_type, given:
        case "Sub", ["constant", "score"] if _is_one(tensors[node.input[0]]):
            return "rest"
        case "Concat", ["rest", "score"] if axis == 1:
            return "shares"
        case "ArgMax", ["shares"] if axis == 1:
            return "first"
        case "ArrayFeatureExtractor", ["constant", "first"] if _in_order(tensors[node.input[0]]):
            return "label"
        case (("Cast" | "Identity"), ["label"]) | ("Reshape", ["label", "constant"]):
            return "label"
        case (("Cast" | "ZipMap" | "Identity"), ["shares"]):
            return "shares"
    return None


def _is_one(tensor: Any) -> bool:
    from onnx import numpy_helper

    return bool(np.all(numpy_helper.to_array(tensor) == 1.0)) and not any(length > 1 for length in tensor.dims)


def _in_order(tensor: Any) -> bool:
    """Whether classes are listed in their sorted order, in which the values of the network come."""
    from onnx import numpy_helper

    classes = numpy_helper.to_array(tensor).ravel().tolist()
    return all(first < second for first, second in pairwise(classes))
