"""What runs in a worker: find the task, compute one cell on one BLAS thread, send back its row or its traceback."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, final

import msgspec
from threadpoolctl import ThreadpoolController

from marginflow.errors import InputError
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.code import code_version
from marginflow.sweeps.interrupt import interrupts_count
from marginflow.sweeps.record import Computed
from marginflow.sweeps.registry import Task, find_task

# For processes that have not loaded a BLAS yet.
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@final
@dataclass(frozen=True)
class Order:
    """A cell in plain values, as it travels to a worker."""

    key: str
    module: str
    task: str
    parameters: Mapping[str, Any]
    seed: int
    code: str

    @classmethod
    def of(cls, cell: Cell) -> Order:
        """The order for a cell."""
        return cls(cell.key, cell.task.module, cell.task.name, cell.parameters, cell.seed, cell.code)


class OtherCodeError(RuntimeError):
    """A worker runs other code than the process that sends the orders; its rows would be filed under a wrong key."""


def compute(order: Order) -> Computed:
    """Compute one cell in a worker process."""
    return compute_with(_task(order), order)


def compute_with(task: Task[Any], order: Order) -> Computed:
    """Compute one cell with its task at hand; whatever the task raises becomes the traceback of a failed cell.

    An interrupt ends it with `KeyboardInterrupt`, even if the task caught that: half a cell is none.
    """
    with interrupts_count():
        begun = time.perf_counter()
        try:
            parameters = msgspec.convert(dict(order.parameters), task.parameters)
            with _threads(len(sys.modules)).limit(limits=1):
                result = task(parameters, order.seed)
        except Exception:
            seconds = time.perf_counter() - begun
            return Computed(key=order.key, status="failed", seconds=seconds, error=traceback.format_exc())
        seconds = time.perf_counter() - begun
        return Computed(key=order.key, status="done", seconds=seconds, row=result.row, arrays=result.arrays)


@lru_cache(maxsize=1)
def _threads(modules: int) -> ThreadpoolController:
    """The BLAS libraries that are loaded; looked for again, which takes a millisecond, only after more was imported."""
    return ThreadpoolController()


def died(order: Order, how: str) -> Computed:
    """The failed cell of a worker that did not survive it."""
    return Computed(key=order.key, status="failed", seconds=0.0, error=f"The worker process died: {how}.")


def _task(order: Order) -> Task[Any]:
    try:
        importlib.import_module(order.module)
        task = find_task(order.task)
    except (ImportError, InputError) as error:
        raise OtherCodeError(f"A worker cannot find the task {order.task!r} of {order.module}: {error}") from None
    if code_version(task) != order.code:
        raise OtherCodeError(
            f"A worker computes {order.task!r} with the code {code_version(task)}, but the sweep has {order.code}: "
            "the sources were changed since it began, or another version is installed there; start it again with the "
            "same versions on both sides."
        )
    return task
