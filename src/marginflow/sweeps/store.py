"""Where rows are kept: a SQLite file with one writer, and arrays as safetensors in a folder beside it."""

import abc
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final, final

from marginflow.errors import InputError
from marginflow.storage import write_bytes
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.line import COLUMNS, SCHEMA, StoredLine
from marginflow.sweeps.lock import locked
from marginflow.sweeps.record import ArrayFile, Computed, Record
from marginflow.sweeps.registry import row_text
from marginflow.sweeps.trouble import damaged, foreign, refusals

_APPLICATION: Final = 0x6D666C77  # "mflw": what tells a store from other SQLite files
_VERSION: Final = 2
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
        """What is known of these cells, by key; with `any_code` the last row counts, whatever code computed it."""


@final
class MemoryStore(AbstractStore):
    """Keeps rows as long as it lives."""

    def __init__(self) -> None:
        self._kept: dict[str, Record] = {}

    def writing(self) -> AbstractContextManager[None]:
        """Nobody else can write."""
        return nullcontext()

    def keep(self, cell: Cell, computed: Computed) -> None:
        """Keep a finished cell."""
        self._kept[cell.key] = Record(
            cell=cell,
            status=computed.status,
            row=computed.row,
            error=computed.error,
            log=computed.log,
            seconds=computed.seconds,
            memory=computed.memory,
            kept=computed.arrays,
        )

    def find(self, cells: Sequence[Cell], *, any_code: bool = False) -> dict[str, Record]:
        """What is known of these cells; all of it by this code."""
        return {cell.key: self._kept[cell.key] for cell in cells if cell.key in self._kept}


@final
class Store(AbstractStore):
    """A SQLite file (write-ahead log, one writer) with a folder of arrays beside it.

    A row is committed after its arrays are in place, so a kill at any moment leaves whole cells only. Several sweeps
    may share a store one after the other; what two of them have in common is computed once. Rows and arrays carry a
    checksum: what was changed since is an `InputError`, and `salvage` reads the rest.

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
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path} is not a file; the name of a store is expected.")
        self.folder = self.path.with_suffix(".arrays")
        self._writer: sqlite3.Connection | None = None

    @property
    def lock_path(self) -> Path:
        """What the one process that writes holds."""
        return self.path.with_name(self.path.name + ".lock")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock and the writing connection; refuses a second sweep on the same store."""
        with locked(self.lock_path), refusals(self.path), closing(_connect(self.path)) as connection:
            known = _is_store(self.path, connection)
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise damaged(self.path, " ".join(str(found).split()))
            connection.execute("PRAGMA journal_mode=WAL")
            # No wait for the disk at every row: a kill of the process loses nothing, a power cut at most the last rows.
            connection.execute("PRAGMA synchronous=NORMAL")
            if not known:
                marks = f"PRAGMA application_id={_APPLICATION};PRAGMA user_version={_VERSION};"
                connection.executescript(f"BEGIN;{marks}{SCHEMA}COMMIT;")
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
        content = computed.arrays
        line = StoredLine(
            key=cell.key,
            identity=cell.identity,
            code=cell.code,
            task=cell.task.name,
            parameters=row_text(dict(cell.parameters)),
            seed=cell.seed,
            status=computed.status,
            row=row_text(dict(computed.row)),
            arrays=f"{cell.key}.safetensors" if content else None,
            arrays_sha256=hashlib.sha256(content).hexdigest() if content else None,
            error=computed.error,
            log=computed.log or None,
            seconds=computed.seconds,
            memory=computed.memory,
        )
        self.add(line, content)

    def add(self, line: StoredLine, arrays: bytes) -> None:
        """Write a line as it is, with the content of its file of arrays; it replaces one with the same key."""
        if self._writer is None:
            raise InputError(f"{self.path} is not open for writing; use it inside `with store.writing():`.")
        with refusals(self.path):
            if line.arrays is not None:
                self.folder.mkdir(exist_ok=True)
                write_bytes(self.folder / line.arrays, arrays)
            self._writer.execute(
                f"INSERT OR REPLACE INTO cells ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})",
                line.values,
            )

    def find(self, cells: Sequence[Cell], *, any_code: bool = False) -> dict[str, Record]:
        """What is stored of these cells; reading is allowed while another process writes."""
        column = "identity" if any_code else "key"
        wanted = {getattr(cell, column): cell for cell in cells}
        found: dict[str, Record] = {}
        names = list(wanted)
        for start in range(0, len(names), _MANY):
            some = names[start : start + _MANY]
            # The later one counts: the last that came, a finished one after a failed one.
            condition = f"WHERE {column} IN ({', '.join('?' * len(some))}) ORDER BY status = 'done', number"
            for line in self._select(condition, some):
                cell = wanted[line.identity if any_code else line.key]
                found[cell.key] = self.record(cell, line)
        return found

    def lines(self) -> list[StoredLine]:
        """Every row, whatever sweep it belongs to, in the order in which they came."""
        return list(self._select("ORDER BY number"))

    def _select(self, condition: str, values: Sequence[object] = ()) -> Iterator[StoredLine]:
        if not self.path.is_file():
            return
        with self._reading() as connection:
            if not _is_store(self.path, connection):
                return
            for values_read in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM cells {condition}", values):
                line = StoredLine.read(values_read)
                if line is None:
                    raise damaged(self.path, f"the row with the key {values_read[0]} is not what was written")
                yield line

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading; from a copy where the folder takes no file, as readers too would make one there."""
        with refusals(self.path):
            if os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK):
                with closing(_connect(self.path)) as connection:
                    yield connection
                return
            with tempfile.TemporaryDirectory() as folder:
                for ending in ("", "-wal"):
                    source = self.path.with_name(self.path.name + ending)
                    if source.is_file():
                        shutil.copyfile(source, Path(folder) / source.name)
                with closing(_connect(Path(folder) / self.path.name)) as connection:
                    yield connection

    def record(self, cell: Cell, line: StoredLine) -> Record:
        """What became of a cell, by a line of this store."""
        return Record(
            cell=cell,
            status=line.status,
            row=json.loads(line.row),
            error=line.error,
            log=line.log or "",
            seconds=line.seconds,
            memory=line.memory,
            kept=self._file(line) or b"",
        )

    def content(self, line: StoredLine) -> bytes:
        """The arrays of a line as they are in their file; an `InputError` if they are not what was written."""
        file = self._file(line)
        return b"" if file is None else file.content()

    def _file(self, line: StoredLine) -> ArrayFile | None:
        return None if line.arrays is None else ArrayFile(self.folder / line.arrays, line.arrays_sha256 or "")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=30.0, isolation_level=None)


def _is_store(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether it is a store, or empty; an `InputError` if it is something else."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        return False
    ours = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if ours != [_APPLICATION, _VERSION]:
        raise foreign(path)
    return True
