r"""A start for a soft margin where every neuron of the flow shrank to zero: directions along which leaving zero pays.

At zero every sample is short of its margin, so lambda_i = C for all of them, and a neuron of size t
along the unit vector u with sign s changes the objective by t (1 - s F(u)) to first order,

.. math:: F(u) = C \sum_i y_i \, \mathrm{relu}(x_i \cdot u).

Where s F(u) > 1 zero is not a local minimum. Without such a direction it is the best network there is: the smallest
penalty at which another network is better is C* = 1 / max |sum_i y_i relu(x_i . u)|.
"""

import time
from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.bracket.dual_supremum import SignedDual
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.settings import ASCENTS, FINER, WORTH
from marginflow.limit.starts.bundles import bundle, instead
from marginflow.limit.starts.start import AbstractStart, Start
from marginflow.limit.task import Task


class Rising(AbstractStart):
    """For soft margins and trained outputs."""

    name, rank = "rising", 70

    def propose(self, task: Task, budget: Budget) -> Start | None:
        """Neurons along the steepest directions out of zero, with the multipliers that hold at zero."""
        if task.frozen or not task.soft:
            return None
        start = bundle(task, task.flow(task.flow_steps, budget), finer=FINER)
        risen = rising_neurons(task.problem, start.neurons.U, seed=0, deadline=budget.deadline)
        if risen is None or len(risen.s) > task.width:
            return None
        at_zero = np.full(task.problem.n_samples, task.problem.penalty)
        return replace(instead(start, risen), multipliers=at_zero, precision="double")


def peaks(
    problem: Problem, U: FloatArray, seed: int, penalty: float, *, deadline: float = np.inf
) -> list[tuple[float, float, FloatArray]]:
    """Local maxima of s F for both signs as (value, sign, unit direction), from rows of U (k, r) and random ones.

    After the deadline (a value of `time.monotonic`) no further ones are sought.
    """
    rng = np.random.default_rng(seed)
    given = U[np.linalg.norm(U, axis=1) > 0][:ASCENTS]
    beginnings = np.concatenate([given, rng.standard_normal((ASCENTS, U.shape[1]))])
    found = []
    for sign in (1.0, -1.0):
        dual = SignedDual(problem.X, problem.y, np.full(problem.n_samples, penalty), sign)
        for beginning in beginnings:
            value, direction = dual.ascend(beginning, deadline=deadline)
            found.append((value, sign, direction))
            if time.monotonic() > deadline:
                break
    return found


def least_useful_penalty(problem: Problem, U: FloatArray) -> float:
    """C* from the highest maximum found; infinite if no direction rises at all."""
    highest = max(value for value, _, _ in peaks(problem, U, 0, 1.0))
    return 1.0 / highest if highest > 0 else np.inf


def rising_neurons(problem: Problem, U: FloatArray, seed: int, *, deadline: float = np.inf) -> Neurons | None:
    """Neurons at the local maxima of s F that exceed 1; None without any."""
    rising: list[tuple[float, FloatArray]] = []
    for value, sign, direction in peaks(problem, U, seed, problem.penalty, deadline=deadline):
        if value > WORTH and not any(direction @ row > 1 - 1e-9 for _, row in rising):
            rising.append((sign, direction))
    if not rising:
        return None
    rising.sort(key=lambda pair: -pair[0])  # positive signs first
    s, directions = np.array([sign for sign, _ in rising]), np.array([row for _, row in rising])
    reached = np.maximum(problem.X @ directions.T, 0.0) * (problem.y[:, None] == s)
    # A typical own sample has margin 1, shared by all neurons.
    typical = reached.sum(axis=0) / np.maximum((reached > 0).sum(axis=0), 1)
    return Neurons(directions / (typical[:, None] * len(s)), s)
