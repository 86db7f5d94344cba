"""The caller's own network, as it is: no flow goes before the polish."""

from marginflow.limit.budget import Budget
from marginflow.limit.starts.flow import first
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Flowed, Task


class Own(AbstractStart):
    """With `flow_steps=0` only."""

    name, rank = "own", 10

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Bundles of the given network."""
        return first(task, Flowed(task.given, 0.0), budget) if task.flow_steps == 0 else None
