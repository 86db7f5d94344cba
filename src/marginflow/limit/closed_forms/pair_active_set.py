r"""The quadratic program behind the convex pair, by two active-set methods in Gram form.

At fixed scales s_+, s_- > 0 the program is

.. math:: \min \frac{\|U_+\|^2}{2 s_+} + \frac{\|U_-\|^2}{2 s_-} \quad\text{s.t.}\quad
          U_{y_i} \cdot \tilde x_i \ge 1 \ (\alpha_i), \qquad (U_{y_i} - U_{-y_i}) \cdot \tilde x_i \ge 1 \ (\beta_i).

Its active set says for every sample whether :math:`\alpha_i` and whether :math:`\beta_i` is basic. Where both are,
the sample is on the margin and on the kink of the opposite neuron, and the two neurons decouple there: the linear
systems then have size n and not 2n.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.closed_forms.settings import DEPENDENT, MAX_PIVOTS, ZERO


class NotSeparableError(Exception):
    """The constraints contradict each other; `weights` prove it: sum_i weights_i y_i xt_i = 0, weights >= 0."""

    def __init__(self, weights: FloatArray) -> None:
        super().__init__("no pair of neurons separates the samples")
        self.weights = weights


@dataclass(frozen=True, eq=False)
class PairSolution:
    """The solution of the equality-constrained program on an active set, with all that the pivoting looks at."""

    alpha: FloatArray
    beta: FloatArray
    own: FloatArray  # U_{y_i} . xt_i
    other: FloatArray  # U_{-y_i} . xt_i
    U: FloatArray  # (2, r): U_+ and U_-
    coefficients: FloatArray  # (2, n): U = coefficients @ Xt

    @property
    def norms(self) -> FloatArray:
        """(||U_+||, ||U_-||)."""
        norms: FloatArray = np.linalg.norm(self.U, axis=1)
        return norms


class PairProgram:
    """The rows xt_i with labels; solves on given active sets and finds the right one."""

    def __init__(self, Xt: FloatArray, y: FloatArray) -> None:
        self.Xt, self.y = Xt, y
        self.gram: FloatArray = Xt @ Xt.T
        self.two_classes = bool((y > 0).any() and (y < 0).any())

    @cached_property
    def independent(self) -> bool:
        """Whether the rows xt_i are numerically linearly independent."""
        if self.Xt.shape[0] > self.Xt.shape[1]:
            return False
        try:
            factor = linalg.cholesky(self.gram, lower=True)
        except linalg.LinAlgError:
            return False
        return bool(np.diag(factor).min() ** 2 > 1e-12 * np.diag(self.gram).max())

    # On a given active set ---------------------------------------------------------------------------

    def solve(self, A: BoolArray, B: BoolArray, scales: FloatArray) -> PairSolution:
        """Multipliers, pre-activations and norms when alpha is basic on A and beta on B (both: a kink).

        Raises `scipy.linalg.LinAlgError` where the active rows are linearly dependent.
        """
        try:
            coefficients, U = self._solve_blocks(A, B, scales)
        except linalg.LinAlgError:
            coefficients, U = self._solve_stacked(A, B, scales)
        else:
            if self._miss(A, B, U) > self._rounding(U).max():
                coefficients, U = self._solve_stacked(A, B, scales)
        return self._judge(coefficients, U, A, B, scales)

    def _rows(self, A: BoolArray, B: BoolArray, sign: float) -> tuple[IntArray, FloatArray]:
        """Where the pre-activation of the neuron of this sign is prescribed, and its value: 1 or, on a kink, 0."""
        rows = np.flatnonzero(A & ((self.y == sign) | B))
        return rows, (self.y[rows] == sign).astype(np.float64)

    def _solve_blocks(self, A: BoolArray, B: BoolArray, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
        """One Cholesky factor per neuron, and a Schur complement for the samples that couple the two."""
        y, G = self.y, self.gram
        D = np.flatnonzero(B & ~A)  # U_own - U_other = 1; coefficients s_+ y delta and -s_- y delta
        blocks = []
        schur = scales.sum() * y[D, None] * G[np.ix_(D, D)] * y[D]
        for neuron, sign in enumerate((1.0, -1.0)):
            rows, target = self._rows(A, B, sign)
            factor = linalg.cho_factor(G[np.ix_(rows, rows)], lower=True) if rows.size else None
            coupling = G[np.ix_(rows, D)] * (sign * scales[neuron] * y[D])
            if factor is not None and D.size:
                schur -= coupling.T @ linalg.cho_solve(factor, coupling) / scales[neuron]
            blocks.append((rows, target, factor, coupling))
        schur_factor = linalg.cho_factor(schur, lower=True) if D.size else None
        delta = np.zeros(D.size)
        coefficients, values = np.zeros((2, y.size)), np.zeros((2, y.size))
        # The first pass solves; the others refine, with residuals from Xt itself and not from the squared matrix.
        for _ in range(3):
            solved = []
            gap = 1.0 - y[D] * (values[0, D] - values[1, D])
            for neuron, (rows, target, factor, coupling) in enumerate(blocks):
                part = linalg.cho_solve(factor, target - values[neuron, rows]) if factor is not None else np.zeros(0)
                gap = gap - coupling.T @ part / scales[neuron]
                solved.append(part)
            step = linalg.cho_solve(schur_factor, gap) if schur_factor is not None else gap
            delta = delta + step
            for neuron, (rows, _, factor, coupling) in enumerate(blocks):
                if factor is not None:
                    coefficients[neuron, rows] += solved[neuron] - linalg.cho_solve(factor, coupling @ step)
                coefficients[neuron, D] = (1 - 2 * neuron) * scales[neuron] * y[D] * delta
            U = coefficients @ self.Xt
            values = U @ self.Xt.T
        return coefficients, U

    def _solve_stacked(self, A: BoolArray, B: BoolArray, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The same by one orthogonal factorisation of all active rows: dearer, and safe for nearly dependent ones."""
        y, (n, r) = self.y, self.Xt.shape
        root = np.sqrt(scales)
        D = np.flatnonzero(B & ~A)
        (plus, target_plus), (minus, target_minus) = self._rows(A, B, 1.0), self._rows(A, B, -1.0)
        signed = y[D, None] * self.Xt[D]
        N = np.block(
            [
                [root[0] * self.Xt[plus], np.zeros((plus.size, r))],
                [np.zeros((minus.size, r)), root[1] * self.Xt[minus]],
                [root[0] * signed, -root[1] * signed],
            ]
        )
        if N.shape[0] > N.shape[1]:
            raise linalg.LinAlgError("more active constraints than unknowns")
        Q, R = linalg.qr(N.T, mode="economic")
        if N.size and np.abs(np.diag(R)).min() < 1e-14 * np.abs(np.diag(R)).max():
            raise linalg.LinAlgError("dependent active constraints")
        target = np.concatenate([target_plus, target_minus, np.ones(D.size)])
        point, gamma = np.zeros(2 * r), np.zeros(target.size)
        for _ in range(3):
            point = point + Q @ linalg.solve_triangular(R, target - N @ point, trans=1)
        for _ in range(3):
            gamma = gamma + linalg.solve_triangular(R, Q.T @ (point - gamma @ N))
        coefficients = np.zeros((2, n))
        coefficients[0, plus] = scales[0] * gamma[: plus.size]
        coefficients[1, minus] = scales[1] * gamma[plus.size : plus.size + minus.size]
        coefficients[:, D] = np.array([[scales[0]], [-scales[1]]]) * y[D] * gamma[plus.size + minus.size :]
        return coefficients, root[:, None] * point.reshape(2, r)

    def _own_and_other(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of values of both neurons those of every sample's own and other neuron, shapes (n,)."""
        return np.where(self.y > 0, values[0], values[1]), np.where(self.y > 0, values[1], values[0])

    def _miss(self, A: BoolArray, B: BoolArray, U: FloatArray) -> float:
        """By how much the equations of the active set are missed."""
        own, other = self._own_and_other(U @ self.Xt.T)
        equations = (own[A] - 1.0, other[A & B], (own - other)[B] - 1.0)
        return max(float(np.abs(part).max(initial=0.0)) for part in equations)

    def _rounding(self, U: FloatArray) -> FloatArray:
        """The size that rounding can have in the pre-activations of each sample."""
        rounding: FloatArray = 1e-12 + 2e-15 * np.linalg.norm(U, axis=1).sum() * np.sqrt(np.diag(self.gram))
        return rounding

    def _judge(
        self, coefficients: FloatArray, U: FloatArray, A: BoolArray, B: BoolArray, scales: FloatArray
    ) -> PairSolution:
        shares = coefficients / scales[:, None]
        total, beta = self._own_and_other(shares)  # alpha + beta, and -beta
        beta = np.where(B, -beta, 0.0)
        own, other = self._own_and_other(U @ self.Xt.T)
        return PairSolution(np.where(A, total - beta, 0.0), beta, own, other, U, coefficients)

    def violations(self, solution: PairSolution, A: BoolArray, B: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Where alpha and where beta must change sides: a negative multiplier or a negative slack."""
        tiny = ZERO * max(float(solution.alpha.max(initial=0.0)), float(solution.beta.max(initial=0.0)))
        slack = 10 * self._rounding(solution.U)
        wrong_A = np.where(A, solution.alpha < -tiny, solution.own - 1.0 < -slack)
        wrong_B = np.where(B, solution.beta < -tiny, solution.own - solution.other - 1.0 < -slack)
        if not self.two_classes:
            wrong_B[:] = False
        return wrong_A, wrong_B

    # Block principal pivoting --------------------------------------------------------------------------

    def pivot(self, A: BoolArray, B: BoolArray, scales: FloatArray) -> tuple[PairSolution, BoolArray, BoolArray] | None:
        """Exchange every violated pair at once, a single one where that does not help; None if it gives up.

        Finite for linearly independent rows [Judice and Pires 1994]; a few exchanges are typical.
        """
        A, B = A.copy(), B.copy()
        fewest, patience = np.inf, 3
        for _ in range(MAX_PIVOTS):
            try:
                solution = self.solve(A, B, scales)
            except linalg.LinAlgError:
                return None
            wrong_A, wrong_B = self.violations(solution, A, B)
            count = int(wrong_A.sum() + wrong_B.sum())
            if count == 0:
                return solution, A, B
            if count < fewest:
                fewest, patience = count, 3
            elif patience > 0:
                patience -= 1
            else:  # the single exchange with the largest index cannot cycle
                exchanged = wrong_B if wrong_B.any() else wrong_A
                last = np.flatnonzero(exchanged)[-1]
                wrong_A[:], wrong_B[:] = False, False
                exchanged[last] = True
            A ^= wrong_A
            B ^= wrong_B
        return None

    # Dual active set -----------------------------------------------------------------------------------

    def dual_active_set(self, scales: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Add the most violated constraint, drop what blocks it, repeat [Goldfarb and Idnani 1983].

        Needs no independence of the rows. Raises `NotSeparableError` with a proof where no pair exists.
        """
        n, r = self.Xt.shape
        squares = np.diag(self.gram)
        lengths = np.sqrt(np.append(squares * np.where(self.y > 0, scales[0], scales[1]), squares * scales.sum()))
        candidates = 2 * n if self.two_classes else n
        active: list[int] = []
        point = np.zeros(2 * r)
        gamma, normals, L = np.zeros(0), np.zeros((0, 2 * r)), np.zeros((0, 0))
        for _ in range(50 * n + 1000):
            U = np.sqrt(scales)[:, None] * point.reshape(2, r)
            own, other = self._own_and_other(U @ self.Xt.T)
            slack = (
                np.concatenate([own - 1.0, own - other - 1.0])[:candidates]
                + 10 * np.tile(self._rounding(U), 2)[:candidates]
            )
            slack[active] = 0.0
            p = int(np.argmin(slack / lengths[:candidates]))
            if slack[p] >= 0:
                break
            missing, gamma_p = -float(slack[p]), 0.0
            normal = self._normal(p, scales)
            while True:
                half, direction, rest = _project(L, normals, normal)
                length = float(rest @ rest)
                independent = np.sqrt(length) > DEPENDENT * lengths[p] and len(active) < 2 * r
                full = missing / length if independent else np.inf
                blocking = np.flatnonzero(direction > ZERO * np.abs(direction).max(initial=0.0))
                ratios = gamma[blocking] / direction[blocking]
                block = float(ratios.min(initial=np.inf))
                step = min(full, block)
                if np.isinf(step):
                    weights = np.append(np.maximum(-direction, 0.0), 1.0)
                    # The difference of the two blocks of a vanishing combination: alpha counts once, beta twice.
                    constraints = np.array([*active, p])
                    weights = np.bincount(constraints % n, weights * np.where(constraints >= n, 2.0, 1.0), minlength=n)
                    raise NotSeparableError(weights / weights.sum())
                gamma = gamma - step * direction
                gamma_p += step
                if independent:
                    point = point + step * rest
                if full <= block:
                    L = np.pad(L, (0, 1))
                    L[-1] = np.append(half, np.sqrt(length))
                    active.append(p)
                    normals = np.vstack([normals, normal])
                    gamma = np.append(np.maximum(gamma, 0.0), gamma_p)
                    break
                missing -= step * length if independent else 0.0
                leaving = int(blocking[np.argmin(ratios)])
                L = _remove(L, leaving)
                active.pop(leaving)
                normals = np.delete(normals, leaving, axis=0)
                gamma = np.maximum(np.delete(gamma, leaving), 0.0)
        else:
            raise linalg.LinAlgError("the dual active-set method did not finish")
        basic = np.zeros(2 * n, dtype=bool)
        basic[active] = True
        return basic[:n], basic[n:]

    def _normal(self, constraint: int, scales: FloatArray) -> FloatArray:
        """The normal of constraint i (alpha) or n + i (beta) in the coordinates (U_+ / s_+^(1/2), U_- / s_-^(1/2))."""
        n, r = self.Xt.shape
        i = constraint % n
        own = 0 if self.y[i] > 0 else 1
        normal = np.zeros((2, r))
        normal[own] = np.sqrt(scales[own]) * self.Xt[i]
        if constraint >= n:
            normal[1 - own] = -np.sqrt(scales[1 - own]) * self.Xt[i]
        return normal.ravel()


def _project(L: FloatArray, normals: FloatArray, normal: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """L^-1 N a, the coefficients of a in the rows of N (least squares, refined once), and what they leave over."""
    if not normals.size:
        return np.zeros(0), np.zeros(0), normal
    half = linalg.solve_triangular(L, normals @ normal, lower=True)
    direction = linalg.solve_triangular(L, half, lower=True, trans=1)
    correction = linalg.cho_solve((L, True), normals @ (normal - direction @ normals))
    direction = direction + correction
    return half, direction, normal - direction @ normals


def _remove(L: FloatArray, index: int) -> FloatArray:
    """The Cholesky factor without one row and column: the trailing block takes up the lost column."""
    q = L.shape[0]
    kept = np.delete(L, index, axis=0)
    smaller = np.delete(kept, index, axis=1)
    if index < q - 1:
        tail = kept[index:, index:]
        smaller[index:, index:] = linalg.cholesky(tail @ tail.T, lower=True)
    return smaller
