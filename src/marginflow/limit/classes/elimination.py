r"""Newton's step on the KKT equations of a structure, neuron by neuron: no matrix of all unknowns is ever formed.

The derivative of the equations is [[H, -A'], [A, 0]]: A has a row for every pair on the margin and every kink, and
H has one block for every neuron,

.. math:: H_j = \begin{pmatrix} I & -M_j \\ -M_j^\top & I \end{pmatrix} , \qquad
   M_j = \sum_{i\,\text{active}} T_i \, q_i^\top .

With the singular values sigma of M_j its eigenvalues are 1 +- sigma, and 1 elsewhere; at a KKT point a neuron without
kinks has sigma = 1, so that H_j is singular along the neuron itself. Directions with an eigenvalue near 0 stay unknowns
of the system; all others are eliminated, and what remains has the size of pairs, kinks and about one number for every
neuron:

.. math:: \begin{pmatrix} A H_r^{-1} A^\top & A E \\ -(A E)^\top & \mathrm{diag}(h) \end{pmatrix} .
"""

import warnings

import numpy as np
from scipy.linalg import LinAlgWarning, lapack, lstsq, lu_factor, lu_solve

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.classes.problem import ClassesProblem, ClassesSolution, Weights
from marginflow.limit.classes.settings import NEAR_ZERO, RANK, SINGULAR


class KKTSystem:
    """What the equations of a structure share at every step: pairs (i, t), kinks (a, j), inner products."""

    def __init__(self, problem: ClassesProblem, on_margin: BoolArray, kink: BoolArray, active: BoolArray) -> None:
        """For pairs on the margin, kinks and active pairs, shapes (n, K), (n, k), (n, k)."""
        self.problem, self.active, T = problem, active, problem.T
        (self.i, self.t), (self.a, self.j) = np.nonzero(on_margin), np.nonzero(kink)
        i, t, a, j = self.i, self.t, self.a, self.j
        own = problem.own[i]
        self.signs: FloatArray = (own[:, None] == own).astype(np.float64)
        self.signs = self.signs + (t[:, None] == t) - (own[:, None] == t) - (t[:, None] == own)
        self.pairs, self.mixed = T[i] @ T[i].T, T[i] @ T[a].T
        self.kinks: FloatArray = (j[:, None] == j) * (T[a] @ T[a].T)


