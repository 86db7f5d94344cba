r"""Towards a KKT point: the augmented Lagrangian with rounded kinks, rounded less and less.

relu(z) is replaced by (z + (z^2 + delta^2)^(1/2)) / 2, whose derivative at a kink takes every value between 0 and 1, as
Clarke's weights do. At each delta L-BFGS minimises

.. math:: \tfrac12 \|\theta\|^2 + \tfrac{1}{2 \rho} \sum_{it} (\lambda_{it} + \rho (1 - m_{it}))_+^2

and lambda_it <- (lambda_it + rho (1 - m_it))_+ follows. Parallel neurons are merged on the way, so that few remain.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from marginflow.arrays import FloatArray
from marginflow.limit.classes.problem import ClassesProblem, Weights
from marginflow.limit.classes.settings import GOOD, MULTIPLIER_STEPS, PARALLEL, RHO, STAGES, VANISHED


class Stage(NamedTuple):
    """Where the homotopy is: weights, multipliers, and delta."""

    weights: Weights
    lam: FloatArray
    delta: float


def stages(problem: ClassesProblem, weights: Weights, over: Callable[[], bool]) -> Iterator[Stage]:
    """The end of every stage, until delta is small or the time is over, which cuts a stage short."""
    lam = np.zeros((problem.own.size, problem.n_classes))
    size = float(np.sqrt((problem.T**2).sum(axis=1).mean()))
    for share, steps in STAGES:
        if over():
            return
        delta = share * min(size, 1.0)
        for _ in range(MULTIPLIER_STEPS):
            weights = _descend(problem, weights, lam, delta, steps, over)
            hidden = _rounded(problem.T @ weights.U.T, delta)[0]
            margins = problem.margins(hidden, weights.V)
            lam = np.maximum(0.0, np.where(np.isfinite(margins), lam + RHO * (1.0 - margins), 0.0))
            if over() or 1.0 - margins.min() < GOOD * np.sqrt(delta):
                break
        merged = _merged(weights)
        if merged is None or not lam.any():
            return
        weights = merged
        yield Stage(weights, lam, delta)


def _rounded(Z: FloatArray, delta: float) -> tuple[FloatArray, FloatArray]:
    """The rounded relu and its derivative."""
    root = np.sqrt(Z * Z + delta * delta)
    return 0.5 * (Z + root), 0.5 * (1.0 + Z / root)


def _descend(
    problem: ClassesProblem, start: Weights, lam: FloatArray, delta: float, steps: int, over: Callable[[], bool]
) -> Weights:
    T, (k, r), K = problem.T, start.U.shape, problem.n_classes

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        U, V = theta[: k * r].reshape(k, r), theta[k * r :].reshape(K, k)
        hidden, slopes = _rounded(T @ U.T, delta)
        margins = problem.margins(hidden, V)
        pull = np.maximum(0.0, np.where(np.isfinite(margins), lam + RHO * (1.0 - margins), 0.0))
        q = problem.votes(pull)
        gradient = np.concatenate([(U - ((q @ V) * slopes).T @ T).ravel(), (V - q.T @ hidden).ravel()])
        return 0.5 * float(theta @ theta) + float((pull**2).sum()) / (2.0 * RHO), gradient

    def watch(_: FloatArray) -> None:
        if over():
            raise StopIteration  # the steps that were taken are kept

    first = np.concatenate([start.U.ravel(), start.V.ravel()])
    options = {"maxiter": steps, "maxcor": 30, "ftol": 1e-15, "gtol": 1e-9}
    theta = minimize(objective, first, jac=True, method="L-BFGS-B", callback=watch, options=options).x
    return Weights(theta[: k * r].reshape(k, r), theta[k * r :].reshape(K, k))


def _merged(weights: Weights) -> Weights | None:
    """Without neurons that have vanished, parallel ones added up and every neuron balanced; None if nothing is left."""
    U, V = weights
    lengths, heights = np.linalg.norm(U, axis=1), np.linalg.norm(V, axis=0)
    size = lengths * heights
    kept = size > VANISHED * size.max(initial=0.0)
    if not kept.any():
        return None
    U, V, lengths, size = U[kept], V[:, kept], lengths[kept], size[kept]
    units = U / lengths[:, None]
    free = np.ones(len(U), dtype=np.bool_)
    rows, columns = [], []
    for j in np.argsort(-size, kind="stable"):
        if free[j]:
            group = free & (units @ units[j] > PARALLEL)
            free &= ~group
            unit = size[group] @ units[group]
            height = V[:, group] @ lengths[group]
            share = np.sqrt(max(float(np.linalg.norm(height)), np.finfo(float).tiny))
            rows.append(share * unit / np.linalg.norm(unit))
            columns.append(height / share)
    return Weights(np.array(rows), np.array(columns).T)
