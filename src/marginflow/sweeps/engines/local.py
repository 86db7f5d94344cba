"""Cells on this machine: in this process, or in processes started by joblib."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError

from marginflow.arrays import whole_number
from marginflow.errors import InputError
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.engines.engine import AbstractEngine
from marginflow.sweeps.record import Computed
from marginflow.sweeps.stopped import StoppedError
from marginflow.sweeps.worker import Order, OtherCodeError, compute, compute_with, died


@final
@dataclass(frozen=True)
class LocalEngine(AbstractEngine):
    """One process for every worker; with one worker, this process.

    A worker that dies (out of memory, a crash in compiled code, a signal) takes only its own cell with it: the cells
    that were running are computed again one at a time, and one that kills its worker a second time is a failed cell.

    Parameters
    ----------
    max_workers : int
        Number of processes; each has one BLAS thread.
    """

    max_workers: int = 1

    def __post_init__(self) -> None:
        whole_number("max_workers", self.max_workers)

    def compute(self, cells: Sequence[Cell]) -> Generator[Computed, None, None]:
        """Compute each cell once, in whatever order they finish."""
        if self.max_workers == 1:
            for cell in cells:
                yield compute_with(cell.task, Order.of(cell))
            return
        _importable(cells)
        waiting = deque(Order.of(cell) for cell in cells)
        try:
            while waiting:
                running: dict[str, Order] = {}
                yield from _in_processes(waiting, running, min(self.max_workers, len(waiting)))
                # Whatever is left here was in a pool that broke; which of them broke it is not known.
                for suspect in list(running.values()):
                    yield from _alone(suspect)
        finally:
            get_reusable_executor().shutdown(wait=True, kill_workers=True)


def _in_processes(waiting: deque[Order], running: dict[str, Order], workers: int) -> Generator[Computed, None, None]:
    """Compute until all is done or a worker dies; what was handed out and not returned stays in `running`."""

    def handed_out() -> Iterator[object]:
        while waiting:
            order = waiting.popleft()
            running[order.key] = order
            yield delayed(compute_watched)(order, os.getpid())

    # A batch of one, and never more than one cell in stock for every worker: so little is computed twice. At least two
    # processes, because joblib takes one to mean this process, which must survive whatever a cell does.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        jobs = max(2, workers)
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch=2 * jobs)
        done = pool(handed_out())
    try:
        for computed in done:
            del running[computed.key]
            yield computed
    except TerminatedWorkerError:
        return
    except OtherCodeError as error:
        raise StoppedError(str(error)) from None
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # joblib warns of results that nobody takes; leaving early is no mistake here
            done.close()


def compute_watched(order: Order, parent: int) -> Computed:
    """Compute a cell in a process that ends when the process that started it is gone, even by kill -9."""
    _watch(parent)
    return compute(order)


@cache
def _watch(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _alone(order: Order) -> Generator[Computed, None, None]:
    """One cell in a process of its own."""
    running: dict[str, Order] = {}
    yield from _in_processes(deque([order]), running, 1)
    for lost in running.values():
        yield died(lost, "it was killed, ran out of memory or crashed, with this cell as its only work")


def _importable(cells: Sequence[Cell]) -> None:
    for cell in cells:
        if cell.task.module == "__main__":
            raise InputError(
                f"The task {cell.task.name!r} is defined in a script or notebook, where workers cannot find it; move "
                "it to a module that can be imported, or use one worker."
            )
        return
