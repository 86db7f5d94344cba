r"""A quadratic bound on the signed dual function, which is what works when the samples are nearly orthogonal.

With :math:`\mathrm{relu}(a) \le (a + \tau)^2 / (4 \tau)` for undecided own samples, linear bounds elsewhere and a
multiplier :math:`\gamma` for the unit ball,

.. math:: s F(u) \le \mathrm{const} + c \cdot u + u^T M u
          \le \mathrm{const} + \gamma + \tfrac14 c^T (\gamma I - M)^{-1} c \quad (\|u\| \le 1,\ \gamma I \succ M),

jointly convex in :math:`(1/\tau, \mu, \nu, \gamma)`. Any admissible parameters give a valid bound, so the minimisation
need not be exact. Where the bound is B, :math:`s F(u) \ge T` only in an ellipsoid around the maximiser u*,
:math:`(u - u^*)^T (\gamma I - M) (u - u^*) \le B - T`.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from marginflow.arrays import FloatArray
from marginflow.limit.bracket.settings import APART, MAJORANT_STEPS


@dataclass(frozen=True, eq=False)
class QuadraticBound:
    """The bound B, the maximiser u*, and gamma I - M by its eigenvectors (columns) and eigenvalues."""

    bound: float
    maximiser: FloatArray
    vectors: FloatArray
    values: FloatArray

    def half_widths(self, rows: FloatArray, level: float) -> FloatArray:
        """How far z_i . u can be from z_i . u* where s F(u) >= level, for the given rows."""
        excess = max(self.bound - level, 0.0)
        projected = rows @ self.vectors
        reach: FloatArray = np.sqrt(excess * (projected**2 / self.values).sum(axis=1))
        return reach


def quadratic_bound(
    fixed: FloatArray,
    undecided: FloatArray,
    weights: FloatArray,
    opposite: FloatArray,
    opposite_weights: FloatArray,
    decided: FloatArray,
    start: FloatArray,
) -> QuadraticBound:
    r"""Minimise the bound over its parameters.

    Parameters
    ----------
    fixed : array, shape (r,)
        Sum of lambda_i z_i over the own samples that are active.
    undecided, weights : arrays, shapes (p, r) and (p,)
        Own samples whose activity is open, and their lambda.
    opposite, opposite_weights : arrays, shapes (q, r) and (q,)
        Samples of the other label, and their lambda.
    decided : array, shape (m, r)
        Rows whose product with u is known to be non-negative.
    start : array, shape (r,)
        A unit direction near which the function is large; tau starts from the pre-activations there.
    """
    p, q, m = weights.size, opposite_weights.size, decided.shape[0]
    base = fixed + 0.5 * weights @ undecided

    def linear(x: FloatArray) -> FloatArray:
        return base - x[p : p + q] @ opposite + x[p + q : p + q + m] @ decided

    def majorant(x: FloatArray) -> tuple[QuadraticBound, float]:
        """The bound at parameters x, without rounding, and gamma."""
        inverse_tau = np.exp(x[:p])
        M = (undecided.T * (0.25 * weights * inverse_tau)) @ undecided
        values, vectors = np.linalg.eigh(M)
        gamma = float(values[-1]) + max(float(np.exp(x[-1])), APART * abs(float(values[-1])), 1e-300)
        apart, turned = gamma - values, vectors.T @ linear(x)
        bound = 0.25 * float((weights / inverse_tau).sum()) + gamma + float((turned**2 / (4 * apart)).sum())
        return QuadraticBound(bound, vectors @ (turned / (2 * apart)), vectors, apart), gamma

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        found, _ = majorant(x)
        u, inverse_tau = found.maximiser, np.exp(x[:p])
        # gamma follows the largest eigenvalue of M; its derivative by x is that of the eigenvalue
        slack = 1.0 - float(u @ u)
        d_eigenvalue = 0.25 * weights * inverse_tau * (undecided @ found.vectors[:, -1]) ** 2
        gradient = np.empty(x.size)
        gradient[:p] = 0.25 * weights * ((undecided @ u) ** 2 * inverse_tau - 1.0 / inverse_tau) + slack * d_eigenvalue
        gradient[p : p + q] = -(opposite @ u)
        gradient[p + q : p + q + m] = decided @ u
        gradient[-1] = slack * np.exp(x[-1])
        return found.bound, gradient

    norms = np.linalg.norm(undecided, axis=1)
    tau = np.maximum(np.abs(undecided @ start), 0.05 * norms / np.sqrt(max(p, 1)))
    active = (opposite @ start > 0).astype(np.float64)
    x0 = np.concatenate([-np.log(tau), opposite_weights * (0.1 + 0.8 * active), np.zeros(m), [0.0]])
    x0[-1] = np.log(0.5 * float(np.linalg.norm(linear(x0))) + 1e-6)
    bounds = [(-40.0, 40.0)] * p + [(0.0, float(w)) for w in opposite_weights] + [(0.0, None)] * m + [(-30.0, 30.0)]
    x = minimize(objective, x0, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAJORANT_STEPS}).x
    x[p : p + q] = np.clip(x[p : p + q], 0.0, opposite_weights)
    found, gamma = majorant(x)
    return replace(found, bound=found.bound + 1e-14 * (1.0 + gamma / float(found.values.min())) * found.bound)
