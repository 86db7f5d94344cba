"""Convex quadratic programs in a box: block pivoting, made safe by projected Newton steps."""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import lapack

from marginflow.arrays import FloatArray, IntArray

_SUFFICIENT_DECREASE = 1e-4
_SMALLEST_RIDGE = 1e-15
_OPTIMAL = 1e-14
_RANK = 1e-15  # relative size of what counts as zero on the diagonal of a pivoted QR


@dataclass(frozen=True, eq=False)
class Gram:
    """x'Hx/2 - c'x with unit diagonal: fast for many rows; squares the condition number."""

    H: FloatArray
    c: FloatArray

    def gradient(self, x: FloatArray) -> FloatArray:
        """Derivative at x."""
        return self.H @ x - self.c

    def curvature(self, move: FloatArray) -> float:
        """move' H move."""
        return float(move @ (self.H @ move))

    def newton(self, x: FloatArray, gradient: FloatArray, free: IntArray, ridge: float) -> FloatArray:
        """The step on the free coordinates to the minimum of the function plus `ridge` times half the squared step."""
        return solve_ridged(self.H[np.ix_(free, free)], -gradient[free], ridge)

    def resolution(self, x: FloatArray) -> float:
        """The smallest change of the function at x that is more than rounding."""
        return 1e-16 * abs(float(self.c @ x))


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """||Ax - b||^2/2, unit columns: the same by orthogonal factorisation, as accurate as the condition of A allows."""

    A: FloatArray
    b: FloatArray

    def gradient(self, x: FloatArray) -> FloatArray:
        """A'(Ax - b)."""
        return (self.A @ x - self.b) @ self.A

    def curvature(self, move: FloatArray) -> float:
        """||A move||^2."""
        image = self.A @ move
        return float(image @ image)

    def newton(self, x: FloatArray, gradient: FloatArray, free: IntArray, ridge: float) -> FloatArray:
        """By pivoted QR."""
        rows, right = self.A[:, free], self.b - self.A @ x
        if ridge > _SMALLEST_RIDGE:
            rows = np.vstack([rows, np.sqrt(ridge) * np.eye(free.size)])
            right = np.concatenate([right, np.zeros(free.size)])
        return least_squares(rows, right)

    def resolution(self, x: FloatArray) -> float:
        """Relative to the squared residual."""
        residual = self.b - self.A @ x
        return 1e-15 * float(residual @ residual)


def minimise_in_box(
    H: FloatArray, c: FloatArray, upper: float, start: FloatArray, *, deadline: float = np.inf
) -> FloatArray:
    """Minimise x'Hx/2 - c'x over 0 <= x <= upper, H symmetric and positive semidefinite; at the deadline, so far."""
    scale = np.sqrt(np.maximum(np.diagonal(H), 0.0))
    used = np.flatnonzero(scale > 0)
    x = np.zeros_like(start)
    if used.size:
        s = scale[used]
        function = Gram(H[np.ix_(used, used)] / np.outer(s, s), c[used] / s)
        x[used] = _minimise(function, upper * s, start[used] * s, deadline) / s
    return np.clip(x, 0.0, upper)


def least_squares_in_box(
    A: FloatArray, b: FloatArray, upper: float | FloatArray, start: FloatArray, *, deadline: float = np.inf
) -> FloatArray:
    """Minimise ||Ax - b||^2/2 over 0 <= x <= upper, which may be infinite, without forming A'A.

    Whatever is returned lies in the box, so ||Ax - b|| is no less than the distance of b from the zonotope {Ax}, also
    where the deadline ended the method.
    """
    scale = np.linalg.norm(A, axis=0)
    used = np.flatnonzero(scale > 0)
    x = np.zeros_like(start)
    if used.size:
        s, high = scale[used], np.broadcast_to(upper, x.shape)[used]
        x[used] = _minimise(LeastSquares(A[:, used] / s, b), high * s, start[used] * s, deadline) / s
    return np.clip(x, 0.0, upper)


def _minimise(function: Gram | LeastSquares, upper: FloatArray, start: FloatArray, deadline: float) -> FloatArray:
    """Pivot first; whatever that leaves undone is the start of a method that cannot fail."""
    pivoted = block_pivoting(function, upper, start, deadline=deadline)
    return projected_newton(function, upper, pivoted, deadline=deadline)


