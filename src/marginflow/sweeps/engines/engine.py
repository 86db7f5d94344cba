"""The one method of an engine."""

import abc
from collections.abc import Generator, Sequence

from marginflow.sweeps.cell import Cell
from marginflow.sweeps.record import Computed


class AbstractEngine(abc.ABC):
    """Computes cells somewhere. Subclasses are frozen dataclasses that implement `compute`, and are final."""

    @abc.abstractmethod
    def compute(self, cells: Sequence[Cell], *, time_limit: float | None = None) -> Generator[Computed, None, None]:
        """Compute each cell once and yield each as soon as it is there, in whatever order they finish.

        A task that raises, that takes its worker down with it, or that takes more than `time_limit` seconds is a failed
        cell and not an exception. A `StoppedError` says that no more cells can be computed. Closing the generator
        ends the workers.
        """
