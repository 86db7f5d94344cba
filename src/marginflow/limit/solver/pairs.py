"""The (sample, neuron) pairs of problem (C): where each one is, and what follows from that for the neurons."""

from typing import Any

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.products import product
from marginflow.limit.settings import RUNS_AWAY, SETTLE_ROUNDS
from marginflow.limit.solver.box_projection import box_projection
from marginflow.limit.solver.kink_basis import KinkBases
from marginflow.limit.solver.kink_factors import KinkFactors
from marginflow.threads import parts_of, share

INACTIVE, ACTIVE, KINK = np.int8(0), np.int8(1), np.int8(2)  # a byte for every pair


class Pairs:
    """Everything that follows from the states of the pairs and the multipliers, kept up to date neuron by neuron.

    `D` (k, r) has the rows P_j g_j, `XD` (m, k) their pre-activations, and `mu` (m, k) the weights lambda_i times the
    Clarke derivative. The pairs of a neuron are next to each other in memory, as they are read and written together.
    """

    def __init__(
        self,
        problem: Problem,
        factorised: KinkBases | KinkFactors,
        s: FloatArray,
        state: IntArray,
        lam: FloatArray,
        *,
        threads: int = 1,
    ) -> None:
        self.threads = threads
        self.problem, self.factorised, self.s = problem, factorised, s
        self.sigma: FloatArray = np.multiply.outer(s, problem.y).T
        self.state: IntArray = np.array(state, order="F")
        self.bases: list[Any] = [None] * len(s)  # of the kind that `factorised` makes, filled at once
        self.active = np.empty_like(self.sigma)
        self.mu = np.empty_like(self.sigma)
        self.D = np.empty((len(s), problem.X.shape[1]))
        self.XD = np.empty_like(self.sigma)
        self._evaluate(np.arange(len(s)), lam)

    def _evaluate(self, columns: IntArray, lam: FloatArray) -> None:
        every = len(columns) == len(self.s)
        found: list[Any] = list(self.factorised.known.of(self.state[:, columns] == KINK, forget=every))
        for j, basis in zip(columns, found, strict=True):
            self.bases[j] = basis

        def evaluate(part: slice) -> None:
            some = columns[part]
            state, sigma = self.state[:, some], self.sigma[:, some]
            active = np.where(state == ACTIVE, sigma, 0.0)
            g = product((active * lam[:, None]).T, self.problem.X, threads=threads)
            D, weights, XD = self.factorised.split(found[part], g, threads)
            self.active[:, some], self.D[some], self.XD[:, some] = active, D, XD
            self.mu[:, some] = np.where(state == KINK, -sigma * weights, np.where(state == ACTIVE, lam[:, None], 0.0))

        parts = parts_of(len(columns), float(self.problem.X.size) * len(columns))
        threads = self.threads if len(parts) == 1 else 1  # for the products of one part, or for the parts
        share(evaluate, parts, self.threads)

    def move(self, state: IntArray, lam: FloatArray, *, same_multipliers: bool) -> None:
        """Take over states; at the same multipliers only neurons that have changed are evaluated."""
        changed = (state != self.state).any(axis=0) if same_multipliers else np.ones(len(self.s), dtype=bool)
        self.state = np.array(state, order="F")
        if changed.any():
            self._evaluate(np.flatnonzero(changed), lam)

    def settle(self, lam: FloatArray, t: FloatArray) -> None:
        """Move to new multipliers, and let the opposite pairs of every neuron follow.

        At fixed lambda the weights of neuron j solve min ||sum_i sigma_ij mu_ij x_i|| over mu_ij in [0, lambda_i], a
        problem of its own; a few rounds of the active set method on it cost far less than a step in lambda.
        """
        before, weights = self.state.copy("F"), np.where(self.state == KINK, self.mu, 0.0)
        opposite = self.sigma < 0
        most, stray = np.full(len(t), self.state.size), np.zeros(len(t), dtype=bool)
        columns = np.arange(len(t))
        for _ in range(SETTLE_ROUNDS):
            self._evaluate(columns, lam)
            columns = columns[t[columns] > 0]  # a neuron with t < 0 is about to disappear
            old = self.state[:, columns]
            new = np.where(opposite[:, columns], self.next_state(lam, t, columns), old)
            changed = np.count_nonzero(new != old, axis=0)
            crowded = np.count_nonzero(new == KINK, axis=0) >= self.problem.X.shape[1]
            stray[columns] = (changed > 0) & (crowded | (changed > np.maximum(most[columns], RUNS_AWAY)))
            most[columns], follow = changed, (changed > 0) & ~stray[columns]
            columns = columns[follow]
            if len(columns) == 0:
                break
            self.state[:, columns] = new[:, follow]
        for j in np.flatnonzero(stray).tolist():
            self.state[:, j] = self._projected(j, before[:, j], weights[:, j], lam)
        columns = np.union1d(columns, np.flatnonzero(stray))
        if len(columns):
            self._evaluate(columns, lam)

    def _projected(self, j: int, state: IntArray, weights: FloatArray, lam: FloatArray) -> IntArray:
        """States of the pairs of a neuron whose rounds lead nowhere, from where they began."""
        X, same = self.problem.X, self.sigma[:, j] > 0
        held = np.flatnonzero(~same & (lam > 0.0))
        g = (lam * (same & (state == ACTIVE))) @ X
        mu = box_projection(X[held], g, lam[held], np.where(state == ACTIVE, lam, weights)[held])
        # Samples without a multiplier pull on nothing: they are where the direction puts them.
        state = np.where(same, state, np.where(X @ (g - mu @ X[held]) > 0.0, ACTIVE, INACTIVE))
        state[held] = np.where(mu <= 0.0, INACTIVE, np.where(mu >= lam[held], ACTIVE, KINK))
        return state

    @property
    def norms_squared(self) -> FloatArray:
        """||D_j||^2, shape (k,)."""
        squares: FloatArray = np.einsum("ij,ij->i", self.D, self.D)
        return squares

    def margins(self, t: FloatArray) -> FloatArray:
        """Of the network with rows t_j D_j, as long as pairs are on their sides; shape (m,)."""
        return (self.active * self.XD) @ t

    def next_state(self, lam: FloatArray, t: FloatArray, columns: IntArray | None = None) -> IntArray:
        """Each pair where its own optimality condition puts it; pairs on the right side stay.

        No opposite pair crosses a kink at once: pairs that may can do so back and forth for ever. Of the given neurons,
        or of all.
        """
        some = np.arange(len(t)) if columns is None else columns
        t = t[some]
        tiny = np.outer(1e-13 * np.abs(t) * np.sqrt(self.norms_squared[some]), self.problem.norms).T
        small = 1e-12 * float(lam.max(initial=0.0))
        opposite = self.sigma[:, some] < 0
        return moved(self.state[:, some], opposite, self.XD[:, some] * t, self.mu[:, some], lam, tiny, small)


