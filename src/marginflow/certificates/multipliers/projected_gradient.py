r"""Accelerated projected gradients for the multipliers: slow, but it converges from anywhere."""

import time

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.certificates.multipliers.least_squares import Point, Residual, StationarityProblem


def project(lam: FloatArray, mu: FloatArray, rows: IntArray, cap: float) -> Point:
    r"""Project on {0 <= mu_e <= lambda_{rows[e]}, 0 <= lambda <= cap}.

    For each sample lambda solves lambda - lambda0 = sum_e (mu0_e - lambda)_+, an increasing concave piecewise
    linear equation; Newton from lambda0, which is left of the root, climbs to it in finitely many steps.
    """
    level = lam.copy()
    for _ in range(rows.size + 1):
        above = mu > level[rows]
        total = np.bincount(rows[above], weights=mu[above], minlength=lam.size)
        count = np.bincount(rows[above], minlength=lam.size)
        next_level = (lam + total) / (1.0 + count)
        if not (next_level > level).any():
            break
        level = np.maximum(level, next_level)
    level = np.clip(level, 0.0, cap)
    return level, np.clip(mu, 0.0, level[rows])


def descend(
    problem: StationarityProblem, lam: FloatArray, mu: FloatArray, *, max_steps: int, deadline: float = np.inf
) -> Point:
    """Nesterov steps with restart whenever the objective rises; lam (n,) and mu (n, k) feasible in and out."""
    rows, columns = np.nonzero(problem.kink)
    step = 1.0 / _largest_curvature(problem, rows, columns)

    def unpack(values: FloatArray) -> FloatArray:
        full = np.zeros(problem.kink.shape)
        full[rows, columns] = values
        return full

    x, m = lam.copy(), mu[rows, columns]
    a, q, momentum = x, m, 1.0
    best = problem.residual(x, unpack(m)).norm()
    for _ in range(max_steps):
        if time.monotonic() > deadline:
            break
        P, s = problem.scores(problem.residual(a, unpack(q)))
        x_next, m_next = project(a + step * s, q + step * P[rows, columns], rows, problem.cap)
        size = problem.residual(x_next, unpack(m_next)).norm()
        if size > best:
            if momentum == 1.0:
                break
            a, q, momentum = x, m, 1.0
            continue
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        inertia = (momentum - 1.0) / following
        a, q = x_next + inertia * (x_next - x), m_next + inertia * (m_next - m)
        x, m, momentum, best = x_next, m_next, following, size
    return x, unpack(m)


def _largest_curvature(problem: StationarityProblem, rows: IntArray, columns: IntArray) -> float:
    """A safe upper estimate of the largest eigenvalue of the Hessian, by the power method."""
    rng = np.random.default_rng(0)
    lam = rng.random(problem.y.size)
    mu = rng.random(rows.size)
    value = 0.0
    full = np.zeros(problem.kink.shape)
    zero = problem.base
    for _ in range(30):
        scale = np.sqrt(lam @ lam + mu @ mu)
        lam, mu = lam / scale, mu / scale
        full[rows, columns] = mu
        image = problem.residual(lam, full)
        image = Residual(hidden=zero.hidden - image.hidden, output=zero.output - image.output, row=zero.row - image.row)
        P, s = problem.scores(image)
        value = float(np.sqrt(s @ s + P[rows, columns] @ P[rows, columns]))
        if value == 0.0:
            return 1.0
        lam, mu = s, P[rows, columns]
    return 1.05 * value
