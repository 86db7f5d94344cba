"""The flow: steps of bounded angle from the given network, until every margin is positive and half as long again."""

from __future__ import annotations

from dataclasses import replace

from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.settings import BEFORE_COLUMNS, VERY_FEW_DIMENSIONS
from marginflow.limit.starts.bundles import bundle
from marginflow.limit.starts.columns import in_reach
from marginflow.limit.starts.feasible import feasible
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Flowed, Task


class Flow(AbstractStart):
    """As many steps as the caller wants, or as many as separate the data and half as many again."""

    name, rank = "flow", 20

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Bundles of the flowed network; nothing where the caller wants no flow."""
        if task.flow_steps == 0:
            return None
        return first(task, task.flow(task.flow_steps, budget))


def first(task: Task, flowed: Flowed) -> Start:
    """The first start of a call: in very few dimensions it gets fewer iterations, as columns are cheap there."""
    start = both_signs(task, flowed)
    few = task.problem.X.shape[1] <= VERY_FEW_DIMENSIONS and not task.frozen and in_reach(task.problem)
    return replace(start, max_iterations=BEFORE_COLUMNS) if few else start


def both_signs(task: Task, flowed: Flowed, *, finer: int = 1) -> Start:
    """Bundles of a network; where it has lost a sign, a separating combination of them, or where the flow began."""
    start = bundle(task, flowed, finer=finer)
    missing = task.missing_sign(task.neurons(flowed.network))
    if missing is None:
        return start
    combined = feasible(task, start)
    if combined is not None:
        return combined
    if task.missing_sign(task.neurons(task.given)) is None:
        return bundle(task, Flowed(task.given, flowed.seconds), finer=finer)
    raise InputError(
        f"The start has no neuron with sign {missing:+g} that is not zero, but data with both labels need "
        "neurons of both signs; try another seed, a larger width or another start."
    )
