"""From a network that the flow has brought close to a KKT point of (P) to one that is exact.

ADMM finds out which samples are on the margin, which pairs sit on kinks and which neurons live; Newton's method on
that structure then takes a handful of steps to rounding error. If the structure was not right yet, Newton says so
and ADMM goes on for twice as long.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.neurons import Neurons, survivors
from marginflow.limit.problem import Problem
from marginflow.limit.products import without_flags
from marginflow.limit.restoration import best_factor, restored
from marginflow.limit.settings import (
    ADMM_ROUNDING,
    BALANCED_AFTER,
    DIVERGED,
    FLOW_LARGE_STEP,
    HOPELESS_AFTER,
    RESTORED_TO,
    RESTORING_KEPT,
    STEADY,
)
from marginflow.limit.solver.admm import Admm, Precision
from marginflow.limit.solver.collapse import Collapse
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK, released
from marginflow.limit.solver.schedule import Schedule
from marginflow.threads import available_threads, threads_for


@dataclass(frozen=True, eq=False)
class Polished:
    """A point of problem (P) in reduced coordinates.

    `exact` says that Newton's method ended on a consistent structure; otherwise U and lam are the best ADMM iterate
    and `mu` its estimate of lambda times Clarke derivative. `outputs_squared` are the v_j^2 of frozen outputs, of
    merged neurons their sum (with trained outputs it is ||u_j||). `members` maps the given neurons to rows of U,
    -1 where they vanished.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray
    outputs_squared: FloatArray
    members: IntArray
    exact: bool
    iterations: int = 0
    newton_steps: int = 0
    history: tuple[Progress, ...] = ()


@without_flags
def identify(admm: Admm) -> Structure:
    """Read the structure off an ADMM iterate: the proximal maps put pairs and samples exactly where they belong."""
    problem, frozen = admm.problem, admm.a2 is not None
    live = np.flatnonzero(admm.t > 0)
    s = admm.s[live]
    same = problem.y[:, None] * s > 0
    z0, tau = (admm.Z + admm.Y)[:, live], admm.tau[:, None]
    held = np.where(z0 > tau, ACTIVE, np.where((z0 >= 0) & (tau > 0), KINK, INACTIVE))
    held = released(held, z0 / np.where(tau > 0, tau, 1.0), problem.X.shape[1] - 1)
    state = np.where(same, np.where(problem.X @ admm.U[live].T > 0, ACTIVE, INACTIVE), held)
    capped = admm.capped
    return Structure(
        s=s,
        state=state,
        free=(admm.tau > 0) & ~capped,
        capped=capped,
        lam=admm.multipliers,
        t=admm.a2[live] if frozen and admm.a2 is not None else admm.t[live].astype(np.float64),
    )


def polish(
    problem: Problem,
    neurons: Neurons,
    budget: Budget | None = None,
    *,
    multipliers: FloatArray | None = None,
    weights: FloatArray | None = None,
    anchor_weight: float = 0.0,
    max_iterations: int | None = None,
    precision: Precision = "single",
    weight: float = 1.0,
    feasible: bool = False,
    price: float = 1.0,
) -> Polished:
    """Find a KKT point of (P) near the given neurons.

    Parameters
    ----------
    problem, neurons : Problem, Neurons
        Samples and the start, in the same reduced coordinates.
    budget : Budget, optional
        Once it is over, or at Ctrl-C, the best point so far is returned.
    multipliers : array, shape (m,), optional
        Warm multipliers; by default those that best explain the start.
    weights : array, shape (m, k), optional
        Multipliers times Clarke weights, where they are known as well.
    anchor_weight : float
        Weight of a proximal term that holds the neurons near the start; halved every round and removed at the end.
    max_iterations : int, optional
        Of ADMM; by default those of the budget.
    precision : "single" or "double"
        In which ADMM begins; it sharpens by itself when single precision has nothing more to give.
    weight : float
        Of ADMM's penalty term, relative to the natural one. Another than 1 is kept for a while: it holds neurons of
        which the multipliers are badly known.
    feasible : bool
        Whether the start was made to satisfy the margins: then ADMM keeps its pattern until its iterates do.
    price : float
        What the objective of whoever watches was multiplied by.
    """
    budget = Budget() if budget is None else budget
    most = budget.max_iterations if max_iterations is None else max_iterations
    threads = available_threads()
    if multipliers is None:
        multipliers = problem.warm_multipliers(neurons.U, neurons.s, deadline=budget.deadline)
    admm = Admm(
        problem, neurons, multipliers, weights=weights, anchor_weight=anchor_weight, precision=precision,
        weight=weight, balanced_from=BALANCED_AFTER if weight == 1.0 else STEADY, feasible=feasible,
    )  # fmt: skip
    schedule = Schedule(problem, anchor_weight)
    collapse = Collapse(admm)
    history: list[Progress] = []
    steps, began_at = 0, admm.objective
    best, best_value = _iterate(admm), _value(problem, admm)
    kept = _keep_time(admm, budget, threads)
    with budget.interruptible():
        while True:
            diverged = _round(admm, schedule, budget, began_at, threads)
            show(admm, history, budget, price)
            if collapse.noticed(admm):
                admm, diverged = collapse.undo(admm), False
            collapse.remember(admm)
            value = _value(problem, admm)
            if value <= best_value and (np.isfinite(problem.penalty) or (admm.t > 0).any()):
                best, best_value = _iterate(admm), value
            if schedule.newton_is_due(admm):
                guess = identify(admm)
                damping, inertia = schedule.manner()
                result = newton(
                    problem, guess, frozen=admm.a2 is not None, deadline=budget.deadline,
                    damping=damping, inertia=inertia, threads=threads,
                )  # fmt: skip
                schedule.newton_worked(guess, result.iterations, admm)
                steps += result.iterations
                if result.converged:
                    best = _exact(admm, result)
            hopeless = admm.iterations > HOPELESS_AFTER and float(admm.multipliers.max()) >= admm.cap < problem.penalty
            late = budget.over or admm.iterations >= most
            converged = admm.flips == 0 and admm.residual < ADMM_ROUNDING
            if best.exact or late or hopeless or diverged or converged:
                break
            schedule.next_round(admm)
    if kept > 0.0 and not best.exact and not budget.interrupted:
        best = _restored(admm, best, best_value, time.monotonic() + kept)
    return replace(best, iterations=admm.iterations, newton_steps=steps, history=tuple(history))


