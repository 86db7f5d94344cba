r"""Samples as a working set: where many samples lie beyond the margin, few decide.

At a KKT point samples with y_i N(x_i) > 1 have lambda_i = 0 and do not occur in any other condition. So a KKT point of
*some* samples is a KKT point of all of them as soon as no other sample violates its margin. The first set is chosen by
the flow: samples of smallest margin, and random ones. Then: solve, look at all samples, add those that are violated
most, leave out those far beyond the margin, and solve from there, by Newton's method where it takes over at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.interior.point import affordable
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.settings import (
    BEFORE_INTERIOR,
    BUNDLES,
    CROWDED,
    FAR_BEYOND,
    FIRST_SET,
    FLOW_LEAST,
    FLOW_PART,
    FLOW_WORK,
    ON_KINK,
    SET_ROUNDS,
    SET_SHARE,
    SET_SLACK,
    SET_WRONG,
    WORKING_SET_FROM,
    WORKING_SET_RATIO,
)
from marginflow.limit.solver.newton import Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK
from marginflow.limit.solver.polish import polish
from marginflow.limit.starts.start import AbstractStart, Finished, Origin, shared, split
from marginflow.limit.task import Flowed, Task
from marginflow.networks import TwoLayer
from marginflow.threads import available_threads, threads_for


class WorkingSet(AbstractStart):
    """For many more samples than dimensions; given up where many of the other samples turn out to be violated."""

    name, rank = "working set", 5

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """A point of all samples, exact as that of its working set is."""
        m, r = task.X.shape
        if m < WORKING_SET_FROM or m < WORKING_SET_RATIO * r:
            return None
        rng = np.random.default_rng(0)
        with threads_for(task.X.size * task.width, available_threads()):
            flowed, rows = _flow(task, budget, rng)
        if rows is None or budget.over or task.missing_sign(task.neurons_in_span(flowed.network)) is not None:
            return None
        return _Rounds(task, flowed, budget).run(rows)


def _flow(task: Task, budget: Budget, rng: np.random.Generator) -> tuple[Flowed, IntArray | None]:
    """A flow on all samples or, where a step on all is dear, on a random part; and the first set that it suggests.

    If the caller has fixed the number of steps, that is the flow on all samples. There is no set where much of what a
    flow has not seen is on the wrong side: then few samples do not decide about the others.
    """
    m, r = task.X.shape
    if task.flow_steps is not None:
        flowed, some = task.flow(task.flow_steps, budget), rng.choice(m, FIRST_SET, replace=False)
        return flowed, _first_set(task, flowed.network, some)
    affordable = max(FIRST_SET, int(FLOW_PART / (r * task.width)))
    part = affordable if affordable < m else FIRST_SET
    some = np.sort(rng.choice(m, part, replace=False))
    flowed = task.flow_on(some, max(FLOW_LEAST, int(FLOW_WORK / (affordable * r * task.width))), budget)
    unseen = np.setdiff1d(np.arange(m), some)
    if (flowed.network.margins(task.X[unseen], task.data.y[unseen]) < 0).mean() > SET_WRONG:
        return flowed, None
    if affordable >= m:
        flowed = task.flow(None, budget)
    some = some[:: -(-some.size // FIRST_SET)]
    return flowed, _first_set(task, flowed.network, some)


def _first_set(task: Task, network: TwoLayer, some: IntArray) -> IntArray:
    """Some samples, and of both labels those of smallest margin; ascending."""
    y, margins = task.data.y, network.margins(task.X, task.data.y)
    chosen = [some]
    for label in (1.0, -1.0):
        own = np.flatnonzero(y == label)
        chosen.append(own[np.argsort(margins[own], kind="stable")[: FIRST_SET // 4]])
    return np.unique(np.concatenate(chosen))


@dataclass(frozen=True, eq=False)
class _Solved:
    """An exact point of a set: rows in coordinates of the span, multipliers in the order of `problem`."""

    problem: Problem
    neurons: Neurons
    members: IntArray
    lam: FloatArray
    mu: FloatArray
    steps: int


class _Rounds:
    """The rounds of one call: what does not change from one set of samples to the next."""

    def __init__(self, task: Task, flowed: Flowed, budget: Budget) -> None:
        self.task, self.flowed, self.budget = task, flowed, budget
        self.samples = np.column_stack([task.X, np.ones(len(task.X))]) if task.bias else task.X
        self.y = task.data.y
        self.history: list[Progress] = []
        # Where ADMM may not settle, the interior point has a working set of its own.
        m, r = task.X.shape
        self.interior_follows = m > CROWDED * r and affordable(task.problem, task.width)

    def run(self, rows: IntArray) -> Finished | None:
        """Solve, look at all samples, change the set; None where it is given up."""
        m = len(self.y)
        neurons = self.task.neurons_in_span(self.flowed.network)
        groups = gather(neurons.U, neurons.s, int(BUNDLES * max(1.0, FIRST_SET / self.samples.shape[1])))
        point = self._polished(self.task.problem_of(rows), add_up(neurons, groups), groups, None)
        back = np.zeros(m, dtype=bool)  # samples that were left out and came back stay
        seen = np.zeros(m, dtype=bool)
        steps = 0
        for count in range(1, SET_ROUNDS + 1):
            if point is None:
                return None
            steps += point.steps
            with threads_for(self.samples.size * len(point.neurons.s), available_threads()):
                margins = self.y * (np.maximum(self.samples @ point.neurons.U.T, 0.0) @ point.neurons.s)
            outside = np.ones(m, dtype=bool)
            outside[rows] = False
            violated = np.flatnonzero(outside & (margins < 1.0 - SET_SLACK))
            self._report(count, violated.size, point)
            if violated.size == 0:
                return self._finished(rows, point, f"after {count} rounds and {steps} Newton steps")
            if self.budget.over:
                return self._finished(rows, point, "")
            if (margins < 0).sum() > SET_WRONG * m or rows.size > SET_SHARE * m:
                return None
            lam = np.zeros(m)
            lam[rows[point.problem.order]] = point.lam
            most = max(FIRST_SET // 2, min(rows.size, violated.size // 2))
            worst = violated[np.argsort(margins[violated], kind="stable")[:most]]
            back[worst] |= seen[worst]
            seen[rows] = True
            kept = rows[(lam[rows] > 0) | (margins[rows] < FAR_BEYOND) | back[rows]]
            set_before, rows = rows, np.sort(np.concatenate([kept, worst]))
            problem = self.task.problem_of(rows)
            warm = lam[rows[problem.order]]
            last = (set_before, point)
            point = self._newton(problem, warm, point) or self._polished(problem, point.neurons, point.members, warm)
            if point is None and self.budget.over:
                return self._finished(*last, "")
        return None

    def _polished(
        self, problem: Problem, neurons: Neurons, members: IntArray, lam: FloatArray | None
    ) -> _Solved | None:
        """By ADMM and Newton's method."""
        start = replace(neurons, U=problem.reduced(neurons.U))
        most = BEFORE_INTERIOR if self.interior_follows else None
        found = polish(problem, start, self.budget, multipliers=lam, max_iterations=most)
        if not found.exact:
            return None
        a2 = found.outputs_squared if self.task.frozen else None
        neurons = Neurons(problem.ambient(found.U), found.s, a2)
        members = np.where(members >= 0, found.members[members], -1)
        return _Solved(problem, neurons, members, found.lam, found.mu, found.newton_steps)

    def _newton(self, problem: Problem, lam: FloatArray, point: _Solved) -> _Solved | None:
        """By Newton's method from the structure of the last set; samples that are violated enter the margin set."""
        U = problem.reduced(point.neurons.U)
        structure = self._structure(problem, U, point, lam)
        result = newton(
            problem, structure, frozen=self.task.frozen, deadline=self.budget.deadline, threads=available_threads()
        )
        if not result.converged:
            return None
        a2 = point.neurons.outputs_squared
        row = np.full(len(U), -1, dtype=np.int64)
        row[result.keep] = np.arange(len(result.keep))
        members = np.where(point.members >= 0, row[point.members], -1)
        neurons = Neurons(problem.ambient(result.U), result.s, None if a2 is None else a2[result.keep])
        return _Solved(problem, neurons, members, result.lam, result.mu, result.iterations)

    def _structure(self, problem: Problem, U: FloatArray, point: _Solved, lam: FloatArray) -> Structure:
        Z = problem.X @ U.T
        s, size = point.neurons.s, np.linalg.norm(U, axis=1)
        opposite = problem.y[:, None] * s < 0
        held: BoolArray = opposite & (lam > 0)[:, None] & (np.abs(Z) <= ON_KINK * np.outer(problem.norms, size))
        capped = lam >= problem.penalty
        margins = problem.y * (np.maximum(Z, 0.0) @ s)
        a2 = point.neurons.outputs_squared
        return Structure(
            s=s,
            state=np.where(held, KINK, np.where(Z > 0, ACTIVE, INACTIVE)),
            free=((lam > 0) | (margins < 1.0 - SET_SLACK)) & ~capped,
            capped=capped,
            lam=lam,
            t=size if a2 is None else a2,
        )

    def _finished(self, rows: IntArray, point: _Solved, effort: str) -> Finished:
        task, problem, U = self.task, point.problem, point.neurons.U
        index = rows[problem.order]
        lam, mu = np.zeros(len(self.y)), np.zeros((len(self.y), len(U)))
        lam[index], mu[index] = point.lam, point.mu
        s, a2 = point.neurons.s, point.neurons.outputs_squared
        gap = problem.gap(problem.reduced(U), s, point.lam, point.mu, a2)
        how = f"on {rows.size} of {len(self.y)} samples, of which none of the others is violated, {effort}"
        if task.frozen:
            found = shared(task, U, point.members, lam, mu, how, gap)
        else:
            found = split(task, U, s, lam, mu, how, gap)
        origin = Origin(self.flowed.network, point.members, self.samples @ U.T > 0, self.flowed.seconds)
        return replace(found, history=tuple(self.history), origin=origin)

    def _report(self, count: int, violated: int, point: _Solved) -> None:
        objective = float(np.linalg.norm(point.neurons.U, axis=1).sum())
        entry = Progress(
            stage="working set",
            iteration=count,
            flips=violated,
            live_neurons=len(point.neurons.s),
            objective=objective,
            gap=objective - float(point.lam.sum()),
            seconds=self.budget.seconds,
        )
        self.history.append(entry)
        self.budget.report(entry)
