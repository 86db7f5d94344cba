r"""Independent Gaussian samples, the variant of [VYS22, sec. 6] and [KYS23, Rem. 4.2]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.data.dataset import Dataset
from marginflow.data.distribution import (
    AbstractDistribution,
    check_coordinates,
    check_dimension,
    check_noise,
    check_room,
    scale_by_dimension,
)
from marginflow.data.labelling import Labelling, check_labelling, draw_labels
from marginflow.data.noise import AbstractLabelNoise


@final
@dataclass(frozen=True)
class Gaussian(AbstractDistribution):
    r"""Independent Gaussian points with labels that do not depend on them.

    .. math:: x_i \sim N(0, s^2 I_d), \qquad y_i \in \{-1, +1\} \text{ independent of } x_i

    Parameters
    ----------
    dimension : int
        d.
    variance : "1/d" or number
        s^2. With "1/d", as in VYS22 and KYS23, norms are about 1, not sqrt(d), so that a bias weighs sqrt(d) times more
        than on the sphere of radius sqrt(d); with 1 they are about sqrt(d).
    labels : "random", "both", "balanced", "halves" or "positive"
        See `labelling.draw_labels`.
    noise : label noise or None

    Examples
    --------
    >>> from marginflow.data import Gaussian
    >>> Gaussian(dimension=3, variance=1).sample(4, seed=0).X.shape
    (4, 3)
    """

    dimension: int
    variance: float | Literal["1/d"] = "1/d"
    labels: Labelling = "random"
    noise: AbstractLabelNoise | None = None

    def __post_init__(self) -> None:
        check_dimension("dimension", self.dimension)
        check_labelling(self.labels)
        check_noise(self.noise)
        _ = self.standard_deviation

    @property
    def standard_deviation(self) -> float:
        """s as a number."""
        return float(np.sqrt(scale_by_dimension("variance", self.variance, {"1/d": 1.0 / self.dimension})))

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        check_room(n_samples, self.dimension)
        X = self.standard_deviation * rng.standard_normal((n_samples, self.dimension))
        y = draw_labels(self.labels, n_samples, rng)
        return Dataset(X=X, y=y, clean_labels=y)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        check_coordinates(train, self.dimension)
        return self._draw(n_samples, rng)
