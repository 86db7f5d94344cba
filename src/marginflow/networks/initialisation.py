r"""How random networks begin: each law draws the layers (W, b) of a network of any depth.

The papers' own laws carry the papers' keys. FVBS23 states none and needs none: its theorems hold from every start, and
it has no experiments.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from marginflow.arrays import FloatArray, matrix, read_only, real_number, whole_number
from marginflow.errors import InputError
from marginflow.networks.layers import Layer, Outputs


class AbstractInitialisation(ABC):
    """A law of the parameters of a ReLU network, given its sizes."""

    @abstractmethod
    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw the layers of a network with sizes (d, k_1, ..., k_{L-1}, 1).

        Layer l has W of shape (sizes[l + 1], sizes[l]) and, where biases[l] is true, b of shape (sizes[l + 1],). With
        outputs="frozen" the last layer takes the fixed values that the law has for it.
        """


@dataclass(frozen=True)
class TorchDefault(AbstractInitialisation):
    r"""The law of `torch.nn.Linear`: W and b uniform on +-1/sqrt(fan in), where the fan in counts the columns of W.

    Frozen outputs are +-1/sqrt(k), alternating, with one more +1/sqrt(k) when k is odd.

    Deviations
    ----------
    The law is torch's, the random numbers are ours: the same seed gives other numbers in torch.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer, initialisation
    >>> net = TwoLayer.initialise(width=4, dimension=9, law=initialisation.TorchDefault(), outputs="frozen")
    >>> net.v
    array([ 0.5, -0.5,  0.5, -0.5])
    >>> bool(abs(net.W).max() <= 1 / 3)
    True
    """

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw W, then b, layer by layer."""

        def layer(height: int, columns: int, bias: bool) -> Layer:
            edge = 1.0 / np.sqrt(columns)
            W = rng.uniform(-edge, edge, (height, columns))
            return W, rng.uniform(-edge, edge, height) if bias else None

        return _layer_by_layer(sizes, biases, layer, None if outputs == "trained" else unit_outputs(sizes[-2]))


@dataclass(frozen=True)
class GaussianStart(AbstractInitialisation):
    r"""Every parameter independent N(0, deviation^2), or N(0, deviation^2 / fan in) with `fan_in=True`.

    Frozen outputs are +-1/sqrt(k), as in `TorchDefault`.
    """

    deviation: float = 1.0
    fan_in: bool = False

    def __post_init__(self) -> None:
        real_number("deviation", self.deviation, above=0.0)

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw W, then b, layer by layer."""

        def layer(height: int, columns: int, bias: bool) -> Layer:
            deviation = self.deviation / (np.sqrt(columns) if self.fan_in else 1.0)
            W = deviation * rng.standard_normal((height, columns))
            return W, deviation * rng.standard_normal(height) if bias else None

        return _layer_by_layer(sizes, biases, layer, None if outputs == "trained" else unit_outputs(sizes[-2]))


@dataclass(frozen=True)
class Balanced(AbstractInitialisation):
    r"""Every hidden neuron has as much norm coming in as going out; in two layers |v_j| = ||(w_j, b_j)||.

    Gradient flow conserves ||(w_j, b_j)||^2 - ||outgoing weights of j||^2 for every hidden neuron, at any depth, and at
    a KKT point of a homogeneous network it is 0: from a balanced start the flow has nothing to undo.

    The first layer is drawn by `base`; each later layer is drawn by `base` and its columns are rescaled to the norms of
    the rows (w_j, b_j) that feed them. Signs, hence the signs of v, are those of `base`.
    """

    base: AbstractInitialisation = field(default_factory=TorchDefault)

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw by the base law, then rescale columns, first layer to last."""
        if outputs == "frozen":
            raise InputError("The outputs are frozen, but a balanced start ties them to W; use outputs='trained'.")
        balanced = self.base.layers(sizes, biases, outputs=outputs, rng=rng)
        for index in range(1, len(balanced)):
            W, b = balanced[index]
            going = np.linalg.norm(W, axis=0)
            if not going.all():
                raise InputError(f"The law {self.base} gives a neuron no outgoing weight; it cannot be balanced.")
            rows, bias = balanced[index - 1]
            coming = np.linalg.norm(rows if bias is None else np.column_stack([rows, bias]), axis=1)
            balanced[index] = (W * (coming / going), b)
        return balanced


@dataclass(frozen=True, eq=False)
class InSpan(AbstractInitialisation):
    r"""The `base` law with the rows of the first layer projected on the span of the data.

    The part of (w_j, b_j) orthogonal to the span of the (x_i, 1) (of the x_i without bias) is never changed by gradient
    training, does not touch the values at the data, and is 0 at every KKT point: where it is not 0, it bounds the
    distance to a KKT point from below. Pre-activations at the data are those of the base draw.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples that span.
    base : AbstractInitialisation
        What is projected; not `Balanced`, whose balance would be lost: use `Balanced(base=InSpan(X=X))`.
    """

    X: FloatArray
    base: AbstractInitialisation = field(default_factory=TorchDefault)

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", read_only(matrix("X", self.X)))
        if isinstance(self.base, Balanced):
            raise InputError("base is Balanced, which the projection would undo; use Balanced(base=InSpan(X=X)).")

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw by the base law, then project the first layer."""
        if self.X.shape[1] != sizes[0]:
            raise InputError(f"X has {self.X.shape[1]} columns, but the network has dimension {sizes[0]}.")
        (W, b), *rest = self.base.layers(sizes, biases, outputs=outputs, rng=rng)
        if b is None:
            return [(_projected(W, self.X), None), *rest]
        A = _projected(np.column_stack([W, b]), np.column_stack([self.X, np.ones(self.X.shape[0])]))
        return [(A[:, :-1], A[:, -1]), *rest]


