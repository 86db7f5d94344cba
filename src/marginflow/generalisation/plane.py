r"""The clean error of a network without bias in the plane, exactly: its decision set is a union of cones.

N is positively homogeneous in x, so its sign depends on the angle of x only and changes at finitely many rays. The
angle of a Gaussian point has a closed density (the projected normal), whose integral over each cone is a smooth
one-dimensional quadrature; Monte Carlo could not resolve errors of 1e-7 [FCB22, Fig. 1].
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from marginflow.arrays import FloatArray, labelled_rows, real_number
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

# Nodes of the Gauss-Legendre rule on each piece; a piece is no longer than this times sigma.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_PIECE = 0.5


def decision_rays(network: TwoLayer) -> tuple[FloatArray, FloatArray]:
    """The angles at which the sign of N changes, in [0, 2 pi), and the sign just after each of them.

    Between two neighbouring right angles to a neuron N(cos t, sin t) = a cos t + b sin t, so its zeros are exact.

    Parameters
    ----------
    network : TwoLayer
        Without bias, d = 2.

    Returns
    -------
    (array, array)
        Angles in increasing order, and signs -1, 0 or +1; both empty where the sign never changes.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.generalisation.ideal_xor import ideal_xor_network
    >>> from marginflow.generalisation.plane import decision_rays
    >>> angles, signs = decision_rays(ideal_xor_network([1.0, 0.0], [0.0, 1.0]))
    >>> np.degrees(angles), signs
    (array([ 45., 135., 225., 315.]), array([-1.,  1., -1.,  1.]))
    """
    _check(network)
    turn = 2.0 * math.pi
    alive = network.W.any(axis=1) & (network.v != 0.0)
    W, v = network.W[alive], network.v[alive]
    kinks = np.mod(np.concatenate([np.arctan2(W[:, 1], W[:, 0]) + s * 0.5 * math.pi for s in (1.0, -1.0)]), turn)
    corners = np.unique(np.concatenate([kinks, [0.0]]))
    corners = np.append(corners, corners[0] + turn)
    middles = 0.5 * (corners[:-1] + corners[1:])
    active = (np.cos(middles)[:, None] * W[:, 0] + np.sin(middles)[:, None] * W[:, 1]) > 0.0
    S = (active * v) @ W  # on a piece N(u) = <S, u>
    found: list[float] = []
    for (a, b), low, high in zip(S, corners[:-1], corners[1:], strict=True):
        if a == 0.0 and b == 0.0:
            continue
        first = math.atan2(-a, b)  # a cos t + b sin t = 0
        for zero in (first + k * math.pi for k in range(-3, 6)):
            if low <= zero <= high:
                found.append(zero)
    # A piece on which N vanishes has no zero of its own, but N changes at its ends.
    flat = ~S.any(axis=1)
    found += [*corners[:-1][flat], *corners[1:][flat]]
    if not found:
        return np.empty(0), np.empty(0)
    angles = np.unique(np.mod(found, turn))
    angles = angles[np.concatenate([[True], np.diff(angles) > 1e-13])]
    after = np.append(angles[1:], angles[0] + turn)
    between = 0.5 * (angles + after)
    signs = np.sign(network(np.column_stack([np.cos(between), np.sin(between)])))
    keep = signs != np.roll(signs, 1)
    return angles[keep], signs[keep]


def gaussian_cone_probability(mean: ArrayLike, sigma: float, low: float, high: float) -> float:
    r"""P(angle of x in [low, high]) for x ~ N(mean, sigma^2 I_2), low <= high <= low + 2 pi.

    .. math:: p(t) = \frac{e^{-r^2/2}}{2\pi} \left[1 + s \, \frac{\Phi(s)}{\varphi(s)}\right], \qquad
              r = \|\mu\|/\sigma, \; s = r \cos(t - t_\mu)

    Relative accuracy about 1e-12, also for probabilities of 1e-200.

    Examples
    --------
    >>> import math
    >>> from marginflow.generalisation.plane import gaussian_cone_probability
    >>> round(gaussian_cone_probability([1.0, 0.0], 0.5, -math.pi / 2, math.pi / 2), 12)  # Phi(2)
    0.977249868052
    """
    mu = np.asarray(mean, dtype=np.float64)
    sigma = real_number("sigma", sigma, above=0.0)
    if not low <= high <= low + 2.0 * math.pi + 1e-12:
        raise InputError(
            f"The angles are {low:g} and {high:g}; at most one turn from the first to the second is expected."
        )
    r, centre = float(np.hypot(*mu)) / sigma, math.atan2(mu[1], mu[0])
    pieces = max(1, math.ceil((high - low) / (_PIECE * min(1.0, 1.0 / max(r, 1e-300)))))
    ends = np.linspace(low, high, pieces + 1)
    half = 0.5 * np.diff(ends)
    t = (0.5 * (ends[:-1] + ends[1:]))[:, None] + half[:, None] * _NODES
    s = r * np.cos(t - centre)
    # e^{-r^2/2} Phi(s)/phi(s): for s < 0 by erfcx, for s >= 0 as sqrt(2 pi) e^{-(r^2 - s^2)/2} Phi(s).
    below = math.exp(-0.5 * r**2) * (
        1.0 + s * math.sqrt(0.5 * math.pi) * special.erfcx(-np.minimum(s, 0.0) / math.sqrt(2.0))
    )
    across = (r * np.sin(t - centre)) ** 2
    above = math.exp(-0.5 * r**2) + s * math.sqrt(2.0 * math.pi) * np.exp(-0.5 * across) * special.ndtr(s)
    density = np.where(s < 0.0, below, above) / (2.0 * math.pi)
    return float((half[:, None] * density * _WEIGHTS).sum())


def plane_error(network: TwoLayer, means: ArrayLike, mean_labels: ArrayLike, sigma: float) -> float:
    """P(y N(x) <= 0) for equally likely Gaussian clusters in the plane, each with the label of its mean.

    Parameters
    ----------
    network : TwoLayer
        Without bias, d = 2.
    means, mean_labels : arrays, shapes (k, 2) and (k,)
    sigma : float
        Deviation per coordinate.

    Examples
    --------
    >>> from marginflow.generalisation.ideal_xor import ideal_xor_error, ideal_xor_network
    >>> from marginflow.generalisation.plane import plane_error
    >>> ideal = ideal_xor_network([1.0, 0.0], [0.0, 1.0])
    >>> means = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> abs(plane_error(ideal, means, [1, 1, -1, -1], 0.02**0.5) / ideal_xor_error(0.02**0.5) - 1) < 1e-9
    True
    """
    _check(network)
    centres, y = labelled_rows("means", means, "mean_labels", mean_labels)
    angles, signs = decision_rays(network)
    if angles.size == 0:
        sign = float(np.sign(network(np.array([[1.0, 0.0]]))[0]))
        return float((y * sign <= 0.0).mean())
    after = np.append(angles[1:], angles[0] + 2.0 * math.pi)
    total = 0.0
    for centre, label in zip(centres, y, strict=True):
        for low, high, sign in zip(angles, after, signs, strict=True):
            if label * sign <= 0.0:
                total += gaussian_cone_probability(centre, sigma, float(low), float(high))
    return total / y.size


def _check(network: TwoLayer) -> None:
    if network.dimension != 2 or network.b is not None:
        raise InputError(f"The network is {network!r}; one in the plane without bias is expected.")
