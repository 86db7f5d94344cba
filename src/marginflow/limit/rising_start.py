r"""A start for a soft margin where every neuron of the flow shrank to zero: directions along which leaving zero pays.

At zero every sample is short of its margin, so lambda_i = C for all of them, and a neuron of size t
along the unit vector u with sign s changes the objective by t (1 - s F(u)) to first order,

.. math:: F(u) = C \sum_i y_i \, \mathrm{relu}(x_i \cdot u).

Where s F(u) > 1 zero is no local minimum. Without such a direction it is the best network there is.
"""

from __future__ import annotations

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.bracket.dual_supremum import SignedDual
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem

_STARTS = 24
_WORTH = 1.0 + 1e-9


def rising_start(problem: Problem, U: FloatArray, seed: int) -> Neurons | None:
    """Neurons at the local maxima of s F that exceed 1, climbed to from the rows of U (k, r) and random ones."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([U[np.linalg.norm(U, axis=1) > 0][:_STARTS], rng.standard_normal((_STARTS, U.shape[1]))])
    rows: list[FloatArray] = []
    signs: list[float] = []
    for sign in (1.0, -1.0):
        dual = SignedDual(problem.X, problem.y, np.full(problem.n_samples, problem.penalty), sign)
        for start in starts:
            value, direction = dual.ascend(start)
            if value > _WORTH and not any(direction @ row > 1 - 1e-9 for row in rows):
                rows.append(direction)
                signs.append(sign)
    if not rows:
        return None
    order = np.argsort(-np.array(signs), kind="stable")
    directions, s = np.array(rows)[order], np.array(signs)[order]
    reached = np.maximum(problem.X @ directions.T, 0.0) * (problem.y[:, None] == s)
    # A typical own sample has margin 1, shared by all neurons.
    typical = reached.sum(axis=0) / np.maximum((reached > 0).sum(axis=0), 1)
    return Neurons(directions / (typical[:, None] * len(s)), s)
