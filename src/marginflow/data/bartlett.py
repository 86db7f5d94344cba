"""The triangular factor of a Gaussian matrix: n Gaussian vectors of any dimension, up to rotation, at the cost of n."""

import numpy as np

from marginflow.arrays import FloatArray, whole_number


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
