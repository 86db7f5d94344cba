"""A time limit that several stages share, each with a deadline of its own."""

import time

import numpy as np

from marginflow.arrays import real_number


class Clock:
    """Begins with the call; `missed` says whether a stage has met its deadline.

    Parameters
    ----------
    time_limit : float or None
        Seconds; None for no limit.
    """

    def __init__(self, time_limit: float | None) -> None:
        self._seconds = np.inf if time_limit is None else real_number("time_limit", time_limit, above=0.0)
        self._began = time.monotonic()
        self.missed = False

    def deadline(self, share: float = 1.0) -> float:
        """The value of `time.monotonic()` at which this share of the time is over."""
        return self._began + share * self._seconds

    def over(self, deadline: float) -> bool:
        """Whether a deadline has passed, which is remembered."""
        passed = time.monotonic() > deadline
        self.missed = self.missed or passed
        return passed

    @staticmethod
    def left(deadline: float) -> float | None:
        """Seconds until a deadline, for those who take None for no limit."""
        return max(0.0, deadline - time.monotonic()) if np.isfinite(deadline) else None
