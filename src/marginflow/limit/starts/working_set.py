r"""Samples as a working set: where many samples lie beyond the margin, few decide.

At a KKT point samples with y_i N(x_i) > 1 have lambda_i = 0 and do not occur in any other condition. So a KKT point of
*some* samples is a KKT point of all of them as soon as no other sample violates its margin. The first set is chosen by
the flow: samples of smallest margin, and random ones. ADMM then runs on the set and, every few iterations, looks at all
samples: those that are violated most come in, those far beyond the margin are left out, and it goes on from where it
is, multipliers and Clarke weights included. Once it has roughly settled and misses few, Newton's method takes over the
structure of the set, with all other samples near the margin; it puts them where they belong by itself. Samples that are
violated even then come in too, and it goes on from its own structure.
"""

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit import settings
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.interior.settings import AFFORDABLE
from marginflow.limit.neurons import Neurons, add_up, follow, gather, survivors
from marginflow.limit.problem import Problem
from marginflow.limit.products import product
from marginflow.limit.samples import nearest, spread
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.newton import Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE
from marginflow.limit.solver.polish import identify, polish
from marginflow.limit.starts.bundles import flow_in_bundles
from marginflow.limit.starts.start import AbstractStart, Finished, Origin, placed
from marginflow.limit.task import Flowed, Task
from marginflow.threads import available_threads, blas_threads, one_thread, threads_for


