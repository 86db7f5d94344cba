r"""ReLU networks of any depth, N(x) = W_L relu(W_{L-1} ... relu(W_1 x + b_1) ... + b_{L-1}) + b_L, with one output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, one_of, read_only, real_number, vector, whole_number
from marginflow.doors import brief, checked
from marginflow.errors import InputError
from marginflow.networks import initialisation
from marginflow.networks.evaluation import checked_kink, checked_points, relu_slopes, row_blocks
from marginflow.networks.layers import Layer, MLPGradient, Outputs, checked_layers
from marginflow.networks.network import AbstractOneOutput
from marginflow.networks.two_layer import TwoLayer

Biases = Literal["all", "first", "none"]


@dataclass(frozen=True, eq=False, kw_only=True)
class MLP(AbstractOneOutput):
    r"""A fully connected ReLU network of depth L with one output.

    .. math:: N(x) = W_L \, \mathrm{relu}(W_{L-1} \cdots \mathrm{relu}(W_1 x + b_1) \cdots + b_{L-1}) + b_L

    Parameters
    ----------
    weights : sequence of L arrays
        W_l of shape (k_l, k_{l-1}); k_0 = d is the input dimension and k_L = 1. L = 1 is a linear predictor.
    biases : sequence of L arrays or None, or None
        b_l of shape (k_l,), None for a layer without bias; None for a network without bias.
    outputs : "trained" or "frozen"
        Whether the last layer belongs to the parameter vector theta.

    Notes
    -----
    N is homogeneous in theta exactly when no layer after the first has a bias; a bias in layer l > 1 scales with too
    low a power. The theorems on KKT points speak of homogeneous networks only.

    Examples
    --------
    >>> from marginflow.networks import MLP
    >>> net = MLP.initialise(widths=[5, 3], dimension=2, bias="first", seed=0)
    >>> net
    MLP(dimension=2, widths=(5, 3), bias in the first layer, outputs trained, homogeneous of degree 3)
    >>> MLP.initialise(widths=[5, 3], dimension=2, bias="all", seed=0).degree is None
    True
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray | None, ...] | None = None
    outputs: Outputs = "trained"

    def __post_init__(self) -> None:
        for name, given in (("weights", self.weights), ("biases", self.biases)):
            if not isinstance(given, Sequence) and (given is not None or name == "weights"):
                raise InputError(f"{name} is {brief(given)}; a list with one array for each layer is expected.")
        weights = tuple(self.weights)
        if not weights:
            raise InputError("weights is empty; at least one layer is expected.")
        biases = (None,) * len(weights) if self.biases is None else tuple(self.biases)
        if len(biases) != len(weights):
            raise InputError(f"biases has {len(biases)} entries; {len(weights)} are expected, one for each layer.")
        pairs = enumerate(zip(weights, biases, strict=True))
        layers = checked_layers({f"Layer {index + 1}: ": pair for index, pair in pairs})
        object.__setattr__(self, "weights", tuple(read_only(W) for W, _ in layers))
        object.__setattr__(self, "biases", tuple(None if b is None else read_only(b) for _, b in layers))
        if one_of("outputs", self.outputs, ("trained", "frozen")) == "frozen" and len(layers) == 1:
            raise InputError("outputs is 'frozen', but the network has one layer; nothing would be trained.")

    @classmethod
    def initialise(
        cls,
        widths: Sequence[int],
        dimension: int,
        *,
        law: initialisation.AbstractInitialisation | None = None,
        scale: float = 1.0,
        bias: Biases = "first",
        outputs: Outputs = "trained",
        seed: int = 0,
    ) -> MLP:
        """A random network; the other parameters are those of `TwoLayer.initialise`.

        Parameters
        ----------
        widths : sequence of int
            Hidden widths k_1, ..., k_{L-1}; empty for a linear predictor.
        bias : "all", "first" or "none"
            Which layers have biases; only "first" and "none" are homogeneous (and "all" for a linear predictor).
        outputs : "trained" or "frozen"
            Whether the last layer is trained; a frozen one has no bias.
        seed : int
            Same seed, same bits; with one hidden layer and bias "first" the bits of `TwoLayer.initialise`.
        """
        if not isinstance(widths, Sequence | np.ndarray):
            raise InputError(f"widths is {widths!r}; a list of hidden widths is expected.")
        sizes = (whole_number("dimension", dimension), *(whole_number("a width", width) for width in widths), 1)
        scale = real_number("scale", scale, above=0.0)
        one_of("bias", bias, ("all", "first", "none"))
        one_of("outputs", outputs, ("trained", "frozen"))
        depth = len(sizes) - 1
        if outputs == "frozen" and (depth == 1 or bias == "all"):
            raise InputError("outputs is 'frozen'; a hidden layer and bias='first' or 'none' are expected then.")
        where = tuple(bias == "all" or (bias == "first" and index == 0) for index in range(depth))
        layers = initialisation.drawn_layers(law, sizes, where, outputs=outputs, seed=seed)
        return cls.from_layers(layers, outputs=outputs)._times(scale)

    # Shape and size -------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Layer]:
        """The layers [(W_1, b_1), ..., (W_L, b_L)]."""
        return list(zip(self.weights, self.biases or (), strict=True))

    @classmethod
    @checked
    def from_layers(cls, layers: Sequence[Layer], *, outputs: Outputs = "trained") -> MLP:
        """The inverse of `layers`."""
        return cls(weights=tuple(W for W, _ in layers), biases=tuple(b for _, b in layers), outputs=outputs)

    @property
    def depth(self) -> int:
        """Number L of layers."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Input dimension d."""
        return int(self.weights[0].shape[1])

    @property
    def widths(self) -> tuple[int, ...]:
        """Hidden widths k_1, ..., k_{L-1}."""
        return tuple(int(W.shape[0]) for W in self.weights[:-1])

    @property
    def homogeneous(self) -> bool:
        """Whether N(c theta) = c^degree N(theta) for every c > 0: no bias after the first layer."""
        return all(b is None for _, b in self.layers[1:])

    @property
    def degree(self) -> int | None:
        """Degree of homogeneity in the trained parameters, L or (frozen outputs) L - 1; None if not homogeneous."""
        if not self.homogeneous:
            return None
        return self.depth if self.outputs == "trained" else self.depth - 1

    def norm_squared(self) -> float:
        """||theta||^2 over the trained parameters."""
        return MLPGradient(weights=self.weights, biases=self.biases or ()).norm_squared(self.outputs)

    def __repr__(self) -> str:
        with_bias = [index + 1 for index, (_, b) in enumerate(self.layers) if b is not None]
        words = {(): "without bias", (1,): "bias in the first layer"}
        bias = words.get(tuple(with_bias), f"bias in layers {with_bias}")
        degree = f"homogeneous of degree {self.degree}" if self.homogeneous else "not homogeneous"
        return f"MLP(dimension={self.dimension}, widths={self.widths}, {bias}, outputs {self.outputs}, {degree})"

    # Evaluation -----------------------------------------------------------------------------------

    def _forward(self, X: FloatArray) -> list[FloatArray]:
        """Pre-activations Z_1, ..., Z_{L-1} and the output column Z_L, each of shape (n, k_l)."""
        outcome: list[FloatArray] = []
        H = X
        for W, b in self.layers:
            Z: FloatArray = H @ W.T
            if b is not None:
                Z += b
            outcome.append(Z)
            H = np.maximum(Z, 0.0)
        return outcome

    def _blocks(self, n: int) -> list[slice]:
        return row_blocks(n, sum(self.widths) + 1)

    def preactivations(self, X: ArrayLike) -> list[FloatArray]:
        """Pre-activations of each hidden layer, shapes (n, k_l)."""
        return self._forward(checked_points(X, self.dimension))[:-1]

    def patterns(self, X: ArrayLike) -> list[BoolArray]:
        """Which neurons of each hidden layer are strictly active; shapes (n, k_l)."""
        return [Z > 0 for Z in self.preactivations(X)]

    def __call__(self, X: ArrayLike) -> FloatArray:
        """Values N(x_i), shape (n,); evaluated in blocks of samples."""
        rows = checked_points(X, self.dimension)
        values = np.empty(rows.shape[0])
        for block in self._blocks(rows.shape[0]):
            values[block] = self._forward(rows[block])[-1][:, 0]
        return values

    def gradient(self, X: ArrayLike, weights: ArrayLike, *, kink: float = 0.0) -> MLPGradient:
        r"""Gradient of a weighted sum of values by the parameters, by backpropagation.

        .. math:: \nabla_\theta \sum_i g_i N(x_i), \qquad \mathrm{relu}'(0) = \text{kink}

        With D_L = g as a column and D_l = (D_{l+1} W_{l+1}) * relu'(Z_l), the derivative by W_l is
        D_l^T relu(Z_{l-1}) (with X in place of relu(Z_0)) and the derivative by b_l is the column sum of D_l.

        Parameters as in `TwoLayer.gradient`; the derivatives have the shapes of the weights and biases.
        """
        rows = checked_points(X, self.dimension)
        g = vector("weights", weights, rows.shape[0])
        kink = checked_kink(kink)
        dW = [np.zeros_like(W) for W in self.weights]
        db = [np.zeros(W.shape[0]) for W in self.weights]
        for block in self._blocks(rows.shape[0]):
            Z = self._forward(rows[block])
            D = g[block][:, None]
            for index in reversed(range(self.depth)):
                dW[index] += D.T @ (np.maximum(Z[index - 1], 0.0) if index else rows[block])
                db[index] += D.sum(axis=0)
                if index:
                    D = (D @ self.weights[index]) * relu_slopes(Z[index - 1], kink)
        biases = tuple(None if b is None else d for (_, b), d in zip(self.layers, db, strict=True))
        return MLPGradient(weights=tuple(dW), biases=biases)

    def input_gradient(self, X: ArrayLike, *, kink: float = 0.0) -> FloatArray:
        """Derivative of N by x at each sample; shape (n, d)."""
        rows = checked_points(X, self.dimension)
        kink = checked_kink(kink)
        slopes = np.empty_like(rows)
        for block in self._blocks(rows.shape[0]):
            D: FloatArray = np.ones((rows[block].shape[0], 1))
            Z = self._forward(rows[block])
            for index in reversed(range(1, self.depth)):
                D = (D @ self.weights[index]) * relu_slopes(Z[index - 1], kink)
            slopes[block] = D @ self.weights[0]
        return slopes

    # Rescaling ------------------------------------------------------------------------------------

    def _times(self, factor: float) -> MLP:
        """All trained parameters times `factor`, homogeneous or not."""
        trained = self.depth if self.outputs == "trained" else self.depth - 1
        scaled = [(factor * W, None if b is None else factor * b) for W, b in self.layers[:trained]]
        return MLP.from_layers([*scaled, *self.layers[trained:]], outputs=self.outputs)

    def scaled(self, factor: float) -> MLP:
        """All trained parameters times `factor`: values are multiplied by factor^degree; homogeneous networks only."""
        self._required_degree()
        return self._times(real_number("factor", factor, above=0.0))

    # Two layers ----------------------------------------------------------------------------------

    @classmethod
    def from_two_layer(cls, network: TwoLayer) -> MLP:
        """The same network as an `MLP` of depth 2, bit for bit."""
        return cls.from_layers(network.layers, outputs=network.outputs)

    def to_two_layer(self) -> TwoLayer:
        """The same network as a `TwoLayer`, bit for bit; another depth or an output bias is refused."""
        return TwoLayer.from_layers(self.layers, outputs=self.outputs)
