r"""Exponential and logistic loss in the log domain: a loss of 1e-800 is a number like any other.

A loss is a sum or mean over samples of l(q_i), where q_i = y_i N(x_i) is the margin. Everything here is about ln L and

.. math:: p_i = -\frac{\partial \ln L}{\partial q_i} \ge 0,

which are of order one however small L is: for the exponential loss p is the softmax of -q. They do not depend on the
reduction nor on the base of the logarithm, so these two only shift ln L.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, one_of, real_number, vector, whole_number
from marginflow.doors import check_types
from marginflow.errors import InputError

__all__ = ["AbstractLoss", "Exponential", "Logistic", "as_power_of_ten"]

Reduction = Literal["sum", "mean"]
Base = Literal["e", "2"]

LN_10 = math.log(10.0)


class AbstractLoss(ABC):
    """A loss sum_i l(q_i), or its mean, with l positive, decreasing and exponentially tailed."""

    reduction: Reduction

    @property
    @abstractmethod
    def log_scale_of_term(self) -> float:
        """Logarithm of the constant that multiplies every term (the base of the logarithm)."""

    @abstractmethod
    def log_terms(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ln l(q_i) and ln(-l'(q_i)) in natural units, unchecked; the same object twice when they are equal."""

    @abstractmethod
    def inverse(self, log_term: float) -> float:
        """The margin q with ln l(q) = log_term, natural units, unchecked."""

    def log_scale(self, n_samples: int) -> float:
        """ln of the factor between the natural sum and this loss."""
        return self.log_scale_of_term - (math.log(n_samples) if self.reduction == "mean" else 0.0)

    def log_value(self, margins: ArrayLike) -> float:
        """ln L of the margins q_i, shape (n,)."""
        q = _some_margins(margins)
        return self.log_sum(q) + self.log_scale(q.size)

    def log_sum(self, q: FloatArray) -> float:
        """ln sum_i l(q_i) in natural units, unchecked: not a number if a margin is not."""
        return log_sum_exp(self.log_terms(q)[0])

    def weights(self, margins: ArrayLike) -> FloatArray:
        r"""p_i = -d ln L / d q_i = -l'(q_i) / sum_k l(q_k), shape (n,); they sum to at most 1."""
        return self.log_sum_and_weights(_some_margins(margins))[1]

    def log_sum_and_weights(self, q: FloatArray) -> tuple[float, FloatArray]:
        """`log_sum` and `weights` together, unchecked.

        The weights are formed relative to the largest slope, so that they are accurate where ln L itself, being of
        the size of the margins, has no digits left for them.
        """
        log_values, log_slopes = self.log_terms(q)
        top = float(log_slopes.max())
        if not math.isfinite(top):
            return math.nan, np.full_like(q, math.nan)
        p: FloatArray = np.exp(log_slopes - top)
        total = float(p.sum() if log_values is log_slopes else np.exp(log_values - top).sum())
        p /= total
        return top + math.log(total), p

    def log_threshold(self, n_samples: int) -> float:
        r"""ln of the loss below which every margin is positive: l(0), or l(0) / n for the mean.

        For the exponential sum this is 1, for the natural logistic sum ln 2, for the logistic sum with base 2 again 1
        [VYS22, A.fit; FVBS23, trap T1].
        """
        return float(self.log_terms(np.zeros(1))[0][0]) + self.log_scale(whole_number("n_samples", n_samples))

    def smoothed_margin(self, log_value: float, n_samples: int) -> float:
        r"""The margin q with l(q) = sum_i l(q_i): at most min_i q_i, and within ln n of it for the exponential loss.

        Divided by ||theta||^degree it is the smoothed normalised margin of Lyu and Li (2020), which never falls
        along gradient flow once it is positive.
        """
        whole_number("n_samples", n_samples)
        return self.inverse(real_number("log_value", log_value) - self.log_scale(n_samples))


