r"""The Hessian of Newton's method as it would be if neurons were independent of each other: a cheap preconditioner.

.. math:: G = \mathrm{diag} + \sum_\pm T_\pm \, (p^\pm_i y_i x_i) \cdot (p^\pm_l y_l x_l) ,

p_i the share (by t) of the neurons of one sign on which sample i is active and T their total. Its inverse needs one
factor of size 2 r (Woodbury) or n.
"""

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.products import factor_threads, times_transpose
from marginflow.limit.solver.blocked_factor import BlockedFactor
from marginflow.limit.solver.pairs import Pairs


class MeanField:
    """G of a structure on the given rows, and its inverse."""

    def __init__(self, rows: IntArray, pairs: Pairs, t: FloatArray, *, damping: float) -> None:
        problem, weights = pairs.problem, np.maximum(t, 0.0)
        r = problem.X.shape[1]
        free = np.array([1.0 - len(basis.rows) / r for basis in pairs.bases])
        active = pairs.active[rows] != 0.0
        norms = problem.norms[rows] ** 2
        diagonal = damping + norms * (active @ (weights * free))
        shares = []  # sqrt(T) p_i y_i for each sign
        for sign in (1.0, -1.0):
            own = pairs.s == sign
            total = float((weights * free)[own].sum())
            if total <= 0.0:
                continue
            share = active[:, own] @ (weights * free)[own] / total
            diagonal = diagonal - total * share**2 * norms
            shares.append(np.sqrt(total) * share * problem.y[rows])
        if not shares:
            raise np.linalg.LinAlgError("every neuron has as many kinks as dimensions: none is free to turn")
        # A sample that is active on one neuron alone has nothing left outside the mean field.
        self.diagonal = np.maximum(diagonal, 1e-3 * float(norms.mean() * weights.sum()) / max(len(t), 1) + damping)
        self.low_rank = len(shares) * r < len(rows)
        if self.low_rank:
            self.B = np.concatenate([share[:, None] * problem.X[rows] for share in shares], axis=1)
            # Single precision changes G by far less than the mean field is off.
            scaled = (self.B / np.sqrt(self.diagonal)[:, None]).astype(np.float32)
            inner = times_transpose(scaled.T, threads=pairs.threads).astype(np.float64)
        else:
            scaled_shares = np.array(shares) / np.sqrt(self.diagonal)
            inner = problem.gram(rows, rows)
            inner *= scaled_shares.T @ scaled_shares
        inner[np.diag_indices(len(inner))] += 1.0
        with factor_threads(len(inner), pairs.threads):
            factor, _ = scipy.linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        self.inner = BlockedFactor(factor, pairs.threads)

    def solve(self, f: FloatArray) -> FloatArray:
        """G^{-1} f, of one or several columns (n, ...)."""
        solution: FloatArray
        if self.low_rank:
            scaled = (f.T / self.diagonal).T
            inside = self.inner.solve(self.B.T @ scaled)
            solution = scaled - ((self.B @ inside).T / self.diagonal).T
        else:
            root = np.sqrt(self.diagonal)
            inside = self.inner.solve((f.T / root).T)
            solution = (inside.T / root).T
        return solution
