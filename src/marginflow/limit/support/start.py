"""The start of a polish from a descended network: its neurons as they are, with the multipliers of the descent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons
from marginflow.limit.starts.flow import first
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Flowed, Task


@dataclass(frozen=True, eq=False)
class AfterDescent(AbstractStart):
    """With a soft margin at the scale at which the descent ended, where its multipliers (m,) belong."""

    multipliers: FloatArray
    name, rank = "after descent", 5

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Bundles of the network; of a hard margin at a typical margin of 1, as everywhere."""
        start = first(task, Flowed(task.given, 0.0), budget)
        if not task.soft:
            return start
        typical = float(np.linalg.norm(task.given.directions) / np.linalg.norm(task.neurons_in_span(task.given).U))
        neurons = Neurons(typical * start.neurons.U, start.neurons.s)
        return replace(start, neurons=neurons, multipliers=self.multipliers[task.problem.order])
