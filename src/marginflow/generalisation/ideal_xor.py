r"""The ideal classifier of the XOR clusters, |<mu1, x>| - |<mu2, x>|, and its clean error, exactly [FCB22, Eq. (1)].

On the cluster +mu1 both <mu1, x> - <mu2, x> and <mu1, x> + <mu2, x> decide: the classifier errs when exactly one of
them is negative. For Gaussian clusters these are independent N(1, 2 sigma^2), so the error is 2 q (1 - q) with
q = Phi(-1/(sigma sqrt 2)).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from marginflow.arrays import matrix, one_of, real_number
from marginflow.networks import TwoLayer


def ideal_xor_network(mu1: ArrayLike, mu2: ArrayLike) -> TwoLayer:
    """The four neurons +mu1, -mu1, +mu2, -mu2 with outputs +1, +1, -1, -1 [FCB22, Eq. (1)].

    Examples
    --------
    >>> from marginflow.generalisation.ideal_xor import ideal_xor_network
    >>> ideal_xor_network([1.0, 0.0], [0.0, 1.0])([[3.0, -1.0], [0.5, 2.0]])
    array([ 2. , -1.5])
    """
    means = matrix("means", np.stack([np.asarray(mu1, dtype=np.float64), np.asarray(mu2, dtype=np.float64)]))
    W = np.stack([means[0], -means[0], means[1], -means[1]])
    return TwoLayer(W=W, v=np.array([1.0, 1.0, -1.0, -1.0]), outputs="frozen")


def ideal_xor_error(sigma: float) -> float:
    """The exact clean error 2 q (1 - q), q = Phi(-1/(sigma sqrt 2)), on Gaussian clusters with unit means.

    It is the least that any classifier reaches there: the ideal classifier is the one of Bayes.

    Examples
    --------
    >>> from marginflow.generalisation.ideal_xor import ideal_xor_error
    >>> f"{ideal_xor_error(0.02**0.5):.3g}"
    '5.73e-07'
    """
    sigma = real_number("sigma", sigma, at_least=0.0)
    if sigma == 0.0:
        return 0.0
    q = float(special.ndtr(-1.0 / (sigma * math.sqrt(2.0))))
    return 2.0 * q * (1.0 - q)


def coordinate_law(law: str) -> Any:
    """The law of one coordinate of z as `data.isotropic` draws it, a frozen distribution of scipy.stats."""
    from scipy import stats  # slow to import, and needed by few

    unit = math.sqrt(6.0) / math.pi
    laws = {
        "gaussian": stats.norm(),
        "laplace": stats.laplace(scale=math.sqrt(0.5)),
        "logistic": stats.logistic(scale=math.sqrt(3.0) / math.pi),
        "cube": stats.uniform(loc=-math.sqrt(3.0), scale=2.0 * math.sqrt(3.0)),
        "exponential": stats.expon(loc=-1.0),
        "gumbel": stats.gumbel_r(loc=-np.euler_gamma * unit, scale=unit),
    }
    return laws[one_of("law", law, tuple(laws))]
