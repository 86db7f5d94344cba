"""The first flow again, bundled less and polished in double precision: the last way, for delicate cases."""

from dataclasses import replace

from marginflow.limit.budget import Budget
from marginflow.limit.settings import FINER
from marginflow.limit.starts.flow import both_signs
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Task


class Fine(AbstractStart):
    """Always possible."""

    name, rank = "fine bundles", 90

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Fine bundles of the flow that the caller wants."""
        return replace(both_signs(task, task.flow(task.flow_steps, budget), budget, finer=FINER), precision="double")
