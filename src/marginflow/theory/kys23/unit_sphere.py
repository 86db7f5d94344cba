r"""The letters of [KYS23, Section 4]: a sample on the unit sphere, and a network with biases on it.

m samples in dimension d, k = |I_-| of them negative and q = |I_+| positive; rho is the largest inner product of two
samples, C_op = ||X X^T||. A network at margin 1 has beta = sum_j v_j relu(b_j) and K = ||w||^2 + ||v||^2 + ||b||^2.
Everything is written in rho, C_op, k and n, because the universal constants c_1, c_2, c_3, c_4 of the theorems are not
explicit, and where the proofs make them explicit they ask for dimensions that only `GramReduction` can reach.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.data import AbstractDistribution, Dataset, GramReduction, NoisySphere
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Check, above, compare, true


@dataclass(frozen=True, eq=False)
class SphereSample:
    """The numbers of a training sample, in ambient or reduced coordinates."""

    data: Dataset

    @property
    def m(self) -> int:
        """Number of samples."""
        return self.data.n_samples

    @property
    def d(self) -> int:
        """The dimension that the law speaks of."""
        return self.data.full_dimension

    @cached_property
    def gram(self) -> FloatArray:
        """X X^T, shape (m, m)."""
        return self.data.X @ self.data.X.T

    @property
    def minus(self) -> BoolArray:
        """I_-, as a mask."""
        return self.data.y < 0

    @property
    def k(self) -> int:
        """|I_-|."""
        return int(self.minus.sum())

    @property
    def q(self) -> int:
        """|I_+|."""
        return self.m - self.k

    @cached_property
    def rho(self) -> float:
        """max |x_i . x_l| over i != l; 0 for one sample."""
        off = np.abs(self.gram)
        np.fill_diagonal(off, 0.0)
        return float(off.max())

    @cached_property
    def C_op(self) -> float:
        """||X X^T||."""
        return float(np.linalg.eigvalsh(self.gram)[-1])

    @property
    def s(self) -> FloatArray:
        """X_-^T 1, the sum of the negative samples."""
        total: FloatArray = self.data.X[self.minus].sum(axis=0)
        return total

    def unit_norms(self) -> Check:
        """All samples on the unit sphere."""
        return compare("squared norms equal 1", np.diag(self.gram), "==", 1.0, tolerance=1e-9)

    def some_negative(self) -> Check:
        """|I_-| >= 1."""
        return compare("negative samples", self.k, ">=", 1)

    def some_positive(self) -> Check:
        """|I_+| >= 1."""
        return compare("positive samples", self.q, ">=", 1)


def noisy_sphere(law: AbstractDistribution) -> NoisySphere:
    """The noisy sphere behind a law, reduced or not; an `InputError` for any other law."""
    inner = law.distribution if isinstance(law, GramReduction) else law
    if not isinstance(inner, NoisySphere):
        raise InputError(f"The law is {type(inner).__name__}; NoisySphere (or GramReduction of it) is expected.")
    return inner


def beta_of(network: TwoLayer) -> float:
    """beta = sum_j v_j relu(b_j); 0 without bias."""
    return 0.0 if network.b is None else math.fsum(network.v * np.maximum(network.b, 0.0))


def size_of(network: TwoLayer) -> float:
    """K = sum_j ||w_j||^2 + v_j^2 + b_j^2, frozen outputs included, as the paper counts."""
    b = 0.0 if network.b is None else float(network.b @ network.b)
    return float((network.W**2).sum()) + float(network.v @ network.v) + b


def separates(network: TwoLayer, data: Dataset) -> Check:
    """y_i N(x_i) > 0 for all i; the hypothesis behind every rescaling to margin 1."""
    return above("smallest margin", float(network.margins(data.X, data.y).min()), 0.0, tolerance=0.0)


def without_bias(network: TwoLayer) -> Check:
    """No hidden bias, or all of them zero."""
    return true("no bias", network.b is None or not network.b.any())


def log_binomial_tail(count: int, draws: int, p: float) -> float:
    """ln P(Bin(draws, p) > count), summed from its largest term in logarithms.

    Examples
    --------
    >>> import math
    >>> from marginflow.theory.kys23.unit_sphere import log_binomial_tail
    >>> round(math.exp(log_binomial_tail(1, 3, 0.5)), 12)
    0.5
    """
    if count < 0 or p == 1.0:
        return 0.0 if count < draws else -math.inf
    if count >= draws or p == 0.0:
        return -math.inf
    j = np.arange(count + 1, draws + 1, dtype=np.float64)
    log_choose = [math.lgamma(draws + 1) - math.lgamma(i + 1) - math.lgamma(draws - i + 1) for i in j]
    terms = np.array(log_choose) + j * math.log(p) + (draws - j) * math.log1p(-p)
    top = float(terms.max())
    return min(0.0, top + math.log(math.fsum(np.exp(terms - top))))
