"""Networks on the line in closed form, and the perturbations that shorten them in the proof of [KYS23, Thm 3.2]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from marginflow.networks import TwoLayer


def through(knots: Sequence[float], heights: Sequence[float], last_slope: float = 0.0) -> TwoLayer:
    """The balanced network of right-facing neurons that is 0 before the first knot and linear between the knots.

    A change a of the slope at the knot k is a neuron with v w = a and v^2 = w^2 + b^2, b = -w k, so
    |v| = (|a| s)^(1/2) and |w| = (|a| / s)^(1/2) with s = (1 + k^2)^(1/2).

    Examples
    --------
    >>> from marginflow.experiments.kys23.perturbations import through
    >>> through([0.0, 1.0, 2.0], [0.0, 1.0, -1.0])([[0.5], [1.5], [7.0]]).round(12).tolist()
    [0.5, 0.0, -1.0]
    """
    k = np.asarray(knots, dtype=np.float64)
    slopes = np.append(np.diff(np.asarray(heights, dtype=np.float64)) / np.diff(k), last_slope)
    a = np.diff(slopes, prepend=0.0)
    s = np.sqrt(1.0 + k**2)
    w = np.sqrt(np.abs(a) / s)
    return TwoLayer(W=w[:, None], b=-w * k, v=np.sign(a) * np.sqrt(np.abs(a) * s))


def move_kink(network: TwoLayer, j1: int, j2: int, delta: float) -> TwoLayer:
    """[KYS23, eq. (10)]: j1 convex, j2 the next concave; the kink of j1 moves left and N rises between the two."""
    W, b, v = network.W.copy(), _bias(network), network.v.copy()
    w1, w2, v1, v2 = W[j1, 0], W[j2, 0], v[j1], v[j2]
    b[j1] -= delta / (1 - delta) * (w1 * b[j2] / w2 - b[j1])
    v[j1] = (1 - delta) * v1
    v[j2] = (1 + delta * v1 * w1 / (v2 * w2)) * v2
    return replace(network, W=W, b=b, v=v)


def hand_over(network: TwoLayer, j1: int, j2: int, delta: float) -> TwoLayer:
    """[KYS23, eqs. (12) and (14)]: j2 takes over a share of j1; N changes between the two only."""
    W, b, v = network.W.copy(), _bias(network), network.v.copy()
    share = delta * v[j1] / v[j2]
    W[j2] += share * W[j1]
    b[j2] += share * b[j1]
    v[j1] *= 1 - delta
    return replace(network, W=W, b=b, v=v)


def drop_of_moved_kink(network: TwoLayer, j1: int, j2: int) -> float:
    """The fall of ||theta||^2 per delta by `move_kink`, to first order [KYS23, eq. (11), with its slip corrected]."""
    w, b, v = network.W[:, 0], _bias(network), network.v
    fall = v[j1] ** 2 - v[j1] * w[j1] * v[j2] / w[j2] + b[j1] * (w[j1] * b[j2] / w[j2] - b[j1])
    return 2.0 * float(fall)


def drop_of_handing_over(network: TwoLayer, j1: int, j2: int) -> float:
    """The fall of ||theta||^2 per delta by `hand_over`, to first order [KYS23, eq. (15)]."""
    w, b, v = network.W[:, 0], _bias(network), network.v
    return 2.0 * float(v[j1] ** 2 - v[j1] / v[j2] * (w[j1] * w[j2] + b[j1] * b[j2]))


@final
@dataclass(frozen=True)
class Perturbation:
    """A change (network, j1, j2, delta) of two neurons, and the fall of ||theta||^2 per delta, to first order."""

    change: Callable[[TwoLayer, int, int, float], TwoLayer]
    drop: Callable[[TwoLayer, int, int], float]


MOVE_KINK = Perturbation(move_kink, drop_of_moved_kink)
HAND_OVER = Perturbation(hand_over, drop_of_handing_over)


def _bias(network: TwoLayer) -> np.ndarray:
    if network.b is None:
        raise TypeError("networks on the line have a bias")
    return network.b.copy()