@dataclass(frozen=True)
class VYS22Start(AbstractInitialisation):
    r"""The start of the experiments of VYS22 [VYS22, section 6].

    Deviations
    ----------
    The paper does not state its initialisation. It used PyTorch, so the law of `torch.nn.Linear` is assumed:
    W, b uniform on +-1/sqrt(d), v uniform on +-1/sqrt(k). The paper trains all parameters; frozen outputs are refused.
    """

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw as torch does."""
        if outputs == "frozen":
            raise InputError("The outputs are frozen, but VYS22 trains them; use outputs='trained' or another law.")
        return TorchDefault().layers(sizes, biases, outputs=outputs, rng=rng)


@dataclass(frozen=True)
class KYS23Start(AbstractInitialisation):
    r"""The start of the experiments of KYS23 [KYS23, section 5], and its frozen outputs [KYS23, Thm 4.3].

    Frozen outputs are +-1, equally many of each, so the width must be even.

    Deviations
    ----------
    The paper states neither its initialisation nor its software; the law of `torch.nn.Linear` is assumed, for its two
    and its three layers.
    """

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw as torch does; frozen outputs are +-1, half each."""
        drawn = TorchDefault().layers(sizes, biases, outputs=outputs, rng=rng)
        if outputs == "frozen":
            if sizes[-2] % 2:
                raise InputError(
                    f"width is {sizes[-2]}; the frozen outputs of KYS23 need an even width (half +1, half -1)."
                )
            drawn[-1] = (half_signs(sizes[-2])[None, :], None)
        return drawn


@dataclass(frozen=True)
class FCB22Start(AbstractInitialisation):
    r"""The start of FCB22: W independent N(0, omega^2), outputs +-1/sqrt(m), no bias [FCB22, section 2.1].

    Half of the outputs are +1/sqrt(m), half -1/sqrt(m); for odd m the last is 0. `omega=None` is the paper's figure,
    omega^2 = 1 / (16 m d), with m the width and d the input dimension [FCB22, Figure 1].

    Deviations
    ----------
    The paper freezes the outputs. If they are trained, they start from the same values. At greater depth (ours; the
    paper has two layers) every hidden layer is Gaussian, by default with omega^2 = 1 / (16 rows columns).

    Examples
    --------
    >>> from marginflow.networks import TwoLayer, initialisation
    >>> law = initialisation.FCB22Start()
    >>> TwoLayer.initialise(width=5, dimension=2, law=law, bias=False, outputs="frozen").v * 5**0.5
    array([ 1., -1.,  1., -1.,  0.])
    """

    omega: float | None = None

    def __post_init__(self) -> None:
        if self.omega is not None:
            real_number("omega", self.omega, above=0.0)

    def layers(
        self, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, rng: np.random.Generator
    ) -> list[Layer]:
        """Draw the hidden layers; the outputs are the same whether trained or frozen."""
        if any(biases):
            raise InputError("The network of FCB22 has no bias; use bias=False (bias='none' for an MLP).")

        def layer(height: int, columns: int, bias: bool) -> Layer:
            omega = 0.25 / np.sqrt(float(columns) * height) if self.omega is None else self.omega
            return omega * rng.standard_normal((height, columns)), None

        a = unit_outputs(sizes[-2])
        if a.size % 2:
            a[-1] = 0.0
        return _layer_by_layer(sizes, biases, layer, a)


def half_signs(width: int) -> FloatArray:
    """Alternating +1, -1: half of each, one more +1 when the width is odd."""
    return np.where(np.arange(width) % 2 == 0, 1.0, -1.0)


def unit_outputs(width: int) -> FloatArray:
    """Output weights +-1/sqrt(k), alternating: a vector of norm 1."""
    return half_signs(width) / sqrt(width)


def drawn_layers(
    law: AbstractInitialisation | None, sizes: Sequence[int], biases: Sequence[bool], *, outputs: Outputs, seed: int
) -> list[Layer]:
    """The layers that a seed gives; None is torch's law."""
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    chosen = TorchDefault() if law is None else law
    if not isinstance(chosen, AbstractInitialisation):
        raise InputError(f"law is {law!r}; an initialisation such as TorchDefault() is expected.")
    return chosen.layers(sizes, biases, outputs=outputs, rng=rng)


def _layer_by_layer(
    sizes: Sequence[int], biases: Sequence[bool], draw: Callable[[int, int, bool], Layer], fixed: FloatArray | None
) -> list[Layer]:
    """Draw layer after layer with one(rows, columns, bias); `fixed` replaces the last layer where it is given."""
    shapes = list(zip(sizes[1:], sizes[:-1], biases, strict=True))
    if fixed is None:
        return [draw(*shape) for shape in shapes]
    return [*(draw(*shape) for shape in shapes[:-1]), (fixed[None, :], None)]


def _projected(A: FloatArray, X: FloatArray) -> FloatArray:
    """The rows of A projected on the span of the rows of X (singular values at rounding level do not count)."""
    _, sizes, Vt = np.linalg.svd(X, full_matrices=False)
    basis = Vt[sizes > max(X.shape) * np.finfo(np.float64).eps * sizes[0]]
    projected: FloatArray = (A @ basis.T) @ basis
    return projected
