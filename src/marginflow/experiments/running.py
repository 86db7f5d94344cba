"""Compute the cells of a figure as a sweep, or look up those that a store has."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from marginflow.errors import InputError
from marginflow.experiments.panel import Row
from marginflow.sweeps import AbstractEngine, Store, Sweep, SweepProgress, SweepTask, run, stored

Show = Callable[[SweepProgress], None]


@final
@dataclass(frozen=True, kw_only=True)
class ComputedCells:
    """Rows of finished cells, the seconds of all of them, and the parameters of those that are missing."""

    rows: tuple[Row, ...]
    seconds: float
    missing: tuple[Mapping[str, object], ...]


def computed(
    sweep: Sweep,
    *,
    store: str | Path | None,
    workers: int | None,
    engine: AbstractEngine | None,
    any_code: bool,
    only_stored: bool,
    progress: Show | None,
) -> ComputedCells:
    """The rows of all points with all seeds: parameters, seed, measurements.

    The seconds are those of all cells, each on one core, also of those that were in the store already. A cell that
    fails is an `InputError` with its reason; the other cells are kept in the store.
    """
    if only_stored:
        if store is None:
            raise InputError("Rows that are stored need a store.")
        found = stored(sweep, Store(store), any_code=any_code)
    else:
        found = run(
            sweep,
            store=store,
            workers=workers,
            engine=engine,
            retry_failed=True,
            any_code=any_code,
            progress=progress,
        ).require_complete()
    there = {record.cell.key for record in found.done}
    return ComputedCells(
        rows=tuple(found.rows),
        seconds=math.fsum(record.seconds for record in found.done),
        missing=tuple(cell.parameters for cell in sweep.cells if cell.key not in there),
    )


def matching(
    task: SweepTask[Any], cells: Sequence[Mapping[str, object]], only: Mapping[str, object]
) -> list[Mapping[str, object]]:
    """The cells that have these parameters, defaults included."""
    for name in only:
        if name not in task.fields:
            raise InputError(f"--only: the cells have no parameter {name!r}; they have {', '.join(task.fields)}.")
    whole = [msgspec.to_builtins(msgspec.convert(dict(cell), task.parameters)) for cell in cells]
    chosen = [
        cell
        for cell, all_of_it in zip(cells, whole, strict=True)
        if all(all_of_it[name] == only[name] for name in only)
    ]
    if not chosen:
        known = {name: list(dict.fromkeys(all_of_it[name] for all_of_it in whole)) for name in only}
        raise InputError(f"--only: no cell has {dict(only)}; there are {known}.")
    return chosen
