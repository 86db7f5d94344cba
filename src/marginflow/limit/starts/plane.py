"""The plane: the global max-margin network of samples that span two dimensions, with its proof of optimality."""

import math
from dataclasses import replace

from marginflow.errors import InputError
from marginflow.limit import plane
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.plane.result import objective
from marginflow.limit.plane.settings import CLOSED
from marginflow.limit.starts.start import AbstractStart, Finished, optimum
from marginflow.limit.task import Task


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
    return optimum(
        task, point, of="global optimum of these samples", how="at the global optimum of the plane",
        status=f"in the plane: no network of any width has {what}",
    )  # fmt: skip
