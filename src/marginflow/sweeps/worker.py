"""What runs in a worker: find the task, compute one cell on one BLAS thread, send back its row or its traceback."""

from __future__ import annotations

import importlib
import json
import os
import time
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import msgspec
import safetensors.numpy

from marginflow.errors import InputError
from marginflow.processes import Answer
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.code import code_version, same_sources
from marginflow.sweeps.interrupt import interrupts_count
from marginflow.sweeps.record import Computed
from marginflow.sweeps.registry import SweepTask, find_task, row_text
from marginflow.sweeps.trouble import StoppedError
from marginflow.threads import single_threaded

SERVE = "marginflow.sweeps.worker:serve_cell"


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
    sources: str = ""

    @classmethod
    def of(cls, cell: Cell) -> Order:
        """The order for a cell."""
        sources = same_sources(cell.task)
        return cls(cell.key, cell.task.module, cell.task.name, cell.parameters, cell.seed, cell.code, sources)

    def encode(self) -> bytes:
        """The order as JSON, for the pipe to a worker process."""
        return row_text(asdict(self)).encode()


class OtherCodeError(StoppedError):
    """A worker runs other code than the process that sends the orders; its rows would be filed under a wrong key."""


def compute(order: Order) -> Computed:
    """Compute one cell in a worker process."""
    return compute_with(_task(order), order)


def compute_with(task: SweepTask[Any], order: Order) -> Computed:
    """Compute one cell with its task at hand; whatever the task raises becomes the traceback of a failed cell.

    An interrupt ends it with `KeyboardInterrupt`, even if the task caught that: half a cell is none. `sys.exit` is a
    failure as any other.
    """
    with interrupts_count():
        begun = _cpu_seconds()
        found: dict[str, Any]
        _forget_peak()
        try:
            parameters = msgspec.convert(dict(order.parameters), task.parameters)
            with single_threaded():
                result = task(parameters, order.seed)
            arrays = safetensors.numpy.save(dict(result.arrays)) if result.arrays else b""
            found = {"status": "done", "row": result.row, "arrays": arrays}
        except KeyboardInterrupt:
            raise
        except BaseException:
            error = traceback.format_exc().encode("utf-8", "backslashreplace").decode()
            found = {"status": "failed", "error": error}
        return Computed(key=order.key, seconds=_cpu_seconds() - begun, memory=_peak(), **found)


def serve_cell(payload: bytes) -> bytes:
    """Compute the order of a payload in a worker process: one line of JSON, then the arrays."""
    order = Order(**json.loads(payload))
    try:
        computed = compute(order)
    except OtherCodeError as error:
        return row_text({"other_code": str(error)}).encode()
    plain = {name: value for name, value in vars(computed).items() if name != "arrays"}
    return row_text(plain).encode() + b"\n" + computed.arrays


def decode(order: Order, answer: Answer) -> Computed:
    """What a worker process answered to an order; `OtherCodeError` if it has other code."""
    if answer.content is None:
        return Computed(
            key=order.key, status="failed", seconds=answer.seconds, error=answer.reason or "No answer.", log=answer.log
        )
    head, _, arrays = answer.content.partition(b"\n")
    plain = json.loads(head)
    if "other_code" in plain:
        raise OtherCodeError(plain["other_code"])
    return Computed(**plain | {"log": answer.log, "arrays": arrays})


def _cpu_seconds() -> float:
    """CPU time of this process and of those that it waited for: what a cell costs, whatever else the machine does."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def _forget_peak() -> None:
    """Have the system count the largest memory anew, where it can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak() -> int | None:
    """The largest resident memory of this process since then, in bytes; None where nobody says."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return None


def _task(order: Order) -> SweepTask[Any]:
    try:
        importlib.import_module(order.module)
        task = find_task(order.task)
    except (ImportError, InputError) as error:
        raise OtherCodeError(f"A worker cannot find the task {order.task!r} of {order.module}: {error}") from None
    if (not order.sources or same_sources(task) != order.sources) and code_version(task) != order.code:
        raise OtherCodeError(
            f"A worker computes {order.task!r} with the code {code_version(task)}, but the sweep has {order.code}: "
            "the sources were changed since it began, or another version is installed there; start it again with the "
            "same versions on both sides."
        )
    return task
