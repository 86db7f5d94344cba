"""One stored line: what is kept of a finished cell, in the order of the table's columns, with a checksum over it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Final, final

# The columns of the table `cells` behind its number, which says in which order rows came.
COLUMNS: Final = (
    *("key", "identity", "code", "task", "parameters", "seed", "status", "row"),
    *("arrays", "arrays_sha256", "error", "log", "seconds", "memory", "checksum"),
)
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

_NAME: Final = re.compile(r"[0-9a-f]{8,128}")


@final
@dataclass(frozen=True, kw_only=True)
class StoredLine:
    """The columns of a finished cell as they are written."""

    key: str
    identity: str
    code: str
    task: str
    parameters: str
    seed: int
    status: str
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
        return hashlib.sha256(json.dumps(list(vars(self).values())).encode()).hexdigest()[:32]

    @property
    def values(self) -> tuple[object, ...]:
        """In the order of `COLUMNS`."""
        return (*vars(self).values(), self.checksum)

    @classmethod
    def read(cls, values: tuple[object, ...]) -> StoredLine | None:
        """The line with these values in the order of `COLUMNS`; None if they are not what was written."""
        if len(values) != len(COLUMNS):
            return None
        given = dict(zip(COLUMNS[:-1], values[:-1], strict=True))
        if isinstance(given["seconds"], int):  # as SQLite keeps a real number without a fraction
            given["seconds"] = float(given["seconds"])
        line = cls(**given)  # type: ignore[arg-type]  # their types are judged next
        try:
            return line if line.checksum == values[-1] and line.is_well_formed else None
        except (TypeError, ValueError, RecursionError):  # of types or texts that no line has
            return None

    @property
    def is_well_formed(self) -> bool:
        """Whether a store could have written it: a checksum is no signature, and anybody can compute one.

        Above all the file of arrays has the name of the key, so that no name leads out of the folder.
        """
        texts = (self.key, self.identity, self.code, self.task, self.parameters, self.status, self.row)
        perhaps = (self.arrays, self.arrays_sha256, self.error, self.log)
        numbers = (self.seed, self.seconds, 0 if self.memory is None else self.memory)
        return (
            all(isinstance(text, str) for text in texts)
            and all(text is None or isinstance(text, str) for text in perhaps)
            and all(isinstance(number, kind) for number, kind in zip(numbers, (int, float, int), strict=True))
            and _NAME.fullmatch(self.key) is not None
            and self.arrays in (None, f"{self.key}.safetensors")
            and self.status in ("done", "failed")
            and isinstance(json.loads(self.row), dict)
            and isinstance(json.loads(self.parameters), dict)
        )