def moved(
    state: IntArray, opposite: BoolArray, Z: FloatArray, mu: FloatArray, lam: FloatArray, tiny: FloatArray, small: float
) -> IntArray:
    """States (m, k) after each pair has followed its own condition, where pre-activations and weights have rounding."""
    new, kink = state.copy(), state == KINK
    falls, rises = (state == ACTIVE) & (Z < -tiny), (state == INACTIVE) & (Z > tiny)
    np.copyto(new, INACTIVE, where=kink & (mu < -small))
    np.copyto(new, ACTIVE, where=kink & (mu > (lam + small)[:, None]))
    np.copyto(new, KINK, where=opposite & (falls | rises))
    # Same pairs follow the sign of the pre-activation: the convex-concave step.
    np.copyto(new, INACTIVE, where=~opposite & falls)
    np.copyto(new, ACTIVE, where=~opposite & rises)
    return new


def released(state: IntArray, clarke: FloatArray, most: int) -> IntArray:
    """A neuron orthogonal to as many samples as there are dimensions is zero: without its least certain kinks.

    `clarke` (m, k) estimates the weights; those nearest to 0 or 1 are likely to end there.
    """
    state, kinks = state.copy("K"), state == KINK
    for j in np.flatnonzero(kinks.sum(axis=0) > most):
        rows = np.flatnonzero(kinks[:, j])
        inside = np.minimum(clarke[rows, j], 1.0 - clarke[rows, j])
        free = rows[np.argsort(-inside)[most:]]
        state[free, j] = np.where(clarke[free, j] > 0.5, ACTIVE, INACTIVE)
    return state
