r"""Uniform samples on a sphere, the inputs of [VYS22, sec. 6] (radius sqrt d) and [KYS23] (radius 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.arrays import FloatArray
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


def sphere_points(n_samples: int, dimension: int, radius: float, rng: np.random.Generator) -> FloatArray:
    """Independent uniform points on the sphere: normalised Gaussian rows; shape (n, d)."""
    check_room(n_samples, dimension)
    X = rng.standard_normal((n_samples, dimension))
    X *= radius / np.linalg.norm(X, axis=1, keepdims=True)
    return X


@final
@dataclass(frozen=True)
class Sphere(AbstractDistribution):
    r"""Independent uniform points on a sphere with labels that do not depend on them.

    .. math:: x_i \sim \mathrm{Unif}(r\, S^{d-1}), \qquad y_i \in \{-1, +1\} \text{ independent of } x_i

    For radius 1, <x, x'>^2 ~ Beta(1/2, (d - 1)/2) for i != j [VYS22, Lem. 3.1; KYS23, Lem. D.1].

    Parameters
    ----------
    dimension : int
        d.
    radius : "sqrt(d)" or number
        r; sqrt(d) in VYS22, 1 in KYS23.
    labels : "random", "both", "balanced", "halves" or "positive"
        See `labelling.draw_labels`; VYS22 draws them at random.
    noise : label noise or None

    Examples
    --------
    >>> from marginflow.data import Sphere
    >>> data = Sphere(dimension=100).sample(10, seed=0)
    >>> data
    Dataset(Sphere: n=10, d=100, 5 positive, 5 negative)
    >>> bool(abs((data.X**2).sum(axis=1) - 100).max() < 1e-12)
    True
    """

    dimension: int
    radius: float | Literal["sqrt(d)"] = "sqrt(d)"
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
        y = draw_labels(self.labels, n_samples, rng)
        return Dataset(X=X, y=y, clean_labels=y)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        check_coordinates(train, self.dimension)
        return self._draw(n_samples, rng)
