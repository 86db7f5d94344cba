"""What `kkt_point` claims, judged by formulas of its own: nothing here is imported from marginflow.

`judge` takes a network and multipliers and computes every KKT residual anew, in extended precision where that is
affordable. `supremum` is that of the dual constraint in the plane over all vertices, arcs and cells, in cubic time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_AFFORDABLE = 5e8  # products in extended precision, which no BLAS has
_BLOCK = 2_000_000  # numbers at a time


class Verdict(NamedTuple):
    """Residuals relative to the size of the parameters; `inside` is how far from its kink a Clarke weight was used."""

    stationarity: float
    missing: float  # largest 1 - margin before rescaling; 0 for a soft margin, where none is demanded
    complementarity: float
    multipliers: float  # how far they leave [0, C], relative to the largest
    weights: float  # how far Clarke weights leave [0, 1]
    inside: float  # largest |w.x + b| / (||(w, b)|| ||(x, 1)||) where the weight is not that of the side, if it matters

    @property
    def worst(self) -> float:
        return max(self.stationarity, self.missing, self.complementarity, self.multipliers, self.weights)


def judge(
    W: np.ndarray,
    b: np.ndarray | None,
    v: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    multipliers: np.ndarray,
    clarke: np.ndarray,
    *,
    penalty: float | None = None,
    frozen: bool = False,
) -> Verdict:
    """Residuals of (theta, lambda, Clarke weights); a hard margin is judged after rescaling to margin 1."""
    long = X.size * len(v) <= _AFFORDABLE
    real = np.longdouble if long else np.float64
    rows = X if b is None else np.column_stack([X, np.ones(len(X))])
    U = W if b is None else np.column_stack([W, b])
    rows, U, v, lam, y = (np.asarray(a).astype(real) for a in (rows, U, v, multipliers, y))
    degree = 1 if frozen else 2

    z = rows @ U.T
    margins = y * (np.maximum(z, 0) @ v)
    missed = max(0.0, float(1 - margins.min()))
    if penalty is None:
        if not margins.min() > 0:
            return Verdict(np.inf, np.inf, np.inf, 0.0, 0.0, 0.0)
        factor = 1 / margins.min() if frozen else 1 / np.sqrt(margins.min())
        U, z, margins = U * factor, z * factor, margins / margins.min()
        v, lam = (v, lam * factor) if frozen else (v * factor, lam)
    size2 = (U**2).sum() + (0 if frozen else (v**2).sum())

    weights = clarke.astype(real)
    residual2 = ((U - ((weights * (lam * y)[:, None]).T @ rows) * v[:, None]) ** 2).sum()
    if not frozen:
        residual2 = residual2 + ((v - np.maximum(z, 0).T @ (lam * y)) ** 2).sum()

    length = np.sqrt((rows**2).sum(axis=1))[:, None] * np.sqrt((U**2).sum(axis=1))[None, :]
    wrong = np.abs(weights - (z > 0)) * (lam > 0)[:, None] > 0
    inside = float((np.abs(z)[wrong] / length[wrong]).max()) if wrong.any() else 0.0

    if penalty is None:
        slack = degree * (lam * (margins - 1)).sum() / size2
        missing, cap = missed, np.inf
    else:
        slack = (lam * np.maximum(margins - 1, 0) + (penalty - lam) * np.maximum(1 - margins, 0)).sum() * degree / size2
        missing, cap = 0.0, penalty
    largest = max(float(lam.max()), np.finfo(float).tiny)
    return Verdict(
        stationarity=float(np.sqrt(residual2 / size2)),
        missing=missing,
        complementarity=abs(float(slack)),
        multipliers=max(0.0, -float(lam.min()), float(lam.max()) - cap) / largest,
        weights=max(0.0, -float(weights.min()), float(weights.max()) - 1.0),
        inside=inside,
    )


def supremum(X: np.ndarray, y: np.ndarray, multipliers: np.ndarray, *, bias: bool = True) -> float:
    """sup over unit u of |sum_i lambda_i y_i relu(xt_i . u)| in R^3, by every vertex of the arrangement and around it.

    A maximum is a vertex, a point of an arc or of a cell. Every arc and every cell has a vertex, and around the vertex
    of circles i and j the gradients are S, S + g_i, S + g_j and S + g_i + g_j. A gradient (on an arc: its projection)
    of length at most 1 cannot lead above 1; the others are candidates, and F is evaluated there. For samples in general
    position.
    """
    rows = np.column_stack([X, np.ones(len(X))]) if bias else X
    keep = multipliers != 0
    rows, g = rows[keep], (multipliers * y)[keep, None] * rows[keep]
    n = len(rows)
    best = 0.0

    def values(points: np.ndarray) -> float:
        length = np.linalg.norm(points, axis=1)
        points = points[length > 1.0] / length[length > 1.0, None]
        step = max(1, _BLOCK // n)
        return max(
            (
                float(np.abs(np.maximum(points[k : k + step] @ rows.T, 0.0) @ (multipliers * y)[keep]).max())
                for k in range(0, len(points), step)
            ),
            default=0.0,
        )

    first, second = np.triu_indices(n, 1)
    step = max(1, _BLOCK // n)
    for k in range(0, len(first), step):
        i, j = first[k : k + step], second[k : k + step]
        cross = np.cross(rows[i], rows[j])
        cross /= np.linalg.norm(cross, axis=1)[:, None]
        for side in (1.0, -1.0):
            corner = side * cross
            z = corner @ rows.T
            line = np.arange(len(i))
            z[line, i] = z[line, j] = 0.0
            best = max(best, float(np.abs(np.maximum(z, 0.0) @ (multipliers * y)[keep]).max()))
            S = (z > 0).astype(float) @ g
            for sign in (1.0, -1.0):
                for on_i in (0.0, 1.0):
                    for on_j in (0.0, 1.0):
                        best = max(best, values(sign * (S + on_i * g[i] + on_j * g[j])))
                for circle, other in ((i, j), (j, i)):
                    normal = rows[circle] / np.linalg.norm(rows[circle], axis=1)[:, None]
                    ends = g[other]
                    for on in (0.0, 1.0):
                        T = sign * (S + on * ends)
                        best = max(best, values(T - (T * normal).sum(axis=1)[:, None] * normal))
    return best
