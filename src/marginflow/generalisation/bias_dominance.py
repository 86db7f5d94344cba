r"""A proof of a small test error where no sample is large enough to see it: the biases alone decide the sign.

.. math:: N(x) \ge \beta - \sum_j |v_j| \, |w_j \cdot x|, \qquad \beta = \sum_j v_j \, \mathrm{relu}(b_j) .

In high dimension every :math:`w_j \cdot x` is of order :math:`\|w_j\| / \sqrt d`, so :math:`\beta` wins except on a set
whose probability is known. [KYS23, B1.BiasDom]
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from marginflow.arrays import one_of, real_number, whole_number
from marginflow.errors import InputError
from marginflow.generalisation.tails import log_sphere_correlation_tail
from marginflow.networks import TwoLayer


@dataclass(frozen=True, kw_only=True)
class BiasDominance:
    r"""How far the biases dominate, and the bound on the error that follows.

    Parameters
    ----------
    beta : float
        sum_j v_j relu(b_j).
    weight : float
        M = sum_j |v_j| ||w_j|| over the neurons that can lower N below beta: those with v_j > 0 and b_j <= 0 cannot.
    neurons : int
        How many these are.
    norm_squared : float
        K = ||theta||^2 of the network as given.
    dimension : int
    log_bound : float
        ln of n' P(u . x > beta / M), a bound on P(N(x) <= 0): one-sided exact tails, a union over the n' neurons. At
        most 0; 0 says nothing (beta <= 0, or the union is larger than 1).
    simple_log_bound : float
        The same from K alone, ln of 2n exp(-2 d (beta / K)^2): sub-Gaussian tails of all neurons and
        M <= K / 2. It is the form d >= K^2 ln(2n / epsilon) / (2 beta^2) solved for epsilon.
    """

    beta: float
    weight: float
    neurons: int
    norm_squared: float
    dimension: int
    log_bound: float
    simple_log_bound: float

    @property
    def bound(self) -> float:
        """exp(log_bound), which may underflow to 0."""
        return math.exp(self.log_bound)

    def proves(self, epsilon: float) -> bool:
        """Whether P(N(x) <= 0) <= epsilon is proved."""
        return self.log_bound <= math.log(real_number("epsilon", epsilon, above=0.0, at_most=1.0))

    def __str__(self) -> str:
        return (
            f"beta = {self.beta:.4g} against weight {self.weight:.4g} in dimension {self.dimension}: "
            f"error at most 10^{self.log_bound / math.log(10):.4g}"
        )


def bias_dominance(
    network: TwoLayer, *, dimension: int | None = None, law: Literal["sphere", "gaussian"] = "sphere"
) -> BiasDominance:
    """Bound the clean error (target +1) of a network with hidden biases by the tails of its neurons.

    Parameters
    ----------
    network : TwoLayer with bias
        At any scale: only beta / M matters.
    dimension : int or None
        Of the law, where the network is in reduced coordinates (`Dataset.ambient_dimension`); None for the network's
        own. Weights in the span of the samples have the same norms in both.
    law : "sphere" or "gaussian"
        Unif(S^{d-1}), or N(0, I/d), to which the paper's proof switches.

    Examples
    --------
    >>> from marginflow.generalisation import bias_dominance
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], b=[1.0, 0.0], v=[1.0, -1.0])
    >>> proof = bias_dominance(network, dimension=10_000)
    >>> proof.beta, proof.weight, proof.proves(1e-300)
    (1.0, 2.0, True)
    """
    one_of("law", law, ("sphere", "gaussian"))
    if network.b is None:
        raise InputError("The network has no biases; they are what would have to dominate.")
    d = whole_number("dimension", network.dimension if dimension is None else dimension, minimum=2)
    if d < network.dimension:
        raise InputError(f"dimension is {d}; at least the {network.dimension} inputs of the network are expected.")
    v, b = network.v, network.b
    beta = math.fsum(v * np.maximum(b, 0.0))
    sizes = np.abs(v) * np.linalg.norm(network.W, axis=1)
    harmful = (sizes > 0) & ~((v > 0) & (b <= 0))
    weight = math.fsum(sizes[harmful])
    K = math.fsum([float((network.W**2).sum()), float((b**2).sum()), float((v**2).sum())])
    count = int(harmful.sum())
    log_bound = simple = 0.0
    if beta > 0:
        log_bound = _union(_log_tail(beta / weight, d, law), count) if weight > 0.0 else -math.inf
        simple = _union(-2.0 * d * (beta / K) ** 2, 2 * network.width)
    return BiasDominance(
        beta=beta,
        weight=weight,
        neurons=count,
        norm_squared=K,
        dimension=d,
        log_bound=log_bound,
        simple_log_bound=simple,
    )


def _log_tail(t: float, d: int, law: str) -> float:
    """ln P(u . x > t) for a unit vector u and t > 0."""
    if law == "gaussian":
        return float(special.log_ndtr(-t * math.sqrt(d)))
    return -math.inf if t >= 1 else log_sphere_correlation_tail(t, d) - math.log(2.0)


def _union(log_tail: float, events: int) -> float:
    return min(0.0, log_tail + math.log(events))
