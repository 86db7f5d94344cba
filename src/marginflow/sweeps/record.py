"""What became of a cell: its row, or its traceback, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, final

import numpy as np

from marginflow.storage import load_tensors
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
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    error: str | None = None


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Record:
    """A finished cell.

    Parameters
    ----------
    cell : Cell
    status : "done" or "failed"
    row : mapping
        What the task returned; empty if it failed.
    error : str or None
        The traceback of a failed cell.
    seconds : float
        Wall time of the task; never part of the row, so that rows can be compared bit for bit.
    kept : mapping or path
        The arrays, or the file that holds them.
    """

    cell: Cell
    status: Status
    row: Mapping[str, Plain]
    error: str | None
    seconds: float
    kept: Mapping[str, np.ndarray] | Path

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays as float64, read from their file if there is one."""
        if isinstance(self.kept, Path):
            return dict(load_tensors(self.kept)[0])
        return {name: np.asarray(array, dtype=np.float64) for name, array in self.kept.items()}

    @property
    def reason(self) -> str:
        """The last line of the traceback."""
        return (self.error or "").strip().rpartition("\n")[2]

    def flat(self, *, seconds: bool = False) -> dict[str, object]:
        """Parameters, seed and row in one mapping; with the wall time if it is asked for."""
        time = {"seconds": self.seconds} if seconds else {}
        return {**self.cell.parameters, "seed": self.cell.seed, **self.row, **time}
