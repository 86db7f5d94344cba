r"""Two-layer ReLU networks N(x) = sum_j v_j relu(w_j . x + b_j), the object that all four papers study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    labels,
    matrix,
    one_of,
    read_only,
    real_number,
    vector,
    whole_number,
)
from marginflow.errors import InputError
from marginflow.networks import initialisation
from marginflow.storage import load_tensors, save_tensors

Outputs = Literal["trained", "frozen"]

# Samples are processed in blocks of rows so that no temporary exceeds this many numbers (64 MiB of float64).
_BLOCK_NUMBERS = 1 << 23


@dataclass(frozen=True, eq=False, kw_only=True)
class Gradient:
    """The derivative of a scalar by the parameters of a `TwoLayer`, in the same shapes."""

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
class TwoLayer:
    r"""A two-layer ReLU network without output bias.

    .. math:: N(x) = \sum_{j=1}^{k} v_j \, \mathrm{relu}(w_j \cdot x + b_j)

    Parameters
    ----------
    W : array, shape (k, d)
        Rows are the input weights w_j.
    v : array, shape (k,)
        Output weights.
    b : array, shape (k,), or None
        Hidden biases; None for a network without bias.
    outputs : "trained" or "frozen"
        Whether v belongs to the parameter vector theta. With trained outputs N is homogeneous of
        degree 2 in theta = (W, b, v); with frozen outputs of degree 1 in theta = (W, b).

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.networks import TwoLayer
    >>> net = TwoLayer(W=np.eye(2), v=[1.0, -1.0])
    >>> net([[3.0, 1.0], [-1.0, 2.0]])
    array([ 2., -2.])
    """

    W: FloatArray
    v: FloatArray
    b: FloatArray | None = None
    outputs: Outputs = "trained"

    def __post_init__(self) -> None:
        W = matrix("W", self.W)
        k = W.shape[0]
        object.__setattr__(self, "W", read_only(W))
        object.__setattr__(self, "v", read_only(vector("v", self.v, k)))
        if self.b is not None:
            object.__setattr__(self, "b", read_only(vector("b", self.b, k)))
        one_of("outputs", self.outputs, ("trained", "frozen"))

    @classmethod
    def initialise(
        cls,
        width: int,
        dimension: int,
        *,
        law: initialisation.AbstractInitialisation | None = None,
        scale: float = 1.0,
        bias: bool = True,
        outputs: Outputs = "trained",
        seed: int = 0,
    ) -> TwoLayer:
        """A random network: `law` (default the torch law) with every trained parameter times `scale`."""
        width = whole_number("width", width)
        dimension = whole_number("dimension", dimension)
        scale = real_number("scale", scale, above=0.0)
        rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
        chosen = initialisation.TorchDefault() if law is None else law
        W, b, v = chosen.draw(width, dimension, bias=bias, outputs=outputs, rng=rng)
        return cls(
            W=scale * W,
            b=None if b is None else scale * b,
            v=v if outputs == "frozen" else scale * v,
            outputs=outputs,
        )

    @classmethod
    def from_directions(cls, U: ArrayLike, signs: ArrayLike, *, bias: bool) -> TwoLayer:
        r"""The balanced network with u_j = |v_j| (w_j, b_j) and sign(v_j) = signs_j.

        At fixed u_j the norm is least when |v_j| = ||(w_j, b_j)|| = ||u_j||^{1/2}; a zero row gives a zero neuron.
        """
        directions = matrix("U", U)
        s = labels("signs", signs, directions.shape[0])
        root = np.sqrt(np.linalg.norm(directions, axis=1))
        scaled = directions / np.where(root > 0, root, 1.0)[:, None]
        return cls(W=scaled[:, :-1] if bias else scaled, b=scaled[:, -1] if bias else None, v=s * root)

    # Shape and size -------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Number k of hidden neurons."""
        return int(self.W.shape[0])

    @property
    def dimension(self) -> int:
        """Input dimension d."""
        return int(self.W.shape[1])

    @property
    def degree(self) -> int:
        """Degree of homogeneity in the trained parameters: N(c theta) = c^degree N(theta), c > 0."""
        return 2 if self.outputs == "trained" else 1

    @property
    def augmented(self) -> FloatArray:
        """The rows (w_j, b_j), or w_j without bias; shape (k, d + 1) or (k, d)."""
        return self.W if self.b is None else np.column_stack([self.W, self.b])

    @property
    def directions(self) -> FloatArray:
        """The rows u_j = |v_j| (w_j, b_j): together with sign(v_j), all that the function depends on."""
        directions: FloatArray = np.abs(self.v)[:, None] * self.augmented
        return directions

    @property
    def signs(self) -> FloatArray:
        """Sign of v_j, with +1 for v_j = 0."""
        return np.where(self.v < 0, -1.0, 1.0)

    def norm_squared(self) -> float:
        """||theta||^2 over the trained parameters."""
        return Gradient(W=self.W, b=self.b, v=self.v).norm_squared(self.outputs)

    def __repr__(self) -> str:
        bias = "with bias" if self.b is not None else "without bias"
        return f"TwoLayer(width={self.width}, dimension={self.dimension}, {bias}, outputs {self.outputs})"

    # Evaluation -----------------------------------------------------------------------------------

    def _points(self, X: ArrayLike) -> FloatArray:
        points = matrix("X", X)
        if points.shape[1] != self.dimension:
            raise InputError(
                f"X has {points.shape[1]} columns, but the network has dimension {self.dimension}."
            )
        return points

    def _blocks(self, n: int) -> list[slice]:
        rows = max(1, _BLOCK_NUMBERS // self.width)
        return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]

    def _preactivations(self, X: FloatArray) -> FloatArray:
        Z: FloatArray = X @ self.W.T
        if self.b is not None:
            Z += self.b
        return Z

    def preactivations(self, X: ArrayLike) -> FloatArray:
        """w_j . x_i + b_j, shape (n, k)."""
        return self._preactivations(self._points(X))

    def patterns(self, X: ArrayLike) -> BoolArray:
        """Which neurons are strictly active, w_j . x_i + b_j > 0; shape (n, k)."""
        return self.preactivations(X) > 0

    def __call__(self, X: ArrayLike) -> FloatArray:
        """Values N(x_i), shape (n,); evaluated in blocks of samples."""
        points = self._points(X)
        values = np.empty(points.shape[0])
        for block in self._blocks(points.shape[0]):
            Z = self._preactivations(points[block])
            values[block] = np.maximum(Z, 0.0, out=Z) @ self.v
        return values

    def margins(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """y_i N(x_i), shape (n,)."""
        values = self(X)
        return labels("y", y, values.size) * values

    def gradient(self, X: ArrayLike, weights: ArrayLike, *, kink: float = 0.0) -> Gradient:
        r"""Gradient of sum_i g_i N(x_i) by (W, b, v), with relu'(0) = `kink` (the papers allow any value in [0, 1]).

        Two matrix products of size n x d x k; no temporary of more than a block of samples is made.
        """
        points = self._points(X)
        g = vector("weights", weights, points.shape[0])
        dW = np.zeros_like(self.W)
        db = np.zeros(self.width)
        dv = np.zeros(self.width)
        for block in self._blocks(points.shape[0]):
            Z = self._preactivations(points[block])
            slopes = np.heaviside(Z, kink)
            dv += g[block] @ np.maximum(Z, 0.0, out=Z)
            slopes *= g[block][:, None]
            dW += slopes.T @ points[block]
            db += slopes.sum(axis=0)
        dW *= self.v[:, None]
        db *= self.v
        return Gradient(W=dW, b=None if self.b is None else db, v=dv)

    # Transformations ------------------------------------------------------------------------------

    def scaled(self, factor: float) -> TwoLayer:
        """All trained parameters times `factor`; values are multiplied by factor^degree."""
        factor = real_number("factor", factor, above=0.0)
        return replace(
            self,
            W=factor * self.W,
            b=None if self.b is None else factor * self.b,
            v=self.v if self.outputs == "frozen" else factor * self.v,
        )

    def at_margin_one(self, X: ArrayLike, y: ArrayLike) -> TwoLayer:
        """Rescale so that min_i y_i N(x_i) = 1; every constant of the theory is stated there."""
        least = float(self.margins(X, y).min())
        if least <= 0:
            raise InputError(
                f"The smallest margin is {least:g}; only a network that classifies every sample correctly "
                "can be rescaled to margin 1."
            )
        return self.scaled(least ** (-1.0 / self.degree))

    def neurons(self, index: ArrayLike) -> TwoLayer:
        """The network of the neurons selected by an index array or a boolean mask, in that order."""
        chosen = np.arange(self.width)[np.asarray(index)]
        if chosen.size == 0:
            raise InputError("No neuron is selected; a network needs at least one.")
        return replace(self, W=self.W[chosen], b=None if self.b is None else self.b[chosen], v=self.v[chosen])

    def split(self, neuron: int, shares: ArrayLike) -> TwoLayer:
        """Replace a neuron by copies with the given positive shares (summing to 1); the function is unchanged.

        Copy i has parameters sqrt(share_i) (w, b, v), so balance, norm and stationarity are unchanged too. With
        frozen outputs the copies' frozen outputs are sqrt(share_i) v.
        """
        a = vector("shares", shares)
        if a.size == 0 or (a <= 0).any() or abs(a.sum() - 1.0) > 1e-12:
            raise InputError(f"shares are {a.tolist()}; positive numbers that sum to 1 are expected.")
        if not -self.width <= neuron < self.width:
            raise InputError(f"neuron is {neuron}, but the network has {self.width} neurons.")
        order = np.concatenate(
            [np.delete(np.arange(self.width), neuron), np.full(a.size, neuron % self.width)]
        )
        root = np.concatenate([np.ones(self.width - 1), np.sqrt(a)])
        grown = self.neurons(order)
        return replace(
            grown,
            W=root[:, None] * grown.W,
            b=None if grown.b is None else root * grown.b,
            v=root * grown.v,
        )

    def compact(self, *, rtol: float = 1e-12) -> TwoLayer:
        """The same function with zero neurons dropped and positively parallel neurons of one sign merged.

        Neurons are parallel when their unit vectors (w_j, b_j) differ by at most `rtol`. A merged neuron is
        balanced; with frozen outputs its frozen output is the root of the sum of squares of the parts.
        """
        U, s = self.directions, self.signs
        size = np.linalg.norm(U, axis=1)
        live = np.flatnonzero(size > 0)
        if live.size == 0:
            return self.neurons([0])
        groups = _parallel_groups(U[live] / size[live, None], s[live], rtol)
        if len(groups) == self.width:
            return self
        merged_U = np.array([U[live[group]].sum(axis=0) for group in groups])
        merged_s = np.array([s[live[group[0]]] for group in groups])
        if self.outputs == "trained":
            return TwoLayer.from_directions(merged_U, merged_s, bias=self.b is not None)
        v = merged_s * np.array([np.linalg.norm(self.v[live[group]]) for group in groups])
        A = merged_U / np.abs(v)[:, None]
        has_bias = self.b is not None
        return replace(self, W=A[:, :-1] if has_bias else A, b=A[:, -1] if has_bias else None, v=v)

    def widened(self, width: int) -> TwoLayer:
        """The same function with exactly `width` neurons: the largest neurons are split evenly.

        Every parameter-space statement (balance, norm, stationarity) is unchanged by the splitting.
        """
        width = whole_number("width", width, minimum=self.width)
        copies = np.ones(self.width, dtype=np.int64)
        size = np.linalg.norm(self.directions, axis=1)
        for _ in range(width - self.width):
            copies[np.argmax(size / copies)] += 1
        order = np.repeat(np.arange(self.width), copies)
        root = np.sqrt(1.0 / copies)[order]
        grown = self.neurons(order)
        return replace(
            grown,
            W=root[:, None] * grown.W,
            b=None if grown.b is None else root * grown.b,
            v=root * grown.v,
        )

    # Files ----------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, FloatArray]:
        """Arrays under the names of `torch.nn.Sequential(Linear, ReLU, Linear(bias=False))`."""
        state = {"0.weight": self.W, "2.weight": self.v[None, :]}
        if self.b is not None:
            state["0.bias"] = self.b
        return state

    @classmethod
    def from_state_dict(cls, state: Mapping[str, ArrayLike], *, outputs: Outputs = "trained") -> TwoLayer:
        """The inverse of `state_dict`; other names, an output bias or several outputs are refused."""
        known = {"0.weight", "0.bias", "2.weight"}
        if not {"0.weight", "2.weight"} <= set(state) <= known:
            raise InputError(
                f"The state holds {sorted(state)}; '0.weight', '2.weight' and optionally '0.bias' are expected "
                "(a two-layer ReLU network without output bias)."
            )
        out = matrix("2.weight", state["2.weight"])
        if out.shape[0] != 1:
            raise InputError(f"2.weight has {out.shape[0]} rows; a network with one output is expected.")
        return cls(W=np.asarray(state["0.weight"]), b=state.get("0.bias"), v=out[0], outputs=outputs)  # type: ignore[arg-type]

    def save(self, path: str | Path) -> Path:
        """Write as `.safetensors`, readable by torch as a `state_dict`."""
        return save_tensors(
            path, self.state_dict(), {"format": "marginflow.TwoLayer", "outputs": self.outputs}
        )

    @classmethod
    def load(cls, path: str | Path) -> TwoLayer:
        """Read a network from `.safetensors`, ours or a torch `state_dict` of the same architecture."""
        state, metadata = load_tensors(path)
        outputs = metadata.get("outputs", "trained")
        try:
            return cls.from_state_dict(state, outputs=outputs)  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _parallel_groups(units: FloatArray, signs: FloatArray, rtol: float) -> list[IntArray]:
    """Indices of unit vectors that agree up to `rtol` and have the same sign, group by group."""
    remaining = np.arange(units.shape[0])
    groups: list[IntArray] = []
    while remaining.size:
        first = remaining[0]
        near = np.linalg.norm(units[remaining] - units[first], axis=1) <= rtol
        near &= signs[remaining] == signs[first]
        near[0] = True
        groups.append(remaining[near])
        remaining = remaining[~near]
    return groups
