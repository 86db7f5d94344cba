"""Compute the cells of a figure as a sweep: in several processes, and kept in a store where there is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from marginflow.experiments.panel import Row
from marginflow.sweeps import Progress, Sweep, Task, run

Show = Callable[[Progress], None]


def computed(
    task: Task[Any],
    points: Sequence[Mapping[str, object]],
    seeds: Sequence[int],
    *,
    name: str,
    store: str | Path | None,
    workers: int | None,
    progress: Show | None,
) -> tuple[tuple[Row, ...], float]:
    """The rows of all points with all seeds - parameters, seed, measurements - and the seconds that they took.

    The seconds are those of all cells, each on one core, also of those that were in the store already.

    A cell that fails is an `InputError` with its reason; the other cells are kept in the store.
    """
    sweep = Sweep(task=task, points=points, seeds=tuple(seeds), name=name)
    with threadpool_limits(1):
        found = run(
            sweep,
            store=store,
            workers=workers,
            retry_failed=True,
            progress=progress,
        )
    complete = found.require_complete()
    return tuple(complete.rows), math.fsum(record.seconds for record in complete.records)
