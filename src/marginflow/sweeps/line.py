"""One stored line: what is kept of a finished cell, in the order of the table's columns, with a checksum over it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import Annotated, Final, final

import msgspec

from marginflow.sweeps.record import Status

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS cells (
    number        INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which rows came
    key           TEXT NOT NULL UNIQUE,  -- hash of identity and code
    identity      TEXT NOT NULL,         -- hash of task, its version, parameters, seed
    code          TEXT NOT NULL,
    task          TEXT NOT NULL,
    parameters    TEXT NOT NULL,         -- JSON
    seed          INTEGER NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    row           TEXT NOT NULL,         -- JSON; equal inputs give equal bytes
    arrays        TEXT,                  -- file in the folder beside the store
    arrays_sha256 TEXT,                  -- of that file
    error         TEXT,                  -- traceback
    log           TEXT,                  -- what the cell printed, the end of it
    seconds       REAL NOT NULL,         -- CPU time of its process; not part of what is compared
    memory        INTEGER,               -- largest resident memory of its process, bytes; neither is this
    checksum      TEXT NOT NULL          -- of the columns from key to memory
) STRICT;
CREATE INDEX IF NOT EXISTS by_identity ON cells (identity);
"""


@final
@dataclass(frozen=True, kw_only=True)
class StoredLine:
    """The columns of a finished cell as they are written."""

    key: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8,128}\Z")]
    identity: str
    code: str
    task: str
    parameters: str
    seed: int
    status: Status
    row: str
    arrays: str | None
    arrays_sha256: str | None
    error: str | None
    log: str | None
    seconds: float
    memory: int | None

    @property
    def checksum(self) -> str:
        """Of everything else; a changed line is noticed by it."""
        return hashlib.sha256(json.dumps(list(vars(self).values()), allow_nan=True).encode()).hexdigest()[:32]

    @property
    def values(self) -> tuple[object, ...]:
        """In the order of `COLUMNS`."""
        return (*vars(self).values(), self.checksum)

    @classmethod
    def read(cls, values: tuple[object, ...]) -> StoredLine | None:
        """The line with these values in the order of `COLUMNS`; None if they are not what a store has written.

        A checksum is not a signature: anybody can compute one. So everything has its type, and above all the file of
        arrays has the name of the key, so that no name leads out of the folder.
        """
        if len(values) != len(COLUMNS):
            return None
        try:
            # A whole number of seconds becomes a real one: without a fraction SQLite keeps it so.
            line = msgspec.convert(dict(zip(COLUMNS[:-1], values[:-1], strict=True)), cls)
            named = line.arrays in (None, f"{line.key}.safetensors")
            tables = all(isinstance(json.loads(text), dict) for text in (line.row, line.parameters))
        except (msgspec.ValidationError, ValueError, RecursionError):
            return None
        return line if line.checksum == values[-1] and named and tables else None


# The columns of the table `cells` behind its number, which says in which order rows came.
COLUMNS: Final = (*(field.name for field in fields(StoredLine)), "checksum")
