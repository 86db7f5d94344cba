"""Convex quadratic programs in a box, by projected Newton steps."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray

_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_RIDGE = 1e-15
_OPTIMAL = 1e-14


def minimise_in_box(
    H: FloatArray, c: FloatArray, upper: float, start: FloatArray, *, max_steps: int = 200
) -> FloatArray:
    r"""Minimise x'Hx/2 - c'x over 0 <= x <= upper, H symmetric and positive semidefinite.

    Two-metric projection (Bertsekas 1982): a Newton step on the coordinates that no bound holds, a projected line
    search, again. The objective never rises; after finitely many steps the free set is that of the solution and one
    more step solves it. Variables are scaled to a unit diagonal. A ridge keeps the factorisation alive when H is
    singular; it grows - towards a projected gradient step - when rounding spoils a step, and shrinks when it does not.
    """
    diagonal = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    carrying = np.flatnonzero(diagonal > 0)
    x = np.zeros_like(start)
    if carrying.size == 0:
        return x
    scale = diagonal[carrying]
    x[carrying] = (
        _minimise(
            H[np.ix_(carrying, carrying)] / np.outer(scale, scale),
            c[carrying] / scale,
            upper * scale,
            start[carrying] * scale,
            max_steps,
        )
        / scale
    )
    return np.clip(x, 0.0, upper)


def _minimise(H: FloatArray, c: FloatArray, upper: FloatArray, start: FloatArray, max_steps: int) -> FloatArray:
    x = np.clip(start, 0.0, upper)
    small = _OPTIMAL * float(np.abs(c).max())
    ridge = _SMALLEST_RIDGE
    Hx = H @ x
    for _ in range(max_steps):
        g = Hx - c
        if np.abs(x - np.clip(x - g, 0.0, upper)).max() <= small:
            break
        near = 1e-13 * float(np.abs(x).max())
        held = ((x <= near) & (g > 0)) | ((x >= upper - near) & (g < 0))
        free = np.flatnonzero(~held)
        direction = -g
        if free.size:
            direction[free] = solve_ridged(H[np.ix_(free, free)], -g[free], ridge)
        step = 1.0
        accepted = False
        while step > 1e-6 and not accepted:
            trial = np.clip(x + step * direction, 0.0, upper)
            move = trial - x
            H_move = H @ move
            # The change of the objective, without the cancellation of comparing two values.
            change = float(g @ move) + 0.5 * float(move @ H_move)
            accepted = change < _SUFFICIENT_DECREASE * min(float(g @ move), 0.0)
            step *= 0.5
        if accepted:
            x, Hx = trial, H @ trial
            ridge = max(_SMALLEST_RIDGE, 0.1 * ridge)
        elif ridge > 1e3:
            break
        else:
            ridge *= 100.0
    return x


def solve_ridged(H: FloatArray, rhs: FloatArray, ridge: float) -> FloatArray:
    """Solve (H + ridge diag(H)) z = rhs by Cholesky, with a growing ridge when rounding makes the matrix indefinite."""
    index = np.arange(H.shape[0])
    damped = H.copy()
    while True:
        damped[index, index] = H[index, index] * (1.0 + ridge)
        try:
            factor = scipy.linalg.cho_factor(damped, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            ridge = max(10.0 * ridge, _SMALLEST_RIDGE)
            continue
        solution: FloatArray = scipy.linalg.cho_solve(factor, rhs, check_finite=False)
        return solution
