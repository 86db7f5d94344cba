"""The cases in the proof of [KYS23, Thm 3.2] as real networks, each with the perturbation that shortens it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.theory.kys23.thm_3_2.con_p10_p12_p14 import hand_over, hand_over_drop, move_kink, move_kink_drop

# The three samples +, -, + of Proposition A.4.
SAMPLES, LABELS = (0.3, 0.5, 0.8), (1.0, -1.0, 1.0)
CaseName = Literal["A.6 (1)", "A.6 (2)", "A.6 (3)", "A.7, -", "A.7, +"]


def through(knots: Sequence[float], heights: Sequence[float], last_slope: float = 0.0) -> TwoLayer:
    """The balanced network of right-facing neurons that is 0 before the first knot and linear between the knots.

    A change a of the slope at the knot k is a neuron with v w = a and v^2 = w^2 + b^2, b = -w k, so
    |v| = (|a| s)^(1/2) and |w| = (|a| / s)^(1/2) with s = (1 + k^2)^(1/2).

    Examples
    --------
    >>> from marginflow.experiments.kys23.proof_cases import through
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


@final
@dataclass(frozen=True, kw_only=True)
class Case:
    """One panel: a network by its heights at its knots, which two neurons change (j1, j2), and by which equation."""

    heading: str
    points: tuple[tuple[float, float], ...]
    neurons: tuple[int, int]
    perturbation: Perturbation
    last_slope: float = 0.0

    @property
    def network(self) -> TwoLayer:
        """Before."""
        knots, heights = zip(*self.points, strict=True)
        return through(knots, heights, self.last_slope)

    def perturbed(self, delta: float) -> TwoLayer:
        """After."""
        return self.perturbation.change(self.network, *self.neurons, delta)

    @property
    def drop(self) -> float:
        """The fall of ||theta||^2 per delta, to first order, by the formula of the proof."""
        return self.perturbation.drop(self.network, *self.neurons)


CASES: Mapping[str, Case] = {
    "A.6 (1)": Case(
        heading="not linear, case (1): eq. (10)",
        points=((0.05, 0.0), (0.3, 1.3), (0.45, -1.4), (0.65, -0.9), (0.85, 1.9)),
        neurons=(3, 4),
        perturbation=MOVE_KINK,
    ),
    "A.6 (2)": Case(
        heading="not linear, case (2): eq. (12)",
        points=((0.05, 0.0), (0.3, 1.3), (0.48, -1.4), (0.65, 1.0)),
        neurons=(2, 3),
        perturbation=HAND_OVER,
        last_slope=2.0,
    ),
    "A.6 (3)": Case(
        heading="not linear, case (3): eq. (10)",
        points=((0.05, 0.0), (0.3, 1.3), (0.45, -1.2), (0.62, -1.5), (0.85, 2.0)),
        neurons=(3, 4),
        perturbation=MOVE_KINK,
    ),
    "A.7, -": Case(
        heading="N(xᵢ) < −1: eq. (14)",
        points=((0.05, 0.0), (0.3, 1.1), (0.45, -2.0), (0.85, 1.43)),
        neurons=(1, 2),
        perturbation=HAND_OVER,
    ),
    "A.7, +": Case(
        heading="N(xᵢ₊₁) > 1: eq. (14)",
        points=((0.05, 0.0), (0.3, 1.1), (0.47, -1.3), (0.9, 2.48)),
        neurons=(2, 3),
        perturbation=HAND_OVER,
    ),
}
