r"""Universal directions: sums of y_i x_i over the samples that a statement names.

All of them are directions z for the signed perturbation x_i - y_i t z (see `minimal_step`), except
`one_sided_direction`, which is added to the samples of one class only. Lengths are as the papers have them; nothing
is normalised.
"""

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, labelled_rows, real_number, vector
from marginflow.data.dataset import full_dimension
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

# "On the margin" in the experiments of [VYS22, Sec. 6]: within ten per cent of the smallest margin.
ON_MARGIN_RTOL = 0.1
# A multiplier counts as zero below this share of the largest one.
SUPPORT_RTOL = 1e-9


def label_sum(X: ArrayLike, y: ArrayLike, samples: BoolArray | None = None) -> FloatArray:
    r"""u = sum_i y_i x_i over all samples, or over those selected by a mask; shape (d,). [VYS22, Thm 4.1]

    Examples
    --------
    >>> from marginflow.robustness import label_sum
    >>> label_sum([[1.0, 0.0], [0.0, 2.0]], [1, -1])
    array([ 1., -2.])
    """
    points, signs = labelled_rows("X", X, "y", y)
    if samples is None:
        return signs @ points
    mask = np.asarray(samples)
    if mask.dtype != np.bool_ or mask.shape != signs.shape:
        raise InputError(f"samples has shape {mask.shape}; a mask with {signs.size} entries is expected.")
    if not mask.any():
        raise InputError("samples selects no sample; at least one is expected.")
    return signs[mask] @ points[mask]


def mean_sum(means: ArrayLike, mean_labels: ArrayLike) -> FloatArray:
    r"""u = sum_q y^(q) mu^(q), a direction of the distribution, not of a sample; shape (d,). [FVBS23, Thm 4.2]"""
    M, signs = labelled_rows("means", means, "mean_labels", mean_labels)
    return signs @ M


def dual_sum(X: ArrayLike, y: ArrayLike, multipliers: ArrayLike) -> FloatArray:
    r"""sum_i lambda_i y_i x_i with the multipliers of a KKT point; shape (d,)."""
    points, signs = labelled_rows("X", X, "y", y)
    return (_multipliers(multipliers, signs.size) * signs) @ points


def margin_samples(network: TwoLayer, X: ArrayLike, y: ArrayLike, *, tolerance: float = ON_MARGIN_RTOL) -> BoolArray:
    r"""The samples on the margin, y_i N(x_i) <= (1 + tolerance) min_l y_l N(x_l); a mask, shape (n,).

    tolerance = 0.1 is the set of the experiments in [VYS22, Sec. 6]; the exact set of [VYS22, Cor. 4.1] has it
    near 0. The two differ, and both differ from the support of the multipliers (`support_samples`).
    """
    tolerance = real_number("tolerance", tolerance, at_least=0.0)
    q = network.margins(X, y)
    least = float(q.min())
    if least <= 0:
        raise InputError(
            f"Sample {int(np.argmin(q))} has margin {least:g}; the margin set is defined when all samples are "
            "classified correctly."
        )
    return q <= (1.0 + tolerance) * least


def support_samples(multipliers: ArrayLike, *, tolerance: float = SUPPORT_RTOL) -> BoolArray:
    """The samples with lambda_i > tolerance max lambda; a mask, shape (n,)."""
    lam = _multipliers(multipliers, None)
    if not lam.any():
        raise InputError("All multipliers are zero; there is no support.")
    on: BoolArray = lam > real_number("tolerance", tolerance, at_least=0.0) * lam.max()
    return on


def one_sided_direction(X: ArrayLike, y: ArrayLike, label: int, *, ambient_dimension: int | None = None) -> FloatArray:
    r"""z = (4 / d) sum of the samples with this label: added to the samples of the other class. [VYS22, Sec. 5.1]

    An unsigned perturbation that aims at one class only; it is not the z of Theorem 4.1.
    """
    points, signs = labelled_rows("X", X, "y", y)
    if label not in (-1, 1):
        raise InputError(f"label is {label!r}; -1 or +1 is expected.")
    if not (signs == label).any():
        raise InputError(f"No sample has the label {label:+d}.")
    d = full_dimension(points.shape[1], ambient_dimension)
    total: FloatArray = 4.0 / d * points[signs == label].sum(axis=0)
    return total


def _multipliers(multipliers: ArrayLike, length: int | None) -> FloatArray:
    lam = vector("multipliers", multipliers, length)
    if (lam < 0).any():
        raise InputError(f"multipliers contains the value {lam.min():g}; multipliers must be at least 0.")
    return lam
