r"""KKT points known in closed form, each with its multipliers and Clarke weights.

They are the outside truth for every solver and every checker of this library: no iteration is involved, so what a
certificate reports on them is rounding and nothing else. Throughout :math:`\tilde x = (x, 1)` (or x without bias),
:math:`u_j = |v_j| (w_j, b_j)`, and the multipliers belong to :math:`\tfrac12 \|\theta\|^2`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, matrix, one_of, read_only, real_number, vector, whole_number
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.limit.closed_forms.settings import ORTHOGONAL
from marginflow.limit.neurons import split_to_width
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedForm(Brief):
    r"""A KKT point with everything that proves it.

    Parameters
    ----------
    network : TwoLayer of width k
        theta at margin 1.
    data : Dataset of n samples
    multipliers : array, shape (n,)
        lambda_i >= 0, the multipliers of y_i N(x_i) >= 1 with the objective ||theta||^2 / 2.
    clarke : array, shape (n, k)
        relu'(w_j . x_i + b_j): 1 where active, 0 where inactive, the value that makes theta stationary on a kink.
    source : str
        Where the formula comes from.
    """

    network: TwoLayer
    data: Dataset
    multipliers: FloatArray
    clarke: FloatArray
    source: str

    def __post_init__(self) -> None:
        n, k = self.data.n_samples, self.network.width
        object.__setattr__(self, "multipliers", read_only(vector("multipliers", self.multipliers, n)))
        weights = matrix("clarke", self.clarke)
        if weights.shape != (n, k):
            raise InputError(f"clarke has shape {weights.shape}; {(n, k)} is expected (sample, neuron).")
        object.__setattr__(self, "clarke", read_only(weights))

    @property
    def objective(self) -> float:
        """||theta||^2 / 2 over the trained parameters."""
        return self.network.norm_squared() / 2

    def widened(self, width: int) -> ClosedForm:
        """The same point with `width` neurons: neurons are split, the multipliers stay as they are."""
        network, clarke = split_to_width(self.network, self.clarke, width)
        return replace(self, network=network, clarke=clarke)


def orthogonal(data: Dataset, *, bias: bool = True) -> ClosedForm:
    r"""One positive and one negative neuron on orthogonal samples: every opposite pair sits exactly on the kink.

    With :math:`S_\pm = \sum_{I_\pm} \|x_i\|^{-2}`, :math:`S = S_+ + S_-` and, for the positive neuron,

    .. math:: u_+ = \sum_{I_+} \frac{1 + S_-}{(1 + S) \|x_i\|^2} \tilde x_i
                  - \sum_{I_-} \frac{S_+}{(1 + S) \|x_i\|^2} \tilde x_i, \qquad
              \|u_+\|^2 = \frac{S_+ (1 + S_-)}{1 + S},

    (mirrored for :math:`u_-`), one has :math:`u_\pm \cdot \tilde x_i = 1` on the neuron's own class and 0 on the
    other one. The multipliers are the first coefficients over :math:`\|u_\pm\|`, and every kink has the same
    Clarke weight :math:`\sqrt{S_+ S_- / ((1 + S_+)(1 + S_-))} < 1`. Without bias the coefficients are
    :math:`\|x_i\|^{-2}` and 0, and the kinks have weight 0.

    Source: [VYS22, X.orthKKT] for equal norms sqrt(d); the same point is the pair with kinks of [FVBS23, 7.3 (i)].

    Parameters
    ----------
    data : Dataset
        Orthogonal non-zero samples of any norms; with one class only, the network has one neuron.
    bias : bool
        Whether the network has hidden biases.

    Returns
    -------
    ClosedForm of width 2 (use `widened` for more)

    Deviations
    ----------
    The source asks for equal norms; the formula above, by Sherman and Morrison, needs none.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit.closed_forms import closed_form
    >>> data = Dataset(X=2.0 * np.eye(4), y=[1, 1, -1, -1])
    >>> point = closed_form.orthogonal(data)
    >>> point.network.margins(data.X, data.y).round(12)
    array([1., 1., 1., 1.])
    >>> round(float(point.multipliers.sum() - point.objective), 12)
    0.0
    """
    inverse = 1.0 / _orthogonal_squares(data)
    plus = data.y > 0
    S_plus, S_minus = float(inverse[plus].sum()), float(inverse[~plus].sum())
    constant = 1.0 if bias else 0.0  # the constant coordinate adds one to every entry of the Gram matrix
    whole = 1.0 + constant * (S_plus + S_minus)
    Xt = augmented_samples(data.X, bias=bias)
    directions, signs, columns = [], [], []
    multipliers = np.zeros(data.n_samples)
    weight = np.sqrt(S_plus * S_minus / ((1 + S_plus) * (1 + S_minus))) if bias else 0.0
    for sign, own, S_own, S_other in ((1.0, plus, S_plus, S_minus), (-1.0, ~plus, S_minus, S_plus)):
        if not own.any():
            continue
        coefficients = inverse * np.where(own, 1.0 + constant * S_other, -constant * S_own) / whole
        multipliers[own] = coefficients[own] / np.sqrt(S_own * (1.0 + constant * S_other) / whole)
        directions.append(coefficients @ Xt)
        signs.append(sign)
        columns.append(np.where(own, 1.0, weight))
    return ClosedForm(
        network=TwoLayer.from_directions(np.array(directions), signs, bias=bias),
        data=data,
        multipliers=multipliers,
        clarke=np.column_stack(columns),
        source="VYS22/X.orthKKT",
    )


def pair_kink(positive: int, negative: int, dimension: int) -> ClosedForm:
    r"""The pair with kinks on the orthogonal cluster means :math:`\sqrt d \, e_q`, one sample per cluster.

    .. math:: u_+ = a \sum_{I_+} \tilde x - \beta \sum_{I_-} \tilde x, \quad
              a = \frac{d + k_-}{d (d + k)}, \quad \beta = \frac{k_+}{d (d + k)}, \quad \|u_+\| = \sqrt{a k_+}.

    Source: [FVBS23, 7.3 (i)], with sigma = 0.

    Parameters
    ----------
    positive, negative : int
        Numbers k_+ and k_- of clusters of each label, together at most `dimension`; not both 0.
    dimension : int
        d.
    """
    positive = whole_number("positive", positive, minimum=0)
    negative = whole_number("negative", negative, minimum=0)
    dimension = whole_number("dimension", dimension)
    k = positive + negative
    if not 1 <= k <= dimension:
        raise InputError(
            f"positive + negative is {k}; between 1 and dimension = {dimension} orthogonal means are expected."
        )
    means = np.sqrt(dimension) * np.eye(k, dimension)
    y = np.repeat([1.0, -1.0], [positive, negative])
    data = Dataset(X=means, y=y, clusters=np.arange(k), means=means, mean_labels=y, origin={"name": "orthogonal means"})
    return replace(orthogonal(data), source="FVBS23/7.3(i)")


def specialist(data: Dataset, *, bias: bool = True) -> ClosedForm:
    r"""One neuron per sample, silent on all others.

    .. math:: u_q = \frac{\tilde x_q}{\|\tilde x_q\|^2}, \qquad \lambda_q = \frac{1}{\|\tilde x_q\|}, \qquad
              \tilde x_i \cdot \tilde x_q \le 0 \text{ for } i \ne q.

    Source: [FVBS23, 7.3 (ii)], where all norms are sqrt(d) and all inner products of two means are -rho < -1.

    Parameters
    ----------
    data : Dataset
        Samples with <x_i, x_j> <= -1 (with bias) or <= 0 (without) for i != j; any norms.
    bias : bool
        Whether the network has hidden biases.

    Deviations
    ----------
    The source asks for equal norms and equal inner products; the point needs neither. Where an inner product of
    the augmented samples is exactly zero, the pair is on a kink and its Clarke weight is 0.
    """
    Xt = augmented_samples(data.X, bias=bias)
    gram = Xt @ Xt.T
    norms = np.sqrt(np.diag(gram))
    if (norms == 0).any():
        raise InputError(f"Sample {int(np.argmin(norms))} is zero; without bias no network gives it a margin.")
    cosines = gram / np.outer(norms, norms)
    most = f"specialists exist where every pair of samples has an inner product of at most {-1 if bias else 0}"
    _require_none_above_rounding(cosines, data, most)
    return ClosedForm(
        network=TwoLayer.from_directions(Xt / (norms**2)[:, None], data.y, bias=bias),
        data=data,
        multipliers=1.0 / norms,
        clarke=np.eye(data.n_samples),
        source="FVBS23/7.3(ii)",
    )


def catastrophic(data: Dataset, *, outputs: str = "trained") -> ClosedForm:
    r"""One specialist per negative sample and one neuron for all positive ones, without bias, on orthogonal samples.

    .. math:: u_i = x_i / \|x_i\|^2 \ (i \in I_-), \qquad u_+ = \sum_{I_+} x_i / \|x_i\|^2 .

    A KKT point that errs on at least half of the sphere. With trained outputs
    :math:`\lambda_i = \|x_i\|^{-1}` on the negative samples and :math:`\|x_i\|^{-2} / \|u_+\|` on the positive
    ones (:math:`q^{-1/2}` for q orthonormal ones); with frozen outputs +1, -1 all are :math:`\|x_i\|^{-2}`. Every
    pre-activation off the diagonal is 0 and its Clarke weight is 0.

    Source: [KYS23, Prop. 4.6].

    Parameters
    ----------
    data : Dataset
        Orthogonal non-zero samples (orthonormal in the source), at least one of either label.
    outputs : "trained" or "frozen"
        "frozen" is the point as printed; "trained" is the repaired, balanced one.

    Deviations
    ----------
    As printed (v_j = +1, -1) the point is stationary in the input weights only; when the outputs are trained as
    well, the positive neuron must be balanced, v = q^{1/4} and w = q^{-1/4} sum x_i. The function is the same.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit.closed_forms import closed_form
    >>> data = Dataset(X=np.eye(5), y=[1, 1, 1, 1, -1])
    >>> closed_form.catastrophic(data).multipliers
    array([0.5, 0.5, 0.5, 0.5, 1. ])
    >>> closed_form.catastrophic(data, outputs="frozen").multipliers
    array([1., 1., 1., 1., 1.])
    """
    one_of("outputs", outputs, ("trained", "frozen"))
    data.require_two_classes()
    inverse = 1.0 / _orthogonal_squares(data)
    plus = data.y > 0
    negative = np.flatnonzero(~plus)
    U = np.vstack([data.X[negative] * inverse[negative, None], inverse[plus] @ data.X[plus]])
    signs = np.append(-np.ones(negative.size), 1.0)
    clarke = np.column_stack([np.eye(data.n_samples)[:, negative], plus.astype(np.float64)])
    if outputs == "trained":
        network = TwoLayer.from_directions(U, signs, bias=False)
        multipliers = np.where(plus, inverse / np.sqrt(inverse[plus].sum()), np.sqrt(inverse))
    else:
        network = TwoLayer(W=U, v=signs, outputs="frozen")
        multipliers = inverse
    return ClosedForm(
        network=network, data=data, multipliers=multipliers, clarke=clarke, source=f"KYS23/Prop4.6 ({outputs} outputs)"
    )


def five_points(*, first: float = 0.1, spacing: float = 0.1, last: float = 0.9) -> ClosedForm:
    r"""A strict local minimum on the line that contradicts [KYS23, Prop. A.4]: N(x_5) is not 1.

    Labels +, -, +, -, +; x_1 .. x_4 at equal distances h, x_5 at least 2h further. Neurons: right-facing with kinks
    at x_1 (v < 0) and x_2 (v > 0), left-facing at x_3 (v < 0) and x_4 (v > 0), slopes :math:`|v w| = (3, 4, 4, 3)/h`;
    N is +1, -1, +1, -1 on the first four and :math:`(x_5 - x_4)/h - 1` on the last. With
    :math:`s_l = \sqrt{1 + x_l^2}`:

    .. math:: \lambda_4 = \frac{s_4 + s_1/2 + 3 s_3/2}{3h/2}, \quad \lambda_3 = \frac{s_2}{h} + 2 \lambda_4, \quad
              \lambda_2 = \frac{2 s_2 + s_1}{h} + \lambda_4, \quad \lambda_1 = \frac{\lambda_2 - s_3/h}{2}, \quad
              \lambda_5 = 0 .

    Source: [KYS23, PropA.4] (counterexample).

    Parameters
    ----------
    first, spacing : float
        x_1 and h > 0.
    last : float
        x_5, at least x_4 + 2h.

    Examples
    --------
    >>> from marginflow.limit.closed_forms import closed_form
    >>> point = closed_form.five_points()
    >>> point.network(point.data.X).round(9)
    array([ 1., -1.,  1., -1.,  4.])
    >>> point.multipliers.round(3)
    array([20.488, 51.416, 52.139, 20.97 ,  0.   ])
    """
    first = real_number("first", first)
    h = real_number("spacing", spacing, above=0.0)
    fourth = first + 3 * h
    last = real_number("last", last, at_least=fourth + 2 * h * (1 - ORTHOGONAL))
    x = np.append(first + h * np.arange(4), last)
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    s1, s2, s3, s4 = np.hypot(x[:4], 1.0)
    lam4 = (s4 + s1 / 2 + 1.5 * s3) / (1.5 * h)
    lam3 = s2 / h + 2 * lam4
    lam2 = (2 * s2 + s1) / h + lam4
    lam = np.array([(lam2 - s3 / h) / 2, lam2, lam3, lam4, 0.0])
    facing = np.array([1.0, 1.0, -1.0, -1.0])
    slopes = np.array([3.0, 4.0, 4.0, 3.0]) / h
    U = (slopes * facing)[:, None] * np.column_stack([np.ones(4), -x[:4]])
    signs = np.array([-1.0, 1.0, -1.0, 1.0])
    clarke = (facing * (np.arange(5)[:, None] - np.arange(4)) > 0).astype(np.float64)
    Xt = np.column_stack([x, np.ones(5)])
    for j in range(4):
        # t_j . xt_j = 0, so the component of stationarity along xt_j gives lambda_j phi'_jj.
        off_kink = signs[j] * (lam * y * clarke[:, j]) @ Xt
        clarke[j, j] = -signs[j] * y[j] * (off_kink @ Xt[j]) / (Xt[j] @ Xt[j]) / lam[j]
    return ClosedForm(
        network=TwoLayer.from_directions(U, signs, bias=True),
        data=Dataset(X=x[:, None], y=y, origin={"name": "five points", "first": first, "spacing": h, "last": last}),
        multipliers=lam,
        clarke=clarke,
        source="KYS23/PropA.4 (counterexample)",
    )


def _orthogonal_squares(data: Dataset) -> FloatArray:
    """||x_i||^2, or an `InputError` that names two samples that are not orthogonal."""
    gram = data.X @ data.X.T
    squares: FloatArray = np.diag(gram).copy()
    if (squares == 0).any():
        raise InputError(f"Sample {int(np.argmin(squares))} is zero; orthogonal non-zero samples are expected.")
    norms = np.sqrt(squares)
    cosines: FloatArray = np.abs(gram) / np.outer(norms, norms)
    _require_none_above_rounding(cosines, data, "orthogonal samples are expected")
    return squares


def _require_none_above_rounding(cosines: FloatArray, data: Dataset, expected: str) -> None:
    """Of different samples."""
    np.fill_diagonal(cosines, -1.0)
    if cosines.max() > ORTHOGONAL:
        i, j = np.unravel_index(int(np.argmax(cosines)), cosines.shape)
        raise InputError(f"Samples {i} and {j} have the inner product {data.X[i] @ data.X[j]:g}; {expected}.")
