r"""Uniform samples in a ball, the third isotropic law of [KYS23, Rem. 4.2]."""

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
    scale_by_dimension,
)
from marginflow.data.labelling import Labelling, check_labelling, draw_labels
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.sphere import sphere_points


@final
@dataclass(frozen=True)
class Ball(AbstractDistribution):
    r"""Independent uniform points in a ball with labels that do not depend on them.

    .. math:: x_i = r\, U_i^{1/d}\, s_i, \qquad U_i \sim \mathrm{Unif}[0, 1], \; s_i \sim \mathrm{Unif}(S^{d-1})

    The covariance is r^2/(d + 2) I.

    Parameters
    ----------
    dimension : int
        d.
    radius : "sqrt(d)" or number
        r.
    labels : "random", "both", "balanced", "halves" or "positive"
        See `labelling.draw_labels`.
    noise : label noise or None

    Examples
    --------
    >>> from marginflow.data import Ball
    >>> bool((Ball(dimension=5).sample(100, seed=0).X ** 2).sum(axis=1).max() <= 1.0)
    True
    """

    dimension: int
    radius: float | Literal["sqrt(d)"] = 1.0
    labels: Labelling = "random"
    noise: AbstractLabelNoise | None = None

    def __post_init__(self) -> None:
        check_dimension("dimension", self.dimension)
        check_labelling(self.labels)
        check_noise(self.noise)
        _ = self.radius_value

    @property
    def radius_value(self) -> float:
        """r as a number."""
        return scale_by_dimension("radius", self.radius, {"sqrt(d)": float(np.sqrt(self.dimension))})

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        X = sphere_points(n_samples, self.dimension, self.radius_value, rng)
        X *= rng.random((n_samples, 1)) ** (1.0 / self.dimension)
        y = draw_labels(self.labels, n_samples, rng)
        return Dataset(X=X, y=y, clean_labels=y)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        check_coordinates(train, self.dimension)
        return self._draw(n_samples, rng)
