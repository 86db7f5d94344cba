"""Convex quadratic programs in a box, by projected Newton steps."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray

_SUFFICIENT_DECREASE = 1e-4
_RIDGE = 1e-14


def minimise_in_box(
    H: FloatArray, c: FloatArray, upper: float, start: FloatArray, *, max_steps: int = 60
) -> FloatArray:
    r"""Minimise x'Hx/2 - c'x over 0 <= x <= upper, H symmetric and positive semidefinite.

    Two-metric projection (Bertsekas 1982): a Newton step on the coordinates that no bound holds, a projected
    line search, again. The objective never rises; after finitely many steps the free set is that of the solution
    and one more step solves it. A ridge of 1e-14 times the mean diagonal keeps the factorisation alive when H is
    singular.
    """
    x = np.clip(start, 0.0, upper)
    ridge = _RIDGE * max(float(np.trace(H)) / max(1, c.size), np.finfo(float).tiny)
    small = 1e-14 * float(np.abs(c).max(initial=0.0))
    Hx = H @ x
    for _ in range(max_steps):
        g = Hx - c
        held = ((x <= 0) & (g > 0)) | ((x >= upper) & (g < 0))
        free = np.flatnonzero(~held)
        if free.size == 0 or np.abs(x - np.clip(x - g, 0.0, upper)).max() <= small:
            break
        direction = np.zeros_like(x)
        direction[free] = solve_ridged(H[np.ix_(free, free)], -g[free], ridge)
        value = 0.5 * float(x @ Hx) - float(c @ x)
        step = 1.0
        for _ in range(40):
            trial = np.clip(x + step * direction, 0.0, upper)
            H_trial = H @ trial
            slope = float(g @ (trial - x))
            if 0.5 * float(trial @ H_trial) - float(c @ trial) < value + _SUFFICIENT_DECREASE * min(slope, 0.0):
                break
            step *= 0.5
        else:
            break
        x, Hx = trial, H_trial
    return x


def solve_ridged(H: FloatArray, rhs: FloatArray, ridge: float) -> FloatArray:
    """Solve (H + ridge I) z = rhs by Cholesky, with a growing ridge when rounding makes H indefinite."""
    diagonal = np.arange(H.shape[0])
    damped = H.copy()
    while True:
        damped[diagonal, diagonal] = H[diagonal, diagonal] + ridge
        try:
            factor = scipy.linalg.cho_factor(damped, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            ridge *= 10.0
            continue
        solution: FloatArray = scipy.linalg.cho_solve(factor, rhs, check_finite=False)
        return solution
