"""Networks on the line in closed form, and the perturbations that shorten them in the proof of [KYS23, Thm 3.2]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.theory.kys23.thm_3_2.con_p10_p12_p14 import hand_over, hand_over_drop, move_kink, move_kink_drop


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


@final
@dataclass(frozen=True)
class Perturbation:
    """A change (network, j1, j2, delta) of two neurons, and the fall of ||theta||^2 per delta, to first order."""

    change: Callable[[TwoLayer, int, int, float], TwoLayer]
    drop: Callable[[TwoLayer, int, int], float]


# The equations (10), and (12) and (14), with the fall of the norm that the proof computes for them.
MOVE_KINK = Perturbation(move_kink, move_kink_drop)
HAND_OVER = Perturbation(hand_over, hand_over_drop)
