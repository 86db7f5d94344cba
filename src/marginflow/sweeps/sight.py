"""What stores hold of a sweep, seen by a process that computes nothing, while others may write to them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import final

from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.line import StoredLine
from marginflow.sweeps.lock import is_held
from marginflow.sweeps.record import FinishedCells, Record
from marginflow.sweeps.registry import find_task
from marginflow.sweeps.store import Store
from marginflow.sweeps.sweep import Sweep


@final
@dataclass(frozen=True, kw_only=True)
class SeenStore:
    """One store: how many cells of the sweep are done and failed in it, and whether a process is writing to it."""

    path: Path
    done: int
    failed: int
    writing: bool


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Sight(FinishedCells, Brief):
    """What is there of a sweep by now.

    Parameters
    ----------
    sweep : Sweep or None
        None if only its stores are known.
    records : tuple of Record
        Finished cells, those that came last at the end; of several shards in turn.
    stores : tuple of SeenStore
    """

    sweep: Sweep | None
    records: tuple[Record, ...]
    stores: tuple[SeenStore, ...]

    @property
    def name(self) -> str:
        """Of the sweep, or of the stores."""
        return ", ".join(store.path.name for store in self.stores) if self.sweep is None else self.sweep.name

    @property
    def total(self) -> int | None:
        """Cells of the sweep, if it is known."""
        return None if self.sweep is None else len(self.sweep.cells)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each cell in the whole sweep, by its identity."""
        return {} if self.sweep is None else {cell.identity: number for number, cell in self.sweep.numbered}

    @property
    def varying(self) -> tuple[str, ...]:
        """The parameters that tell cells apart."""
        cells = [record.cell for record in self.records] if self.sweep is None else self.sweep.cells
        names = dict.fromkeys(name for cell in cells for name in cell.parameters)
        return tuple(name for name in names if len({str(cell.parameters.get(name)) for cell in cells}) > 1)

    @property
    def missing(self) -> int | None:
        """How many cells are neither done nor failed, if it is known how many there are."""
        return None if self.total is None else self.total - len(self.records)

    @property
    def ended(self) -> bool:
        """Whether nobody is writing, and no cell of a known sweep is missing."""
        return not self.missing and not any(store.writing for store in self.stores)

    @property
    def rows(self) -> list[dict[str, object]]:
        """Parameters, seed and row of the cells that are done, in the order of the sweep."""
        ordered = sorted(self.done, key=lambda record: self.numbers.get(record.cell.identity, 0))
        return [record.flat() for record in ordered]


def look(stores: Sequence[Store], sweep: Sweep | None = None, *, any_code: bool = True) -> Sight:
    """See what stores have of a sweep, or all of their rows if none is given; nothing is written.

    Parameters
    ----------
    stores : sequence of Store
        One, or those of the shards; one that is not there yet is empty.
    sweep : Sweep or None
    any_code : bool
        Whether rows count that another version of the code computed.
    """
    wanted = None if sweep is None else {cell.identity if any_code else cell.key: cell for cell in sweep.cells}
    best: dict[str, tuple[int, Record]] = {}
    seen = []
    for store in stores:
        there = _records(store, wanted, any_code=any_code)
        failed = sum(record.status == "failed" for _, record in there.values())
        writing = is_held(store.lock_path)
        seen.append(SeenStore(path=store.path, done=len(there) - failed, failed=failed, writing=writing))
        for age, record in there.values():
            _keep(best, age, record)
    return Sight(
        sweep=sweep,
        records=tuple(record for _, record in sorted(best.values(), key=lambda pair: -pair[0])),
        stores=tuple(seen),
    )


def _records(store: Store, wanted: Mapping[str, Cell] | None, *, any_code: bool) -> dict[str, tuple[int, Record]]:
    """By identity of the cell, its line counted from the end of the store, and what became of it."""
    found: dict[str, tuple[int, Record]] = {}
    lines = store.lines()
    for age, line in zip(range(len(lines), 0, -1), lines, strict=True):
        cell = _cell(line, store) if wanted is None else wanted.get(line.identity if any_code else line.key)
        if cell is not None:
            _keep(found, age, store.record(cell, line))
    return found


def _keep(found: dict[str, tuple[int, Record]], age: int, record: Record) -> None:
    """What came later counts, but a failure does not replace a row."""
    _, known = found.get(record.cell.identity, (0, None))
    if known is None or record.status == "done" or known.status == "failed":
        found[record.cell.identity] = age, record


def _cell(line: StoredLine, store: Store) -> Cell:
    """The cell of a line whose sweep is not known."""
    try:
        task = find_task(line.task)
    except InputError:
        raise InputError(
            f"The task {line.task!r} of {store.path} is not known here; name the spec of the sweep, .toml, too."
        ) from None
    return Cell(task=task, parameters=json.loads(line.parameters), seed=line.seed)
