"""What became of a cell: its row, or its traceback, and how long it took."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, final

import numpy as np
import safetensors.numpy

from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.registry import Plain

Status = Literal["done", "failed"]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Computed:
    """What a worker sends back for the cell with this key."""

    key: str
    status: Status
    seconds: float
    row: Mapping[str, Plain] = field(default_factory=dict)
    arrays: bytes = b""  # as safetensors; empty if there are none
    error: str | None = None
    log: str = ""
    memory: int | None = None


@final
@dataclass(frozen=True)
class ArrayFile:
    """A file of arrays beside a store, and the checksum that it must have."""

    path: Path
    sha256: str

    def content(self) -> bytes:
        """The bytes of the file; an `InputError` if they are not those that were written."""
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"The arrays of the cell, {self.path}, cannot be read: {error.strerror}.") from None
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise InputError(f"The arrays of the cell, {self.path}, are not what was written; compute the cell again.")
        return content


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Record(Brief):
    """A finished cell.

    Parameters
    ----------
    cell : Cell
    status : "done" or "failed"
    row : mapping
        What the task returned; empty if it failed.
    error : str or None
        The traceback of a failed cell.
    log : str
        What the cell printed in a worker process, the end of it.
    seconds : float
        CPU time of the process while it computed the cell: it does not depend on what else the machine does. Of a cell
        that was ended at its time limit it is the wall time. Never part of the row: rows can be compared bit for bit.
    memory : int or None
        Largest resident memory of the process while it computed the cell, in bytes.
    kept : bytes or ArrayFile
        The arrays as safetensors, or the file that holds them.
    """

    cell: Cell
    status: Status
    row: Mapping[str, Plain]
    error: str | None
    log: str
    seconds: float
    memory: int | None
    kept: bytes | ArrayFile

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays as float64, read from their file if there is one."""
        content = self.kept.content() if isinstance(self.kept, ArrayFile) else self.kept
        arrays = safetensors.numpy.load(content) if content else {}
        return {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}

    @property
    def reason(self) -> str:
        """The last line of the traceback."""
        return (self.error or "").strip().rpartition("\n")[2]

    def flat(self, *, seconds: bool = False) -> dict[str, object]:
        """Parameters, seed and row in one mapping; with the CPU time if it is asked for."""
        time = {"seconds": self.seconds} if seconds else {}
        return {**self.cell.parameters, "seed": self.cell.seed, **self.row, **time}


class FinishedCells:
    """What became of several cells."""

    records: tuple[Record, ...]

    @property
    def done(self) -> tuple[Record, ...]:
        """Cells that have a row."""
        return tuple(record for record in self.records if record.status == "done")

    @property
    def failed(self) -> tuple[Record, ...]:
        """Cells whose task raised, or whose worker died."""
        return tuple(record for record in self.records if record.status == "failed")
