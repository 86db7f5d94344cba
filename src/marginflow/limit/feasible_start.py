r"""A separating start when the flow finds none: the cheapest nonnegative combination of given neurons.

Over fixed unit directions the max-margin problem is a linear program,

.. math:: \min \sum_j a_j \quad\text{s.t.}\quad y_i \sum_j a_j s_j\,\mathrm{relu}(x_i \cdot \hat u_j) \ge 1, \; a \ge 0,

whose basic solutions use at most as many neurons as there are samples and whose duals are multipliers to start from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from marginflow.arrays import FloatArray
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem

# Random directions offered beside those of the flow, and the largest program worth solving.
_RANDOM_DIRECTIONS = 2000
_LARGEST_PROGRAM = 4_000_000


@dataclass(frozen=True, eq=False)
class FeasibleStart:
    """Neurons with every margin at least 1, and the dual solution of the program."""

    neurons: Neurons
    multipliers: FloatArray


def feasible_start(problem: Problem, U: FloatArray, seed: int) -> FeasibleStart | None:
    """Combine the directions of U (k, r) and random ones; None if nothing separates or the program is too large."""
    rng = np.random.default_rng(seed)
    m, r = problem.X.shape
    candidates = np.concatenate([U, rng.standard_normal((_RANDOM_DIRECTIONS, r)) / np.sqrt(problem.s2)])
    size = np.linalg.norm(candidates, axis=1)
    units = candidates[size > 0] / size[size > 0, None]
    if 2 * m * len(units) > _LARGEST_PROGRAM:
        return None
    features = problem.y[:, None] * np.maximum(problem.X @ units.T, 0.0)
    signed = np.concatenate([features, -features], axis=1)
    # Columns of largest entry 1, so that the tolerances of the program mean the same for every neuron.
    scale = np.abs(signed).max(axis=0)
    used = scale > 0
    signed, scale = signed[:, used] / scale[used], scale[used]
    solution = linprog(1.0 / scale, A_ub=-signed, b_ub=-np.ones(m), bounds=(0, None), method="highs")
    if solution.status != 0:
        return None
    a = solution.x / scale
    directions = np.concatenate([units, units])[used]
    signs = np.concatenate([np.ones(len(units)), -np.ones(len(units))])[used]
    chosen = np.flatnonzero(a > 1e-9 * a.max())
    multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
    return FeasibleStart(Neurons(a[chosen, None] * directions[chosen], signs[chosen]), multipliers)
