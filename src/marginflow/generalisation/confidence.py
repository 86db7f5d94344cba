"""A counted error and what it says for certain: the exact binomial interval of Clopper and Pearson."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import special

from marginflow.arrays import real_number, whole_number
from marginflow.errors import InputError


@dataclass(frozen=True)
class Estimate:
    """An error rate that was counted on test points, with its interval.

    Parameters
    ----------
    errors, trials : int
        Misclassified points, and all points.
    value : float
        errors / trials; never quoted without the interval.
    lower, upper : float
        Ends of the Clopper-Pearson interval: whatever the true rate is, it lies inside with at least the probability
        `confidence`.
    confidence : float

    Examples
    --------
    >>> from marginflow.generalisation import Estimate
    >>> print(Estimate.counted(3, 1000, confidence=0.95))
    3 of 1000 = 0.003 in [0.0006191, 0.008742] (95 %)
    """

    errors: int
    trials: int
    value: float
    lower: float
    upper: float
    confidence: float

    @classmethod
    def counted(cls, errors: int, trials: int, *, confidence: float = 0.95) -> Estimate:
        """The estimate of `errors` among `trials`."""
        lower, upper = clopper_pearson_interval(errors, trials, confidence)
        return cls(int(errors), int(trials), errors / trials, lower, upper, float(confidence))

    def __str__(self) -> str:
        return (
            f"{self.errors} of {self.trials} = {self.value:.4g} in [{self.lower:.4g}, {self.upper:.4g}] "
            f"({100 * self.confidence:g} %)"
        )


def clopper_pearson_interval(count: int, draws: int, confidence: float) -> tuple[float, float]:
    """The interval of the success probability of which `count` successes in `draws` are not surprising, at either end.

    Each end is where the binomial tail beyond the count is (1 - confidence) / 2.

    Examples
    --------
    >>> from marginflow.generalisation import clopper_pearson_interval
    >>> [round(end, 4) for end in clopper_pearson_interval(0, 100, 0.95)]
    [0.0, 0.0362]
    """
    draws = whole_number("draws", draws)
    count = whole_number("count", count, minimum=0)
    if count > draws:
        raise InputError(f"count is {count}, but there were {draws} draws.")
    tail = (1 - real_number("confidence", confidence, above=0.0, below=1.0)) / 2
    low = 0.0 if count == 0 else float(special.betaincinv(count, draws - count + 1, tail))
    high = 1.0 if count == draws else float(special.betaincinv(count + 1, draws - count, 1 - tail))
    return low, high
