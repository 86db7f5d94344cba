r"""Samples as a working set: where many samples lie beyond the margin, few decide.

At a KKT point samples with y_i N(x_i) > 1 have lambda_i = 0 and do not occur in any other condition. So a KKT point of
*some* samples is a KKT point of all of them as soon as no other sample violates its margin. The first set is chosen by
the flow: samples of smallest margin, and random ones. ADMM then runs on the set and, every few iterations, looks at all
samples: those that are violated most come in, those far beyond the margin are left out, and it goes on from where it
is, multipliers and Clarke weights included. Once it has settled and misses none, the set is solved exactly; the few
samples that are violated then come in too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.interior.settings import AFFORDABLE
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.settings import (
    BEFORE_INTERIOR,
    BUNDLES,
    CROWDED,
    ENOUGH_SHORT,
    FAR_BEYOND,
    FINELY_SHORT,
    FIRST_SET,
    FLOW_LEAST,
    FLOW_PART,
    FLOW_WORK,
    LIGHT_LOOKS,
    LOOK_EVERY,
    MOST_LOOKS,
    NEWTON_RESIDUAL,
    REFRESH_EVERY,
    ROUGHLY_SHORT,
    SET_ROUNDS,
    SET_SHARE,
    SET_SLACK,
    SET_WEIGHT,
    SET_WRONG,
    STEEP,
    WORKING_SET_FROM,
    WORKING_SET_RATIO,
)
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.polish import polish
from marginflow.limit.starts.start import AbstractStart, Finished, Origin, shared, split
from marginflow.limit.task import Flowed, Task
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
        return flowed, _first_set(task, flowed.network.margins(task.X, task.data.y), some)
    affordable = max(FIRST_SET, int(FLOW_PART / (r * task.width)))
    part = affordable if affordable < m else FIRST_SET
    some = np.sort(rng.choice(m, part, replace=False))
    flowed = task.flow_on(some, max(FLOW_LEAST, int(FLOW_WORK / (affordable * r * task.width))), budget)
    margins = flowed.network.margins(task.X, task.data.y)
    if (np.delete(margins, some) < 0).mean() > SET_WRONG:
        return flowed, None
    if affordable >= m:
        flowed = task.flow(None, budget)
        margins = flowed.network.margins(task.X, task.data.y)
    some = some[:: -(-some.size // FIRST_SET)]
    return flowed, _first_set(task, margins, some)


def _first_set(task: Task, margins: FloatArray, some: IntArray) -> IntArray:
    """Some samples, and of both labels those of smallest margin; ascending."""
    chosen = [some]
    for label in (1.0, -1.0):
        own = np.flatnonzero(task.data.y == label)
        chosen.append(own[np.argsort(margins[own], kind="stable")[: FIRST_SET // 4]])
    return np.unique(np.concatenate(chosen))


@dataclass(frozen=True, eq=False)
class _Point:
    """A point of a set: rows in coordinates of the span, multipliers and weights in the order of `problem`."""

    rows: IntArray
    problem: Problem
    neurons: Neurons
    members: IntArray
    lam: FloatArray
    mu: FloatArray
    steps: int = 0


class _Rounds:
    """The rounds of one call: what does not change from one set of samples to the next."""

    def __init__(self, task: Task, flowed: Flowed, budget: Budget) -> None:
        self.task, self.flowed, self.budget = task, flowed, budget
        self.samples = np.column_stack([task.X, np.ones(len(task.X))]) if task.bias else task.X
        self.y = task.data.y
        self.history: list[Progress] = []
        # Where ADMM may not settle, the interior point has a working set of its own.
        m, r = task.X.shape
        interior_follows = m > CROWDED * r and float(m) ** 2 * r * task.width <= AFFORDABLE
        self.most_iterations = BEFORE_INTERIOR if interior_follows else None
        self.back = np.zeros(len(self.y), dtype=bool)  # samples that were left out and came back stay
        self.seen = np.zeros(len(self.y), dtype=bool)

    def run(self, rows: IntArray) -> Finished | None:
        """Look for the samples that decide, then solve for them exactly and look at all the others once more."""
        point = last = self._rough(rows)
        point = None if point is None or self.budget.over else self._exact(point)
        steps = 0
        for count in range(1, SET_ROUNDS + 1):
            if point is None:
                return None if last is None or not self.budget.over else self._finished(last, "")
            steps, last = steps + point.steps, point
            margins = self._margins(point.neurons)
            violated = self._short(point.rows, margins, SET_SLACK)
            self._report("working set", count, violated.size, point)
            if violated.size == 0:
                rounds = "1 round" if count == 1 else f"{count} rounds"
                return self._finished(point, f"after {rounds} and {steps} Newton steps")
            if self.budget.over:
                return self._finished(point, "")
            if self._hopeless(point.rows, margins):
                return None
            point = self._exact(self._changed(point, margins, violated))
        return None

    def _rough(self, rows: IntArray) -> _Point | None:
        """ADMM on a set that grows by the samples that its iterates violate, until these have settled and miss none.

        None of these sets is solved exactly: until the set is right, its solution is that of another problem.
        """
        neurons = self.task.neurons_in_span(self.flowed.network)
        groups = gather(neurons.U, neurons.s, int(BUNDLES * max(1.0, FIRST_SET / self.samples.shape[1])))
        neurons, problem = add_up(neurons, groups), self.task.problem_of(rows)
        lam = problem.warm_multipliers(problem.reduced(neurons.U), neurons.s)
        point, weights, iterations = _Point(rows, problem, neurons, groups, lam, np.zeros((0, 0))), False, 0
        steep = float(problem.s2.max()) > STEEP * float(problem.s2.mean())
        factor, looks = (SET_WEIGHT, LIGHT_LOOKS) if steep else (1.0, MOST_LOOKS)
        for count in range(1, SET_ROUNDS + 1):
            problem, start = point.problem, replace(point.neurons, U=point.problem.reduced(point.neurons.U))
            held = point.mu if weights else None
            admm = Admm(
                problem, start, point.lam, weights=held, precision="single",
                weight=factor, balanced_from=LIGHT_LOOKS * LOOK_EVERY,
            )  # fmt: skip
            for _ in range(looks):
                with threads_for(problem.X.size * len(admm.s), available_threads()):
                    for _ in range(LOOK_EVERY // REFRESH_EVERY):
                        admm.run(REFRESH_EVERY)
                        admm.drop_idle(0)
                neurons = Neurons(problem.ambient(admm.U.astype(np.float64)), admm.s, admm.a2)
                margins = self._margins(neurons)
                settled = max(admm.primal_residual, admm.dual_residual) <= NEWTON_RESIDUAL
                violated = self._short(point.rows, margins, FINELY_SHORT if settled else ROUGHLY_SHORT)
                if self.budget.over or settled or violated.size > ENOUGH_SHORT * point.rows.size:
                    break
            iterations += admm.iterations
            if count >= LIGHT_LOOKS or not (settled or violated.size > ENOUGH_SHORT * point.rows.size):
                factor, looks = 1.0, MOST_LOOKS
            if not np.isfinite(admm.objective) or not (admm.t > 0).any():
                return None
            if self.most_iterations is not None and iterations > self.most_iterations and not settled:
                return None
            members = np.where(point.members >= 0, admm.members[point.members], -1)
            point = _Point(point.rows, problem, neurons, members, admm.multipliers, admm.weights)
            weights = True
            self._report("samples", count, violated.size, point)
            if violated.size == 0 or self.budget.over:
                return point
            if self._hopeless(point.rows, margins):
                return None
            point = self._changed(point, margins, violated)
        return point

    def _margins(self, neurons: Neurons) -> FloatArray:
        """Of all samples, shape (m,)."""
        with threads_for(self.samples.size * len(neurons.s), available_threads()):
            margins: FloatArray = self.y * (np.maximum(self.samples @ neurons.U.T, 0.0) @ neurons.s)
        return margins

    def _short(self, rows: IntArray, margins: FloatArray, by: float) -> IntArray:
        """Samples outside the set whose margin falls short of 1 by more than so much."""
        outside = np.ones(len(self.y), dtype=bool)
        outside[rows] = False
        return np.flatnonzero(outside & (margins < 1.0 - by))

    def _hopeless(self, rows: IntArray, margins: FloatArray) -> bool:
        """Whether few samples do not decide about the others."""
        m = len(self.y)
        return bool((margins < 0).sum() > SET_WRONG * m or rows.size > SET_SHARE * m)

    def _changed(self, point: _Point, margins: FloatArray, violated: IntArray) -> _Point:
        """The same point on another set: with the samples that are violated most, without those far beyond."""
        rows, order = point.rows, point.problem.order
        lam, mu = np.zeros(len(self.y)), np.zeros((len(self.y), len(point.neurons.s)))
        lam[rows[order]], mu[rows[order]] = point.lam, point.mu
        most = max(FIRST_SET // 2, min(rows.size, violated.size // 2))
        worst = violated[np.argsort(margins[violated], kind="stable")[:most]]
        self.back[worst] |= self.seen[worst]
        self.seen[rows] = True
        kept = rows[(lam[rows] > 0) | (margins[rows] < FAR_BEYOND) | self.back[rows]]
        rows = np.sort(np.concatenate([kept, worst]))
        problem = self.task.problem_of(rows)
        index = rows[problem.order]
        return _Point(rows, problem, point.neurons, point.members, lam[index], mu[index])

    def _exact(self, point: _Point) -> _Point | None:
        """By ADMM and Newton's method from there."""
        problem = point.problem
        start = replace(point.neurons, U=problem.reduced(point.neurons.U))
        found = polish(
            problem, start, self.budget,
            multipliers=point.lam, weights=point.mu, max_iterations=self.most_iterations,
        )  # fmt: skip
        if not found.exact:
            return None
        a2 = found.outputs_squared if self.task.frozen else None
        neurons = Neurons(problem.ambient(found.U), found.s, a2)
        members = np.where(point.members >= 0, found.members[point.members], -1)
        return _Point(point.rows, problem, neurons, members, found.lam, found.mu, found.newton_steps)

    def _finished(self, point: _Point, effort: str) -> Finished:
        task, problem, U, rows = self.task, point.problem, point.neurons.U, point.rows
        index = rows[problem.order]
        lam, mu = np.zeros(len(self.y)), np.zeros((len(self.y), len(U)))
        lam[index], mu[index] = point.lam, point.mu
        s, a2 = point.neurons.s, point.neurons.outputs_squared
        gap = problem.gap(problem.reduced(U), s, point.lam, point.mu, a2)
        every = f"{len(self.y)} samples" if task.data is task.whole else f"{len(self.y)} distinct samples"
        how = f"on {rows.size} of {every}, of which none of the others is violated, {effort}"
        if task.frozen:
            found = shared(task, U, point.members, lam, mu, how, gap)
        else:
            found = split(task, U, s, lam, mu, how, gap)
        origin = Origin(self.flowed.network, point.members, self.samples @ U.T > 0, self.flowed.seconds)
        return replace(found, history=tuple(self.history), origin=origin)

    def _report(self, stage: str, count: int, violated: int, point: _Point) -> None:
        objective = float(np.linalg.norm(point.neurons.U, axis=1).sum())
        entry = Progress(
            stage=stage,
            iteration=count,
            flips=violated,
            live_neurons=len(point.neurons.s),
            objective=objective,
            gap=objective - float(point.lam.sum()),
            seconds=self.budget.seconds,
        )
        self.history.append(entry)
        self.budget.report(entry)