def block_pivoting(
    function: Gram | LeastSquares, upper: FloatArray, start: FloatArray, *, deadline: float = np.inf
) -> FloatArray:
    """Guess which coordinates are at a bound, solve for the others, exchange all that are on the wrong side, again.

    [Judice and Pires 1994; Kim and Park 2011]. When the number on the wrong side has not fallen for a while only one is
    exchanged at a time. Usually a dozen rounds end at the solution; otherwise the last point, clipped, is returned.
    """
    x = np.clip(start, 0.0, upper)
    low, high = x <= 0, x >= upper
    fewest, patience = x.size + 1, 3
    gradient_noise = 1e-12 * float(np.abs(function.gradient(np.zeros_like(x))).max())
    for _ in range(60):
        x = np.where(low, 0.0, np.where(high, upper, x))
        free = np.flatnonzero(~low & ~high)
        if free.size:
            x[free] += function.newton(x, function.gradient(x), free, _SMALLEST_RIDGE)
        g = function.gradient(x)
        noise = 1e-13 * float(np.abs(x).max())
        under, over = ~low & ~high & (x < -noise), ~low & ~high & (x > upper + noise)
        leave = (low & (g < -gradient_noise)) | (high & (g > gradient_noise))
        wrong = under | over | leave
        count = int(wrong.sum())
        if count == 0 or time.monotonic() > deadline:
            break
        if count < fewest:
            fewest, patience = count, 3
        elif patience > 0:
            patience -= 1
        else:
            wrong[: int(np.flatnonzero(wrong)[-1])] = False
        low = (low & ~wrong) | (under & wrong)
        high = (high & ~wrong) | (over & wrong)
    return np.clip(x, 0.0, upper)


def projected_newton(
    function: Gram | LeastSquares, upper: FloatArray, start: FloatArray, *, deadline: float = np.inf
) -> FloatArray:
    r"""Minimise a convex quadratic with unit diagonal over 0 <= x <= upper.

    Two-metric projection (Bertsekas 1982): a Newton step on the coordinates that no bound holds, a projected line
    search, again. The objective never rises; after finitely many steps the free set is that of the solution and one
    more step solves it. A ridge grows - towards a projected gradient step - when rounding spoils a step, and shrinks
    when it does not.
    """
    x = np.clip(start, 0.0, upper)
    small = _OPTIMAL * float(np.abs(function.gradient(np.zeros_like(x))).max())
    ridge, idle = _SMALLEST_RIDGE, 0
    for _ in range(200 + 20 * x.size):
        g = function.gradient(x)
        if np.abs(x - np.clip(x - g, 0.0, upper)).max() <= small or time.monotonic() > deadline:
            break
        near = 1e-13 * float(np.abs(x).max())
        held = ((x <= near) & (g > 0)) | ((x >= upper - near) & (g < 0))
        free = np.flatnonzero(~held)
        direction = -g
        if free.size:
            direction[free] = function.newton(x, g, free, ridge)
        step = 1.0
        accepted = False
        while step > 1e-6 and not accepted:
            trial = np.clip(x + step * direction, 0.0, upper)
            move = trial - x
            slope = float(g @ move)
            # The change of the objective, without the cancellation of comparing two values.
            change = slope + 0.5 * function.curvature(move)
            accepted = change < _SUFFICIENT_DECREASE * min(slope, 0.0)
            step *= 0.5
        if accepted:
            x = trial
            ridge = max(_SMALLEST_RIDGE, 0.1 * ridge)
            idle = idle + 1 if -change <= function.resolution(x) else 0
            if idle == 2:
                break
        elif ridge > 1e3:
            break
        else:
            ridge *= 100.0
    return x


def least_squares(A: FloatArray, b: FloatArray) -> FloatArray:
    """The shortest minimiser of ||Ax - b|| by pivoted QR; by LAPACK itself, as checks take longer at small sizes."""
    m, n = A.shape
    if m == 0 or n == 0:
        return np.zeros(n)
    right = b if m >= n else np.concatenate([b, np.zeros(n - m)])  # the solution is written over it
    pivots = np.zeros((n, 1), dtype=np.int32)
    solution: FloatArray = lapack.dgelsy(A, right, pivots, _RANK, _working_space(m, n))[1]
    return solution[:n]


@lru_cache(maxsize=1024)
def _working_space(m: int, n: int) -> int:
    """How many numbers LAPACK wants beside a matrix of this shape."""
    return int(lapack.dgelsy_lwork(m, n, 1, _RANK)[0])


def solve_ridged(H: FloatArray, rhs: FloatArray, ridge: float) -> FloatArray:
    """Solve (H + ridge diag(H)) z = rhs by Cholesky, with a growing ridge when rounding makes the matrix indefinite."""
    index = np.arange(H.shape[0])
    if not index.size:
        return rhs.copy()
    damped = H.copy()
    while True:
        damped[index, index] = H[index, index] * (1.0 + ridge)
        factor, failed = lapack.dpotrf(damped, lower=True, clean=False)
        if failed:
            ridge = max(10.0 * ridge, _SMALLEST_RIDGE)
            continue
        solution: FloatArray = lapack.dpotrs(factor, rhs, lower=True)[0]
        return solution
