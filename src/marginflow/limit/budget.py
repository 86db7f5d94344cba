"""What the work may cost: a time limit, iterations; who watches it; and what happens when someone interrupts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np

Stop = Literal["interrupt", "time limit"]


class OutOfTimeError(RuntimeError):
    """The budget was over in the middle of something of which a half is worth nothing."""


@dataclass(frozen=True, eq=False)
class Progress:
    """What a live display shows after every round."""

    stage: str
    iteration: int
    flips: int
    live_neurons: int
    objective: float
    gap: float
    seconds: float


class Budget:
    """Carried through one call. Stages ask `over` in their loops and return the best that they have.

    Parameters
    ----------
    time_limit : float or None
        Seconds from now.
    max_iterations : int
        Of ADMM in each polish.
    progress : callable or None
        Receives a `Progress` after every round.

    Attributes
    ----------
    deadline : float
        The value of `time.monotonic()` at which time is over; infinite without a limit.
    interrupted : bool
        Whether Ctrl-C was pressed while a stage ran in `interruptible`.
    """

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        max_iterations: int = 20_000,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.began = time.monotonic()
        self.deadline = np.inf if time_limit is None else self.began + time_limit
        self.max_iterations = max_iterations
        self.interrupted = False
        self._progress = progress

    @property
    def seconds(self) -> float:
        """Since the call began."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds until the deadline; infinite without one, never negative."""
        return max(0.0, self.deadline - time.monotonic())

    @property
    def time_limit(self) -> float | None:
        """The same for those who take None for no limit."""
        return self.left if np.isfinite(self.deadline) else None

    @property
    def stopped_by(self) -> Stop | None:
        """What has ended the work from outside, if anything has."""
        if self.interrupted:
            return "interrupt"
        return "time limit" if time.monotonic() > self.deadline else None

    @property
    def over(self) -> bool:
        """Whether to return what there is."""
        return self.stopped_by is not None

    def check(self, seconds: float = 0.0) -> None:
        """An `OutOfTimeError` once the work is over, for steps that have nothing to return.

        A step that is known to take many seconds says so, as in `affords`.
        """
        if not self.affords(seconds):
            raise OutOfTimeError

    def affords(self, seconds: float) -> bool:
        """Whether a step of about this many seconds may begin; one that would end after the limit ends the work."""
        if time.monotonic() + seconds > self.deadline:
            self.spend()
            return False
        return not self.interrupted

    def reserve(self, seconds: float) -> None:
        """Keep this much of what is left, at most half of it, for what must come after the work is over."""
        if np.isfinite(self.deadline):
            self.deadline -= min(seconds, self.left / 2)

    def spend(self) -> None:
        """Nothing is left: a solver with a clock of its own has said so."""
        self.deadline = min(self.deadline, self.began)

    def report(
        self,
        history: list[Progress],
        stage: str,
        iteration: int,
        flips: int,
        live_neurons: int,
        objective: float,
        gap: float,
    ) -> None:
        """Remember a round, and show it to whoever watches."""
        history.append(Progress(stage, iteration, flips, live_neurons, objective, gap, self.seconds))
        if self._progress is not None:
            self._progress(history[-1])

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Ctrl-C inside ends the block and is remembered; what the block has left in its variables is kept."""
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True
