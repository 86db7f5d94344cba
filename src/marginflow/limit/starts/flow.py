"""A network with or without a flow before it, bundled and polished: short and long flows, fine bundles, none at all.

The flow takes steps of bounded angle from the given network, until every margin is positive and half as long again.
"""

from dataclasses import replace

from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.interior.point import affordable, before_interior
from marginflow.limit.restoration import best_factor, restored
from marginflow.limit.settings import FINER, FLOW_LARGE_STEP, LEAST_LONG, LONG_FLOW, REFRESH_MARGIN, RESTORED_WEIGHT
from marginflow.limit.starts.bundles import bundle
from marginflow.limit.starts.feasible import feasible
from marginflow.limit.starts.start import AbstractStart, Finished, Start, as_it_is
from marginflow.limit.task import Flowed, Task
from marginflow.threads import available_threads, threads_for


class Own(AbstractStart):
    """The caller's own network, as it is: with `flow_steps=0` only."""

    name, rank = "own", 10

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Bundles of the given network."""
        return first(task, Flowed(task.given, 0.0), budget) if task.flow_steps == 0 else None


class Flow(AbstractStart):
    """As many steps as the caller wants, or as many as separate the data and half as many again."""

    name, rank = "flow", 20

    def propose(self, task: Task, budget: Budget) -> Start | Finished | None:
        """Bundles of the flowed network, or itself at the end of the time; nothing where the caller wants no flow."""
        if task.flow_steps == 0:
            return None
        flowed = task.flow(task.flow_steps, budget)
        return as_it_is(task, flowed.network) if budget.over else separating(task, first(task, flowed, budget), budget)


class LongFlow(AbstractStart):
    """A longer flow, bundled less, where the patterns had not settled; unless the caller has fixed its length."""

    name, rank = "long flow", 40

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Fine bundles of the network after many steps; nothing where so many are dear on all samples."""
        steps = min(LONG_FLOW, task.most_steps)
        if task.flow_steps is not None or steps < LEAST_LONG * LONG_FLOW:
            return None
        return both_signs(task, task.flow(steps, budget), budget, finer=FINER)


class Fine(AbstractStart):
    """The first flow again, bundled less and polished in double precision: the last way, for delicate cases."""

    name, rank = "fine bundles", 90

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Fine bundles of the flow that the caller wants."""
        return replace(both_signs(task, task.flow(task.flow_steps, budget), budget, finer=FINER), precision="double")


def first(task: Task, flowed: Flowed, budget: Budget) -> Start:
    """The first start of a call, with fewer iterations where an interior point is cheap."""
    start = both_signs(task, flowed, budget)
    return replace(start, max_iterations=before_interior(task.problem, len(start.neurons.s)))


def separating(task: Task, start: Start, budget: Budget) -> Start:
    """Where a flow on all samples ends before it separates them: neurons nearby that do.

    Where an interior point is affordable that is left to it, which has ways of its own. First multipliers sum to the
    objective, of which such neurons have far too much: those that explain them best begin instead.
    """
    problem, neurons = task.problem, start.neurons
    work = problem.X.size * float(task.width)
    if task.soft or task.frozen or affordable(problem, len(neurons.s)):
        return start
    if float(problem.margins(neurons.U, neurons.s).min()) > 0.0:
        return start
    with threads_for(work, available_threads()):
        found = restored(problem, neurons.U, neurons.s, enough=REFRESH_MARGIN, deadline=budget.deadline)
        if found.least <= 0.0 and work < FLOW_LARGE_STEP:
            return start
        U, s = found.U, neurons.s
        lam = problem.warm_multipliers(U, s, deadline=budget.deadline)
        lam *= best_factor(problem, U, s, lam[:, None] * (problem.X @ U.T > 0))
    feasible = found.least > 0.0
    return replace(start, neurons=replace(neurons, U=U), multipliers=lam, weight=RESTORED_WEIGHT, feasible=feasible)


def both_signs(task: Task, flowed: Flowed, budget: Budget, *, finer: int = 1) -> Start:
    """Bundles of a network; where it has lost a sign, a separating combination of them, or where the flow began."""
    start = bundle(task, flowed, finer=finer)
    missing = task.missing_sign(task.neurons(flowed.network))
    if missing is None:
        return start
    combined = feasible(task, start, budget)
    if combined is not None:
        return combined
    if task.missing_sign(task.neurons(task.given)) is None:
        return bundle(task, Flowed(task.given, flowed.seconds), finer=finer)
    raise InputError(
        f"The start has no neuron with sign {missing:+g} that is not zero, but data with both labels need "
        "neurons of both signs; try another seed, a larger width or another start."
    )
