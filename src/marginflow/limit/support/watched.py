"""ADMM on the samples near the margin while all the others are watched; Newton's method at the end.

The set grows by the samples that an iterate violates long before it is solved exactly, and ADMM goes on from where it
is: until the set is right, its exact solution is that of another problem. Several problems go in step, ten iterations
of all of them and then a look at each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.interior.point import before_interior
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.samples import nearest, spread
from marginflow.limit.settings import DIVERGED, FEW_FLIPS, MANNERS
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.in_step import run_in_step
from marginflow.limit.solver.newton import NewtonResult, newton
from marginflow.limit.solver.polish import identify, show
from marginflow.limit.starts.start import AbstractStart, Finished, placed
from marginflow.limit.support.settings import (
    FIRST_TRY,
    HELD,
    LEAST_SUPPORT,
    LOOK_AGAIN,
    NEAR_MARGIN,
    NEXT_TRY,
    SUPPORT_SLACK,
    WATCH_FROM,
)
from marginflow.limit.task import Task
from marginflow.limit.units import Units
from marginflow.networks.evaluation import augmented_samples


@dataclass(frozen=True, eq=False)
class Watched(AbstractStart):
    """What a run has found, if there is one."""

    run: GrowingAdmm | None
    name, rank = "watched", 5

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """A point of all samples, exact as that of its set is; None where that does not settle."""
        return None if self.run is None else self.run.finished


def begun(task: Task, budget: Budget, multipliers: FloatArray) -> GrowingAdmm | None:
    """A run from a descended network; with a soft margin at the scale at which the descent ended, where its
    multipliers (n,) belong. None where the network has neurons of one sign only."""
    scaled = task.neurons_in_span(task.given)
    if task.missing_sign(scaled) is not None:
        return None
    neurons = Neurons(task.given.directions, task.given.signs) if task.soft else scaled
    bundles = add_up(neurons, gather(neurons.U, neurons.s, task.width))
    return GrowingAdmm(task, budget, bundles, multipliers if task.soft else None)


def solve(runs: Sequence[GrowingAdmm], budget: Budget) -> None:
    """Until each has an exact point of its set that violates no other sample, or no hope of one."""
    going = list(runs)
    while going and not budget.over:
        for admm in (run.admm for run in going):
            if admm.exhausted:
                admm.sharpen()
        run_in_step([run.admm for run in going])
        going = [run for run in going if run.goes_on()]


class GrowingAdmm:
    """ADMM on a set of samples that grows, in units in which they are about 1 long."""

    def __init__(self, task: Task, budget: Budget, neurons: Neurons, multipliers: FloatArray | None) -> None:
        self.task, self.budget = task, budget
        self.samples = augmented_samples(task.X, bias=task.bias)
        self.y = task.data.y
        self.history: list[Progress] = []
        self.finished: Finished | None = None
        self.steps, self.tries, self.enough, self.looked_at = 0, 0, FIRST_TRY, np.inf
        margins = task.given.margins(task.X, task.data.y)
        self.chosen: BoolArray = margins < NEAR_MARGIN * max(1.0, float(margins.min()))
        self.chosen[nearest(margins, task.data.y, LEAST_SUPPORT)] = True
        rows = np.flatnonzero(self.chosen)
        problem = task.problem_of(rows)
        self.units = Units.of(problem, None)
        self.index = rows[problem.order]  # of the samples of the problem, in its order
        U = self.units.scale * problem.reduced(neurons.U)
        scaled = self.units.problem(problem)
        if multipliers is None:
            lam = scaled.warm_multipliers(U, neurons.s, deadline=budget.deadline)
        else:
            lam = self.units.price * multipliers[self.index]
        self.admm = Admm(scaled, Neurons(U, neurons.s), lam, precision="single", weight=HELD)
        self.began_at, self.most = self.admm.objective, budget.max_iterations
        before = before_interior(problem, len(neurons.s))
        if before is not None:
            self.most = min(before, self.most)

    def goes_on(self) -> bool:
        """Look at the other samples and try Newton's method where that is due; whether there is more to do."""
        admm = self.admm
        if not admm.objective <= DIVERGED * self.began_at:
            return False
        residual = admm.residual
        due = residual <= self.enough and admm.share_flipped <= FEW_FLIPS
        if due or residual <= min(WATCH_FROM, LOOK_AGAIN * self.looked_at):
            grown = self._grown(admm.U.astype(np.float64), admm.s, 0.0)
            self.looked_at = np.inf if grown else residual
            due = due and not grown
        return not (due and self._found(residual)) and self.admm.iterations < self.most

    def _found(self, residual: float) -> bool:
        """Whether Newton's method ends at a point that violates no other sample, which is then kept."""
        damping, inertia = MANNERS[self.tries % len(MANNERS)]
        found = newton(
            self.admm.problem, identify(self.admm), frozen=False, deadline=self.budget.deadline,
            damping=damping, inertia=inertia,
        )  # fmt: skip
        self.steps, self.tries, self.enough = self.steps + found.iterations, self.tries + 1, NEXT_TRY * residual
        if not found.converged or self._grown(found.U, found.s, SUPPORT_SLACK):
            return False
        self.finished = self._finished(found)
        return True

    def _grown(self, U: FloatArray, s: FloatArray, slack: float) -> bool:
        """Whether the set has grown by samples that neurons leave below their margin; ADMM is then one of all these."""
        admm, n = self.admm, len(self.y)
        outside = admm.problem.ambient(U) / self.units.scale
        margins = self.y * (np.maximum(self.samples @ outside.T, 0.0) @ s)
        violated = ~self.chosen & (margins < 1.0 - slack)
        show(admm, self.history, self.budget, self.units.price, stage="support", flips=int(violated.sum()))
        if not violated.any():
            return False
        self.chosen |= violated
        lam, mu = (spread(part, self.index, n) for part in (admm.multipliers, admm.weights))
        rows = np.flatnonzero(self.chosen)
        problem = self.units.problem(self.task.problem_of(rows))
        self.index = rows[problem.order]
        neurons = Neurons(problem.reduced(admm.problem.ambient(admm.U.astype(np.float64))), admm.s)
        self.admm = Admm(
            problem, neurons, lam[self.index], weights=mu[self.index], precision=admm.precision, weight=admm.weight
        )  # fmt: skip
        self.admm.go_on_from(admm.iterations)
        return True

    def _finished(self, found: NewtonResult) -> Finished:
        """The point with the multipliers of all samples."""
        admm, n, units = self.admm, len(self.y), self.units
        lam, mu = (spread(part / units.price, self.index, n) for part in (found.lam, found.mu))
        U = admm.problem.ambient(found.U) / units.scale
        how = (
            f"on {len(self.index)} of {n} samples, with none of the others violated, after {admm.iterations} "
            f"ADMM iterations and {self.steps} Newton steps"
        )
        gap = admm.problem.gap(found.U, found.s, found.lam, found.mu)
        return replace(placed(self.task, U, found.s, lam, mu, how, gap), history=tuple(self.history))
