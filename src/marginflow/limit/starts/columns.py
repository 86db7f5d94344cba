r"""A KKT point from column generation: for few dimensions and samples, where a flow settles on no structure.

Between samples of the plane with random labels a flow often cannot separate the data, and patterns are too entangled
for ADMM. There a linear program over directions, which grows by the maxima of the dual function, finds the structure
of a network close to the *global* optimum, and Newton's method makes it exact.
"""

import numpy as np

from marginflow.limit.bracket.columns import Columns, ProgramError, structures
from marginflow.limit.budget import Budget
from marginflow.limit.problem import Problem
from marginflow.limit.settings import (
    COLUMN_DIMENSIONS,
    COLUMN_ROUNDS,
    COLUMN_SAMPLES,
    FIRST_EXCESS,
    LAST_EXCESS,
    MOST_COLUMN_ROUNDS,
)
from marginflow.limit.solver.newton import NewtonResult
from marginflow.limit.starts.start import AbstractStart, Finished, finished
from marginflow.limit.task import Task


class ColumnGeneration(AbstractStart):
    """For trained outputs and a hard margin, in few dimensions with few samples."""

    name, rank = "columns", 30

    def propose(self, task: Task, budget: Budget) -> Finished | None:
        """The exact point, if there is one in reach with no more neurons than asked for."""
        point = None if task.frozen else column_point(task.problem, budget, seed=0)
        if point is None:
            return None
        how = "by generating columns, as the flow settled on no structure; the point need not be near the flow"
        return finished(task, point.U, point.s, point.lam, point.mu, how)


def column_point(problem: Problem, budget: Budget, *, seed: int) -> NewtonResult | None:
    """An exact point of (P) with trained outputs; None where there is none in reach.

    Columns are generated for few dimensions, few samples and a hard margin.
    """
    m, r = problem.X.shape
    small = r <= COLUMN_DIMENSIONS and m <= COLUMN_SAMPLES
    if not (small and np.isinf(problem.penalty) and problem.norms.all()):
        return None
    with budget.interruptible():
        columns = Columns(problem.X, problem.y, np.random.default_rng(seed))
        found = structures(
            problem,
            columns,
            budget,
            excess=FIRST_EXCESS,
            least_excess=LAST_EXCESS,
            rounds=COLUMN_ROUNDS,
            most=MOST_COLUMN_ROUNDS,
        )
        try:
            return next((exact for _, exact in found if exact is not None), None)
        except ProgramError:
            return None
    return None
