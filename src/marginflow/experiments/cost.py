r"""What cells will take: a law of the operations that they count, fitted to cells that were measured.

The parameters of a task may count their `operations`, and say by `cost_kind` which cells have the same cost for one.
For each kind

.. math:: \ln(\text{seconds}) = a + b \ln(\text{operations})

is fitted to measured cells, long ones counting more; with cells of one size only, b = 1: one measured cell, scaled. The
measured cells are those of a store where there is one, else those that come with the library (`recorded.csv`), which
were measured on one core of a virtual machine.
"""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, final

import msgspec
import numpy as np

from marginflow.sweeps import Store, SweepTask

_RECORDED: Final = Path(__file__).with_name("recorded.csv")
# The operations are counted: an operation of a large cell costs no more than one of the largest that was measured.
_SLOPES: Final = (0.3, 1.0)


@final
@dataclass(frozen=True, kw_only=True)
class MeasuredCell:
    """One cell that was computed: its task, parameters, seconds and largest memory in bytes."""

    task: str
    parameters: Mapping[str, Any]
    seconds: float
    memory: int | None


@final
@dataclass(frozen=True, kw_only=True)
class Cost:
    """What cells will take on one core.

    Parameters
    ----------
    cells : int
    hours : float or None
        None if no cell like them was ever measured.
    memory : int or None
        Bytes of the largest process, if known.
    measured : int
        How many measured cells this rests on: those of the same kinds.
    of_store : int
        How many of these are of the store.
    """

    cells: int
    hours: float | None
    memory: int | None
    measured: int
    of_store: int = 0


@cache
def recorded(task: str) -> tuple[MeasuredCell, ...]:
    """The cells of a task that were measured for the library."""
    with _RECORDED.open(encoding="utf-8", newline="") as file:
        return tuple(
            MeasuredCell(
                task=task,
                parameters=json.loads(line["parameters"]),
                seconds=float(line["seconds"]),
                memory=int(line["memory"]) if line["memory"] else None,
            )
            for line in csv.DictReader(file)
            if line["task"] == task
        )


def measured_in(store: Store, task: str) -> tuple[MeasuredCell, ...]:
    """The finished cells of a task in a store."""
    return tuple(
        MeasuredCell(task=task, parameters=json.loads(line.parameters), seconds=line.seconds, memory=line.memory)
        for line in store.lines()
        if line.task == task and line.status == "done"
    )


def estimate(
    task: SweepTask[Any],
    cells: Iterable[Mapping[str, object]],
    measured: Sequence[MeasuredCell],
    *,
    otherwise: Sequence[MeasuredCell] = (),
) -> Cost:
    """What the cells will take, by the measured ones; for kinds of cells among which there are none, by `otherwise`."""
    own = _grouped(task, measured)
    groups = _grouped(task, otherwise) | own
    laws = {kind: _fit(group) for kind, group in groups.items()}
    seconds, memory, count, unknown = 0.0, 0, 0, False
    kinds = set[str]()
    for cell in cells:
        count += 1
        kind, operations = _counted(task, cell)
        if kind not in laws:
            unknown = True
            continue
        kinds.add(kind)
        a, b, largest, most = laws[kind]
        seconds += math.exp(a + b * math.log(operations))
        memory = max(memory, int(most * max(1.0, math.sqrt(operations / largest))))
    return Cost(
        cells=count,
        hours=None if unknown else seconds / 3600,
        memory=memory or None,
        measured=sum(len(groups[kind]) for kind in kinds),
        of_store=sum(len(own.get(kind, ())) for kind in kinds),
    )


def _grouped(task: SweepTask[Any], measured: Sequence[MeasuredCell]) -> dict[str, list[tuple[float, MeasuredCell]]]:
    groups: dict[str, list[tuple[float, MeasuredCell]]] = {}
    for known in measured:
        kind, operations = _counted(task, known.parameters)
        groups.setdefault(kind, []).append((operations, known))
    return groups


def _counted(task: SweepTask[Any], given: Mapping[str, object]) -> tuple[str, float]:
    parameters: Any = msgspec.convert(dict(given), task.parameters)
    return getattr(parameters, "cost_kind", ""), max(1.0, float(getattr(parameters, "operations", 1.0)))


def _fit(group: Sequence[tuple[float, MeasuredCell]]) -> tuple[float, float, float, int]:
    """a, b, the largest number of operations that was measured, and the largest memory."""
    x = np.log([operations for operations, _ in group])
    y = np.log([max(known.seconds, 1e-4) for _, known in group])
    weight = np.exp(0.5 * (y - y.max()))
    middle, level = float(np.average(x, weights=weight)), float(np.average(y, weights=weight))
    spread = float(np.average((x - middle) ** 2, weights=weight))
    slope = 1.0
    if np.ptp(x) > math.log(2.0) and spread > 0.0:
        slope = float(np.average((x - middle) * (y - level), weights=weight)) / spread
        slope = min(max(slope, _SLOPES[0]), _SLOPES[1])
    most = max((known.memory or 0 for _, known in group), default=0)
    return level - slope * middle, slope, float(np.exp(x.max())), most