def _keep_time(admm: Admm, budget: Budget, threads: int) -> float:
    """Where an iteration takes long and time is limited: seconds kept for the margins that the last one misses."""
    work = float(admm.problem.X.size) * len(admm.s)
    limited = np.isfinite(budget.deadline) and not np.isfinite(admm.problem.penalty) and admm.a2 is None
    if work < FLOW_LARGE_STEP or not limited or budget.over:
        return 0.0
    began = time.monotonic()
    with threads_for(work, threads):
        admm.run(1)
    before = budget.deadline
    budget.reserve(RESTORING_KEPT * (time.monotonic() - began))
    return before - budget.deadline


def _restored(admm: Admm, best: Polished, best_value: float, deadline: float) -> Polished:
    """The last iterate with its margins made good, if that costs less than the best iterate."""
    last = _iterate(admm)
    with threads_for(float(admm.problem.X.size) * len(last.s), available_threads()):
        multipliers = last.lam, last.mu
        found = restored(admm.problem, last.U, last.s, enough=RESTORED_TO, multipliers=multipliers, deadline=deadline)
    value = float(np.linalg.norm(found.U, axis=1).sum()) / found.least if found.least > 0.0 else np.inf
    if not value < best_value or found.lam is None or found.mu is None:
        return best
    factor = best_factor(admm.problem, found.U, last.s, found.mu)
    return replace(last, U=found.U, lam=factor * found.lam, mu=factor * found.mu)


def _round(admm: Admm, schedule: Schedule, budget: Budget, began_at: float, threads: int) -> bool:
    """A round of ADMM, ten iterations at a time; whether it has diverged (a norm that is not a number has).

    Where an iteration takes long the clock is looked at after each.
    """
    for _ in range(max(1, schedule.length // 10)):
        schedule.admm_worked(10, len(admm.s))
        work = float(admm.problem.X.size) * len(admm.s)
        with threads_for(work, threads):
            if admm.exhausted:
                admm.sharpen()
            at_once = 1 if work >= FLOW_LARGE_STEP else 10
            for _ in range(10 // at_once):
                admm.run(at_once)
                if budget.over:
                    break
        if not admm.objective <= DIVERGED * began_at:
            return True
        if budget.over or schedule.round_is_over(admm):
            break
    return False


def show(
    admm: Admm, history: list[Progress], budget: Budget, price: float, *, stage: str = "ADMM", flips: int | None = None
) -> None:
    """A round of a run to whoever watches, in the units that were multiplied by `price`."""
    flips, live = admm.flips if flips is None else flips, int((admm.t > 0).sum())
    gap = (admm.objective - float(admm.multipliers.sum())) / price
    budget.report(history, stage, admm.iterations, flips, live, admm.objective / price, gap)


@without_flags
def _value(problem: Problem, admm: Admm) -> float:
    """What an iterate is worth: its objective at margin 1 (hard margin), or with the slack paid (soft margin)."""
    margins = problem.margins(admm.U, admm.s)
    if np.isfinite(problem.penalty):
        return admm.objective + problem.penalty * float(np.maximum(1.0 - margins, 0.0).sum())
    least = float(margins.min())
    return admm.objective / least if least > 0.0 else np.inf


def _exact(admm: Admm, result: NewtonResult) -> Polished:
    live = np.flatnonzero(admm.t > 0)[result.keep]
    members = survivors(admm.members, live)
    return Polished(result.U, result.s, result.lam, result.mu, _outputs_squared(admm, live), members, True)


def _iterate(admm: Admm) -> Polished:
    live = np.flatnonzero(admm.t > 0)
    U, weights, members = admm.U[live].astype(np.float64), admm.weights[:, live], survivors(admm.members, live)
    return Polished(U, admm.s[live], admm.multipliers, weights, _outputs_squared(admm, live), members, False)


def _outputs_squared(admm: Admm, live: IntArray) -> FloatArray:
    return admm.t[live].astype(np.float64) if admm.a2 is None else admm.a2[live]
