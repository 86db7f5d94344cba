"""One cell of a sweep: a task, all of its parameters, a seed; and the hash under which its row is kept."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from marginflow.display import Brief
from marginflow.sweeps.code import code_version
from marginflow.sweeps.registry import SweepTask


@final
@dataclass(frozen=True, eq=False)
class Cell(Brief):
    """One point of the grid with one seed.

    Parameters
    ----------
    task : SweepTask
    parameters : mapping
        Plain values of every parameter, defaults included, in the order of the task's fields.
    seed : int
    """

    task: SweepTask[Any]
    parameters: Mapping[str, Any]
    seed: int

    @cached_property
    def identity(self) -> str:
        """Hash of what is computed, whatever the code: task, its version, parameters, seed."""
        named = [self.task.name, self.task.version, dict(self.parameters), self.seed]
        text = json.dumps(named, sort_keys=True, ensure_ascii=False, allow_nan=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @cached_property
    def key(self) -> str:
        """Hash of what is computed and by which code; a row under this key is never computed again."""
        return hashlib.sha256(f"{self.identity} {self.code}".encode()).hexdigest()[:32]

    @property
    def code(self) -> str:
        """The code that would compute it now."""
        return code_version(self.task)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in [*self.parameters.items(), ("seed", self.seed)])
