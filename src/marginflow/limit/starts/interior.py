"""The interior point from the flow's neurons: where samples are many to a dimension, and on data of any scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marginflow.limit.budget import Budget
from marginflow.limit.interior.point import InteriorPoint, affordable, interior_point
from marginflow.limit.starts.bundles import bundle
from marginflow.limit.starts.feasible import cheapest_combination
from marginflow.limit.starts.rising import rising_neurons
from marginflow.limit.starts.start import AbstractStart, Finished, Origin, Start, finished
from marginflow.limit.task import Task


class Interior(AbstractStart):
    """For trained outputs, where an iteration is cheap enough."""

    name, rank = "interior", 25

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The exact point nearest to the flow, if it has no more neurons than asked for."""
        if task.frozen:
            return None
        start = bundle(task, task.flow(task.flow_steps, budget))
        if not affordable(task.problem, len(start.neurons.s)):
            return None
        point = interior_point(task.problem, start.neurons, budget)
        if point is not None and len(point.s) <= task.width:
            return _of(task, point, "from the neurons of the flow", start)
        if budget.over:
            return None
        elsewhere = _elsewhere(task, start, budget)
        return None if elsewhere is None else _of(task, elsewhere, "from other neurons than those of the flow", start)


def _elsewhere(task: Task, start: Start, budget: Budget) -> InteriorPoint | None:
    """From the cheapest separating combination of random directions; with a soft margin from directions that pay."""
    nowhere = np.full(len(start.neurons.s), -1, dtype=np.int64)
    if task.soft:
        risen = rising_neurons(task.problem, start.neurons.U, seed=0)
        point = None if risen is None else interior_point(task.problem, risen, budget)
        return None if point is None else replace(point, members=nowhere)
    found = cheapest_combination(task.problem, start.neurons.U, seed=0)
    if found is None or not affordable(task.problem, len(found[0].s)):
        return None
    point = interior_point(task.problem, found[0], budget, multipliers=found[1])
    return None if point is None else replace(point, members=nowhere)


def _of(task: Task, point: InteriorPoint, where: str, start: Start) -> Finished | None:
    pattern = ", with a soft pattern on the way" if point.manner == "soft" else ""
    how = (
        f"by an interior point {where}{pattern}: {point.iterations} iterations, {point.rounds} convex rounds and "
        f"{point.newton_steps} Newton steps"
    )
    end = finished(task, point.U, point.s, point.lam, point.mu, how)
    if end is None:
        return None
    members = np.where(start.groups >= 0, point.members[start.groups], -1)
    patterns = task.in_callers_order(task.problem.X @ point.U.T > 0)
    origin = Origin(start.origin, members, patterns, start.flow_seconds)
    return replace(end, history=point.history, origin=origin)
