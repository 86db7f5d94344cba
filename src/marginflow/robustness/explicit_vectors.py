r"""The universal adversarial vectors that the papers write down, z = (eta_1 + eta_2) u, with their constants.

[VYS22, Thm 4.1]: u = sum_i y_i x_i over the samples; [FVBS23, Thm 4.2 and D.1]: u = sum_q y^(q) mu^(q) over the
clusters. Three forms each: "literal" (the printed constants, y N(x - y z) <= -1), "flip" (the same proof stopped as
soon as the sign has changed) and "sharp" (the lemmas of the proof with the constants they really give).

The step sizes are rational functions; `vys22_steps` accepts fractions as well as floats and is then exact.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labelled_rows, matrix, one_of, read_only, real_number
from marginflow.data import ClusterConstants, Dataset
from marginflow.data.dataset import full_dimension
from marginflow.errors import InputError
from marginflow.robustness.cluster_bounds import ClusterBounds

Form = Literal["literal", "flip", "sharp"]
FORMS = ("literal", "flip", "sharp")
Number = TypeVar("Number", float, Fraction)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplicitVector:
    """z = (eta_1 + eta_2) u, what went into it, and by how much the hypotheses hold.

    Parameters
    ----------
    vector : array, shape (d,)
        z, for the signed perturbation x - y z.
    u : array, shape (d,)
        The direction.
    eta_1, eta_2 : float
        Step that opens the neurons of the other class, and step that overturns the output.
    dimension : int
        The d of the formulas (the ambient one when coordinates are reduced).
    size_bound : float
        The bound on ||z|| that the paper derives for the literal form (with its explicit constant).
    slacks : dict of str to float
        Slack of every hypothesis on the data; the theorem applies when none is negative.
    """

    vector: FloatArray
    u: FloatArray
    eta_1: float
    eta_2: float
    dimension: int
    form: Form
    size_bound: float
    slacks: dict[str, float]

    @property
    def size(self) -> float:
        """||z||."""
        return float(np.linalg.norm(self.vector))

    @property
    def relative_size(self) -> float:
        """||z|| / sqrt(d); a value above 1 says that z is longer than the data, whatever it flips."""
        return self.size / float(np.sqrt(self.dimension))

    @property
    def applies(self) -> bool:
        """Whether all hypotheses on the data hold."""
        return all(slack >= 0 for slack in self.slacks.values())


def vys22_steps(d: Number, m: Number, p: Number, n_least: Number, form: Form) -> tuple[Number, Number]:
    r"""(eta_1, eta_2) of [VYS22, Thm 4.1] for m samples of which the smaller class has n_least = c m.

    literal: eta_1 = (p + 1) / (d - m p), eta_2 = 2 (c c' + 1) (d + 1) / (m c (d - m p)), c' = m (p + 1) / (d + 1).
    flip: eta_2 / 2, with which y N(x - y z) <= 0.
    sharp: D = d - (m - 1) p instead of d - m p, and eta_2 = ((n_least - 1) (p + 1) + d + 1) / (n_least D), from
    Lemma C.2 averaged over a class and Lemma C.4 without the sample's own term; y N(x - y z) <= 0.
    """
    if form == "sharp":
        D = d - (m - 1) * p
        return (p + 1) / D, ((n_least - 1) * (p + 1) + d + 1) / (n_least * D)
    D = d - m * p
    c, c_prime = n_least / m, m * (p + 1) / (d + 1)
    return (p + 1) / D, (1 if form == "flip" else 2) * (c * c_prime + 1) * (d + 1) / (n_least * D)


def vys22_vector(
    X: ArrayLike, y: ArrayLike, *, form: Form = "literal", ambient_dimension: int | None = None
) -> ExplicitVector:
    r"""The vector z of [VYS22, Thm 4.1] for these samples (for Corollary 4.1: give the samples on the margin only).

    Under the hypotheses, every KKT point of the max-margin problem has y_i N(x_i - y_i z) <= -1 (literal) or <= 0
    (flip, sharp) for every sample, whatever its width. c is the share of the smaller class, p the largest
    |<x_i, x_j>|, both taken from the data.

    Parameters
    ----------
    X : array, shape (m, d)
    y : array, shape (m,)
    form : "literal", "flip" or "sharp"
    ambient_dimension : int or None
        d, when X holds exact reduced coordinates.

    Returns
    -------
    ExplicitVector
        Slacks: "equal norms" (1e-9 minus the largest relative deviation from sqrt(d)) and "sample size",
        (d + 1) / (3 (p + 1)) - m; the sharp form needs m - 1 in place of m (the sum in Lemma C.1 skips one sample).
    """
    one_of("form", form, FORMS)
    points, signs = labelled_rows("X", X, "y", y)
    d = full_dimension(points.shape[1], ambient_dimension)
    m, least = signs.size, _least(signs, "labels")
    gram = points @ points.T
    p = float(np.abs(gram[~np.eye(m, dtype=np.bool_)]).max())
    counted = m - 1 if form == "sharp" else m
    if d - counted * p <= 0:
        raise InputError(
            f"d - {counted} p is {d - counted * p:g} with d = {d} and p = {p:g}; the vector needs it to be positive."
        )
    eta_1, eta_2 = vys22_steps(float(d), float(m), p, float(least), form)
    c, c_prime = least / m, m * (p + 1) / (d + 1)
    u = signs @ points
    return ExplicitVector(
        vector=read_only((eta_1 + eta_2) * u),
        u=read_only(u),
        eta_1=eta_1,
        eta_2=eta_2,
        dimension=d,
        form=form,
        size_bound=float((18 * c * c_prime + 12) * np.sqrt(2 * d) / (c * np.sqrt(m))),  # Lemma C.9
        slacks={
            "equal norms": 1e-9 - float(np.abs(np.sqrt(np.diag(gram) / d) - 1.0).max()),
            "sample size": (d + 1) / (3 * (p + 1)) - counted,
        },
    )


def fvbs23_vector(
    means: ArrayLike,
    mean_labels: ArrayLike,
    sigma: float,
    *,
    form: Form = "literal",
    ambient_dimension: int | None = None,
) -> ExplicitVector:
    r"""The vector z of [FVBS23, Thm 4.2 and D.1]: it depends on the distribution of the clusters alone.

    With L = ln d, Delta = 4 sigma sqrt(d) L, c' = k (p + Delta + 1) / (d - Delta + 1), D = d - Delta - k p - k Delta:

    .. math:: \eta_1 = \frac{2\Delta + p + 1}{D}, \quad \eta_2 = \frac{3 (3 d + \Delta + 1)(1 - 2 c')}{D (1 - 3 c') c k}

    flip: 3/2 in place of 3, since Lemma D.2 proves |N| <= 3/2. sharp: the same chain with the radii that properties
    P1-P3 really give and with constants that do not presuppose sigma near 1; y N(x - y z) <= 0.

    Parameters
    ----------
    means : array, shape (k, d)
    mean_labels : array, shape (k,)
    sigma : float
        Standard deviation of the noise, 0 <= sigma (0 is the limit in which the samples are the means).
    form : "literal", "flip" or "sharp"
    ambient_dimension : int or None

    Returns
    -------
    ExplicitVector
        Slacks of [FVBS23, Asm 2.2]: "equal norms", "noise" (1 - sigma) and "separation",
        (d - Delta + 1) / 10 - k (p + Delta + 1). The sharp form needs less: its "separation" is 1/3 - (k - 1) B / a.
    """
    one_of("form", form, FORMS)
    M, signs = labelled_rows("means", means, "mean_labels", mean_labels)
    d = full_dimension(M.shape[1], ambient_dimension)
    sigma = real_number("sigma", sigma, at_least=0.0)
    least = _least(signs, "cluster labels")
    numbers = ClusterConstants.from_gram(M @ M.T, signs, sigma=sigma, dimension=d)
    if form == "sharp":
        bounds = _usable(ClusterBounds.proved(numbers, least))
        eta_1, eta_2, separation = bounds.eta_1, bounds.eta_2, 1 / 3 - bounds.ratio
    else:
        D = _responses(numbers)
        if D <= 0 or not 0 < numbers.c_prime < 1 / 3:
            raise InputError(
                f"d - Delta - k p - k Delta is {D:g} and c' is {numbers.c_prime:g}; the vector needs the first to be "
                "positive and the second to be below 1/3."
            )
        eta_1, eta_2 = fvbs23_steps(numbers, least, form)
        separation = numbers.slack
    u = signs @ M
    c = numbers.balance
    A_d, B_d = fvbs23_size_constants(d)
    return ExplicitVector(
        vector=read_only((eta_1 + eta_2) * u),
        u=read_only(u),
        eta_1=eta_1,
        eta_2=eta_2,
        dimension=d,
        form=form,
        size_bound=float((c * A_d + B_d) * np.sqrt(1.1 + 0.1 / d) * np.sqrt(d / (c**2 * signs.size))),
        slacks={"equal norms": 1e-9 - numbers.norm_defect, "noise": 1.0 - sigma, "separation": separation},
    )


def fvbs23_steps(numbers: ClusterConstants, least: float, form: Form = "literal") -> tuple[float, float]:
    """(eta_1, eta_2) of [FVBS23, Lem D.6 and D.7], literal or flip, where the rarer label has `least` = c k clusters.

    eta_2 is infinite where a label is missing.
    """
    d, p, Delta, c_prime, D = numbers.dimension, numbers.p, numbers.Delta, numbers.c_prime, _responses(numbers)
    front = 3.0 if form == "literal" else 1.5
    eta_2 = front * (3 * d + Delta + 1) * (1 - 2 * c_prime) / (D * (1 - 3 * c_prime) * least) if least else math.inf
    return (2 * Delta + p + 1) / D, eta_2


def _responses(numbers: ClusterConstants) -> float:
    """D = d - Delta - k p - k Delta, which every response to u is at least."""
    return numbers.dimension - numbers.Delta - numbers.n_clusters * (numbers.p + numbers.Delta)


def fvbs23_size_constants(d: int) -> tuple[float, float]:
    """A_d and B_d of ||z|| <= (c A_d + B_d) sqrt(1.1 + 0.1/d) sqrt(d / (c^2 k)) [FVBS23, Lem D.9]."""
    den = d - d / 21 - (d + 1) / 10
    return 0.2 * (d + 1) / den, 24 / 7 * (64 * d / 21 + 1) / den


def _usable(bounds: ClusterBounds) -> ClusterBounds:
    if not bounds.usable:
        raise InputError(
            f"The clusters are too close: (k - 1) B / a is {bounds.ratio:g} and D is {bounds.D:g}; less than 1/3 and "
            "more than 0 are expected."
        )
    return bounds


def measured_cluster_vector(data: Dataset, X_test: ArrayLike, test_clusters: ArrayLike) -> ExplicitVector:
    r"""The sharp vector with every bound measured on the samples: it flips these test points at every KKT point.

    Needs no assumption on norms or noise, only 1/3 > (k - 1) B / a; z then depends on the sample. Formula as in
    `ClusterBounds`, with the noise of a point taken as its difference from its mean.

    Parameters
    ----------
    data : Dataset
        Training samples with clusters, means and mean_labels; every cluster must occur.
    X_test : array, shape (t, d)
    test_clusters : integer array, shape (t,)
    """
    if data.clusters is None or data.means is None or data.mean_labels is None:
        raise InputError("The data know no clusters; clusters, means and mean_labels are expected.")
    M, signs, q = data.means, data.mean_labels, data.clusters
    tests = matrix("X_test", X_test)
    qt = np.asarray(test_clusters)
    if qt.shape != (tests.shape[0],) or not np.issubdtype(qt.dtype, np.integer):
        raise InputError(f"test_clusters has shape {qt.shape}; {tests.shape[0]} whole numbers are expected.")
    if tests.shape[1] != data.dimension:
        raise InputError(f"X_test has {tests.shape[1]} columns, but the data have dimension {data.dimension}.")
    missing = np.setdiff1d(np.arange(signs.size), q)
    if missing.size:
        raise InputError(f"Cluster {int(missing[0])} has no training sample; every cluster must occur.")
    _least(signs, "cluster labels")
    u = signs @ M
    bounds = _usable(ClusterBounds.measured(data, signs[q], signs, tests, qt))
    eta = bounds.eta_1 + bounds.eta_2
    return ExplicitVector(
        vector=read_only(eta * u),
        u=read_only(u),
        eta_1=bounds.eta_1,
        eta_2=bounds.eta_2,
        dimension=data.full_dimension,
        form="sharp",
        size_bound=float(eta * np.linalg.norm(u)),
        slacks={"separation": 1 / 3 - bounds.ratio},
    )


def _least(signs: FloatArray, what: str) -> int:
    """How many labels of the rarer sign there are, refused if none."""
    least = int(min((signs > 0).sum(), (signs < 0).sum()))
    if least == 0:
        raise InputError(f"All {signs.size} {what} are {signs[0]:+g}; both -1 and +1 must occur for a balance c > 0.")
    return least
