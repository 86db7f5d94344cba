r"""Uniform samples on a sphere, the inputs of [VYS22, sec. 6] (radius sqrt d) and [KYS23] (radius 1)."""

from dataclasses import dataclass
from typing import Final, Literal, final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data.distribution import AbstractLabelled, Labelling, scale_by_dimension
from marginflow.data.noise import AbstractLabelNoise

_BLOCK: Final = 1 << 16  # numbers that are drawn and normalised at once: half a megabyte


def sphere_points(n_samples: int, dimension: int, radius: float, rng: np.random.Generator) -> FloatArray:
    """Independent uniform points on the sphere: normalised Gaussian rows; shape (n, d).

    Rows are normalised while they are in the cache, a block after the other; the blocks do not change a bit of them.
    """
    X = np.empty((n_samples, dimension))
    step = max(1, _BLOCK // dimension)
    for begin in range(0, n_samples, step):
        rows = X[begin : begin + step]
        rng.standard_normal(out=rows)
        rows *= radius / np.linalg.norm(rows, axis=1, keepdims=True)
    return X


@final
@dataclass(frozen=True)
class Sphere(AbstractLabelled):
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
        See `distribution.draw_labels`; VYS22 draws them at random.
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

    @property
    def scale(self) -> float:
        """r as a number."""
        return scale_by_dimension("radius", self.radius, {"sqrt(d)": float(np.sqrt(self.dimension))})

    def _points(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        return sphere_points(n_samples, self.dimension, self.scale, rng)
