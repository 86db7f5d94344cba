r"""A separating start where the flow finds none: the cheapest nonnegative combination of given neurons.

Over fixed unit directions the max-margin problem is a linear program,

.. math:: \min \sum_j a_j \quad\text{s.t.}\quad y_i \sum_j a_j s_j\,\mathrm{relu}(x_i \cdot \hat u_j) \ge 1, \; a \ge 0,

whose basic solutions use at most as many neurons as there are samples and whose duals are multipliers to start from.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import linprog

from marginflow.arrays import FloatArray
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.settings import FINER, LARGEST_PROGRAM, RANDOM_DIRECTIONS
from marginflow.limit.starts.bundles import bundle, instead
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Task


class Feasible(AbstractStart):
    """For trained outputs."""

    name, rank = "feasible", 80

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """The cheapest combination of the flow's neurons and of random ones, polished in double precision."""
        start = feasible(task, bundle(task, task.flow(task.flow_steps, budget), finer=FINER), budget)
        return None if start is None else replace(start, precision="double")


def feasible(task: Task, start: Start, budget: Budget) -> Start | None:
    """A separating combination in place of the bundles, with its multipliers; None if it has too many neurons."""
    found = None if task.frozen else cheapest_combination(task.problem, start.neurons.U, budget, seed=0)
    if found is None or len(found[0].s) > task.width:
        return None
    return replace(instead(start, found[0]), multipliers=found[1])


def cheapest_combination(
    problem: Problem, U: FloatArray, budget: Budget, *, seed: int
) -> tuple[Neurons, FloatArray] | None:
    """Neurons of margin at least 1 along rows of U (k, r) and random directions, and the duals of the program.

    None if nothing separates, the program is too large or the budget is over before its end.
    """
    rng = np.random.default_rng(seed)
    m, r = problem.X.shape
    candidates = np.concatenate([U, rng.standard_normal((RANDOM_DIRECTIONS, r)) / np.sqrt(problem.s2)])
    size = np.linalg.norm(candidates, axis=1)
    units = candidates[size > 0] / size[size > 0, None]
    if 2 * m * len(units) > LARGEST_PROGRAM:
        return None
    features = problem.y[:, None] * np.maximum(problem.X @ units.T, 0.0)
    signed = np.concatenate([features, -features], axis=1)
    # Columns of largest entry 1, so that the tolerances of the program mean the same for every neuron.
    scale = np.abs(signed).max(axis=0)
    used = scale > 0
    signed, scale = signed[:, used] / scale[used], scale[used]
    options = {"time_limit": budget.left}
    solution = linprog(1.0 / scale, A_ub=-signed, b_ub=-np.ones(m), bounds=(0, None), method="highs", options=options)
    if solution.status != 0:
        return None
    a = solution.x / scale
    directions = np.concatenate([units, units])[used]
    signs = np.concatenate([np.ones(len(units)), -np.ones(len(units))])[used]
    chosen = np.flatnonzero(a > 1e-9 * a.max())
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
    return Neurons(a[chosen, None] * directions[chosen], signs[chosen]), multipliers
