"""The bases of all distributions: parameters in a frozen dataclass, `sample` and `fresh` as the two doors."""

import abc
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from marginflow.arrays import FloatArray, one_of, real_number, sealed, whole_number
from marginflow.data.dataset import Dataset
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.streams import FRESH, NOISE, SAMPLE, generator
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.plain import to_plain

Labelling = Literal["random", "both", "balanced", "halves", "positive"]
LABELLINGS = get_args(Labelling)

# Sixteen gibibytes of float64: a larger matrix of samples is a mistake, or a case for `GramReduction`.
_MOST_NUMBERS = 1 << 31
_LARGEST_DIMENSION = 10**15


class AbstractDistribution(abc.ABC):
    """A law of labelled samples. Subclasses are frozen dataclasses that implement the two hooks, and are final.

    A law with label noise has a field `noise`; one whose noise is something else says so in `_noises`.
    """

    noise: AbstractLabelNoise | None = None

    @abc.abstractmethod
    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        """Samples with clean labels."""

    @abc.abstractmethod
    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        """Independent samples from the population, with clean labels, in the coordinates of `train`."""

    def _noises(self) -> tuple[AbstractLabelNoise, ...]:
        """The label noise that belongs to the law, in the order in which it acts."""
        return () if self.noise is None else (self.noise,)

    def sample(self, n_samples: int, seed: int = 0) -> Dataset:
        """Draw a data set; the same seed gives the same bits.

        Parameters
        ----------
        n_samples : int
            Number of samples.
        seed : int
            Whole number; the samples do not depend on the label noise, only on this and on the law's parameters.

        Returns
        -------
        Dataset
            With `origin` holding the law's parameters, n_samples and seed as plain values.
        """
        whole_number("n_samples", n_samples)
        dataset = self._draw(n_samples, generator(seed, *SAMPLE))
        for position, noise in enumerate(self._noises()):
            dataset = noise.apply(dataset, generator(seed, *NOISE, 0, position))
        return replace(dataset, origin=self._origin(n_samples, seed))

    def fresh(self, n_samples: int, *, train: Dataset, seed: int = 0) -> Dataset:
        """Draw test points from the same population, in the coordinates of `train` and independent of it.

        The stream differs from that of `sample` for every seed. Noise that is defined by a quantile (`DirectionNoise`,
        `BoundaryNoise`) uses the quantile of `train`, so that eta(x) is one function for both.
        """
        whole_number("n_samples", n_samples)
        if not isinstance(train, Dataset):
            raise InputError(f"train is {brief(train)}; the Dataset that was trained on is expected.")
        dataset = self._fresh(n_samples, train, generator(seed, *FRESH))
        for position, noise in enumerate(self._noises()):
            dataset = noise.frozen(train).apply(dataset, generator(seed, *FRESH, 0, position))
        return replace(dataset, origin={**self._origin(n_samples, seed), "fresh": True})

    def _origin(self, n_samples: int, seed: int) -> dict[str, object]:
        return {**to_plain(self, named=True), "n_samples": int(n_samples), "seed": int(seed)}


class AbstractLabelled(AbstractDistribution):
    """A law of inputs with labels that do not depend on them: dimension, labels and noise are its fields."""

    dimension: int
    labels: Labelling

    @abc.abstractmethod
    def _points(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        """Independent inputs, shape (n, d)."""

    @property
    @abc.abstractmethod
    def scale(self) -> float:
        """The factor on unit or standard Gaussian points: radius or standard deviation as a number."""

    def __post_init__(self) -> None:
        check_dimension("dimension", self.dimension)
        one_of("labels", self.labels, LABELLINGS)
        check_noise(self.noise)
        _ = self.scale  # refuses a word that stands for nothing

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        check_room(n_samples, self.dimension)
        X = sealed(self._points(n_samples, rng))
        y = draw_labels(self.labels, n_samples, rng)
        return Dataset(X=X, y=y, clean_labels=y)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        check_coordinates(train, self.dimension)
        return self._draw(n_samples, rng)


def draw_labels(labelling: str, n_samples: int, rng: np.random.Generator) -> FloatArray:
    """Labels of one of five kinds; shape (n,).

    - "random": independent and uniform on {-1, +1} [VYS22, sec. 6];
    - "both": the same, conditioned on both labels occurring (redrawn until they do), which the theorems of VYS22 need;
    - "balanced": n/2 of each at uniformly random indices, the odd one of a random sign;
    - "halves": the first half (rounded up) is +1, the rest -1 [VYS22, sec. 5.1];
    - "positive": all +1, the constant target of [KYS23, sec. 2].
    """
    if labelling in ("both", "balanced", "halves") and n_samples < 2:
        raise InputError(f"n_samples is {n_samples}; both labels can occur from 2 samples on (labels={labelling!r}).")
    if labelling == "positive":
        return np.ones(n_samples)
    if labelling == "halves":
        return np.where(np.arange(n_samples) < (n_samples + 1) // 2, 1.0, -1.0)
    if labelling == "balanced":
        y = np.where(np.arange(n_samples) % 2 == 0, 1.0, -1.0) * rng.choice([-1.0, 1.0])
        return rng.permutation(y)
    while True:
        drawn: FloatArray = rng.choice([-1.0, 1.0], size=n_samples)
        if labelling == "random" or np.any(drawn != drawn[0]):
            return drawn


def check_dimension(name: str, value: object, minimum: int = 1) -> int:
    """A whole number up to 1e15: beyond, float64 loses d - i, and the "+1" that a bias adds to d."""
    d = whole_number(name, value, minimum)
    if d > _LARGEST_DIMENSION:
        raise InputError(f"{name} is {d}; at most 1e15 is resolved by float64.")
    return d


def scale_by_dimension(name: str, value: object, words: dict[str, float], *, minimum: str = "positive") -> float:
    """A number, or the number that a word such as "sqrt(d)" stands for; `minimum` is "positive" or "zero"."""
    if isinstance(value, str):
        if value not in words:
            known = ", ".join(repr(word) for word in words)
            raise InputError(f"{name} is {value!r}; a number or one of {known} is expected.")
        return words[value]
    return real_number(name, value, above=0.0) if minimum == "positive" else real_number(name, value, at_least=0.0)


def check_noise(noise: object) -> None:
    """Refuse anything but label noise or None."""
    if noise is not None and not isinstance(noise, AbstractLabelNoise):
        raise InputError(f"noise is {noise!r}; label noise such as UniformNoise(rate=0.1), or None, is expected.")


def check_room(n_samples: int, dimension: int) -> None:
    """Refuse a matrix of samples that no machine of today's size holds, and say what to do."""
    if int(n_samples) * int(dimension) > _MOST_NUMBERS:
        raise InputError(
            f"{n_samples} samples in dimension {dimension} do not fit in memory; draw fewer, or in reduced coordinates "
            "by GramReduction if the dimension is what is large."
        )


def check_coordinates(train: Dataset, dimension: int) -> None:
    """Refuse training data whose columns are not those of the law."""
    if train.dimension != dimension:
        raise InputError(
            f"train has {train.dimension} columns, but the law has dimension {dimension}; for reduced coordinates draw "
            "both by GramReduction."
        )
