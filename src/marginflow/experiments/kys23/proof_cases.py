"""The cases in the proof of [KYS23, Thm 3.2] as real networks, each with the perturbation that shortens it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from marginflow.experiments.kys23.perturbations import HAND_OVER, MOVE_KINK, Perturbation, through
from marginflow.networks import TwoLayer

# The three samples +, -, + of Proposition A.4.
SAMPLES, LABELS = (0.3, 0.5, 0.8), (1.0, -1.0, 1.0)
CaseName = Literal["A.6 (1)", "A.6 (2)", "A.6 (3)", "A.7, -", "A.7, +"]


@final
@dataclass(frozen=True, kw_only=True)
class Case:
    """One panel: a network by its knots and heights, which two neurons change, and by which equation."""

    heading: str
    knots: tuple[float, ...]
    heights: tuple[float, ...]
    j1: int
    j2: int
    perturbation: Perturbation
    last_slope: float = 0.0

    @property
    def network(self) -> TwoLayer:
        """Before."""
        return through(self.knots, self.heights, self.last_slope)

    def perturbed(self, delta: float) -> TwoLayer:
        """After."""
        return self.perturbation.change(self.network, self.j1, self.j2, delta)

    @property
    def drop(self) -> float:
        """The fall of ||theta||^2 per delta, to first order, by the formula of the proof."""
        return self.perturbation.drop(self.network, self.j1, self.j2)


CASES: Mapping[str, Case] = {
    "A.6 (1)": Case(
        heading="not linear, case (1): eq. (10)",
        knots=(0.05, 0.3, 0.45, 0.65, 0.85),
        heights=(0.0, 1.3, -1.4, -0.9, 1.9),
        j1=3,
        j2=4,
        perturbation=MOVE_KINK,
    ),
    "A.6 (2)": Case(
        heading="not linear, case (2): eq. (12)",
        knots=(0.05, 0.3, 0.48, 0.65),
        heights=(0.0, 1.3, -1.4, 1.0),
        j1=2,
        j2=3,
        perturbation=HAND_OVER,
        last_slope=2.0,
    ),
    "A.6 (3)": Case(
        heading="not linear, case (3): eq. (10)",
        knots=(0.05, 0.3, 0.45, 0.62, 0.85),
        heights=(0.0, 1.3, -1.2, -1.5, 2.0),
        j1=3,
        j2=4,
        perturbation=MOVE_KINK,
    ),
    "A.7, -": Case(
        heading="N(xᵢ) < −1: eq. (14)",
        knots=(0.05, 0.3, 0.45, 0.85),
        heights=(0.0, 1.1, -2.0, 1.43),
        j1=1,
        j2=2,
        perturbation=HAND_OVER,
    ),
    "A.7, +": Case(
        heading="N(xᵢ₊₁) > 1: eq. (14)",
        knots=(0.05, 0.3, 0.47, 0.9),
        heights=(0.0, 1.1, -1.3, 2.48),
        j1=2,
        j2=3,
        perturbation=HAND_OVER,
    ),
}
