r"""Newton's method on a structure, scaled and rank-revealing: from an interior point to rounding error.

With the null space Q_j of the (normalised) kink rows of neuron j and u_j = Q_j a_j, the conditions of (C) are

.. math:: a_j / \|a_j\| = Q_j^T \sum_{active} \sigma_{ij} \lambda_i x_i, \qquad
          \sum_{active} \sigma_{ij}\, x_i \cdot Q_j a_j = 1 \ \ (i \text{ on the margin}),

a square system in a and lambda; with frozen outputs v_j^2 stands in place of ||a_j||. Scaled by the roots of ||a_j|| on
one side and to unit margin rows on the other, its Jacobian is the symmetric matrix
[[blkdiag(I - d d^T), -B^T], [-B, 0]], without d d^T for frozen outputs: nothing is squared and nothing subtracted.
Where it is singular (a solution that is not unique) the step of least norm is taken.

After convergence every pair and sample must be on its side; what is not is moved there, and the method goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.interior import settings
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.structure import Guess
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK, moved


@dataclass(frozen=True, eq=False)
class InteriorOptimum:
    """Neurons, signs, lambda (m,), mu (m, k), the residual of the equations and the number of linear solves."""

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray
    residual: float
    steps: int


def finish(program: InteriorProgram, guess: Guess) -> InteriorOptimum | None:
    """The exact point of the structure, or of a neighbouring one; None where none is consistent."""
    total, fewest, idle = 0, np.inf, 0
    for _ in range(settings.STRUCTURES):
        if len(guess.s) == 0 or not guess.free.any():
            return None
        face, steps, residual = _solution(program, guess)
        total += steps
        if not residual < 1e-3:
            return None
        point = face.point()
        following, violations = _moved(program, guess, point)
        if violations == 0:
            # Rounding of the multipliers alone leaves this much in the equations.
            accepted = settings.ACCEPTED + 4.0 * np.finfo(float).eps * float(point.lam.max()) / face.unit()
            return replace(point, residual=residual, steps=total) if residual <= accepted else None
        if violations < fewest:
            fewest, idle = violations, 0
        else:
            idle += 1
            if idle > 5:
                return None
        guess = following
    return None


def _solution(program: InteriorProgram, guess: Guess) -> tuple[Face, int, float]:
    """The equations of a structure with their solution; singular values are cut off where that is what helps."""
    taken, found = 0, []
    for cut in settings.CUTS:
        face = Face(program, guess)
        steps, residual = face.converge(cut)
        taken += steps
        found.append((residual, face))
        if residual <= settings.ACCEPTED:
            break
    residual, face = min(found, key=lambda pair: pair[0])
    return face, taken, residual


class Face:
    """The equations of one structure."""

    def __init__(self, program: InteriorProgram, guess: Guess) -> None:
        self.program, self.guess = program, guess
        X = program.X
        self.rows = np.flatnonzero(guess.free)
        self.sigma: FloatArray = program.y[:, None] * guess.s
        self.active = np.where(guess.state == ACTIVE, self.sigma, 0.0)
        self.lam = np.where(guess.free, guess.lam, 0.0)
        if guess.capped.any():
            self.lam[guess.capped] = program.penalty
        lengths = np.linalg.norm(X, axis=1)
        unit = X / np.where(lengths > 0, lengths, 1.0)[:, None]
        self.kinks: list[IntArray] = []
        self.Q: list[FloatArray] = []
        self.a: list[FloatArray] = []
        for j, u in enumerate(guess.U):
            rows = np.flatnonzero(guess.state[:, j] == KINK)
            Q = _null_space(unit[rows])
            self.kinks.append(rows)
            self.Q.append(Q)
            self.a.append(Q.T @ u)
        self.sizes = np.array([Q.shape[1] for Q in self.Q])
        self.frozen = guess.outputs_squared is not None

    def _per(self) -> FloatArray:
        """What u_j is divided by in its own equation: ||u_j||, or v_j^2 of frozen outputs, shape (k,)."""
        a2 = self.guess.outputs_squared
        return np.array([np.linalg.norm(a) for a in self.a]) if a2 is None else a2

    def unit(self) -> float:
        """The longest of the vectors u_j / ||u_j||, or u_j / v_j^2, by which the equations are judged."""
        a2 = self.guess.outputs_squared
        if a2 is None:
            return 1.0
        return float(np.max([np.linalg.norm(a) / n for a, n in zip(self.a, a2, strict=True)])) or 1.0

    def converge(self, cut: float) -> tuple[int, float]:
        """Newton steps until the residual falls no further; their number and the residual.

        Least-norm steps leave out singular values below `cut` times the largest; 0 leaves out none, if it can.
        """
        best, kept = self._equations()[2], (self.lam, list(self.a))
        step = poor = 0
        while step < settings.STEPS and poor < settings.PATIENCE and best > 0.0 and self._step(cut):
            step += 1
            residual = self._equations()[2]
            poor = poor + 1 if not residual < 0.5 * best else 0
            if residual < best:
                best, kept = residual, (self.lam, list(self.a))
        self.lam, self.a = kept
        return step, best

    def _equations(self) -> tuple[list[FloatArray], FloatArray, float]:
        """Q_j^T g_j - a_j / ||a_j||, 1 - margins on the margin set, and the largest entry of both."""
        X = self.program.X
        g = (self.active * self.lam[:, None]).T @ X
        U = self.rows_of_U()
        with np.errstate(divide="ignore", invalid="ignore"):
            per = self._per()
            pull = [Q.T @ gj - a / n for Q, gj, a, n in zip(self.Q, g, self.a, per, strict=True)]
        short = 1.0 - (self.active * (X @ U.T)).sum(axis=1)[self.rows]
        off = np.concatenate([np.abs(np.concatenate(pull)) / self.unit(), np.abs(short)])
        value = float(off.max(initial=0.0))  # NumPy's maximum, which NaN does not slip through
        return pull, short, value if np.isfinite(value) else np.inf

    def rows_of_U(self) -> FloatArray:
        """u_j = Q_j a_j, shape (k, r)."""
        return np.array([Q @ a for Q, a in zip(self.Q, self.a, strict=True)])

    def _step(self, cut: float) -> bool:
        """One Newton step; False at a neuron that is zero, and if the linear system has no finite solution."""
        pull, short, value = self._equations()
        if not np.isfinite(value):
            return False
        rows, X = self.rows, self.program.X[self.rows]
        n, ends = int(self.sizes.sum()), np.cumsum(self.sizes)
        size = n + len(rows)
        J, rhs = np.zeros((size, size)), np.empty(size)
        per = self._per()
        roots = np.sqrt(per)
        for j, (Q, a, root) in enumerate(zip(self.Q, self.a, roots, strict=True)):
            block = slice(int(ends[j]) - len(a), int(ends[j]))
            J[block, block] = np.eye(len(a))
            if not self.frozen and len(a):
                J[block, block] -= np.outer(a / per[j], a / per[j])
            J[n:, block] = -root * self.active[rows, j][:, None] * (X @ Q)
            rhs[block] = root * pull[j]
        length = np.linalg.norm(J[n:, :n], axis=1)
        length = np.where(length > 0, length, 1.0)
        J[n:, :n] /= length[:, None]
        J[:n, n:] = J[n:, :n].T
        rhs[n:] = -short / length
        solution = _solve(J, rhs, cut)
        if solution is None:
            return False
        for j in range(len(self.a)):
            block = slice(int(ends[j]) - len(self.a[j]), int(ends[j]))
            self.a[j] = self.a[j] + roots[j] * solution[block]
        self.lam = self.lam.copy()
        self.lam[rows] += solution[n:] / length
        return True

    def point(self) -> InteriorOptimum:
        """The point with the weights of its kinks; those of a neuron that is zero cancel all that pulls on it."""
        X = self.program.X
        g = (self.active * self.lam[:, None]).T @ X
        mu = np.where(self.guess.state == ACTIVE, self.lam[:, None], 0.0)
        U = self.rows_of_U()
        per = self._per()
        for j, rows in enumerate(self.kinks):
            if len(rows):
                missing = (U[j] / per[j] if per[j] > 0.0 else 0.0) - g[j]
                lengths = np.linalg.norm(X[rows], axis=1)
                c = scipy.linalg.lstsq((X[rows] / lengths[:, None]).T, missing, check_finite=False)[0]
                mu[rows, j] = self.sigma[rows, j] * c / lengths
        return InteriorOptimum(U, self.guess.s, self.lam, mu, np.inf, 0)


def _null_space(rows: FloatArray) -> FloatArray:
    """An orthonormal basis of the vectors orthogonal to the rows, by QR with pivoting."""
    r = rows.shape[1]
    if not len(rows):
        return np.eye(r)
    Q, R, _ = scipy.linalg.qr(rows.T, pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > settings.RANK * diagonal[0]).sum())
    null: FloatArray = Q[:, rank:]
    return null


def _solve(J: FloatArray, rhs: FloatArray, cut: float) -> FloatArray | None:
    """LU with one refinement; with a cut, or where J is singular, the least-norm solution by pivoted QR."""
    if not (np.isfinite(J).all() and np.isfinite(rhs).all()):
        return None
    lu, pivots, info = scipy.linalg.lapack.dgetrf(J)
    if info == 0 and cut == 0.0:
        condition, _ = scipy.linalg.lapack.dgecon(lu, float(np.abs(J).sum(axis=0).max()))
        if condition > settings.SINGULAR:
            x, _ = scipy.linalg.lapack.dgetrs(lu, pivots, rhs)
            dx, _ = scipy.linalg.lapack.dgetrs(lu, pivots, rhs - J @ x)
            solution: FloatArray = x + dx
            return solution
    least: FloatArray = scipy.linalg.lstsq(
        J, rhs, cond=max(cut, settings.RANK), lapack_driver="gelsy", check_finite=False
    )[0]
    return least


def _moved(program: InteriorProgram, guess: Guess, point: InteriorOptimum) -> tuple[Guess, int]:
    """Each pair and sample where its own condition puts it, and how many had to be moved."""
    U, lam, C = point.U, point.lam, program.penalty
    Z = program.X @ U.T
    rounding = settings.SUM_ROUNDING * np.outer(np.linalg.norm(program.X, axis=1), np.linalg.norm(U, axis=1))
    tiny = settings.ZERO * np.abs(Z).max(axis=0) + rounding
    small = settings.ZERO * float(lam.max(initial=0.0))
    state, opposite = guess.state, program.opposite(guess.s)
    new = moved(state, opposite, Z, point.mu, lam, tiny, small)
    # A sample without a multiplier holds no neuron: its pairs follow the sign.
    none = (lam <= 0) & ~guess.free
    new[none] = np.where(Z[none] > 0, ACTIVE, INACTIVE)
    margins, room = program.margins(U, guess.s), settings.ZERO + rounding.sum(axis=1)
    leave, enter = guess.free & (lam < -small), ~guess.free & ~guess.capped & (margins < 1.0 - room)
    cap, uncap = guess.free & (lam > C * (1.0 + settings.ZERO)), guess.capped & (margins > 1.0 + room)
    wrong = (new != state) & ~none[:, None]
    violations = int(sum(part.sum() for part in (wrong, leave, enter, cap, uncap)))
    free = (guess.free & ~leave & ~cap) | enter | uncap
    capped = (guess.capped & ~uncap) | cap
    following = replace(guess, U=U, lam=np.maximum(lam, 0.0), state=new, free=free, capped=capped)
    return following, violations