@dataclass(frozen=True)
class Exponential(AbstractLoss):
    r"""l(q) = e^{-q}, summed or averaged.

    Examples
    --------
    >>> from marginflow.losses import Exponential, as_power_of_ten
    >>> loss = Exponential()
    >>> as_power_of_ten(loss.log_value([1842.068, 2000.0]))
    '10^-800.000'
    >>> loss.weights([1842.068, 1842.068])
    array([0.5, 0.5])
    """

    reduction: Reduction = "sum"

    def __post_init__(self) -> None:
        one_of("reduction", self.reduction, ("sum", "mean"))

    @property
    def log_scale_of_term(self) -> float:
        """Nothing multiplies a term."""
        return 0.0

    def log_terms(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Both are -q; unchecked."""
        minus: FloatArray = -q
        return minus, minus

    def inverse(self, log_term: float) -> float:
        """q = -log_term; unchecked."""
        return -log_term


@dataclass(frozen=True)
class Logistic(AbstractLoss):
    r"""l(q) = log(1 + e^{-q}), natural or with base 2, summed or averaged.

    In the far tail l(q) = e^{-q}(1 - e^{-q}/2 + ...), equal to the exponential loss to rounding from q = 37 on.

    Examples
    --------
    >>> from marginflow.losses import Exponential, Logistic
    >>> Logistic().log_value([5000.0]) == Exponential().log_value([5000.0])
    True
    >>> round(Logistic(base="2").log_value([0.0]), 12)
    0.0
    """

    reduction: Reduction = "sum"
    base: Base = "e"

    def __post_init__(self) -> None:
        one_of("reduction", self.reduction, ("sum", "mean"))
        one_of("base", self.base, ("e", "2"))

    @property
    def log_scale_of_term(self) -> float:
        """log_2 z = ln z / ln 2."""
        return -math.log(math.log(2.0)) if self.base == "2" else 0.0

    def log_terms(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ln log1p(e^{-q}) and ln sigmoid(-q), with no underflow for q -> +inf and no overflow for q -> -inf.

        The margins are unchecked.
        """
        z = np.exp(-np.abs(q))  # in (0, 1]; underflow to 0 is harmless below
        log1p_z = np.log1p(z)
        tail = np.maximum(-q, 0.0)
        log_slopes: FloatArray = np.minimum(-q, 0.0) - log1p_z
        # q >= 0: ln l = -q + ln(log1p(z) / z), the ratio being 1 - z/2 + ... and 1 where z has underflowed.
        # q < 0: l = -q + log1p(e^q) is at least ln 2.
        ratio = np.divide(log1p_z, z, out=np.ones_like(z), where=z > 0.0)
        positive = q >= 0.0
        log_values: FloatArray = np.where(positive, -q, 0.0) + np.log(np.where(positive, ratio, tail + log1p_z))
        return log_values, log_slopes

    def inverse(self, log_term: float) -> float:
        r"""q = -ln(e^l - 1) where l = e^{log_term}, evaluated without cancellation at either end; unchecked."""
        if log_term < -40.0:  # e^l - 1 = l (1 + l/2 + ...), and l/2 is below half an ulp
            return -log_term
        value = math.exp(log_term)
        return -math.log(math.expm1(value)) if value < 1.0 else -value - math.log1p(-math.exp(-value))


def _some_margins(margins: ArrayLike) -> FloatArray:
    q = vector("margins", margins)
    if q.size == 0:
        raise InputError("margins is empty; at least one is expected.")
    return q


def log_sum_exp(a: FloatArray) -> float:
    """ln sum_i e^{a_i}, without overflow or underflow."""
    top = float(a.max())
    if math.isinf(top):
        return top
    return top + math.log(float(np.exp(a - top).sum()))


def as_power_of_ten(log_value: float, digits: int = 3) -> str:
    """A positive number given by its natural logarithm, printed as 10^x."""
    digits = whole_number("digits", digits, minimum=0)
    return f"10^{real_number('log_value', log_value) / LN_10:.{min(digits, 20)}f}"


check_types(globals())
