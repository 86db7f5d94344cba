"""The line and the plane: the global max-margin network of samples there, with its proof of optimality."""

import math
from dataclasses import replace

from marginflow.errors import InputError
from marginflow.limit import line, plane
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.line.global_solver import max_margin_within
from marginflow.limit.plane.result import objective
from marginflow.limit.plane.settings import CLOSED
from marginflow.limit.starts.start import AbstractStart, Finished
from marginflow.limit.task import Task


class Line(AbstractStart):
    """For samples on a line, neurons with a bias, trained outputs and a hard margin; not from the caller's own network.

    Patterns of neighbouring samples on a line are too entangled for the flow to separate.
    """

    name, rank = "line", 0

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The global optimum, of the asked width."""
        if task.data.dimension > 1 or not task.bias or task.frozen or task.soft or task.callers_own:
            return None
        try:
            point = max_margin_within(budget, task.data)
        except OutOfTimeError:
            return None
        if budget.over and task.width_for(point.network.width) is None:
            return None  # it is not the optimum, which may have fewer neurons
        return _optimum(
            task, point, of="max-margin network of these samples on a line", how="on the line",
            status="on the line: no network of any width has a norm",
        )  # fmt: skip


class Plane(AbstractStart):
    """For trained outputs, hard and soft margins, where samples and bias span at most three dimensions.

    By default it comes after the flow, whose point is nearer to where training goes; `kkt_point(optimum="global")`
    asks for it alone.
    """

    name, rank = "plane", 29

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The global optimum, of the asked width; None where there is none in reach."""
        if task.frozen or task.problem.X.shape[1] > 3:
            return None
        try:
            with budget.interruptible():
                return _as_point(task, global_point(task, budget))
        except InputError:
            return None
        return None


def _as_point(task: Task, best: Finished) -> Finished:
    """The same point, which is a KKT point also where its bracket is not closed: its own gap counts then."""
    if best.gap <= CLOSED:
        return best
    value, _ = objective(best.network, task.data, task.penalty if task.soft else None)
    return replace(
        best,
        how=f"in the plane; no network of any width is better by more than {best.gap:.1e}",
        gap=abs(value - float(best.lam.sum())) / value,
        status=None,
    )


def global_point(task: Task, budget: Budget) -> Finished:
    """The global optimum of the asked width; an `InputError` says what stands in its way."""
    penalty = task.problem.penalty if task.soft else None
    try:
        point = plane.max_margin(task.data, penalty=penalty, bias=task.bias, time_limit=budget.time_limit)
    except InputError as error:
        if isinstance(error.__cause__, OutOfTimeError):  # by a clock that may be a hair ahead of the budget's
            budget.spend()
        raise
    if math.isinf(point.dual_supremum) and task.width_for(point.network.width) is not None:
        budget.spend()  # only time that ran out leaves no bound, also where that clock was ahead
    what = "a norm" if penalty is None else "an objective"
    return _optimum(
        task, point, of="global optimum of these samples", how="at the global optimum of the plane",
        status=f"in the plane: no network of any width has {what}",
    )  # fmt: skip


def _optimum(task: Task, point: line.LineLimit | plane.PlaneLimit, *, of: str, how: str, status: str) -> Finished:
    """A global optimum with its proof, of the asked width; an `InputError` where it has more neurons."""
    width = task.width_for(point.network.width)
    if width is None:
        raise InputError(
            f"width is {task.width}, but the {of} has {point.network.width} neurons; at least as many are expected."
        )
    point = point.widened(width)
    clarke = point.network.patterns(task.data.X) if point.clarke is None else point.clarke
    mu, status = point.multipliers[:, None] * clarke, f"Global max-margin network {status} smaller by {point.gap:.1e}."
    return Finished(network=point.network, lam=point.multipliers, mu=mu, how=how, gap=point.gap, status=status)
