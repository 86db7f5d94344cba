"""Cells on this machine: in this process, or in processes of their own."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import final

from marginflow.arrays import whole_number
from marginflow.errors import InputError
from marginflow.processes import work
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.engines.engine import AbstractEngine
from marginflow.sweeps.record import Computed
from marginflow.sweeps.worker import SERVE, Order, compute_with, decode


@final
@dataclass(frozen=True)
class LocalEngine(AbstractEngine):
    """One process for every worker, or this process.

    A cell that ends its worker (out of memory, a crash in compiled code, a signal) takes nothing else with it: it is
    computed once more with nothing beside it, and if it ends its worker again it is a failed cell.

    Parameters
    ----------
    workers : int or None
        Number of processes, each with one BLAS thread; None computes in this process, which such a cell would end.
    """

    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole_number("workers", self.workers)

    def compute(self, cells: Sequence[Cell], *, time_limit: float | None = None) -> Generator[Computed, None, None]:
        """Compute each cell once, in whatever order they finish; a time_limit needs a process that can be ended."""
        orders = [Order.of(cell) for cell in cells]
        if self.workers is None and time_limit is None:
            for cell, order in zip(cells, orders, strict=True):
                yield compute_with(cell.task, order)
            return
        if cells and cells[0].task.module == "__main__":  # the cells of a sweep have one task
            raise InputError(
                f"The task {cells[0].task.name!r} is defined in a script or notebook, where workers cannot find it; "
                "move it to a module that can be imported, or leave workers and time_limit out."
            )
        payloads = [order.encode() for order in orders]
        with closing(work(SERVE, payloads, workers=self.workers or 1, time_limit=time_limit)) as answers:
            for answer in answers:
                yield decode(orders[answer.index], answer)
