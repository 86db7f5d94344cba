r"""Exact clean errors of networks without bias under any rotation invariant law; the target is +1 everywhere.

Two neurons [KYS23, Prop. 4.4] and one specialist per negative sample [KYS23, Prop. 4.6].
"""

import math

import numpy as np
from scipy import special

from marginflow.arrays import FloatArray, one_of, whole_number
from marginflow.errors import InputError
from marginflow.generalisation.sampled import TIES, Ties
from marginflow.networks import TwoLayer


def angle_between(a: FloatArray, b: FloatArray) -> float:
    """The angle between two non-zero vectors, accurate also where it is near 0 or pi."""
    p, q = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return 2.0 * math.atan2(float(np.linalg.norm(p - q)), float(np.linalg.norm(p + q)))


def _both_positive(a: FloatArray, b: FloatArray) -> float:
    """P(a . x > 0 and b . x > 0); 0 if one of them is the zero vector."""
    if not a.any() or not b.any():
        return 0.0
    return (math.pi - angle_between(a, b)) / (2 * math.pi)


def two_neuron_error(network: TwoLayer, *, ties: Ties = "error") -> float:
    r"""The clean error of a network with two neurons and no bias, exactly.

    With :math:`v_1 > 0 > v_2`, :math:`a = |v_1| w_1` and :math:`c = |v_2| w_2`,

    .. math:: P(N(x) \le 0) = \tfrac12 + \frac{\pi - \angle(a, c - a)}{2 \pi} \ge \tfrac12 .

    Source: [KYS23, Prop. 4.4], whose bound is the first summand. Signs other than these two are handled as well.

    Parameters
    ----------
    network : TwoLayer of width 2 without bias
    ties : "error" or "correct"
        P(N(x) <= 0) or P(N(x) < 0); half of the sphere is a tie when both neurons are asleep on it.

    Examples
    --------
    >>> from marginflow.generalisation import two_neuron_error
    >>> from marginflow.networks import TwoLayer
    >>> two_neuron_error(TwoLayer(W=[[1.0, 0.0], [1.0, 1.0]], v=[1.0, -1.0]))
    0.75
    """
    one_of("ties", ties, TIES)
    if network.width != 2 or network.b is not None:
        raise InputError(f"The network is {network!r}; two neurons without bias are expected.")
    if network.dimension < 2:
        raise InputError("The network has dimension 1; the law on the sphere needs a dimension of at least 2.")
    u = np.abs(network.v)[:, None] * network.W
    awake = u.any(axis=1)
    positive, negative = u[awake & (network.v > 0)], u[awake & (network.v < 0)]
    # N = 0 where every neuron sleeps, and N < 0 where the negative ones outweigh the positive ones
    if len(positive) == len(negative) == 1:
        a, c = positive[0], negative[0]
        below = _both_positive(-a, c) + _both_positive(a, c - a)
        zero = _both_positive(-a, -c) + (0.5 if np.array_equal(a, c) else 0.0)
    else:
        zero = _both_positive(*-u) if awake.all() else 1.0 - 0.5 * float(awake.any())
        below = 1.0 - zero if len(negative) else 0.0
    return min(1.0, below + zero) if ties == "error" else below


def specialists_error(positive: int, negative: int, *, ties: Ties = "error") -> float:
    r"""The clean error of one neuron for all q positive and one for each of k negative orthonormal samples, exactly.

    .. math:: P(N(x) \le 0) = P\Big( \sqrt q \, g_0^+ \le \sum_{i \le k} g_i^+ \Big)
              = \tfrac12 + \frac1\pi \int_0^\infty \frac{\mathrm{Im}\, \varphi(t)^k}{t} \, e^{-q t^2 / 2} \, dt ,
              \qquad \varphi(t) = \tfrac12 \big( 1 + \mathrm{w}(t / \sqrt2) \big)

    with independent standard normal g_i and the Faddeeva function w. The integral is summed at the midpoints of a grid
    of step h; the error is then at most the probability that the variable behind it exceeds 2 pi / h, which is chosen
    below 1e-30. The paper's bound is 1/2 - 2^-k. Source: [KYS23, Prop. 4.6].

    Parameters
    ----------
    positive, negative : int
        q and k.
    ties : "error" or "correct"
        P(N(x) <= 0) or P(N(x) < 0), which is smaller by 2^-(k + 1).

    Examples
    --------
    >>> from marginflow.generalisation import specialists_error
    >>> round(specialists_error(8, 2), 3), round(specialists_error(70, 30), 3)
    (0.607, 0.912)
    """
    one_of("ties", ties, TIES)
    q = whole_number("positive", positive, minimum=0)
    k = whole_number("negative", negative, minimum=0)
    asleep = 0.5 ** (k + 1) if q else 0.5**k
    if q == 0:
        return 1.0 if ties == "error" else 1.0 - asleep
    if k == 0:
        return 0.5 if ties == "error" else 0.0
    # S - sqrt(q) g: mean k / sqrt(2 pi), variance k (1/2 - 1/(2 pi)) + q, sub-Gaussian around it with variance k + q
    reach = k / math.sqrt(2 * math.pi) + 12.0 * math.sqrt(k + q)
    h = 2 * math.pi / reach
    end = math.sqrt(2 * 80.0 / q)  # beyond it the window e^(-q t^2/2) is below 1e-34
    halves = np.arange(math.ceil(end / h)) + 0.5
    t = h * halves
    phi = 0.5 * (1.0 + special.wofz(t / math.sqrt(2.0)))
    terms = (phi**k).imag * np.exp(-q * t**2 / 2) / halves
    error = 0.5 + math.fsum(terms) / math.pi
    return min(1.0, error) if ties == "error" else min(1.0, error) - asleep
