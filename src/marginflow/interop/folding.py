r"""Somebody's network as a chain of linear maps and rectifiers, folded into two layers that compute the same.

- consecutive linear maps (a scaler, BatchNorm in evaluation) become one: B (A x + a) + b = (B A) x + (B a + b);
- a LeakyReLU of slope s is relu(z) - s relu(-z): two neurons for one;
- of two logits the difference decides: the second minus the first;
- an output bias c is a neuron that is always on: zero weights, bias 1, output weight c.

All of it is exact up to the rounding of float64, and what was folded is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marginflow.arrays import FloatArray, matrix, vector
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.layers import Outputs

HEADS = (
    "the last Linear, ReLU, Linear (or the last Linear) can be audited as a network of its own on the features that "
    "the layers before compute: mf.audit.head(module, X, y), or marginflow audit HEAD DATA --features BODY"
)
DEEPER = (
    "marginflow.certificates.certify_deep measures the KKT residual, and marginflow.robustness.radius_bracket "
    "bounds each radius from both sides"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Linear:
    """x -> W x + b, what it was called, and whether it only scales the entries (a scaler, BatchNorm)."""

    W: FloatArray
    b: FloatArray | None = None
    name: str = "Linear"
    outputs_trained: bool = True
    scales: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Entrywise:
    """x -> scale x + shift, entry by entry; one number stands for as many as the map beside it takes or gives."""

    scale: FloatArray
    shift: FloatArray
    name: str

    def linear(self, width: int) -> Linear:
        """The same as a matrix and a vector."""
        W, b = (np.broadcast_to(numbers, (width,)) for numbers in (self.scale, self.shift))
        return Linear(W=np.diag(W), b=b, name=self.name, scales=True)


@dataclass(frozen=True, kw_only=True)
class Rectifier:
    """ReLU, or LeakyReLU of a slope."""

    slope: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Readout:
    """What may stand at the end only: Sigmoid, Softmax, or the first of one output."""

    name: str
    of_one: bool = False


@dataclass(frozen=True, kw_only=True)
class AsRows:
    """A change of shape to rows of this many numbers each: behind a layer, as many as the layer gives."""

    size: int


Piece = Linear | Entrywise | Rectifier | Readout | AsRows


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """A network that was read, and what must be said about how.

    Attributes
    ----------
    network : TwoLayer or Classifier
        Computes what the model computes (for two classes: a positive value where the second is predicted).
    remarks : tuple of str
        What was folded or assumed, in sentences.
    assumed : bool
        Whether the activation is an assumption: a `state_dict` does not know it.
    classes : tuple or None
        The labels that the model gives, in the order of its outputs, where it knows them.
    """

    network: TwoLayer | Classifier
    remarks: tuple[str, ...] = ()
    assumed: bool = False
    classes: tuple[Any, ...] | None = None

    def two_classes(self) -> TwoLayer:
        """The network, or an `InputError` where it has more than two classes."""
        if isinstance(self.network, Classifier):
            raise InputError(
                f"The network has {self.network.n_classes} outputs; one, or two logits, are expected here. "
                "marginflow.robustness.exact_radius takes this Classifier."
            )
        return self.network


def linear_as_two_layers(W: FloatArray, b: FloatArray | None) -> list[Piece]:
    """w . x + b = relu(w . x + b) - relu(-w . x - b): two neurons for each output."""
    both = Linear(W=np.vstack([W, -W]), b=None if b is None else np.concatenate([b, -b]))
    eye = np.eye(W.shape[0])
    return [both, Rectifier(), Linear(W=np.hstack([eye, -eye]))]


def fold(pieces: Sequence[Piece], *, remarks: Sequence[str] = (), outputs: Outputs | None = None) -> Model:
    """Two layers that compute what the chain computes.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.interop.folding import Linear, Rectifier, fold
    >>> model = fold([Linear(W=np.eye(2)), Rectifier(), Linear(W=np.array([[1.0, 0.0], [0.0, 2.0]]))])
    >>> model.network([[3.0, 1.0]]), model.remarks
    (array([-1.]), ('Of two logits the difference is audited: the second minus the first.',))
    """
    said = list(remarks)
    linears, slopes = _alternating(pieces, said)
    if len(linears) != 2:
        depth = len(linears)
        what = "no hidden layer" if depth == 1 else f"{depth - 1} hidden layers"
        advice = (
            "the radius of a linear classifier is |w . x + b| / ||w||: mf.audit.head(module, X, y) audits it as one"
            if depth == 1
            else f"{HEADS}; of a deeper MLP {DEEPER}"
        )
        raise InputError(f"The network has {what} (depth {depth}); one hidden layer is expected, and {advice}.")
    first, last = linears
    W, b = first.W, first.b
    V, c = last.W, last.b
    if slopes[0] < 0.0:
        raise InputError(f"The LeakyReLU has the slope {slopes[0]:g}; a slope of at least 0 is expected.")
    if slopes[0] != 0.0:
        W = np.vstack([W, -W])
        b = None if b is None else np.concatenate([b, -b])
        V = np.hstack([V, -slopes[0] * V])
        said.append(f"LeakyReLU of slope {slopes[0]:g} became two ReLU neurons for each of {W.shape[0] // 2}.")
    noted: Outputs = ("trained" if last.outputs_trained else "frozen") if outputs is None else outputs
    if V.shape[0] > 2:
        return Model(network=Classifier(W=W, b=b, V=V, c=c), remarks=tuple(said))
    if V.shape[0] == 2:
        V = V[1:] - V[:1]
        c = None if c is None else c[1:] - c[:1]
        said.append("Of two logits the difference is audited: the second minus the first.")
    if c is not None and c[0] != 0.0:
        k, d = W.shape
        W = np.vstack([W, np.zeros(d)])
        b = np.append(np.zeros(k) if b is None else b, 1.0)
        V = np.append(V, c)[None, :]
        said.append(
            f"The output bias {float(c[0]):.6g} became one more neuron (zero weights, bias 1, output weight "
            f"{float(c[0]):.6g}): predictions, flips and radii are those of your network. A homogeneous network has no "
            "output bias, so the KKT conditions are asked of the network with that neuron; training with an "
            "output bias does not lead to such points."
        )
    return Model(network=TwoLayer(W=W, b=b, v=np.ascontiguousarray(V[0]), outputs=noted), remarks=tuple(said))


def _alternating(pieces: Sequence[Piece], said: list[str]) -> tuple[list[Linear], list[float]]:
    """Linear maps with a rectifier between each two; consecutive linear maps are multiplied."""
    linears: list[Linear] = []
    slopes: list[float] = []
    readouts: list[Readout] = []
    for piece in pieces:
        if isinstance(piece, Readout):
            readouts.append(piece)
            continue
        if isinstance(piece, AsRows):
            if linears and piece.size not in (-1, linears[-1].W.shape[0]):
                raise InputError(
                    f"The network makes rows of {piece.size} numbers of the {linears[-1].W.shape[0]} that a layer "
                    "gives for each sample; a row for each sample is expected."
                )
            continue
        if readouts:
            raise InputError(
                f"The network computes {readouts[0].name} between its layers; at its end it would not change who is "
                f"predicted, but here it does. Linear, ReLU, Linear is expected, and {HEADS}."
            )
        if isinstance(piece, Rectifier):
            if not linears:
                raise InputError("The network begins with its activation; Linear, ReLU, Linear is expected.")
            if len(slopes) == len(linears):  # one after another: the slopes multiply, and that of ReLU is 0
                slopes[-1] *= piece.slope
            else:
                slopes.append(piece.slope)
            continue
        if isinstance(piece, Entrywise):
            piece = piece.linear(linears[-1].W.shape[0] if linears else _width(pieces))
        W = matrix(f"{piece.name}: weight", piece.W)
        b = None if piece.b is None else vector(f"{piece.name}: bias", piece.b, W.shape[0])
        width = linears[-1].W.shape[0] if linears else W.shape[1]
        if W.shape[1] != width:
            raise InputError(f"{piece.name} takes {W.shape[1]} numbers, but what is before it gives {width}.")
        checked = replace(piece, W=W, b=b)
        if len(slopes) == len(linears):
            linears.append(checked)
        else:
            before = linears[-1]
            if not (before.scales and checked.scales):  # two scalers are said with the map that both are folded into
                said.append(_said_of_folding(before, piece.name, first=len(linears) == 1))
            linears[-1] = _after(linears[-1], checked)
    if len(slopes) == len(linears):
        raise InputError("The network ends in its activation; Linear, ReLU, Linear is expected.")
    for readout in readouts:
        if readout.of_one and linears[-1].W.shape[0] != 1:
            raise InputError(
                f"The network picks one of its {linears[-1].W.shape[0]} outputs ({readout.name}); all are expected."
            )
        if not readout.of_one:
            said.append(f"{readout.name} at the end was left out: it is monotone and does not change who is predicted.")
    return linears, slopes


def _said_of_folding(before: Linear, name: str, *, first: bool) -> str:
    """Which of two maps that follow each other went into the other: a scaler into the layer, else the second."""
    if not before.scales:
        return f"{name} was folded into the linear map before it."
    were = "were" if ", " in before.name else "was"
    where = f"in front {were} folded into the first layer" if first else f"{were} folded into the linear map after it"
    return f"{before.name} {where}."


def _after(first: Linear, second: Linear) -> Linear:
    shift = None if first.b is None else second.W @ first.b
    b = second.b if shift is None else shift if second.b is None else shift + second.b
    both = first.scales and second.scales
    name = f"{first.name}, {second.name}" if both else second.name if first.scales else first.name
    return Linear(W=second.W @ first.W, b=b, name=name, outputs_trained=second.outputs_trained, scales=both)


def _width(pieces: Sequence[Piece]) -> int:
    """How many numbers the first map takes that says so."""
    for piece in pieces:
        if isinstance(piece, Linear):
            return int(np.shape(piece.W)[-1])
        if isinstance(piece, Entrywise) and max(np.size(piece.scale), np.size(piece.shift)) > 1:
            return max(np.size(piece.scale), np.size(piece.shift))
    raise InputError("The network has no linear map; Linear, ReLU, Linear is expected.")


def entrywise(kind: str, number: FloatArray, *, value_first: bool = True) -> Entrywise | None:
    """What "add", "sub", "mul" or "div" of the value and constants does to it; None if that is not affine.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.interop.folding import entrywise
    >>> found = entrywise("sub", np.array(3.0), value_first=False)
    >>> float(found.scale), float(found.shift)
    (-1.0, 3.0)
    """
    one, zero = np.ones_like(number), np.zeros_like(number)
    maps = {"add": (one, number), "sub": (one, -number), "mul": (number, zero)}
    if not value_first:
        maps["sub"] = (-one, number)
    elif kind == "div" and np.all(number != 0.0):
        maps["div"] = (1.0 / number, zero)
    return Entrywise(scale=maps[kind][0], shift=maps[kind][1], name=kind.capitalize()) if kind in maps else None
