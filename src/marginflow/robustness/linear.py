r"""Linear classifiers on the same points: the max-margin one, and the sum of cluster means of [FVBS23, Sec. 4]."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from marginflow.arrays import BoolArray, FloatArray, labelled_rows, labels, matrix, read_only
from marginflow.data.dataset import full_dimension
from marginflow.errors import InputError
from marginflow.robustness.least_distance import least_distance


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearClassifier:
    """x -> sign(w . x + b), with the multipliers that prove it where it is a max-margin one.

    Parameters
    ----------
    w : array, shape (d,)
    b : float
    multipliers : array, shape (n,), or None
        alpha >= 0 with w = sum_i alpha_i y_i x_i (and sum_i alpha_i y_i = 0 when there is a bias).
    residual : float
        Largest relative violation of the KKT conditions; 0 for a classifier that is given by a formula.
    """

    w: FloatArray
    b: float
    multipliers: FloatArray | None
    residual: float

    def __call__(self, X: ArrayLike) -> FloatArray:
        """w . x + b, shape (n,)."""
        points = matrix("X", X)
        if points.shape[1] != self.w.size:
            raise InputError(f"X has {points.shape[1]} columns, but w has {self.w.size} entries.")
        return points @ self.w + self.b

    def radii(self, X: ArrayLike, y: ArrayLike) -> FloatArray:
        """Exact flip distances max(0, y (w . x + b)) / ||w||, shape (n,); 0 where misclassified."""
        values = self(X)
        margin = labels("y", y, values.size) * values
        return np.maximum(margin, 0.0) / float(np.linalg.norm(self.w))


def mean_classifier(
    means: ArrayLike, mean_labels: ArrayLike, *, ambient_dimension: int | None = None
) -> LinearClassifier:
    r"""The linear classifier w = (1/d) sum_q y^(q) mu^(q) of [FVBS23, Sec. 4], which separates but is not robust.

    On its good event y w . x is near 1 and ||w||^2 near k / d, so the flip distance is about sqrt(d / k).
    """
    M, signs = labelled_rows("means", means, "mean_labels", mean_labels)
    d = full_dimension(M.shape[1], ambient_dimension)
    w = signs @ M / d
    if not w.any():
        raise InputError("The signed sum of the means is zero; it defines no linear classifier.")
    return LinearClassifier(w=read_only(w), b=0.0, multipliers=None, residual=0.0)


def max_margin_classifier(X: ArrayLike, y: ArrayLike, *, bias: bool = False) -> LinearClassifier:
    r"""The hard-margin linear classifier min 1/2 ||w||^2 subject to y_i (w . x_i + b) >= 1, with or without b.

    Without bias it is one least-distance problem. With bias, non-negative least squares on the convex hulls of the two
    classes guesses the support, and an active set solves the equations on it, together with sum_i alpha_i y_i = 0.
    The KKT conditions of the answer are checked; `residual` is their largest relative violation.

    Examples
    --------
    >>> from marginflow.robustness.linear import max_margin_classifier
    >>> found = max_margin_classifier([[2.0, 0.0], [4.0, 1.0], [0.0, 0.0]], [1, 1, -1], bias=True)
    >>> found.w, found.b
    (array([1., 0.]), -1.0)
    """
    points, signs = labelled_rows("X", X, "y", y)
    if np.all(signs == signs[0]):
        raise InputError(f"All {signs.size} labels are {signs[0]:+g}; both -1 and +1 must occur for a max-margin line.")
    alpha, b = _with_bias(points, signs) if bias else (_without_bias(points, signs), 0.0)
    w = (alpha * signs) @ points
    slack = signs * (points @ w + b) - 1.0
    total = float(alpha.sum())
    balance = abs(float(alpha @ signs)) / total if bias else 0.0
    residual = max(
        float(np.maximum(-slack, 0.0).max()), float(np.abs(alpha * slack).max()) / float(alpha.max()), balance
    )
    return LinearClassifier(w=read_only(w), b=b, multipliers=read_only(alpha), residual=residual)


def _without_bias(points: FloatArray, signs: FloatArray) -> FloatArray:
    solved = least_distance(signs[:, None] * points, np.ones(signs.size))
    if not solved.feasible:
        raise InputError("The samples are not separable by a hyperplane through the origin; bias=True may help.")
    return solved.multipliers


def _with_bias(points: FloatArray, signs: FloatArray) -> tuple[FloatArray, float]:
    """Multipliers and bias by an active set, started on the nearest points of the two convex hulls."""
    n = signs.size
    centred = points - points.mean(axis=0)
    scale = float(np.abs(centred).max()) or 1.0
    rows = signs[:, None] * centred / scale
    heavy = 1e3 * np.sqrt(points.shape[1])
    A = np.vstack([rows.T, heavy * (signs > 0), heavy * (signs < 0)])
    share, _ = nnls(A, np.concatenate([np.zeros(points.shape[1]), [heavy, heavy]]), maxiter=50 * n)
    if float(np.linalg.norm(share @ rows)) <= 1e-7:
        raise InputError("The samples are not linearly separable; no max-margin classifier exists.")
    support = share > 1e-9 * share.max()
    gram = rows @ rows.T
    for _ in range(4 * n):
        alpha, b = _on_support(gram, signs, support)
        if (alpha[support] < 0).any():
            support[np.argmin(np.where(support, alpha, np.inf))] = False
            continue
        slack = gram @ alpha + signs * b - 1.0
        worst = int(np.argmin(slack))
        if slack[worst] >= -1e-11 or support[worst]:
            break
        support[worst] = True
    weights = alpha / scale**2
    w = (weights * signs) @ points
    return weights, b - float(points.mean(axis=0) @ w)


def _on_support(gram: FloatArray, signs: FloatArray, support: BoolArray) -> tuple[FloatArray, float]:
    """y_i (w . x_i + b) = 1 on the support and sum_i alpha_i y_i = 0: one symmetric linear system."""
    index = np.flatnonzero(support)
    y = signs[index]
    system = np.zeros((index.size + 1, index.size + 1))
    system[:-1, :-1] = gram[np.ix_(index, index)]
    system[:-1, -1] = system[-1, :-1] = y
    solution = np.linalg.lstsq(system, np.append(np.ones(index.size), 0.0), rcond=None)[0]
    alpha = np.zeros(signs.size)
    alpha[index] = solution[:-1]
    return alpha, float(solution[-1])
