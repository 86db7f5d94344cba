"""Test error by counting, on given points or drawn block by block, and what a count says for certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from marginflow.arrays import FloatArray, labels, one_of, real_number, whole_number
from marginflow.data import AbstractDistribution, Dataset, GramReduction
from marginflow.doors import brief
from marginflow.errors import InputError

Ties = Literal["error", "correct"]
TIES = ("error", "correct")

# Test points in memory at a time hold at most this many numbers (16 MiB); a network evaluates them in smaller blocks.
_BLOCK_NUMBERS = 1 << 21


class Predictor(Protocol):
    """Anything that maps samples (n, d) to values (n,), as TwoLayer and MLP do."""

    def __call__(self, X: ArrayLike, /) -> FloatArray:
        """Values, shape (n,)."""


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


def test_error(  # the name is English, not pytest's; hence its exceptions here
    network: Predictor,
    X: ArrayLike,
    y: ArrayLike,
    *,
    ties: Ties = "error",  # noqa: PT028
    confidence: float = 0.95,  # noqa: PT028
) -> Estimate:
    """The share of test points with y N(x) <= 0 (or < 0), and the interval of the error that it stands for.

    Parameters
    ----------
    network : TwoLayer, MLP, or any function of samples
    X, y : arrays, shapes (n, d) and (n,)
        Test points that the network was not trained on, and their labels.
    ties : "error" or "correct"
        What N(x) = 0 counts as. [KYS23] defines the clean error with "<=" and proves with "<".
    confidence : float
        Of the interval.

    Examples
    --------
    >>> from marginflow.generalisation import test_error
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0]], b=[-0.5], v=[1.0])
    >>> test_error(network, [[0.2], [0.6], [0.9]], [1, 1, 1]).errors
    1
    >>> test_error(network, [[0.2], [0.6], [0.9]], [1, 1, 1], ties="correct").errors
    0
    """
    one_of("ties", ties, TIES)
    if not callable(network):
        raise InputError(f"network is {brief(network)}; a network or a function of samples is expected.")
    values = np.asarray(network(X), dtype=np.float64)
    margins = labels("y", y, values.size) * values
    return Estimate.counted(_errors(margins, ties), margins.size, confidence=confidence)


# A function with such a name is not a test, whoever imports it; functions take attributes, which mypy does not know.
test_error.__test__ = False  # type: ignore[attr-defined]  # functions take attributes, which mypy does not know


def sampled_error(
    network: Predictor,
    law: AbstractDistribution,
    n: int,
    *,
    seed: int,
    train: Dataset | None = None,
    target: Literal["clean", "observed"] = "clean",
    ties: Ties = "error",
    confidence: float = 0.95,
) -> Estimate:
    """The error of a network on `n` fresh points of a law, drawn and forgotten block by block.

    Parameters
    ----------
    network : TwoLayer, MLP, or any function of samples
    law : AbstractDistribution
    n : int
        Number of test points; memory does not grow with it.
    seed : int
        Same seed, same points.
    train : Dataset or None
        The training sample, whose coordinates the points take. It may be left out for laws in ambient coordinates.
    target : "clean" or "observed"
        Labels before noise (the clean error of [KYS23]) or after it.
    ties, confidence
        As in `test_error`.

    Examples
    --------
    >>> from marginflow.data import Interval
    >>> from marginflow.generalisation import sampled_error
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0]], b=[-0.25], v=[1.0])
    >>> estimate = sampled_error(network, Interval(p=0.1), 10_000, seed=0)
    >>> estimate.lower < 0.25 < estimate.upper
    True
    """
    one_of("ties", ties, TIES)
    one_of("target", target, ("clean", "observed"))
    n = whole_number("n", n)
    seed = whole_number("seed", seed, minimum=0)
    if not isinstance(law, AbstractDistribution):
        raise InputError(f"law is {law!r}; a distribution of marginflow.data is expected.")
    if train is None:
        if isinstance(law, GramReduction):
            raise InputError("The law has reduced coordinates; the training sample that fixes them (train) is needed.")
        train = law.sample(2, seed=seed)
    rows = max(1, _BLOCK_NUMBERS // train.dimension)
    errors = 0
    for block, start in enumerate(range(0, n, rows)):
        # Every block has a seed of its own; the first keeps the user's.
        own = int(np.random.SeedSequence([seed, block]).generate_state(1, np.uint64)[0]) if block else seed
        points = law.fresh(min(rows, n - start), train=train, seed=own)
        y = points.clean_labels if target == "clean" else points.y
        if y is None:
            raise InputError(f"{type(law).__name__} knows no clean labels; target='observed' counts the noisy ones.")
        errors += _errors(y * np.asarray(network(points.X), dtype=np.float64), ties)
    return Estimate.counted(errors, n, confidence=confidence)


def _errors(margins: FloatArray, ties: Ties) -> int:
    return int((margins <= 0).sum() if ties == "error" else (margins < 0).sum())
