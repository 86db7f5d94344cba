r"""Coordinates in the span of samples, given or Gaussian: an exact isometry that makes n, not d, the cost of a set."""

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, whole_number
from marginflow.errors import InputError


def bartlett(n_rows: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    r"""The coordinates of n standard Gaussian vectors of R^d in the basis that Gram-Schmidt makes of them.

    .. math:: L_{ij} \sim N(0, 1) \; (j < i), \qquad L_{ii} \sim \chi_{d - i}, \qquad L_{ij} = 0 \; (j > i)

    with i, j counted from 0 and all entries independent, so that L L^T has exactly the law of the Gram matrix
    (Wishart) of n independent N(0, I_d) vectors. Rows with i >= d have d normal entries.

    Parameters
    ----------
    n_rows, dimension : int
        n and d; d may be as large as float64 resolves, about 1e15.

    Returns
    -------
    array, shape (n, min(n, d))
    """
    r = min(whole_number("n_rows", n_rows), whole_number("dimension", dimension))
    L: FloatArray = np.tril(rng.standard_normal((n_rows, r)), -1)
    index = np.arange(r)
    L[index, index] = np.sqrt(rng.chisquare(float(dimension) - index))
    return L


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
    return np.ascontiguousarray((signs[:, None] * triangle).T), np.ascontiguousarray((basis * signs).T)


def from_gram(G: ArrayLike) -> FloatArray:
    r"""Points Z in R^n with the Gram matrix Z Z^T = G: the lower triangular Cholesky factor.

    Parameters
    ----------
    G : array, shape (n, n)
        Symmetric and positive definite.

    Returns
    -------
    array, shape (n, n)
        Row i is point i.

    Examples
    --------
    >>> from marginflow.data.reduction import from_gram
    >>> from_gram([[4.0, 2.0], [2.0, 5.0]])
    array([[2., 0.],
           [1., 2.]])
    """
    gram = matrix("G", G)
    if gram.shape[0] != gram.shape[1] or not np.array_equal(gram, gram.T):
        raise InputError(f"G has shape {gram.shape}; a symmetric matrix is expected.")
    try:
        return np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(gram)[0])
        raise InputError(
            f"The smallest eigenvalue of G is {least:g}; it must be positive for linearly independent points to exist."
        ) from None


def random_frame(n_rows: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Uniformly random (Haar) orthonormal rows, n_rows <= dimension; shape (n_rows, d).

    The Q of a Gaussian matrix is Haar distributed once the diagonal of R is made positive.
    """
    whole_number("n_rows", n_rows)
    if n_rows > whole_number("dimension", dimension):
        raise InputError(f"{n_rows} orthonormal vectors do not fit in dimension {dimension}.")
    basis, triangle = np.linalg.qr(rng.standard_normal((dimension, n_rows)), mode="reduced")
    return np.ascontiguousarray((basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)).T)
