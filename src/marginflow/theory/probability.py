r"""Probabilities for statements that hold "with high probability": exact tails in logarithms, or honest intervals.

Tails are natural logarithms, so that a probability of 1e-4000 is a number like any other. Where no formula exists,
`estimate` counts and gives a Clopper-Pearson interval; a bare frequency is never an answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from marginflow.arrays import whole_number
from marginflow.generalisation.sampled import clopper_pearson_interval
from marginflow.generalisation.tails import log_beta_tail, log_sphere_correlation_tail
from marginflow.theory.check import Check, Relation

__all__ = [
    "Frequency",
    "clopper_pearson",
    "estimate",
    "log_beta_tail",
    "log_chi_square_tail",
    "log_coupon_missed_tail",
    "log_gaussian_tail",
    "log_share",
    "log_sphere_correlation_tail",
    "log_sum",
    "log_two_sided_gaussian_tail",
    "union",
]


def log_gaussian_tail(t: float) -> float:
    """ln P(g > t) for a standard normal g.

    Examples
    --------
    >>> from marginflow.theory.probability import log_gaussian_tail
    >>> round(log_gaussian_tail(40.0), 3)
    -804.608
    """
    return float(special.log_ndtr(-t))


def log_two_sided_gaussian_tail(t: float) -> float:
    """ln P(|g| > t), t >= 0."""
    return math.log(2.0) + log_gaussian_tail(t) if t > 0 else 0.0


def log_chi_square_tail(t: float, degrees: float) -> float:
    """ln P(chi^2_degrees > t)."""
    ordinary = float(special.gammaincc(degrees / 2, t / 2)) if t > 0 else 1.0
    if ordinary > 1e-250:
        return math.log(ordinary)
    # Legendre's continued fraction of the upper incomplete gamma function, far in the tail where it converges fast.
    a, x = degrees / 2, t / 2
    return a * math.log(x) - x - float(special.gammaln(a)) + math.log(_legendre_fraction(a, x))


def _legendre_fraction(a: float, x: float) -> float:
    """Gamma(a, x) / (x^a e^-x) by the continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- ...)), modified Lentz."""
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / (b if b != 0 else tiny)
    f = d
    for n in range(1, 100_000):
        an = -n * (n - a)
        b += 2
        d = 1 / (an * d + b or tiny)
        c = b + an / c or tiny
        f *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return f


def log_coupon_missed_tail(draws: int, coupons: int) -> float:
    """ln P(some of k coupons is never seen in n uniform draws), by inclusion and exclusion in exact integers.

    Examples
    --------
    >>> import math
    >>> from marginflow.theory.probability import log_coupon_missed_tail
    >>> round(math.exp(log_coupon_missed_tail(3, 2)), 12)
    0.25
    """
    n = whole_number("draws", draws, minimum=0)
    k = whole_number("coupons", coupons)
    if n < k:
        return 0.0
    missed = sum((-1) ** (j + 1) * math.comb(k, j) * (k - j) ** n for j in range(1, k + 1))
    # math.log takes whole numbers of any size.
    return math.log(missed) - n * math.log(k) if missed else -math.inf


def log_share(share: float) -> float:
    """ln of a share or a number, minus infinity where it is 0 or less."""
    return math.log(share) if share > 0 else -math.inf


def log_sum(*logs: float) -> float:
    """ln sum e^a."""
    top = max(logs)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(log - top) for log in logs))


def union(log_tail: float, events: float) -> float:
    """ln of the union bound min(1, events e^log_tail)."""
    return min(0.0, log_tail + math.log(events)) if events > 0 else -math.inf


@dataclass(frozen=True, kw_only=True)
class Frequency:
    """`count` successes in `draws`, with the Clopper-Pearson interval [low, high] at the given confidence."""

    count: int
    draws: int
    low: float
    high: float
    confidence: float

    @property
    def frequency(self) -> float:
        """count / draws; never quoted without the interval."""
        return self.count / self.draws

    def check(self, name: str, relation: Relation, bound: float, note: str = "", *, vacuous: bool = False) -> Check:
        """A check that is decided only if the whole interval agrees."""
        source = f"{self.count} of {self.draws}, {100 * self.confidence:g} % Clopper-Pearson interval"
        return Check(
            name,
            self.frequency,
            relation,
            bound,
            interval=(self.low, self.high),
            note=source + (f"; {note}" if note else ""),
            vacuous=vacuous,
        )


def clopper_pearson(count: int, draws: int, confidence: float = 0.99) -> Frequency:
    """The exact binomial confidence interval of a probability.

    Examples
    --------
    >>> from marginflow.theory.probability import clopper_pearson
    >>> clopper_pearson(0, 100, 0.95).high.__round__(4)
    0.0362
    """
    low, high = clopper_pearson_interval(count, draws, confidence)
    return Frequency(count=count, draws=draws, low=low, high=high, confidence=confidence)


def estimate(
    event: Callable[[np.random.Generator], bool], draws: int, *, seed: int, confidence: float = 0.99
) -> Frequency:
    """Monte Carlo: draw `draws` times, count where the event occurs, and give the interval."""
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    count = sum(bool(event(rng)) for _ in range(whole_number("draws", draws)))
    return clopper_pearson(count, draws, confidence)
