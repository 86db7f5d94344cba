"""When to stop. A rule looks at the state of the run and says yes or no; the run's status is the rule's sentence."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.errors import InputError
from marginflow.flow.trainable import Network


class AbstractState(ABC):
    """What a stop rule may ask about a run."""

    step: int
    epoch: int
    seconds: float
    log_loss_at_least: float  # a lower bound on ln L over all samples; equal to it for full batches
    cosine: float  # between the last two records; nan before there are two
    recording: bool  # whether a record has just been made

    @abstractmethod
    def log_loss(self) -> float:
        """ln L over all samples; +inf in the epochs in which a mini-batch run has already been asked."""

    @abstractmethod
    def margins(self) -> FloatArray | None:
        """Margins of all samples; None in the epochs in which a mini-batch run has already been asked."""

    @abstractmethod
    def network(self) -> Network:
        """The network as it is now."""


class AbstractStop(ABC):
    """One reason to stop."""

    status: ClassVar[str]
    """What the run says when it stops for this reason."""

    @abstractmethod
    def reached(self, state: AbstractState) -> bool:
        """Whether to stop now."""

    def share(self, state: AbstractState, first_log_loss: float) -> float:
        """Guess of the share done, in [0, 1], for a progress bar; -1, as here, where nobody knows."""
        return -1.0


@dataclass(frozen=True)
class LossBelow(AbstractStop):
    """The loss over all samples is below a value, given itself or (for values such as 10^-800) by its logarithm."""

    status = "loss reached"

    value: float | None = None
    log_value: float | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.log_value is None):
            raise InputError("LossBelow needs either a value or the logarithm of one.")
        if self.value is not None:
            object.__setattr__(self, "log_value", math.log(real_number("value", self.value, above=0.0)))
        else:
            real_number("log_value", self.log_value)

    def reached(self, state: AbstractState) -> bool:
        """Ask for all samples only if the mini-batch does not already say no."""
        assert self.log_value is not None
        return state.log_loss_at_least < self.log_value and state.log_loss() < self.log_value

    def share(self, state: AbstractState, first_log_loss: float) -> float:
        """Linear in ln L."""
        assert self.log_value is not None
        way = first_log_loss - self.log_value
        return min(1.0, max(0.0, (first_log_loss - state.log_loss_at_least) / way)) if way > 0 else 1.0


@dataclass(frozen=True)
class Steps(AbstractStop):
    """So many steps have been made."""

    status = "steps done"

    count: int

    def __post_init__(self) -> None:
        whole_number("count", self.count, minimum=0)

    def reached(self, state: AbstractState) -> bool:
        """At the count."""
        return state.step >= self.count

    def share(self, state: AbstractState, first_log_loss: float) -> float:
        """Of the count."""
        return min(1.0, state.step / self.count) if self.count else 1.0


@dataclass(frozen=True)
class Epochs(AbstractStop):
    """So many passes over the samples have been made."""

    status = "epochs done"

    count: int

    def __post_init__(self) -> None:
        whole_number("count", self.count, minimum=0)

    def reached(self, state: AbstractState) -> bool:
        """At the count."""
        return state.epoch >= self.count

    def share(self, state: AbstractState, first_log_loss: float) -> float:
        """Of the count."""
        return min(1.0, state.epoch / self.count) if self.count else 1.0


@dataclass(frozen=True)
class DirectionSettled(AbstractStop):
    """The cosine between theta at one record and the next is within `tolerance` of 1, and every sample is correct.

    Records are at geometrically spaced steps, so this says that the direction has hardly moved while the number of
    steps grew by a fixed factor. It does not say that the limit is near: the direction moves like 1 / log t.
    """

    status = "direction settled"

    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        real_number("tolerance", self.tolerance, above=0.0, below=1.0)

    def reached(self, state: AbstractState) -> bool:
        """At records only."""
        return state.recording and 1.0 - state.cosine <= self.tolerance and _all_correct(state)


@dataclass(frozen=True)
class CertificateBelow(AbstractStop):
    """A residual of the network, such as that of a KKT certificate, is at most `tolerance`; asked at records.

    Parameters
    ----------
    residual : callable
        From the network to a number. It is called only once every sample is classified correctly.
    tolerance : float
        What the residual must not exceed.
    """

    status = "certificate reached"

    residual: Callable[[Network], float]
    tolerance: float

    def __post_init__(self) -> None:
        real_number("tolerance", self.tolerance, at_least=0.0)

    def reached(self, state: AbstractState) -> bool:
        """At records only."""
        return state.recording and _all_correct(state) and bool(self.residual(state.network()) <= self.tolerance)


@dataclass(frozen=True)
class Interpolated(AbstractStop):
    """Every sample is classified correctly: y_i N(x_i) > 0 for all i."""

    status = "interpolated"

    def reached(self, state: AbstractState) -> bool:
        """Every step, or once an epoch with mini-batches."""
        return _all_correct(state)


@dataclass(frozen=True)
class WallTime(AbstractStop):
    """So many seconds have passed. The only rule whose outcome is not determined by the seed."""

    status = "time is up"

    seconds: float

    def __post_init__(self) -> None:
        real_number("seconds", self.seconds, above=0.0)

    def reached(self, state: AbstractState) -> bool:
        """By the clock."""
        return state.seconds >= self.seconds

    def share(self, state: AbstractState, first_log_loss: float) -> float:
        """Of the time."""
        return min(1.0, state.seconds / self.seconds)


def _all_correct(state: AbstractState) -> bool:
    margins = state.margins()
    return margins is not None and bool(margins.min() > 0.0)
