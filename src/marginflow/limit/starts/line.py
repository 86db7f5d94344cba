"""The line: the global max-margin network in one dimension, with its proof of optimality."""

from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.line.global_solver import max_margin_within
from marginflow.limit.starts.start import AbstractStart, Finished, optimum
from marginflow.limit.task import Task


class Line(AbstractStart):
    """For samples on a line, neurons with a bias, trained outputs and a hard margin; not from the caller's own network.

    Patterns of neighbouring samples on a line are too entangled for the flow to separate.
    """

    name, rank = "line", 0

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The global optimum, of the asked width."""
        bias = task.bias
        if task.data.dimension > 1 or not bias or task.frozen or task.soft or task.callers_own:
            return None
        try:
            point = max_margin_within(budget, task.data)
        except OutOfTimeError:
            return None
        if budget.over and task.width_for(point.network.width) is None:
            return None  # it is not the optimum, which may have fewer neurons
        return optimum(
            task, point, of="max-margin network of these samples on a line", how="on the line",
            status="on the line: no network of any width has a norm",
        )  # fmt: skip
