r"""Label noise: y_i = -y~_i with probability eta(x_i), as things of their own that turn a data set into a data set.

The clean labels y~ are kept, so noise composes: each flips the labels it is given, and `Dataset.noisy` always compares
with the labels before the first noise. The rates below are those of [FCB22, sec. 2; theory/FCB22 sec. 1].
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, real_number, vector, whole_number
from marginflow.data.dataset import Dataset
from marginflow.data.streams import NOISE, generator
from marginflow.doors import brief, fits
from marginflow.errors import InputError
from marginflow.plain import to_plain


class AbstractLabelNoise(abc.ABC):
    """A rule that flips labels; call it on a data set."""

    @abc.abstractmethod
    def probability(self, dataset: Dataset) -> FloatArray:
        """eta(x_i): the probability, given the samples, that label i is flipped; shape (n,)."""

    def flips(self, dataset: Dataset, rng: np.random.Generator) -> BoolArray:
        """Which labels are flipped in one draw: independent coin tosses, unless a rule counts; shape (n,)."""
        eta = self.probability(dataset)
        return rng.random(eta.size) < eta

    def frozen(self, train: Dataset) -> AbstractLabelNoise:
        """The same eta as a fixed function of x, with every quantile taken on `train`, to draw test points with."""
        return self

    def apply(self, dataset: Dataset, rng: np.random.Generator) -> Dataset:
        """Flip labels with the given generator; the origin of the data set is left as it is."""
        flips = self.flips(dataset, rng)
        clean = dataset.y if dataset.clean_labels is None else dataset.clean_labels
        return replace(dataset, y=np.where(flips, -dataset.y, dataset.y), clean_labels=clean)

    def __call__(self, dataset: Dataset, *, seed: int = 0) -> Dataset:
        """Flip labels and note in the origin of the data set what was done; repeated calls use fresh randomness."""
        origin = dataset.followed_by({**to_plain(self, named=True), "seed": seed})
        steps = origin["then"]
        position = len(steps) if isinstance(steps, list) else 0
        return replace(self.apply(dataset, generator(seed, *NOISE, position)), origin=origin)


def _count(rate: float, n: int) -> int:
    """The whole number nearest to rate n, halves up."""
    return int(np.floor(rate * n + 0.5))


def _rate(rate: float) -> float:
    return real_number("rate", rate, at_least=0.0, at_most=1.0)


def _check_limit(name: str, value: float | None) -> None:
    """A limit is None, a number, or an infinity (a rate of 0 freezes to that)."""
    if value is not None and (not fits(value, float) or np.isnan(float(value))):
        raise InputError(f"{name} is {brief(value)}; a number or None is expected.")


def _at_least(scores: FloatArray, threshold: float) -> FloatArray:
    return (scores >= threshold).astype(np.float64)


def _top_threshold(scores: FloatArray, rate: float) -> float:
    """The score that round(rate n) samples reach; +inf when that is none of them."""
    count = _count(rate, scores.size)
    return float("inf") if count == 0 else float(np.sort(scores)[scores.size - count])


@final
@dataclass(frozen=True)
class UniformNoise(AbstractLabelNoise):
    """Every label is flipped independently with probability `rate` [FCB22, sec. 2; KYS23, sec. 2]."""

    rate: float

    def __post_init__(self) -> None:
        _rate(self.rate)

    def probability(self, dataset: Dataset) -> FloatArray:
        """eta(x) = rate."""
        return np.full(dataset.n_samples, float(self.rate))


@final
@dataclass(frozen=True)
class ExactCountNoise(AbstractLabelNoise):
    """Exactly round(rate n) labels are flipped, at uniformly random indices [FCB22, Fig. 1].

    Each label has the same chance as under `UniformNoise` up to the rounding, but the flips are not independent.
    """

    rate: float

    def __post_init__(self) -> None:
        _rate(self.rate)

    def probability(self, dataset: Dataset) -> FloatArray:
        """The count round(rate n) over n, for every sample."""
        n = dataset.n_samples
        return np.full(n, _count(self.rate, n) / n)

    def flips(self, dataset: Dataset, rng: np.random.Generator) -> BoolArray:
        """A uniformly random set of the prescribed size."""
        flips = np.zeros(dataset.n_samples, dtype=np.bool_)
        flips[rng.permutation(dataset.n_samples)[: _count(self.rate, dataset.n_samples)]] = True
        return flips


@final
@dataclass(frozen=True)
class ClusterNoise(AbstractLabelNoise):
    """All noise falls on one of k equally likely clusters, so that the rate over all samples is `rate`.

    Inside the cluster a label is flipped with probability k rate. With four clusters the cluster's majority label is
    still the clean one only for rate < 1/8 [FCB22, A5].
    """

    rate: float
    cluster: int = 0

    def __post_init__(self) -> None:
        _rate(self.rate)
        whole_number("cluster", self.cluster, minimum=0)

    def probability(self, dataset: Dataset) -> FloatArray:
        """k * rate inside the cluster, 0 outside."""
        if dataset.means is None or dataset.clusters is None:
            raise InputError("ClusterNoise needs a data set that knows its clusters and means.")
        k = dataset.means.shape[0]
        if self.cluster >= k:
            raise InputError(f"cluster is {self.cluster}, but the data set has the clusters 0 to {k - 1}.")
        if k * self.rate > 1.0:
            raise InputError(
                f"rate is {self.rate:g}; one of {k} equally likely clusters can carry a rate of at most {1 / k:g}."
            )
        return np.where(dataset.clusters == self.cluster, k * self.rate, 0.0)


@final
@dataclass(frozen=True)
class DirectionNoise(AbstractLabelNoise):
    """The samples that lie farthest along a direction v are flipped: eta(x) = 1 where <x, v> >= threshold.

    Without a threshold it is the quantile of the data set itself, such that round(rate n) samples are flipped. Without
    a direction v is the unit vector along the first mean of each label, (mu1 + mu2) / sqrt 2 for `XorClusters`; the
    clusters' majority labels then are the clean ones only for rate < 1/4.
    """

    rate: float
    direction: Sequence[float] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        _rate(self.rate)
        if self.direction is not None:
            direction = vector("direction", self.direction)
            if not direction.any():
                raise InputError("direction is the zero vector; a direction is expected.")
            object.__setattr__(self, "direction", tuple(direction.tolist()))
        _check_limit("threshold", self.threshold)

    def scores(self, dataset: Dataset) -> FloatArray:
        """<x_i, v> with v normalised."""
        if self.direction is not None:
            v = vector("direction", self.direction, dataset.dimension)
        else:
            first, second = _first_means("DirectionNoise without a direction", dataset)
            v = first + second
        return dataset.X @ (v / np.linalg.norm(v))

    def probability(self, dataset: Dataset) -> FloatArray:
        """1 at and beyond the threshold, 0 before it."""
        scores = self.scores(dataset)
        return _at_least(scores, _top_threshold(scores, self.rate) if self.threshold is None else self.threshold)

    def frozen(self, train: Dataset) -> DirectionNoise:
        """The threshold of the training set, as a function of x."""
        if self.threshold is not None:
            return self
        return replace(self, threshold=_top_threshold(self.scores(train), self.rate))


@final
@dataclass(frozen=True)
class BoundaryNoise(AbstractLabelNoise):
    """The samples nearest to the ideal boundary |<mu1, x>| = |<mu2, x>| are flipped [FCB22, eq. (1)].

    mu1 and mu2 are the first means with label +1 and -1. eta(x) = 1 where the distance
    ||<mu1, x>| - |<mu2, x>|| is at most `distance`; without it, the quantile at which round(rate n) labels are flipped.
    """

    rate: float
    distance: float | None = None

    def __post_init__(self) -> None:
        _rate(self.rate)
        _check_limit("distance", self.distance)

    def scores(self, dataset: Dataset) -> FloatArray:
        """Minus the distance, so that the noisiest samples score highest."""
        first, second = _first_means("BoundaryNoise", dataset)
        scores: FloatArray = -np.abs(np.abs(dataset.X @ first) - np.abs(dataset.X @ second))
        return scores

    def probability(self, dataset: Dataset) -> FloatArray:
        """1 within the distance, 0 beyond it."""
        scores = self.scores(dataset)
        return _at_least(scores, _top_threshold(scores, self.rate) if self.distance is None else -self.distance)

    def frozen(self, train: Dataset) -> BoundaryNoise:
        """The distance of the training set, as a function of x."""
        if self.distance is not None:
            return self
        return replace(self, distance=-_top_threshold(self.scores(train), self.rate))


@final
@dataclass(frozen=True)
class SmoothNoise(AbstractLabelNoise):
    r"""A noise rate that varies with x: eta(x) = clip(rate + slope <x, v>, 0, ceiling), with v a unit vector.

    Without a direction v is that of `DirectionNoise`. For a symmetric mixture and no clipping E eta(x) = rate.
    """

    rate: float
    slope: float = 0.1
    ceiling: float = 1.0
    direction: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _rate(self.rate)
        real_number("slope", self.slope)
        real_number("ceiling", self.ceiling, at_least=0.0, at_most=1.0)
        direction = DirectionNoise(rate=self.rate, direction=self.direction).direction
        object.__setattr__(self, "direction", direction)

    def probability(self, dataset: Dataset) -> FloatArray:
        """The clipped linear function."""
        scores = DirectionNoise(rate=self.rate, direction=self.direction).scores(dataset)
        return np.clip(self.rate + self.slope * scores, 0.0, self.ceiling)


@final
@dataclass(frozen=True)
class GivenNoise(AbstractLabelNoise):
    """The samples with the given numbers are flipped: an adversary who sees the sample, outside the papers' models."""

    index: Sequence[int]

    def __post_init__(self) -> None:
        if not isinstance(self.index, Sequence | np.ndarray) or getattr(self.index, "ndim", 1) != 1:
            raise InputError(f"index is {self.index!r}; a list of sample numbers is expected.")
        chosen = tuple(whole_number("index", number, minimum=0) for number in self.index)
        object.__setattr__(self, "index", chosen)

    def probability(self, dataset: Dataset) -> FloatArray:
        """1 for the given samples, 0 for the others."""
        beyond = [number for number in self.index if number >= dataset.n_samples]
        if beyond:
            raise InputError(f"index contains {beyond[0]}, but there are {dataset.n_samples} samples.")
        probability = np.zeros(dataset.n_samples)
        probability[list(self.index)] = 1.0
        return probability

    def frozen(self, train: Dataset) -> GivenNoise:
        """Refused: numbers of training samples say nothing about test points."""
        raise InputError("GivenNoise names samples of one data set; it has no meaning for fresh test points.")


def _first_means(name: str, dataset: Dataset) -> tuple[FloatArray, FloatArray]:
    """The first mean with label +1 and the first with label -1."""
    if dataset.means is None or dataset.mean_labels is None:
        raise InputError(f"{name} needs a data set that knows its means and their labels.")
    if np.all(dataset.mean_labels == dataset.mean_labels[0]):
        raise InputError(f"{name} needs means of both labels.")
    plus, minus = (dataset.means[int(np.argmax(dataset.mean_labels == sign))] for sign in (1.0, -1.0))
    return plus, minus
