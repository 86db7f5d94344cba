r"""A point of the interior of (C) with all of its slacks and multipliers, and the Newton step from it.

Per opposite pair let p = alpha / e, q = mu / f, theta = q / (p + q), omega = p q / (p + q). Eliminating everything but
du and dlambda from the linearised conditions leaves, neuron by neuron,

.. math:: M_j\,du_j = B_j^T d\lambda + c_j, \qquad M_j = h_j I - a_j a_j^T + \sum_{opp} \omega_{ij} x_i x_i^T,

with rows A_ij x_i (same) and -theta_ij x_i (opposite) of B_j; and then, for the multipliers,

.. math:: \Big(\mathrm{diag}
          \big(\tfrac{w}{\lambda} + \tfrac{\xi}{C - \lambda} + \textstyle\sum_{opp} \tfrac{1}{p + q}\big)
          + \sum_j B_j M_j^{-1} B_j^T\Big)\, d\lambda = \text{rhs} .

With the Cholesky factors L_j of M_j the sum is E E^T, E = [B_j L_j^{-T}]: one product of size m x k r x m.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv, dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.interior.cones import Cones, Squares, row_sums
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.settings import COLUMNS_AT_ONCE, SHORT_OF_BOUNDARY
from marginflow.limit.neurons import Neurons, survivors


@dataclass(frozen=True, eq=False)
class Variables:
    """All variables, or a direction in them."""

    U: FloatArray
    e: FloatArray
    f: FloatArray
    alpha: FloatArray
    mu: FloatArray
    w: FloatArray
    lam: FloatArray
    xi: FloatArray
    beta: FloatArray


class Iterate:
    """Variables named as in `program`; `beta` = C - lambda is the multiplier of xi. Pairs that are not opposite hold 1
    in e and f and 0 in alpha and mu, hard margins 1 in beta and 0 in xi; steps leave these as they are. `members` says
    which row the neurons of the start belong to, -1 for none."""

    def __init__(
        self,
        program: InteriorProgram,
        neurons: Neurons,
        lam: FloatArray,
        A: FloatArray,
        nu: float,
        members: IntArray | None = None,
    ) -> None:
        """The centred point of (U, lambda): every product of a slack and its multiplier is nu."""
        self.program, self.U, self.s, self.A, self.lam = program, neurons.U, neurons.s, A, lam
        self.outputs_squared, s = neurons.outputs_squared, neurons.s
        self.opposite: BoolArray = program.opposite(s)
        self.members: IntArray = np.arange(len(s)) if members is None else members
        self.centre(nu)

    def centre(self, nu: float) -> None:
        """Set every slack and multiplier except U and lambda to where their products are nu."""
        opposite, lam = self.opposite, self.lam
        self.w = nu / lam
        z = self.program.X @ self.U.T
        c = (nu / lam)[:, None]
        root = np.sqrt(z**2 + 4.0 * c**2)
        small = c + 2.0 * c**2 / (root + np.abs(z))
        large = small + np.abs(z)
        self.e = np.where(opposite, np.where(z > 0, large, small), 1.0)
        self.f = np.where(opposite, np.where(z > 0, small, large), 1.0)
        self.alpha, self.mu = np.where(opposite, nu / self.e, 0.0), np.where(opposite, nu / self.f, 0.0)
        a2 = self.outputs_squared
        self.cones: Cones | Squares = Cones(self.U, nu) if a2 is None else Squares(self.U, a2)
        if self.program.soft:
            self.beta = self.program.penalty - lam
            self.xi = nu / self.beta
        else:
            self.beta, self.xi = np.ones_like(lam), np.zeros_like(lam)

    def take(self, live: BoolArray) -> None:
        """Keep the selected neurons."""
        self.U, self.s, self.A, self.opposite = self.U[live], self.s[live], self.A[:, live], self.opposite[:, live]
        self.e, self.f, self.alpha, self.mu = (part[:, live] for part in (self.e, self.f, self.alpha, self.mu))
        self.cones.take(live)
        if self.outputs_squared is not None:
            self.outputs_squared = self.outputs_squared[live]
        self.members = survivors(self.members, np.flatnonzero(live))
        # What the others contributed is taken up by the slacks of the margins where they have room for it.
        slack = self.w + self.shortfall
        self.w = np.where(slack > 0.1 * self.w, slack, self.w)

    @property
    def neurons(self) -> Neurons:
        """The present neurons."""
        return Neurons(self.U, self.s, self.outputs_squared)

    @property
    def products(self) -> float:
        """The sum of all products of slacks and multipliers: the duality gap of a feasible point."""
        pairs = float((self.alpha * self.e).sum() + (self.mu * self.f).sum())
        return pairs + float(self.w @ self.lam) + float(self.xi @ self.beta) + self.cones.products(self.U)

    @property
    def degree(self) -> int:
        """The number of these products."""
        m = len(self.lam)
        return 2 * int(self.opposite.sum()) + m * (2 if self.program.soft else 1) + self.cones.degree

    @property
    def cost(self) -> float:
        """The objective."""
        return self.cones.cost(self.U) + (self.program.penalty * float(self.xi.sum()) if self.program.soft else 0.0)

    def newton(self) -> float:
        """One step of Mehrotra's method at the present pattern, predictor and corrector; returns its length.

        Where rounding leaves nothing to gain, the point stays where it is and the length is 0.
        """
        if self.cones.at_rounding(self.U):
            return 0.0
        try:
            system = System(self)
        except np.linalg.LinAlgError:
            return 0.0
        affine = system.solve(0.0, None)
        reach = min(1.0, self.reach(affine))
        step = system.solve((1.0 - reach) ** 3 * self.products / self.degree, affine)
        length = min(1.0, SHORT_OF_BOUNDARY * self.reach(step))
        if not (np.isfinite(length) and np.isfinite(step.lam).all() and np.isfinite(step.U).all()):
            return 0.0
        self.move(step, length)
        return length

    def reach(self, step: Variables) -> float:
        """The step to the boundary."""
        most = self.cones.reach(self.U, step.U)
        parts = [(self.e, step.e), (self.f, step.f), (self.alpha, step.alpha), (self.mu, step.mu)]
        parts += [(self.w, step.w), (self.lam, step.lam), (self.xi, step.xi), (self.beta, step.beta)]
        for value, change in parts:
            with np.errstate(invalid="ignore"):  # pairs that are not opposite, and xi of a hard margin, hold 0 / 0
                steepest = float(np.fmin.reduce(change / value, axis=None))
            if steepest < 0.0:
                most = min(most, -1.0 / steepest)
        return most

    def move(self, step: Variables, length: float) -> None:
        """Take the step."""
        self.U = self.U + length * step.U
        self.e, self.f = self.e + length * step.e, self.f + length * step.f
        self.alpha, self.mu = self.alpha + length * step.alpha, self.mu + length * step.mu
        self.w, self.lam = self.w + length * step.w, self.lam + length * step.lam
        self.xi, self.beta = self.xi + length * step.xi, self.beta + length * step.beta
        self.cones.move(length)

    @property
    def shortfall(self) -> FloatArray:
        """Residual of the margin equation, shape (m,)."""
        z = self.program.X @ self.U.T
        margins = row_sums(self.A, z) - row_sums(self.opposite, self.e)
        return margins + self.xi - 1.0 - self.w


class System:
    """The linearised conditions at an iterate, factorised."""

    def __init__(self, at: Iterate) -> None:
        self.at = at
        X = at.program.X
        m, r = X.shape
        opposite = at.opposite
        k = len(at.s)
        # Zero on pairs that are not opposite, as alpha and mu are; A is zero on the others.
        self.p, self.q = at.alpha / at.e, at.mu / at.f
        self.inverse = np.divide(1.0, self.p + self.q, out=np.zeros((m, k)), where=opposite)
        self.over_e = np.divide(1.0, at.e, out=np.zeros((m, k)), where=opposite)
        self.over_f = np.divide(1.0, at.f, out=np.zeros((m, k)), where=opposite)
        self.theta, self.rest = self.q * self.inverse, self.p * self.inverse
        self.omega = self.p * self.theta
        self.coefficient = at.A - self.theta  # of x_i in row i of B_j
        self.diagonal = at.w / at.lam + self.inverse.sum(axis=1) + at.xi / at.beta
        at.cones.prepare(at.U)
        self.h, self.a = at.cones.matrices()
        M = (self.omega.T @ at.program.squares).reshape(k, r, r) - self.a[:, :, None] * self.a[:, None, :]
        M[:, np.arange(r), np.arange(r)] += self.h[:, None]
        self.inverse_factor = _inverse_factors(M)
        S = np.zeros((m, m), order="F")
        at_once = max(1, COLUMNS_AT_ONCE // r)
        for first in range(0, k, at_once):
            block = slice(first, min(first + at_once, k))
            # X L_j^{-T} for all neurons of the block side by side
            E = X @ self.inverse_factor[block].transpose(2, 0, 1).reshape(r, -1)
            E = (E.reshape(m, -1, r) * self.coefficient[:, block, None]).reshape(m, -1)
            S = dsyrk(1.0, E.T, beta=1.0, c=S, trans=1, lower=0, overwrite_c=1)
        S[np.diag_indices(m)] += self.diagonal
        self.S = S  # its upper triangle
        self.factor = _cholesky(S)
        # Residuals of the equations at the iterate.
        self.Z = X @ at.U.T
        self.rf = np.where(opposite, at.e - self.Z - at.f, 0.0)
        self.rl = np.where(opposite, at.lam[:, None] - at.alpha - at.mu, 0.0)
        self.rq = (at.mu - at.A * at.lam[:, None]).T @ X - at.cones.q
        self.rw = at.shortfall
        self.rb = at.program.penalty - at.lam - at.beta if at.program.soft else np.zeros(m)

    def solve(self, target: float, affine: Variables | None) -> Variables:
        """The direction that brings all products to `target`, corrected to second order by `affine`.

        Where there is none yet the direction is only looked along, and need not be refined.
        """
        at, X = self.at, self.at.program.X
        ce, cf, cw = target * self.over_e - at.alpha, target * self.over_f - at.mu, target - at.w * at.lam
        cx = target - at.xi * at.beta if at.program.soft else np.zeros_like(at.lam)
        if affine is not None:
            ce, cf = ce - affine.alpha * affine.e * self.over_e, cf - affine.mu * affine.f * self.over_f
            cw, cx = cw - affine.w * affine.lam, cx - affine.xi * affine.beta
        side = at.cones.right(target, at.U, affine is not None, at.U if affine is None else affine.U)
        kappa = cf - self.q * self.rf
        R = ce + kappa - self.rl
        kappa -= self.theta * R
        c = side - self.rq - kappa.T @ X
        d = cw / at.lam + row_sums(R, self.inverse) - self.rw - (cx - at.xi * self.rb) / at.beta
        dU, dlam = self._eliminate(c, d)
        for _ in range(0 if affine is None else 2):
            rc, rd = self._residual(dU, dlam)
            more_U, more_lam = self._eliminate(c - rc, d - rd)
            dU, dlam = dU + more_U, dlam + more_lam
        dZ = X @ dU.T
        base = (R - dlam[:, None]) * self.inverse
        de, df = base + self.theta * dZ, base - self.rest * dZ + self.rf
        # The smaller of the two multipliers by complementarity, the larger by what their sum must be.
        total = dlam[:, None] * at.opposite + self.rl
        by_alpha, by_mu = ce - self.p * de, cf - self.q * df
        first = at.alpha < at.mu
        dalpha = np.where(first, by_alpha, total - by_mu)
        dmu = np.where(first, total - by_alpha, by_mu)
        dw = (cw - at.w * dlam) / at.lam
        dbeta = self.rb - dlam if at.program.soft else np.zeros_like(dlam)
        dxi = (cx - at.xi * dbeta) / at.beta
        dq = (dmu - at.A * dlam[:, None]).T @ X + self.rq
        at.cones.advance(dU, dq)
        return Variables(dU, de, df, dalpha, dmu, dw, dlam, dxi, dbeta)

    def _eliminate(self, c: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(du, dlambda) with M_j du_j - B_j^T dlambda = c_j and sum_j B_j du_j + D dlambda = d."""
        X = self.at.program.X
        own = self._by_M(c)
        rhs = d - row_sums(self.coefficient, X @ own.T)
        dlam = dpotrs(self.factor, rhs)[0]
        dlam = dlam + dpotrs(self.factor, rhs - dsymv(1.0, self.S, dlam))[0]
        dU = self._by_M(c + (self.coefficient * dlam[:, None]).T @ X)
        return dU, dlam

    def _by_M(self, c: FloatArray) -> FloatArray:
        half = np.matmul(self.inverse_factor, c[:, :, None])
        whole: FloatArray = np.matmul(self.inverse_factor.transpose(0, 2, 1), half)[:, :, 0]
        return whole

    def _residual(self, dU: FloatArray, dlam: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The left sides of the equations of `_eliminate`."""
        X = self.at.program.X
        dZ = X @ dU.T
        along = row_sums(self.a, dU)
        left: FloatArray = self.h[:, None] * dU - along[:, None] * self.a
        left = left + (self.omega * dZ - self.coefficient * dlam[:, None]).T @ X
        return left, row_sums(self.coefficient, dZ) + self.diagonal * dlam


def _inverse_factors(M: FloatArray) -> FloatArray:
    """L^-1 of the Cholesky factors of a stack of matrices; a matrix that rounding made indefinite is lifted."""
    r = M.shape[1]
    size = np.einsum("jaa->j", M) / r
    for lift in (0.0, 1e-15, 1e-13, 1e-11):
        try:
            L = np.linalg.cholesky(M + (lift * size)[:, None, None] * np.eye(r))
        except np.linalg.LinAlgError:
            continue
        return np.linalg.inv(L)
    raise np.linalg.LinAlgError("a neuron's matrix is not positive definite")


def _cholesky(S: FloatArray) -> FloatArray:
    """The upper factor of a matrix given by its upper triangle; one that rounding made indefinite is lifted."""
    size = np.diag(S).mean()
    for lift in (0.0, 1e-15, 1e-13, 1e-11):
        shifted = S.copy(order="F")
        shifted[np.diag_indices(len(S))] += lift * size
        factor: FloatArray
        factor, info = dpotrf(shifted, clean=0, overwrite_a=1)
        if info == 0 and np.isfinite(factor[-1, -1]):
            return factor
    raise np.linalg.LinAlgError("the Schur complement is not positive definite")
