r"""A lower bound on the radius from a quadratic majorant of relu and one ball multiplier (the S-lemma).

For every kappa > 0, relu(a) <= kappa a^2 + a / 2 + 1 / (16 kappa), with equality at a = 1 / (4 kappa). With supporting
slopes s_j in [0, 1] the function f is at least the concave quadratic q(delta) = gamma + beta . delta - delta^T M delta,
and for any mu > lambda_max(M)

.. math:: q(\delta) \ge \gamma - \tfrac14 \beta^T (\mu I - M)^{-1} \beta - \mu \|\delta\|^2 ,

so f > 0 for all ||delta||^2 < (gamma - beta^T (mu I - M)^{-1} beta / 4) / mu. That numerator is concave in
(s, kappa, mu); the ratio is improved by L-BFGS, and whatever that finds, the bound is recomputed from (s, kappa, mu).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize, minimize_scalar

from marginflow.arrays import FloatArray

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, kw_only=True)
class QuadraticBound:
    """A certified radius with its multipliers: supporting slopes s, curvatures kappa, ball multiplier mu."""

    lower: float
    slopes: FloatArray
    curvatures: FloatArray
    ball_multiplier: float


@dataclass(frozen=True, eq=False, kw_only=True)
class OnePoint:
    """f(delta) = sum_j c_j relu(a_j + w_j . delta) - level for ||delta|| <= radius."""

    a: FloatArray
    c: FloatArray
    W: FloatArray
    level: float
    radius: float

    def quadratic(self, slopes: FloatArray, curvatures: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        """gamma, its rounding error, beta and M; decided neurons (always active or dead in the ball) enter exactly."""
        reach = self.radius * np.linalg.norm(self.W, axis=1) * (1 + 1e-12)
        on, off = self.a >= reach, self.a <= -reach
        open_ = ~(on | off)
        opposing = open_ & (self.c < 0)
        # The linear part: coefficient of the pre-activation.
        linear = np.where(on, self.c, 0.0)
        linear = np.where(open_ & (self.c > 0), self.c * np.clip(slopes, 0.0, 1.0), linear)
        linear = np.where(opposing, 0.5 * self.c, linear)
        kappa = np.where(opposing, curvatures, 1.0)
        bend = np.where(opposing, -self.c * kappa, 0.0)  # >= 0
        terms = linear * self.a - bend * self.a**2 + np.where(opposing, self.c / (16.0 * kappa), 0.0)
        gamma = float(terms.sum()) - self.level
        size = np.abs(linear * self.a) + bend * self.a**2 + np.where(opposing, -self.c / (16.0 * kappa), 0.0)
        rounding = 8.0 * _EPS * np.sqrt(self.a.size) * (float(size.sum()) + abs(self.level))
        beta = (linear - 2.0 * bend * self.a) @ self.W
        return gamma, rounding, beta, self.W.T @ (bend[:, None] * self.W)


def radius_from_multipliers(
    point: OnePoint, slopes: FloatArray, curvatures: FloatArray, ball_multiplier: float
) -> float:
    """The radius that (s, kappa, mu) prove, at most `point.radius`; 0 if they prove nothing."""
    if not ((curvatures > 0).all() and ball_multiplier > 0):
        return 0.0
    gamma, rounding, beta, M = point.quadratic(slopes, curvatures)
    # mu is given up by the rounding of M, so that mu I - M is positive definite for the exact M as well.
    safe = ball_multiplier - 1e-12 * (float(np.trace(M)) + ball_multiplier)
    try:
        factor = cho_factor(safe * np.eye(M.shape[0]) - M)
    except np.linalg.LinAlgError:
        return 0.0
    least = gamma - rounding - 0.25 * float(beta @ cho_solve(factor, beta)) * (1 + 1e-10)
    if least <= 0:
        return 0.0
    return min(float(np.sqrt(least / ball_multiplier)) * (1 - 1e-10), point.radius)


def quadratic_bound_of(point: OnePoint, start: FloatArray, *, max_steps: int = 40) -> QuadraticBound:
    """Improve (s, kappa) from the pattern at the perturbation `start`, with the best mu at every step."""
    k = point.a.size
    size = np.linalg.norm(point.W, axis=1)
    floor = 1e-3 * point.radius * np.where(size > 0, size, 1.0)
    pre = point.a + point.W @ start
    s0 = np.where(pre > 0, 1.0, 0.0)
    t0 = np.log(np.maximum(np.abs(pre), floor))
    best: dict[str, FloatArray | float] = {"value": 0.0, "s": s0, "kappa": 0.25 / np.exp(t0), "mu": 1.0}

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        s, t = theta[:k], np.exp(theta[k:])
        kappa = 0.25 / t
        gamma, _, beta, M = point.quadratic(s, kappa)
        value, mu, delta = _best_multiplier(gamma, beta, M)
        if value > float(best["value"]):
            best.update(value=value, s=s.copy(), kappa=kappa, mu=mu)
        # Envelope theorem: the derivative of the Lagrangian at its minimiser delta, divided by mu.
        a = point.a + point.W @ delta
        open_ = np.abs(point.a) < point.radius * size
        ds = np.where(open_ & (point.c > 0), point.c * a, 0.0) / mu
        dt = np.where(open_ & (point.c < 0), -point.c * (0.25 * a**2 / t - 0.25 * t), 0.0) / mu
        return -value, -np.concatenate([ds, dt])

    bounds = [(0.0, 1.0)] * k + [(float(np.log(f)) - 7.0, float(np.log(f)) + 16.0) for f in floor]
    minimize(loss, np.concatenate([s0, t0]), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": max_steps})
    s, kappa, mu = np.asarray(best["s"]), np.asarray(best["kappa"]), float(best["mu"])
    return QuadraticBound(
        lower=radius_from_multipliers(point, s, kappa, mu), slopes=s, curvatures=kappa, ball_multiplier=mu
    )


def _best_multiplier(gamma: float, beta: FloatArray, M: FloatArray) -> tuple[float, float, FloatArray]:
    """The largest (gamma - beta^T (mu I - M)^{-1} beta / 4) / mu over mu > lambda_max(M), with mu and delta."""
    eigenvalues, vectors = np.linalg.eigh(M)
    b = vectors.T @ beta
    top = max(float(eigenvalues[-1]), 0.0)
    unit = max(top, float(b @ b) / max(abs(gamma), 1e-300), 1e-300)

    def negative(log_gap: float) -> float:
        mu = top + unit * np.exp(log_gap)
        return -(gamma - 0.25 * float(np.sum(b**2 / (mu - eigenvalues)))) / float(mu)

    found = minimize_scalar(negative, bounds=(-20.0, 8.0), method="bounded", options={"xatol": 1e-6})
    mu = top + unit * float(np.exp(found.x))
    return -float(found.fun), mu, vectors @ (-0.5 * b / (mu - eigenvalues))
