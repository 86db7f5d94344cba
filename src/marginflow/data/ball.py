r"""Uniform samples in a ball, the third isotropic law of [KYS23, Rem. 4.2]."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data.distribution import AbstractLabelled, Labelling, scale_by_dimension
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.sphere import sphere_points


@final
@dataclass(frozen=True)
class Ball(AbstractLabelled):
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
        See `distribution.draw_labels`.
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

    @property
    def scale(self) -> float:
        """r as a number."""
        return scale_by_dimension("radius", self.radius, {"sqrt(d)": float(np.sqrt(self.dimension))})

    def _points(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        X = sphere_points(n_samples, self.dimension, self.scale, rng)
        X *= rng.random((n_samples, 1)) ** (1.0 / self.dimension)
        return X
