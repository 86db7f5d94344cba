"""Where rows are kept: a SQLite file with one writer, and arrays as safetensors in a folder beside it."""

from __future__ import annotations

import abc
import json
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final, final

from marginflow.errors import InputError
from marginflow.storage import save_tensors
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.lock import Lock
from marginflow.sweeps.record import Computed, Record
from marginflow.sweeps.stopped import StoppedError

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS cells (
    key        TEXT PRIMARY KEY,  -- hash of identity and code
    identity   TEXT NOT NULL,     -- hash of task, its version, parameters, seed
    code       TEXT NOT NULL,
    task       TEXT NOT NULL,
    parameters TEXT NOT NULL,     -- JSON
    seed       INTEGER NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    row        TEXT NOT NULL,     -- JSON; equal inputs give equal bytes
    arrays     TEXT,              -- file in the folder beside the store
    error      TEXT,              -- traceback
    seconds    REAL NOT NULL,     -- wall time; not part of what is compared
    finished   TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;
CREATE INDEX IF NOT EXISTS by_identity ON cells (identity);
"""
_COLUMNS: Final = "key, identity, status, row, arrays, error, seconds"
_MANY: Final = 500  # below the number of variables that every SQLite allows in one statement


class AbstractStore(abc.ABC):
    """Keeps what became of cells."""

    @abc.abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """The time in which this process, and no other, writes."""

    @abc.abstractmethod
    def keep(self, cell: Cell, computed: Computed) -> None:
        """Keep a finished cell, whole or not at all; an earlier failure of it is replaced."""

    @abc.abstractmethod
    def find(self, cells: Sequence[Cell], *, any_code: bool = False) -> dict[str, Record]:
        """What is known of these cells, by key; with `any_code` the newest row counts, whatever code computed it."""


@final
class Memory(AbstractStore):
    """Keeps rows as long as it lives."""

    def __init__(self) -> None:
        self._kept: dict[str, Computed] = {}

    def writing(self) -> AbstractContextManager[None]:
        """Nobody else can write."""
        return nullcontext()

    def keep(self, cell: Cell, computed: Computed) -> None:
        """Keep a finished cell."""
        self._kept[cell.key] = computed

    def find(self, cells: Sequence[Cell], *, any_code: bool = False) -> dict[str, Record]:
        """What is known of these cells; all of it by this code."""
        return {cell.key: _record(cell, self._kept[cell.key]) for cell in cells if cell.key in self._kept}


def _record(cell: Cell, c: Computed) -> Record:
    return Record(cell=cell, status=c.status, row=c.row, error=c.error, seconds=c.seconds, kept=c.arrays)


@final
class Store(AbstractStore):
    """A SQLite file (write-ahead log, one writer) with a folder of arrays beside it.

    A row is committed after its arrays are in place, so a kill at any moment leaves whole cells only. Several sweeps
    may share a store one after the other; what two of them have in common is computed once.

    Parameters
    ----------
    path : str or Path
        A file that ends in .sqlite; it is made with the first row. Arrays are in the folder of the same name that ends
        in .arrays.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix != ".sqlite":
            raise InputError(f"The store is {str(self.path)!r}; a name that ends in .sqlite is expected.")
        if not self.path.parent.is_dir():
            raise InputError(f"The folder {self.path.parent} does not exist; make it first.")
        self.folder = self.path.with_suffix(".arrays")
        self._writer: sqlite3.Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock and the writing connection; refuses a second sweep on the same store."""
        lock = Lock(self.path.with_name(self.path.name + ".lock"))
        with lock, self._guarded(), closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            # No wait for the disk at every row: a kill of the process loses nothing, a power cut at most the last rows.
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(SCHEMA)
            self._writer = connection
            if self.folder.is_dir():
                for unfinished in self.folder.glob(".*.part"):  # of a writer that was killed; we hold the lock
                    unfinished.unlink()
            try:
                yield
            finally:
                self._writer = None

    def keep(self, cell: Cell, computed: Computed) -> None:
        """Arrays first, then the row in one transaction."""
        if self._writer is None:
            raise InputError(f"{self.path} is not open for writing; use it inside `with store.writing():`.")
        values = (
            *(cell.key, cell.identity, cell.code, cell.task.name),
            *(json.dumps(dict(cell.parameters), ensure_ascii=False), cell.seed),
            *(computed.status, json.dumps(dict(computed.row), ensure_ascii=False)),
            *(f"{cell.key}.safetensors" if computed.arrays else None, computed.error, computed.seconds),
        )
        with self._guarded():
            if computed.arrays:
                self.folder.mkdir(exist_ok=True)
                save_tensors(self.folder / f"{cell.key}.safetensors", computed.arrays)
            self._writer.execute(
                "INSERT OR REPLACE INTO cells (key, identity, code, task, parameters, seed, status, row, arrays, error,"
                f" seconds) VALUES ({', '.join('?' * len(values))})",
                values,
            )

    def find(self, cells: Sequence[Cell], *, any_code: bool = False) -> dict[str, Record]:
        """What is stored of these cells; reading is allowed while another process writes."""
        if not self.path.is_file():
            return {}
        column = "identity" if any_code else "key"
        wanted = {getattr(cell, column): cell for cell in cells}
        found: dict[str, Record] = {}
        with closing(self._connect()) as connection, self._guarded():
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'cells'").fetchone() is None:
                return {}
            names = list(wanted)
            for start in range(0, len(names), _MANY):
                some = names[start : start + _MANY]
                # The newest last, a finished one after a failed one: the later one counts.
                statement = (
                    f"SELECT {_COLUMNS} FROM cells WHERE {column} IN ({', '.join('?' * len(some))}) "
                    "ORDER BY status = 'done', finished"
                )
                for line in connection.execute(statement, some):
                    cell = wanted[line[1] if any_code else line[0]]
                    found[cell.key] = self._read(cell, line)
        return found

    def _read(self, cell: Cell, line: tuple[object, ...]) -> Record:
        _, _, status, row, arrays, error, seconds = line
        return Record(
            cell=cell,
            status="done" if status == "done" else "failed",
            row=json.loads(str(row)),
            error=None if error is None else str(error),
            seconds=float(str(seconds)),
            kept={} if arrays is None else self.folder / str(arrays),
        )

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=30.0, isolation_level=None)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What the disk or the file refuses becomes a sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise InputError(f"{self.path} is not a SQLite file.") from None
            raise StoppedError(self._sentence(str(error))) from None
        except OSError as error:
            raise StoppedError(self._sentence(error.strerror or str(error))) from None

    def _sentence(self, reason: str) -> str:
        free = shutil.disk_usage(self.path.parent).free / 2**20
        return (
            f"{self.path} cannot be written ({reason}; {free:.0f} MiB of the disk are free): every row that was stored "
            "is still there, so make room and start the same sweep again."
        )
