"""The interior point from the flow's neurons: where samples are many to a dimension, and on data of any scale."""

from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.interior.point import InteriorPoint, affordable
from marginflow.limit.interior.sample_set import interior_point_of_few
from marginflow.limit.line.global_solver import max_margin_within
from marginflow.limit.neurons import Neurons, follow
from marginflow.limit.settings import DEAR, ELSEWHERE, ELSEWHERE_FEW, ELSEWHERE_OF_FEW, NOT_FOUND, PLANE_FIRST
from marginflow.limit.starts.bundles import bundle
from marginflow.limit.starts.feasible import cheapest_combination
from marginflow.limit.starts.rising import rising_neurons
from marginflow.limit.starts.start import AbstractStart, Finished, Origin, Start, finished, squares
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


class Interior(AbstractStart):
    """Where an iteration is cheap enough."""

    name, rank = "interior", 25

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The exact point nearest to the flow, if it has no more neurons than asked for."""
        start = bundle(task, task.flow(task.flow_steps, budget))
        if not affordable(task.problem, len(start.neurons.s)) or _plane_is_surer(task, start.flowed.network):
            return None
        found = _near_the_flow(task, start, budget)
        if found is not None or budget.over or _plane_is_next(task):
            return found
        return _elsewhere(task, start, budget)


class Elsewhere(AbstractStart):
    """Where the global optimum of the plane was asked first and has, for example, more neurons than asked for."""

    name, rank = "interior elsewhere", 35

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """An exact point, if it has no more neurons than asked for: of the flow where that was left out, or another."""
        if not _plane_is_next(task):
            return None  # both were asked already
        start = bundle(task, task.flow(task.flow_steps, budget))
        if not affordable(task.problem, len(start.neurons.s)):
            return None
        found = _near_the_flow(task, start, budget) if _plane_is_surer(task, start.flowed.network) else None
        return _elsewhere(task, start, budget) if found is None and not budget.over else found


def _near_the_flow(task: Task, start: Start, budget: Budget) -> Finished | None:
    point = interior_point_of_few(task.problem, start.neurons, budget)
    return None if point is None else _of(task, point, start, "from the neurons of the flow", start.groups)


def _plane_is_surer(task: Task, flowed: TwoLayer) -> bool:
    """Whether the global optimum of the plane comes first.

    It does where misses are dear, the flow has not found the classes, and samples are many or the margin is soft; a
    soft margin of few samples stays near a network of the caller's.
    """
    asked = len(task.X) >= PLANE_FIRST or (task.soft and not task.callers_own)
    if not (_plane_is_next(task) and asked):
        return False
    return float((flowed.margins(task.X, task.data.y) <= 0).mean()) > NOT_FOUND


def _plane_is_next(task: Task) -> bool:
    """Whether the global optimum comes before other points that are not near the flow either: where misses are dear.

    200 random labels on a circle (draw 3), CPU s: 6.5 from other neurons, in vain, and 6 for the optimum.
    """
    return _in_plane(task) and task.penalty * float(task.problem.norms.max()) >= DEAR


def _in_plane(task: Task) -> bool:
    return task.problem.X.shape[1] <= 3 and not task.frozen


def _elsewhere(task: Task, start: Start, budget: Budget) -> Finished | None:
    """From other neurons than those of the flow; where the first lead to nothing, from others again.

    In the plane with a soft margin and trained outputs the global optimum is next, and surer.
    """
    few = not task.frozen and len(task.X) <= ELSEWHERE_FEW
    for seed in range(1 if _in_plane(task) and task.soft else ELSEWHERE_OF_FEW if few else ELSEWHERE):
        neurons, multipliers = _other_neurons(task, start, budget, seed)
        groups = np.full(task.width, -1, dtype=np.int64)
        if neurons is not None and task.frozen:
            neurons, groups, multipliers = *dealt_out(neurons, task.given), None
        if budget.over or neurons is None or not affordable(task.problem, len(neurons.s)):
            return None
        point = interior_point_of_few(task.problem, neurons, budget, multipliers=multipliers)
        found = None if point is None else _of(task, point, start, "from other neurons than those of the flow", groups)
        if found is not None:
            return found
    return None


def _other_neurons(task: Task, start: Start, budget: Budget, seed: int) -> tuple[Neurons | None, FloatArray | None]:
    """The cheapest separating combination of random directions, and its multipliers; with a soft margin directions that
    pay."""
    if not task.soft:
        return cheapest_combination(task.problem, _candidates(task, start, budget), budget, seed=seed) or (None, None)
    return (
        None if task.frozen else rising_neurons(task.problem, start.neurons.U, seed=seed, deadline=budget.deadline)
    ), None


def _candidates(task: Task, start: Start, budget: Budget) -> FloatArray:
    """Directions for the program: those of the flow and, on a line, where random ones miss, those of its optimum."""
    if task.data.dimension > 1 or not task.bias:
        return start.neurons.U
    try:
        best = max_margin_within(budget, task.data)
    except OutOfTimeError:
        return start.neurons.U
    return np.concatenate([start.neurons.U, task.problem.reduced(best.network.directions)])


def dealt_out(neurons: Neurons, given: TwoLayer) -> tuple[Neurons | None, IntArray]:
    """Neurons of a network with frozen outputs, given to directions of their sign in proportion to what these need.

    Directions u_j are cheapest with v_j^2 in proportion to ||u_j||: the neuron of largest output goes where ||u_j|| is
    largest beside what is there. None where a sign has fewer neurons than directions.
    """
    squared, groups = given.v**2, np.full(given.width, -1, dtype=np.int64)
    total, size = np.zeros(len(neurons.s)), np.linalg.norm(neurons.U, axis=1)
    for sign in (1.0, -1.0):
        own, wanted = np.flatnonzero(neurons.s == sign), np.flatnonzero((given.signs == sign) & (squared > 0.0))
        if own.size == 0:
            continue
        if wanted.size < own.size:
            return None, groups
        for index in wanted[np.argsort(-squared[wanted], kind="stable")]:
            with np.errstate(divide="ignore"):
                target = own[np.argmax(size[own] / total[own])]
            groups[index] = target
            total[target] += squared[index]
    return Neurons(neurons.U, neurons.s, total), groups


def _of(task: Task, point: InteriorPoint, start: Start, where: str, groups: IntArray) -> Finished | None:
    """The point in the caller's coordinates; `groups` are the rows of its start that neurons went into."""
    pattern = ", with a soft pattern on the way" if point.manner == "soft" else ""
    how = (
        f"by an interior point {where}{pattern}: {point.iterations} iterations, {point.rounds} convex rounds and "
        f"{point.newton_steps} Newton steps"
    )
    members = follow(groups, point.members) if task.frozen else None
    end = finished(
        task, point.U, point.s, point.lam, point.mu, how,
        members=members, outputs_squared=None if members is None else squares(task, members, len(point.s)),
    )  # fmt: skip
    if end is None:
        return None
    nowhere = np.full(start.groups.shape, -1, dtype=np.int64)
    from_flow = follow(start.groups, point.members) if groups is start.groups else nowhere
    return replace(end, history=point.history, origin=Origin.of(task, start, point.U, from_flow))
