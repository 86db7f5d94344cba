r"""Independent Gaussian samples, the variant of [VYS22, sec. 6] and [KYS23, Rem. 4.2]."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data.distribution import AbstractLabelled, Labelling, scale_by_dimension
from marginflow.data.noise import AbstractLabelNoise


@final
@dataclass(frozen=True)
class Gaussian(AbstractLabelled):
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
        See `distribution.draw_labels`.
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

    @property
    def scale(self) -> float:
        """s as a number."""
        return float(np.sqrt(scale_by_dimension("variance", self.variance, {"1/d": 1.0 / self.dimension})))

    def _points(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        return self.scale * rng.standard_normal((n_samples, self.dimension))
