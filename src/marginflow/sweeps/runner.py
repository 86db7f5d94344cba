"""`run`: the cells of a sweep that are not stored yet are computed and stored; all of them are returned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import final

from marginflow.arrays import real_number
from marginflow.display import Plotted
from marginflow.errors import InputError
from marginflow.sweeps.engines import AbstractEngine, LocalEngine
from marginflow.sweeps.record import FinishedCells, Record
from marginflow.sweeps.store import AbstractStore, MemoryStore, Store
from marginflow.sweeps.sweep import Sweep


@final
@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Parameters
    ----------
    total, stored : int
        Cells of the sweep, and those that were there before it began.
    computed, failed : int
        Cells finished by now, and how many of these failed.
    seconds : float
        Since the first cell was begun.
    """

    total: int
    stored: int
    computed: int
    failed: int
    seconds: float

    @property
    def left(self) -> int:
        """Cells that are still to be computed."""
        return self.total - self.stored - self.computed

    @property
    def seconds_left(self) -> float | None:
        """Estimate from the mean pace so far; None before the first cell is done."""
        return None if self.computed == 0 else self.seconds / self.computed * self.left


@final
@dataclass(frozen=True, eq=False)
class Results(FinishedCells, Plotted):
    """The finished cells of a sweep, in the order of its grid whatever the order in which they were computed.

    Parameters
    ----------
    sweep : Sweep
    records : tuple of Record
        Done and failed cells.
    stored : int
        How many of them were there before; the others were computed now.
    """

    sweep: Sweep
    records: tuple[Record, ...]
    stored: int

    @property
    def rows(self) -> list[dict[str, object]]:
        """Parameters, seed and row of every cell that is done; equal for equal sweeps, bit for bit."""
        return [record.flat() for record in self.done]

    @property
    def failures(self) -> tuple[tuple[int, Record], ...]:
        """Failed cells, each with its number in the whole sweep, by which it can be chosen."""
        numbers = {cell.key: number for number, cell in self.sweep.numbered}
        return tuple((numbers[record.cell.key], record) for record in self.failed)

    @property
    def complete(self) -> bool:
        """Whether every cell has a row."""
        return len(self.done) == len(self.sweep.cells)

    @property
    def computed(self) -> int:
        """Cells that were computed now."""
        return len(self.records) - self.stored

    def require_complete(self) -> Results:
        """Itself, or an `InputError` that tells the first failure."""
        if self.failed:
            first = self.failed[0]
            raise InputError(f"{len(self.failed)} cells failed; the first is {first.cell}: {first.reason}")
        if not self.complete:
            raise InputError(f"{len(self.done)} of {len(self.sweep.cells)} cells are stored; run the sweep first.")
        return self

    def __repr__(self) -> str:
        return (
            f"Results({len(self.done)} of {len(self.sweep.cells)} cells of {self.sweep.name!r} done, "
            f"{len(self.failed)} failed, {self.computed} computed now)"
        )

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)


def run(
    sweep: Sweep,
    *,
    store: AbstractStore | str | Path | None = None,
    workers: int | None = None,
    engine: AbstractEngine | None = None,
    retry_failed: bool = False,
    any_code: bool = False,
    time_limit: float | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Results:
    """Compute the cells of a sweep that are not stored yet, and return all of them.

    Parameters
    ----------
    sweep : Sweep
    store : Store, path of a .sqlite file, or None
        None keeps nothing on disk.
    workers : int or None
        Processes of the local engine; None computes in this process, which a cell that crashes would end.
    engine : AbstractEngine, optional
        Where to compute instead.
    retry_failed : bool
        Compute failed cells again; otherwise they stay as they are.
    any_code : bool
        Accept rows that another version of the code computed; of several the one that came last.
    time_limit : float or None
        Seconds after which a cell is ended and counted as failed; by default that of the sweep. Such cells are computed
        in processes of their own.
    progress : callable, optional
        Receives a `SweepProgress` at the start and after every cell.

    Raises
    ------
    InputError
        If another sweep is writing to the store.
    StoppedError
        If the disk is full or no worker is left; what was stored stays.
    """
    if engine is not None and workers is not None:
        raise InputError("workers is for the local engine; give it to the engine instead.")
    chosen = engine if engine is not None else LocalEngine(workers=workers)
    seconds = sweep.time_limit if time_limit is None else real_number("time_limit", time_limit, above=0.0)
    kept = _store(store)
    with kept.writing():
        known = kept.find(sweep.cells, any_code=any_code)
        before = {key for key, record in known.items() if record.status == "done" or not retry_failed}
        missing = {cell.key: cell for cell in sweep.cells if cell.key not in before}
        total, stored = len(sweep.cells), len(before)
        begun, failed = time.monotonic(), 0

        def tell(computed: int) -> None:
            if progress is not None:
                progress(SweepProgress(total, stored, computed, failed, time.monotonic() - begun))

        tell(0)
        if missing:
            with closing(chosen.compute(tuple(missing.values()), time_limit=seconds)) as stream:
                for count, computed in enumerate(stream, start=1):
                    kept.keep(missing[computed.key], computed)
                    failed += computed.status == "failed"
                    tell(count)
    found = kept.find(sweep.cells, any_code=any_code)
    return Results(sweep, tuple(found[cell.key] for cell in sweep.cells), stored)


def stored(sweep: Sweep, store: AbstractStore | str | Path, *, any_code: bool = False) -> Results:
    """The cells of a sweep that a store holds already; nothing is computed or written."""
    found = _store(store).find(sweep.cells, any_code=any_code)
    records = tuple(found[cell.key] for cell in sweep.cells if cell.key in found)
    return Results(sweep, records, len(records))


def by_other_code(sweep: Sweep, store: AbstractStore | str | Path) -> int:
    """How many cells have a row by another version of the code only: `any_code` would accept them."""
    kept = _store(store)
    mine, all_of_them = kept.find(sweep.cells), kept.find(sweep.cells, any_code=True)
    return sum(record.status == "done" and key not in mine for key, record in all_of_them.items())


def _store(store: AbstractStore | str | Path | None) -> AbstractStore:
    if store is None:
        return MemoryStore()
    return store if isinstance(store, AbstractStore) else Store(store)
