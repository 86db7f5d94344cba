r"""Networks that are robust by construction: one neuron per sample [VYS22, Thm 3.1], one per cluster [FVBS23, Thm 4.1].

Both give each sample or cluster a neuron of its own, active there and dead around all the others.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labelled_rows, real_number, whole_number
from marginflow.data.dataset import full_dimension
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

# How far a norm may be from sqrt(d), relatively, and still count as sqrt(d).
SPHERE_RTOL = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustNetwork:
    """A constructed network with the radius its theorem states and the sharp one.

    Parameters
    ----------
    network : TwoLayer
    stated_radius : float
        No perturbation of at most this size changes a sign, as printed in the paper.
    sharp_radius : float
        No perturbation smaller than this changes a sign. For [VYS22, Thm 3.1] it is attained: the neuron of x_i dies
        at exactly this distance along -x_i.
    correlation : float
        c with <x_i, x_j> <= c d for all i != j (samples or cluster means).
    """

    network: TwoLayer
    stated_radius: float
    sharp_radius: float
    correlation: float


def one_neuron_per_sample(
    X: ArrayLike, y: ArrayLike, *, correlation: float | None = None, ambient_dimension: int | None = None
) -> RobustNetwork:
    r"""The robust network of [VYS22, Thm 3.1], width m.

    .. math:: v_j = y_j,\quad w_j = \frac{2 x_j}{d (1 - c)},\quad b_j = -\frac{1 + c}{1 - c}

    for ||x_j|| = sqrt(d) and |<x_i, x_j>| <= c d. Then y_i N(x_i) = 1 and no perturbation of size at most
    (1 - c) sqrt(d) / 4 changes the sign of a sample.

    Parameters
    ----------
    X : array, shape (m, d)
        Samples of norm sqrt(d).
    y : array, shape (m,)
    correlation : float or None
        The c of the theorem; None for the smallest that its hypothesis allows, max |<x_i, x_j>| / d. A smaller
        value, even a negative one, is accepted as long as <x_i, x_j> <= c d: that one side is all the proof uses.
    ambient_dimension : int or None
        d, when X holds exact reduced coordinates with fewer columns.

    Returns
    -------
    RobustNetwork
        `sharp_radius` is (1 - c) sqrt(d) / 2, twice what is printed: x_i's own neuron has pre-activation 1, every
        other at most -1, and all weights have norm 2 / (sqrt(d) (1 - c)).

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.robustness import one_neuron_per_sample
    >>> made = one_neuron_per_sample(4.0 * np.eye(16)[:3], [1, -1, 1])
    >>> made.stated_radius, made.sharp_radius
    (1.0, 2.0)
    >>> made.network.margins(4.0 * np.eye(16)[:3], [1, -1, 1])
    array([1., 1., 1.])
    """
    points, signs = labelled_rows("X", X, "y", y)
    d = full_dimension(points.shape[1], ambient_dimension)
    _require_sphere("Sample", points, d)
    largest, largest_size = _correlations(points, d)
    c = largest_size if correlation is None else real_number("correlation", correlation, above=-1.0, below=1.0)
    if c >= 1:
        raise InputError(f"Two samples have correlation {c:g}; the construction needs less than 1.")
    if c < largest - 1e-12:
        raise InputError(f"correlation is {c:g}, but two samples have correlation {largest:g}.")
    network = TwoLayer(W=2.0 * points / (d * (1.0 - c)), b=np.full(signs.size, -(1.0 + c) / (1.0 - c)), v=signs)
    root = float(np.sqrt(d))
    return RobustNetwork(
        network=network, stated_radius=(1.0 - c) / 4.0 * root, sharp_radius=(1.0 - c) / 2.0 * root, correlation=c
    )


def one_neuron_per_cluster(
    means: ArrayLike, mean_labels: ArrayLike, *, width: int | None = None, ambient_dimension: int | None = None
) -> RobustNetwork:
    r"""The robust network of [FVBS23, Thm 4.1], width k or padded with zero neurons to any larger width.

    .. math:: v_j = y^{(j)},\quad w_j = \frac{4 \mu^{(j)}}{d},\quad b_j = -2

    Parameters
    ----------
    means : array, shape (k, d)
        Cluster means of norm sqrt(d).
    mean_labels : array, shape (k,)
    width : int or None
        Total width; None for k.
    ambient_dimension : int or None
        d, when the means are given in exact reduced coordinates.

    Returns
    -------
    RobustNetwork
        `stated_radius` is sqrt(d) / 8. `sharp_radius`, 0.45 sqrt(d), holds under [FVBS23, Asm 2.2] on the event that
        |<mu_q, xi>| <= sigma sqrt(d) ln d for all q; both speak of samples drawn from the clusters with high
        probability. What is certain for a given sample is its `interval_bound`, at least
        (sqrt(d) / 4) min(own pre-activation, -largest opposing pre-activation).
    """
    M, signs = labelled_rows("means", means, "mean_labels", mean_labels)
    d = full_dimension(M.shape[1], ambient_dimension)
    _require_sphere("Mean", M, d)
    k = signs.size
    total = k if width is None else whole_number("width", width, minimum=k)
    W = np.zeros((total, M.shape[1]))
    W[:k] = 4.0 * M / d
    b, v = np.zeros(total), np.zeros(total)
    b[:k], v[:k] = -2.0, signs
    root = float(np.sqrt(d))
    return RobustNetwork(
        network=TwoLayer(W=W, b=b, v=v),
        stated_radius=root / 8.0,
        sharp_radius=0.45 * root,
        correlation=_correlations(M, d)[1],
    )


def one_neuron_per_sample_without_bias(X: ArrayLike, y: ArrayLike, *, ambient_dimension: int | None = None) -> TwoLayer:
    r"""The worked example N' of [VYS22, Sec. 5.1]: w_j = x_j / d, v_j = y_j and no bias.

    On orthogonal samples it has the same margins as the robust network with smaller weights, and it is flipped by
    z = (4 / d) sum of the samples of one class, ||z|| = 2 sqrt(2): see `one_sided_direction`.
    """
    points, signs = labelled_rows("X", X, "y", y)
    d = full_dimension(points.shape[1], ambient_dimension)
    return TwoLayer(W=points / d, b=np.zeros(signs.size), v=signs)


def _require_sphere(noun: str, points: FloatArray, d: int) -> None:
    norms = np.linalg.norm(points, axis=1)
    off = np.abs(norms / np.sqrt(d) - 1.0)
    worst = int(np.argmax(off))
    if off[worst] > SPHERE_RTOL:
        raise InputError(f"{noun} {worst} has norm {norms[worst]:.12g}; sqrt(d) = {np.sqrt(d):.12g} is expected.")


def _correlations(points: FloatArray, d: int) -> tuple[float, float]:
    """Largest <x_i, x_j> / d and largest |<x_i, x_j>| / d over i != j; zeros for a single point."""
    if points.shape[0] == 1:
        return 0.0, 0.0
    gram = points @ points.T
    off = gram[~np.eye(points.shape[0], dtype=np.bool_)]
    return float(off.max()) / d, float(np.abs(off).max()) / d