class WorkingSet(AbstractStart):
    """For many more samples than dimensions; given up where many of the other samples turn out to be violated."""

    name, rank = "working set", 5

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """A point of all samples, exact as that of its working set is."""
        m, r = task.X.shape
        if m < settings.WORKING_SET_FROM or m < settings.WORKING_SET_RATIO * r:
            return None
        rng = np.random.default_rng(0)
        with threads_for(task.X.size * task.width, available_threads()):
            found = _flow(task, budget, rng)
            if found is None or budget.over:
                return None
            flowed, margins, some = found
            neurons = task.neurons_in_span(flowed.network, margins)
        if task.missing_sign(neurons) is not None:
            return None
        rows = np.union1d(some, nearest(margins, task.data.y, settings.FIRST_SET // 4))
        rounds = _Rounds(task, flowed, budget)
        with one_thread():
            return rounds.run(neurons, rows)


def _flow(task: Task, budget: Budget, rng: np.random.Generator) -> tuple[Flowed, FloatArray, IntArray] | None:
    """A flow on all samples or, where a step on all is dear, on a random part; all margins after it; some samples.

    If the caller has fixed the number of steps, that is the flow on all samples. None where much of what a flow has not
    seen is on the wrong side: then few samples do not decide about the others. None as well where the budget does not
    afford all margins: of many samples and neurons they take longer than a flow on some.
    """
    m, r = task.X.shape
    if task.flow_steps is not None:
        flowed, some = task.flow(task.flow_steps, budget), rng.choice(m, settings.FIRST_SET, replace=False)
        return flowed, flowed.network.margins(task.X, task.data.y), some
    affordable = max(settings.FIRST_SET, int(settings.FLOW_PART / (r * task.width)))
    part = affordable if affordable < m else settings.FIRST_SET
    some = np.sort(rng.choice(m, part, replace=False))
    steps = max(settings.FLOW_LEAST, int(settings.FLOW_WORK / (affordable * r * task.width)))
    flowed = flow_in_bundles(task, some, steps, budget)
    seconds = settings.MARGINS * m * task.width
    if not budget.affords(seconds):
        return None
    margins = flowed.network.margins(task.X, task.data.y)
    if (np.delete(margins, some) < 0).mean() > settings.SET_WRONG:
        return None
    if affordable >= m:
        flowed = task.flow(None, budget)
        if not budget.affords(seconds):
            return None
        margins = flowed.network.margins(task.X, task.data.y)
    return flowed, margins, some[:: -(-some.size // settings.FIRST_SET)]


@dataclass(frozen=True, eq=False)
class _Point:
    """A point of a set: rows in coordinates of the span, multipliers and weights in the order of `problem`.

    `structure`, of the same neurons, is what Newton's method can begin with, where it is known.
    """

    rows: IntArray
    problem: Problem
    neurons: Neurons
    members: IntArray
    lam: FloatArray
    mu: FloatArray
    structure: Structure | None = None
    steps: int = 0


def _with_structure(point: _Point, admm: Admm) -> _Point:
    """The neurons that live, and the structure from which Newton's method can begin."""
    live = np.flatnonzero(admm.t > 0)
    neurons, members = point.neurons.take(live), survivors(point.members, live)
    return replace(point, neurons=neurons, members=members, mu=admm.weights[:, live], structure=identify(admm))


class _Rounds:
    """The rounds of one call: what does not change from one set of samples to the next.

    BLAS has one thread in them, and large products are shared: between the many small ones its threads would wait
    busily.
    """

    def __init__(self, task: Task, flowed: Flowed, budget: Budget) -> None:
        self.task, self.flowed, self.budget = task, flowed, budget
        self.threads = available_threads()
        self.y = task.data.y
        self.history: list[Progress] = []
        # Where ADMM may not settle, the interior point has a working set of its own.
        m, r = task.X.shape
        interior_follows = m > settings.CROWDED * r and float(m) ** 2 * r * task.width <= AFFORDABLE
        self.most_iterations = settings.BEFORE_INTERIOR if interior_follows else None
        self.back = np.zeros(len(self.y), dtype=bool)  # samples that were left out and came back stay
        self.seen = np.zeros(len(self.y), dtype=bool)

    def run(self, neurons: Neurons, rows: IntArray) -> Finished | None:
        """Look for the samples that decide, then solve for them exactly and look at all the others once more."""
        last: _Point | None = self._first(neurons, rows)
        point: _Point | None = None
        # A later residual continues the earlier one, which was too early.
        for attempt, residual in enumerate(settings.SET_RESIDUALS):
            last = None if last is None else self._rough(last, residual)
            if last is None or self.budget.over:
                break
            point = self._by_newton(last) if attempt + 1 < len(settings.SET_RESIDUALS) else self._exact(last)
            if point is not None or self.budget.over:
                break
        steps = 0
        for count in range(1, settings.SET_ROUNDS + 1):
            if point is None:
                return None if last is None or not self.budget.over else self._finished(last, "")
            steps, last = steps + point.steps, point
            margins = self._margins(point.neurons)
            violated = self._short(point.rows, margins, settings.SET_SLACK)
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

    def _problem_of(self, rows: IntArray) -> Problem:
        with blas_threads(self.threads):
            return self.task.problem_of(rows)

    def _first(self, neurons: Neurons, rows: IntArray) -> _Point:
        """Where the flow ended, its neurons in bundles, on the first set."""
        groups = gather(neurons.U, neurons.s, int(settings.BUNDLES * max(1.0, settings.FIRST_SET / neurons.U.shape[1])))
        neurons, problem = add_up(neurons, groups), self._problem_of(rows)
        lam = problem.warm_multipliers(problem.reduced(neurons.U), neurons.s)
        active = problem.X @ problem.reduced(neurons.U).T > 0
        return _Point(rows, problem, neurons, groups, lam, np.minimum(lam, problem.penalty)[:, None] * active)

    def _rough(self, point: _Point, residual: float) -> _Point | None:
        """ADMM on a set that grows by the samples that its iterates violate, until these have settled and miss few.

        None of these sets is solved exactly: until the set is right, its solution is that of another problem.
        """
        problem, iterations = point.problem, 0
        factor, looks = (settings.SET_WEIGHT, settings.LIGHT_LOOKS) if problem.steep else (1.0, settings.MOST_LOOKS)
        for count in range(1, settings.SET_ROUNDS + 1):
            crowded = point.problem.steep and point.rows.size > settings.LIGHT_SET * point.problem.X.shape[1]
            if crowded:
                factor, looks = settings.SET_HEAVY, settings.MOST_LOOKS
            many = (settings.MANY_SHORT if crowded else settings.ENOUGH_SHORT) * point.rows.size
            few = (settings.FEW_SHORT if crowded else settings.ENOUGH_SHORT) * point.rows.size
            problem, start = point.problem, replace(point.neurons, U=point.problem.reduced(point.neurons.U))
            admm = Admm(
                problem, start, point.lam, weights=point.mu, precision="single",
                weight=factor, balanced_from=settings.NEVER if crowded else settings.LIGHT_LOOKS * settings.LOOK_EVERY,
            )  # fmt: skip
            for _ in range(looks):
                with threads_for(problem.X.size * len(admm.s), self.threads):
                    for _ in range(settings.LOOK_EVERY // settings.REFRESH_EVERY):
                        admm.run(settings.REFRESH_EVERY)
                        admm.drop_idle(0)
                neurons = Neurons(problem.ambient(admm.U.astype(np.float64)), admm.s, admm.a2)
                margins = self._margins(neurons)
                # A step of Newton's method is dear.
                dear = crowded or problem.X.size * float(len(admm.s)) >= settings.LARGE_STEP
                enough = settings.DEAR_RESIDUAL * residual if dear else residual
                settled = admm.residual <= enough
                settled = settled and admm.share_flipped <= settings.SET_FLIPS
                violated = self._short(point.rows, margins, settings.ROUGHLY_SHORT)
                if self.budget.over or settled or violated.size > many:
                    break
            iterations += admm.iterations
            if count >= settings.LIGHT_LOOKS or not (settled or violated.size > many):
                factor, looks = 1.0, settings.MOST_LOOKS
            if not np.isfinite(admm.objective) or not (admm.t > 0).any():
                return None
            if self.most_iterations is not None and iterations > self.most_iterations and not settled:
                return None
            members = follow(point.members, admm.members)
            point = _Point(point.rows, problem, neurons, members, admm.multipliers, admm.weights)
            self._report("samples", count, violated.size, point)
            if self.budget.over:
                return point
            if settled and violated.size <= few:
                near = self._short(point.rows, margins, -settings.NEAR)
                most = max(violated.size, point.rows.size // 4)
                return self._changed(_with_structure(point, admm), margins, near, most)
            if self._hopeless(point.rows, margins):
                return None
            point = self._changed(point, margins, violated, violated.size if settled else None)
        return point

    def _margins(self, neurons: Neurons) -> FloatArray:
        """Of all samples, shape (m,)."""
        Z = self._preactivations(slice(None), neurons.U)
        return self.y * (np.maximum(Z, 0.0, out=Z) @ neurons.s)

    def _preactivations(self, rows: slice | IntArray, U: FloatArray) -> FloatArray:
        """x_i . w_j + b_j of some samples, shape (rows, k); no copy of all samples with a column of ones is made."""
        X = self.task.X[rows]
        Z = product(X, (U[:, :-1] if self.task.bias else U).T, threads=self.threads)
        if self.task.bias:
            Z += U[:, -1]
        return Z

    def _short(self, rows: IntArray, margins: FloatArray, by: float) -> IntArray:
        """Samples outside the set whose margin falls short of 1 by more than this."""
        outside = np.ones(len(self.y), dtype=bool)
        outside[rows] = False
        return np.flatnonzero(outside & (margins < 1.0 - by))

    def _hopeless(self, rows: IntArray, margins: FloatArray) -> bool:
        """Whether few samples do not decide about the others."""
        m = len(self.y)
        return bool((margins < 0).sum() > settings.SET_WRONG * m or rows.size > settings.SET_SHARE * m)

    def _changed(self, point: _Point, margins: FloatArray, violated: IntArray, most: int | None = None) -> _Point:
        """The same point on another set: with the samples that are violated most, without those far beyond."""
        rows, order = point.rows, point.problem.order
        lam, mu = (spread(part, rows[order], len(self.y)) for part in (point.lam, point.mu))
        most = max(settings.FIRST_SET // 2, min(rows.size, violated.size // 2)) if most is None else most
        worst = violated[np.argsort(margins[violated], kind="stable")[:most]]
        self.back[worst] |= self.seen[worst]
        self.seen[rows] = True
        kept = rows[(lam[rows] > 0) | (margins[rows] < settings.FAR_BEYOND) | self.back[rows]]
        rows = np.sort(np.concatenate([kept, worst]))
        problem = self._problem_of(rows)
        index = rows[problem.order]
        structure = None if point.structure is None else self._extended(point, index, margins)
        return _Point(rows, problem, point.neurons, point.members, lam[index], mu[index], structure)

    def _extended(self, point: _Point, index: IntArray, margins: FloatArray) -> Structure:
        """The structure on other samples: new ones are on their sides, and free if they fall short."""
        known, old = point.rows[point.problem.order], point.structure
        assert old is not None
        where = np.full(len(self.y), -1, dtype=np.int64)
        where[known] = np.arange(known.size)
        where, new = where[index], where[index] < 0
        state = old.state[where]
        state[new] = np.where(self._preactivations(index[new], point.neurons.U) > 0, ACTIVE, INACTIVE)
        free = np.where(new, margins[index] < 1.0, old.free[where])
        lam = np.where(new, 0.0, old.lam[where])
        return replace(old, state=state, free=free, capped=old.capped[where] & ~new, lam=lam)

    def _by_newton(self, point: _Point) -> _Point | None:
        """The exact point with this structure, or one that Newton's method finds from it."""
        if point.structure is None:
            return None
        problem, (damping, inertia) = point.problem, settings.SET_MANNER
        result = newton(
            problem, point.structure, frozen=self.task.frozen, deadline=self.budget.deadline,
            damping=damping, inertia=inertia, threads=self.threads,
        )  # fmt: skip
        if not result.converged:
            return None
        members = survivors(point.members, result.keep)
        neurons = replace(point.neurons.take(result.keep), U=problem.ambient(result.U))
        return _Point(point.rows, problem, neurons, members, result.lam, result.mu, result.structure, result.iterations)

    def _exact(self, point: _Point) -> _Point | None:
        """By Newton's method where its structure is known, otherwise or where that fails by ADMM first."""
        at_once = self._by_newton(point)
        if at_once is not None or self.budget.over:
            return at_once
        problem = point.problem
        start = replace(point.neurons, U=problem.reduced(point.neurons.U))
        with blas_threads(self.threads):
            found = polish(
                problem, start, self.budget,
                multipliers=point.lam, weights=point.mu, max_iterations=self.most_iterations,
            )  # fmt: skip
        if not found.exact:
            return None
        a2 = found.outputs_squared if self.task.frozen else None
        neurons = Neurons(problem.ambient(found.U), found.s, a2)
        members = follow(point.members, found.members)
        return _Point(point.rows, problem, neurons, members, found.lam, found.mu, steps=found.newton_steps)

    def _finished(self, point: _Point, effort: str) -> Finished:
        task, problem, U, rows = self.task, point.problem, point.neurons.U, point.rows
        index = rows[problem.order]
        lam, mu = (spread(part, index, len(self.y)) for part in (point.lam, point.mu))
        s, a2 = point.neurons.s, point.neurons.outputs_squared
        gap = problem.gap(problem.reduced(U), s, point.lam, point.mu, a2)
        every = f"{len(self.y)} samples" if task.data is task.whole else f"{len(self.y)} distinct samples"
        how = f"on {rows.size} of {every}, with none of the others violated, {effort}"
        found = placed(task, U, s, lam, mu, how, gap, point.members)
        origin = Origin(self.flowed, point.members, self._preactivations(slice(None), U) > 0)
        return replace(found, history=tuple(self.history), origin=origin)

    def _report(self, stage: str, count: int, violated: int, point: _Point) -> None:
        objective, neurons = float(np.linalg.norm(point.neurons.U, axis=1).sum()), len(point.neurons.s)
        gap = objective - float(point.lam.sum())
        self.budget.report(self.history, stage, count, violated, neurons, objective, gap)
