"""Labels that do not depend on the samples (random, balanced, constant), and the laws that have them."""

import abc
from typing import Literal

import numpy as np

from marginflow.arrays import FloatArray, one_of, sealed
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import (
    AbstractDistribution,
    check_coordinates,
    check_dimension,
    check_noise,
    check_room,
)
from marginflow.errors import InputError

Labelling = Literal["random", "both", "balanced", "halves", "positive"]
LABELLINGS = ("random", "both", "balanced", "halves", "positive")


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
        check_labelling(self.labels)
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


def check_labelling(value: object) -> str:
    """One of the words that `draw_labels` knows, or an `InputError`."""
    return one_of("labels", value, LABELLINGS)


def draw_labels(labelling: str, n_samples: int, rng: np.random.Generator) -> FloatArray:
    """Labels of one of five kinds; shape (n,).

    - "random": independent and uniform on {-1, +1} [VYS22, sec. 6];
    - "both": the same, conditioned on both labels occurring (redrawn until they do), which the theorems of VYS22 need;
    - "balanced": n/2 of each at uniformly random indices, the odd one of a random sign;
    - "halves": the first half (rounded up) is +1, the rest -1 [VYS22, sec. 5.1];
    - "positive": all +1, the constant target of [KYS23, sec. 2].
    """
    check_labelling(labelling)
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
