"""The starts of `support_point`: from a descended network, and from a point that was exact for fewer samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.settings import PARALLEL
from marginflow.limit.solver.newton import Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK
from marginflow.limit.starts.flow import first
from marginflow.limit.starts.start import AbstractStart, Finished, Start, finished
from marginflow.limit.support.settings import AT_CAP, ON_KINK, SUPPORT_SLACK
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
        neurons = Neurons(_at_its_own_scale(task) * start.neurons.U, start.neurons.s)
        return replace(start, neurons=neurons, multipliers=self.multipliers[task.problem.order])


@dataclass(frozen=True, eq=False)
class MoreSamples(AbstractStart):
    """Newton's method from a point that was exact before samples were added, with its multipliers (m,).

    Most of what is discrete about the point stays as it was; the samples that are violated now are on the margin.
    """

    multipliers: FloatArray
    name, rank = "more samples", 4

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The point with the added samples, or None where Newton's method does not end."""
        problem = task.problem
        given = Neurons(task.problem.reduced(task.given.directions), task.given.signs)
        neurons = add_up(given, gather(given.U, given.s, task.width, cosine=PARALLEL))
        t, lam = np.linalg.norm(neurons.U, axis=1), self.multipliers[problem.order]
        Z = problem.X @ neurons.U.T
        capped = lam >= (1.0 - AT_CAP) * problem.penalty
        free = ~capped & ((lam > 0.0) | (problem.margins(neurons.U, neurons.s) < 1.0 - SUPPORT_SLACK))
        kink = (problem.y[:, None] * neurons.s < 0) & (np.abs(Z) <= ON_KINK * np.outer(problem.norms, t))
        state = np.where(kink, KINK, np.where(Z > 0.0, ACTIVE, INACTIVE))
        guess = Structure(s=neurons.s, state=state, free=free, capped=capped, lam=lam, t=t)
        found = newton(problem, guess, frozen=False, deadline=budget.deadline, damping=0.0, inertia=0.0)
        if not found.converged:
            return None
        how = f"after {found.iterations} Newton steps with more samples"
        return finished(task, found.U, found.s, found.lam, found.mu, how)


def _at_its_own_scale(task: Task) -> float:
    """What undoes the scaling to a typical margin of 1."""
    return float(np.linalg.norm(task.given.directions) / np.linalg.norm(task.neurons_in_span(task.given).U))
