"""A longer flow, bundled less: where the patterns had not settled."""

from marginflow.limit.budget import Budget
from marginflow.limit.settings import FINER, LEAST_LONG, LONG_FLOW
from marginflow.limit.starts.flow import both_signs
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Task


class LongFlow(AbstractStart):
    """Unless the caller has fixed the length of the flow."""

    name, rank = "long flow", 40

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Fine bundles of the network after many steps; nothing where so many are dear on all samples."""
        steps = min(LONG_FLOW, task.most_steps)
        if task.flow_steps is not None or steps < LEAST_LONG * LONG_FLOW:
            return None
        return both_signs(task, task.flow(steps, budget), budget, finer=FINER)
