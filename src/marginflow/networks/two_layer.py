r"""Two-layer ReLU networks N(x) = sum_j v_j relu(w_j . x + b_j), the object that all four papers study."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, matrix, one_of, read_only, real_number, sealed, vector, whole_number
from marginflow.doors import checked
from marginflow.errors import InputError
from marginflow.networks import initialisation, neurons
from marginflow.networks.evaluation import HiddenLayer, checked_kink, checked_points, relu_slopes, row_blocks
from marginflow.networks.layers import Gradient, Layer, Outputs
from marginflow.networks.network import AbstractOneOutput


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoLayer(HiddenLayer, AbstractOneOutput):
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
    >>> net.margins([[3.0, 1.0], [-1.0, 2.0]], [1, -1])
    array([2., 2.])
    >>> net.split(0, [0.25, 0.75]).compact().width
    2
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
        """A random network.

        Parameters
        ----------
        width, dimension : int
            Number k of neurons and input dimension d.
        law : AbstractInitialisation or None
            How W, b and v are drawn; None is the law of `torch.nn.Linear`.
        scale : float
            Factor on every trained parameter (frozen outputs keep the values that the law gives them).
        bias : bool
            Whether the hidden neurons have biases.
        outputs : "trained" or "frozen"
            Whether v is trained.
        seed : int
            Same seed, same bits.

        Examples
        --------
        >>> from marginflow.networks import TwoLayer
        >>> TwoLayer.initialise(width=200, dimension=100, scale=0.01, seed=0)
        TwoLayer(width=200, dimension=100, with bias, outputs trained)
        """
        width = whole_number("width", width)
        dimension = whole_number("dimension", dimension)
        scale = real_number("scale", scale, above=0.0)
        one_of("outputs", outputs, ("trained", "frozen"))
        if not isinstance(bias, bool):
            raise InputError(f"bias is {bias!r}; True or False is expected.")
        sizes, biases = (dimension, width, 1), (bias, False)
        layers = initialisation.drawn_layers(law, sizes, biases, outputs=outputs, seed=seed)
        return cls.from_layers(layers, outputs=outputs).scaled(scale)

    @classmethod
    def from_directions(cls, U: ArrayLike, signs: ArrayLike, *, bias: bool) -> TwoLayer:
        r"""The balanced network with u_j = |v_j| (w_j, b_j) and sign(v_j) = signs_j, trained outputs.

        At fixed u_j the norm is least when |v_j| = ||(w_j, b_j)|| = ||u_j||^{1/2}; a zero row gives a zero neuron.

        Parameters
        ----------
        U : array, shape (k, d + 1) with bias, (k, d) without
            Rows u_j; with bias the last column belongs to the biases.
        signs : array, shape (k,)
            -1 or +1.
        bias : bool
            Whether the network has biases.
        """
        directions = matrix("U", U)
        if not isinstance(bias, bool):
            raise InputError(f"bias is {bias!r}; True or False is expected.")
        if bias and directions.shape[1] < 2:
            raise InputError("U has 1 column; with bias at least 2 are expected (the last one holds the biases).")
        A, v = neurons.balanced_rows(directions, labels("signs", signs, directions.shape[0]))
        return cls(W=A[:, :-1] if bias else A, b=A[:, -1] if bias else None, v=v)

    # Shape and size -------------------------------------------------------------------------------

    @property
    def degree(self) -> int:
        """Degree of homogeneity in the trained parameters: N(c theta) = c^degree N(theta), c > 0."""
        return 2 if self.outputs == "trained" else 1

    @property
    def directions(self) -> FloatArray:
        """The rows u_j = |v_j| (w_j, b_j): together with sign(v_j), all that the function depends on."""
        return np.abs(self.v)[:, None] * self.augmented

    @property
    def signs(self) -> FloatArray:
        """Sign of v_j, with +1 for v_j = 0 [VYS22, section 5: J+ holds the neurons with v_j >= 0]."""
        return np.where(self.v < 0, -1.0, 1.0)

    def norm_squared(self) -> float:
        """||theta||^2 over the trained parameters."""
        return Gradient(W=self.W, b=self.b, v=self.v).norm_squared(self.outputs)

    def __repr__(self) -> str:
        bias = "with bias" if self.b is not None else "without bias"
        return f"TwoLayer(width={self.width}, dimension={self.dimension}, {bias}, outputs {self.outputs})"

    # Evaluation -----------------------------------------------------------------------------------

    def __call__(self, X: ArrayLike) -> FloatArray:
        """Values N(x_i), shape (n,); evaluated in blocks of samples."""
        return self._combined(X, self.v)

    def gradient(self, X: ArrayLike, weights: ArrayLike, *, kink: float = 0.0) -> Gradient:
        r"""Gradient of a weighted sum of values by the parameters.

        .. math:: \nabla_{(W, b, v)} \sum_i g_i N(x_i), \qquad \mathrm{relu}'(0) = \text{kink}

        Two matrix products of size n x d x k; no temporary of more than a block of samples is made.

        Parameters
        ----------
        X : array, shape (n, d)
            Samples.
        weights : array, shape (n,)
            The g_i; for a loss sum_i l(y_i N(x_i)) they are y_i l'(y_i N(x_i)).
        kink : float in [0, 1]
            relu'(0); torch and FCB22 take 0, the papers allow any value.

        Returns
        -------
        Gradient
            In the shapes of W, b and v.
        """
        rows = checked_points(X, self.dimension)
        g = vector("weights", weights, rows.shape[0])
        kink = checked_kink(kink)
        dW = np.zeros_like(self.W)
        db = np.zeros(self.width)
        dv = np.zeros(self.width)
        for block in row_blocks(rows.shape[0], self.width):
            Z = self._preactivations(rows[block])
            slopes = relu_slopes(Z, kink)
            dv += g[block] @ np.maximum(Z, 0.0, out=Z)
            slopes *= g[block][:, None]
            dW += slopes.T @ rows[block]
            db += slopes.sum(axis=0)
        dW *= self.v[:, None]
        db *= self.v
        return Gradient(W=dW, b=None if self.b is None else db, v=dv)

    def input_gradient(self, X: ArrayLike, *, kink: float = 0.0) -> FloatArray:
        """Derivative of N by x at each sample, sum_j v_j relu'(z_ij) w_j; shape (n, d)."""
        rows = checked_points(X, self.dimension)
        kink = checked_kink(kink)
        slopes = np.empty_like(rows)
        for block in row_blocks(rows.shape[0], self.width):
            slopes[block] = (relu_slopes(self._preactivations(rows[block]), kink) * self.v) @ self.W
        return slopes

    # Rescaling ------------------------------------------------------------------------------------

    def scaled(self, factor: float) -> TwoLayer:
        """All trained parameters times `factor`; values are multiplied by factor^degree."""
        factor = real_number("factor", factor, above=0.0)
        if factor == 1.0:
            return self
        return replace(
            self,
            W=sealed(factor * self.W),
            b=None if self.b is None else factor * self.b,
            v=self.v if self.outputs == "frozen" else factor * self.v,
        )

    # Neurons --------------------------------------------------------------------------------------

    def _of_rows(self, A: FloatArray, v: FloatArray) -> TwoLayer:
        if self.b is None:
            return replace(self, W=A, v=v)
        return replace(self, W=A[:, :-1], b=A[:, -1], v=v)

    def neurons(self, index: ArrayLike) -> TwoLayer:
        """The network of the neurons selected by an index array or a boolean mask, in that order."""
        chosen = neurons.selection(index, self.width)
        return self._of_rows(self.augmented[chosen], self.v[chosen])

    def permuted(self, order: ArrayLike) -> TwoLayer:
        """The same function with the neurons in the given order (a permutation of 0, ..., k - 1)."""
        chosen = neurons.selection(order, self.width)
        if not np.array_equal(np.sort(chosen), np.arange(self.width)):
            raise InputError(f"The order {chosen.tolist()} is not a permutation of the {self.width} neurons.")
        return self.neurons(chosen)

    def balanced(self) -> TwoLayer:
        """The same function with |v_j| = ||(w_j, b_j)||: the least norm that its u_j allow (trained outputs only)."""
        if self.outputs == "frozen":
            raise InputError("The outputs are frozen; only a network with trained outputs can be balanced.")
        return self._of_rows(*neurons.balanced_rows(self.directions, self.signs))

    def split(self, neuron: int, shares: ArrayLike) -> TwoLayer:
        """Replace a neuron, in its place, by copies with the given positive shares that sum to 1.

        Copy i has parameters sqrt(share_i) (w, b, v), so the function, balance, norm and stationarity are unchanged.
        With frozen outputs the copies' frozen outputs are sqrt(share_i) v.
        """
        a = vector("shares", shares)
        if a.size == 0 or (a <= 0).any() or abs(a.sum() - 1.0) > 1e-12:
            raise InputError(f"shares are {a.tolist()}; positive numbers that sum to 1 are expected.")
        index = neurons.selection(neuron, self.width)
        return self._of_rows(*neurons.split_rows(self.augmented, self.v, int(index[0]), a))

    def merged(self, index: ArrayLike, *, tolerance: float = 1e-12) -> TwoLayer:
        r"""Merge the selected neurons into one, where the first stood: the inverse of `split`.

        Refused unless they have one sign and positively parallel (w_j, b_j), up to `tolerance` between unit vectors,
        because any other merging would change the function. With u_j = |v_j| (w_j, b_j) the new neuron has
        |v| = (sum_j v_j^2)^{1/2} and u = sum_j u_j; the norm does not rise, and balanced neurons give a balanced one.
        """
        tolerance = real_number("tolerance", tolerance, at_least=0.0)
        group = np.unique(neurons.selection(index, self.width))
        A = self.augmented
        if (
            len(neurons.parallel_groups(A[group], self.v[group], tolerance)) != 1
            or not self.directions[group].any(axis=1).all()
        ):
            raise InputError(
                f"Neurons {group.tolist()} are not positively parallel with outputs of one sign; "
                "merging them would change the function."
            )
        groups = [group if j == group[0] else np.array([j]) for j in range(self.width) if j not in group[1:]]
        return self._of_rows(*neurons.merged_rows(A, self.v, groups))

    def compact(self, *, tolerance: float = 1e-12) -> TwoLayer:
        """The same function with zero neurons dropped and all parallel neurons of one sign merged, as by `merged`.

        A neuron is zero when v_j or (w_j, b_j) is. Neurons that meet no other are kept bit for bit; of the zero
        function one zero neuron is left.
        """
        tolerance = real_number("tolerance", tolerance, at_least=0.0)
        groups = neurons.parallel_groups(self.augmented, self.v, tolerance)
        if not groups:
            return self._of_rows(
                np.zeros_like(self.augmented[:1]), self.v[:1] if self.outputs == "frozen" else np.zeros(1)
            )
        return self._of_rows(*neurons.merged_rows(self.augmented, self.v, groups))

    def widened(self, width: int) -> TwoLayer:
        """The same function with exactly `width` neurons: the largest neurons are split evenly.

        Every parameter-space statement (balance, norm, stationarity) is unchanged by the splitting.
        """
        width = whole_number("width", width, minimum=self.width)
        return self._of_rows(*neurons.widened_rows(self.augmented, self.v, width))

    # Files ----------------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Layer]:
        """The two layers [(W, b), (v as one row, None)]."""
        return [(self.W, self.b), (self.v[None, :], None)]

    @classmethod
    @checked
    def from_layers(cls, layers: list[Layer], *, outputs: Outputs = "trained") -> TwoLayer:
        """The inverse of `layers`; another depth or an output bias is refused."""
        if len(layers) != 2 or layers[1][1] is not None:
            ending = "with" if layers and layers[-1][1] is not None else "without"
            raise InputError(
                f"The network has depth {len(layers)} {ending} output bias; depth 2 without output bias is expected "
                "(an MLP may have any)."
            )
        (W, b), (out, _) = layers
        return cls(W=W, b=b, v=out[0], outputs=outputs)