class Linearised:
    """The equations at a point: relu(z), q, the slopes dv of active pairs, and what is left of each equation."""

    def __init__(self, system: KKTSystem, at: ClassesSolution) -> None:
        """At weights, lambda (p,) on the pairs and mu (m,) on the kinks."""
        self.system, problem, (U, V), i, t = system, system.problem, at.weights, system.i, system.t
        Z = problem.T @ U.T
        self.hidden = np.where(system.active, Z, 0.0)
        dv = V[problem.own[i]] - V[t]
        every = np.zeros((problem.own.size, problem.n_classes))
        every[i, t] = at.lam
        self.q = problem.votes(every)
        slopes = np.where(system.active, self.q @ V, 0.0)
        slopes[system.a, system.j] = at.mu
        self.slope = dv * system.active[i]
        self.left_u, self.left_v = U - slopes.T @ problem.T, V - self.q.T @ self.hidden
        self.left_margins, self.left_kinks = (dv * self.hidden[i]).sum(axis=1) - 1.0, Z[system.a, system.j]

    @property
    def size(self) -> float:
        """The norm of all that is left."""
        parts = (self.left_u, self.left_v, self.left_margins, self.left_kinks)
        return float(np.sqrt(sum(float((part**2).sum()) for part in parts)))

    def newton_step(self) -> ClassesSolution | None:
        """The changes after which the linearised equations hold; None where there are none in floating point."""
        s = self.system
        T, own, p, m = s.problem.T, s.problem.own[s.i], s.i.size, s.a.size
        hidden = self.hidden[s.i]
        P, sigma, Q = np.linalg.svd(np.einsum("ir,ij,ic->jrc", T, s.active, self.q, optimize=True), full_matrices=False)
        k, c = sigma.shape

        # A e for the eigenvectors e = (P, +-Q) / sqrt(2), and e . r for what is left.
        through_U = np.einsum("pr,jrc->pjc", T[s.i], P, optimize=True) * self.slope[:, :, None]
        through_V = (Q[:, :, own] - Q[:, :, s.t]).transpose(2, 0, 1) * hidden[:, :, None]
        through_kinks = np.zeros((m, k, c))
        through_kinks[np.arange(m), s.j] = np.einsum("mr,mrc->mc", T[s.a], P[s.j])
        AE = np.concatenate([_plus_minus(through_U, through_V), _plus_minus(through_kinks, 0.0)]).reshape(p + m, -1)
        rest_U, rest_V = np.einsum("jr,jrc->jc", self.left_u, P), np.einsum("jcv,vj->jc", Q, self.left_v)
        ER = _plus_minus(rest_U, rest_V).ravel()
        h = np.stack([1.0 - sigma, 1.0 + sigma], axis=-1).ravel()
        kept = np.abs(h) < NEAR_ZERO
        # H_r^{-1} = I + E diag(weight) E', and nothing along the directions that stay unknowns.
        weight = np.where(kept, -1.0, 1.0 / np.where(kept, 1.0, h) - 1.0)

        size = p + m + int(kept.sum())
        matrix = np.zeros((size, size))
        matrix[:p, :p] = (self.slope @ self.slope.T) * s.pairs + (hidden @ hidden.T) * s.signs
        matrix[:p, p : p + m] = self.slope[:, s.j] * s.mixed
        matrix[p : p + m, :p] = matrix[:p, p : p + m].T
        matrix[p : p + m, p : p + m] = s.kinks
        matrix[: p + m, : p + m] += (AE * weight) @ AE.T
        matrix[: p + m, p + m :], matrix[p + m :, : p + m] = AE[:, kept], -AE[:, kept].T
        matrix[np.arange(p + m, size), np.arange(p + m, size)] = h[kept]
        margins = (self.slope * (T[s.i] @ self.left_u.T)).sum(axis=1) + (
            hidden * (self.left_v[own] - self.left_v[s.t])
        ).sum(axis=1)
        right = np.concatenate([margins - self.left_margins, (T[s.a] * self.left_u[s.j]).sum(axis=1) - self.left_kinks])
        solution = _solve(matrix, np.concatenate([right + AE @ (weight * ER), -ER[kept]]))
        if solution is None:
            return None

        # Back: the change of theta is H_r^{-1} (A' z - r) and what was kept along E.
        z = solution[: p + m]
        along = weight * (AE.T @ z - ER)
        along[kept] += solution[p + m :]
        plus, minus = np.moveaxis(along.reshape(k, c, 2) / np.sqrt(2.0), -1, 0)
        pull = np.zeros_like(self.hidden)
        np.add.at(pull, s.i, self.slope * z[:p, None])
        np.add.at(pull, (s.a, s.j), z[p:])
        every = np.zeros_like(self.q)
        every[s.i, s.t] = z[:p]
        dU = pull.T @ T - self.left_u + np.einsum("jrc,jc->jr", P, plus + minus)
        dV = s.problem.votes(every).T @ self.hidden - self.left_v + np.einsum("jcv,jc->vj", Q, plus - minus)
        return ClassesSolution(Weights(dU, dV), z[:p], z[p:])


def _plus_minus(first: FloatArray, second: FloatArray | float) -> FloatArray:
    """(first + second, first - second) / sqrt(2) along a new last axis."""
    both: FloatArray = np.stack([first + second, first - second], axis=-1) / np.sqrt(2.0)
    return both


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray | None:
    """The solution, the shortest where the matrix is singular up to rounding; None where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        try:
            factor = lu_factor(matrix, check_finite=False)
            condition = lapack.dgecon(factor[0], float(np.abs(matrix).sum(axis=0).max()))[0]
            if condition >= SINGULAR:
                solution: FloatArray = lu_solve(factor, right, check_finite=False)
            elif np.isfinite(matrix).all() and np.isfinite(right).all():
                scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diagonal(matrix)), 1e-3))
                scaled = matrix * np.outer(scale, scale)
                solution = scale * lstsq(scaled, scale * right, cond=RANK, lapack_driver="gelsy")[0]
            else:
                return None
        except (np.linalg.LinAlgError, ValueError):
            return None
    return solution if np.isfinite(solution).all() else None
