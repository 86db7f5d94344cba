r"""Coordinates in the span of the samples: an exact isometry that makes n, not d, the cost of a data set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix


def in_span(X: ArrayLike) -> tuple[FloatArray, FloatArray]:
    r"""Coordinates Z of the rows of X in an orthonormal basis Q of their span.

    .. math:: X = Z Q, \qquad Q Q^\top = I_r, \qquad Z Z^\top = X X^\top, \qquad r = \min(n, d)

    Gradients of w_j . x_i by w_j lie in span(x_i), so a network may be trained on Z and mapped back by W = W_Z Q;
    a component of w_j outside the span never moves [KYS23, X.InSpan; VYS22, sec. 1, "cheap trick"].

    Parameters
    ----------
    X : array, shape (n, d)
        Samples as rows.

    Returns
    -------
    Z : array, shape (n, r)
        Reduced coordinates, r = min(n, d). For d > n lower triangular with diagonal >= 0 (thin Householder QR).
    Q : array, shape (r, d)
        Orthonormal rows; the identity when d <= n, where there is nothing to gain and Z is X, bit for bit.

    Deviations
    ----------
    Exact up to the rounding of one Householder factorisation. When the rows are linearly dependent some columns of Z
    vanish to rounding and the rows of Q still are orthonormal, so the span of Q then contains the span of X.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.data import in_span
    >>> Z, Q = in_span([[0.0, 3.0, 4.0]])
    >>> Z
    array([[5.]])
    >>> np.allclose(Z @ Q, [[0.0, 3.0, 4.0]])
    True
    """
    points = matrix("X", X)
    n, d = points.shape
    if d <= n:
        return points.copy(), np.eye(d)
    basis, triangle = np.linalg.qr(points.T, mode="reduced")  # X^T = basis @ triangle
    signs = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    Z: FloatArray = np.ascontiguousarray((signs[:, None] * triangle).T)
    Q: FloatArray = np.ascontiguousarray((basis * signs).T)
    return Z, Q
