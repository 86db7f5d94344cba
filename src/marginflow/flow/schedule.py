r"""How long a step is. Lengths are logarithms, so that neither a rate of 1e300 nor a loss of 1e-800 is special.

A step is theta <- theta - e^s grad ln L. A rate eta on the loss itself is the same step with s = ln eta + ln L, because
grad L = L grad ln L.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from marginflow.arrays import real_number, whole_number


class AbstractSchedule(ABC):
    """The logarithm s of the step along -grad ln L."""

    needs_lengths: ClassVar[bool] = False
    """Whether the lengths of theta and of the gradient are used; they cost a pass over the parameters."""
    backtracks: ClassVar[bool] = False
    """Whether a step that raises ln L is undone and repeated at half the length."""

    @abstractmethod
    def log_step(self, step: int, log_loss: float, squared_gradient: float, squared_norm: float) -> float:
        """s, from the number of steps made, ln L, ||grad ln L||^2 and ||theta||^2 (both nan if not asked for)."""


@dataclass(frozen=True)
class Constant(AbstractSchedule):
    """Plain gradient descent: theta <- theta - rate * grad L."""

    rate: float

    def __post_init__(self) -> None:
        real_number("rate", self.rate, above=0.0)

    def log_step(self, step: int, log_loss: float, squared_gradient: float, squared_norm: float) -> float:
        """Ln rate + ln L."""
        return math.log(self.rate) + log_loss


@dataclass(frozen=True)
class Geometric(AbstractSchedule):
    """Rate times factor^(steps made // every): grows with the flow time that a small loss costs [VYS22, section 6]."""

    rate: float
    factor: float = 1.1
    every: int = 100

    def __post_init__(self) -> None:
        real_number("rate", self.rate, above=0.0)
        real_number("factor", self.factor, above=0.0)
        whole_number("every", self.every)

    def log_step(self, step: int, log_loss: float, squared_gradient: float, squared_norm: float) -> float:
        """Ln rate + (step // every) ln factor + ln L."""
        return math.log(self.rate) + (step // self.every) * math.log(self.factor) + log_loss


@dataclass(frozen=True)
class LossNormalised(AbstractSchedule):
    r"""The step that lowers ln L by `decrease` to first order: e^s = decrease / ||grad ln L||^2.

    A step after which ln L is larger is undone and halved; the length recovers by a tenth with every step.
    Reaches any loss in (-ln L) / decrease steps [VYS22, section 6 of the catalogue, "safe rule", decrease = 0.02].
    """

    needs_lengths = True
    backtracks = True

    decrease: float = 0.02

    def __post_init__(self) -> None:
        real_number("decrease", self.decrease, above=0.0)

    def log_step(self, step: int, log_loss: float, squared_gradient: float, squared_norm: float) -> float:
        """Ln decrease - ln ||grad||^2."""
        return math.log(self.decrease) - math.log(squared_gradient)


@dataclass(frozen=True)
class AngleBounded(AbstractSchedule):
    r"""A step of length angle * ||theta||, or shorter where it would lower ln L by more than `decrease`.

    The direction of theta turns by at most arcsin(angle). Without `decrease` the step ignores how sharply the weights
    p_i react, and zigzags between samples once margins exceed 1 / angle.
    """

    needs_lengths = True

    angle: float = 0.01
    decrease: float | None = None

    def __post_init__(self) -> None:
        real_number("angle", self.angle, above=0.0, at_most=1.0)
        if self.decrease is not None:
            real_number("decrease", self.decrease, above=0.0)

    def log_step(self, step: int, log_loss: float, squared_gradient: float, squared_norm: float) -> float:
        """The smaller of the two bounds."""
        log_squared = math.log(squared_gradient)
        if squared_norm == 0.0:
            return -math.inf
        by_angle = math.log(self.angle) + 0.5 * (math.log(squared_norm) - log_squared)
        return by_angle if self.decrease is None else min(by_angle, math.log(self.decrease) - log_squared)
