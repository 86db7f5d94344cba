r"""The high-dimensional setting of [KYS23, sec. 4 and 5]: a constant target on the unit sphere, with label noise."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.arrays import one_of, real_number
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import AbstractDistribution, check_dimension
from marginflow.data.noise import AbstractLabelNoise, ExactCountNoise, UniformNoise
from marginflow.data.sphere import Sphere

NoiseCount = Literal["bernoulli", "exact"]


def constant_target_noise(p: float, count: str) -> AbstractLabelNoise:
    """Flip each label with probability p ("bernoulli"), or exactly round(p n) of them ("exact")."""
    real_number("p", p, at_least=0.0, at_most=1.0)
    one_of("count", count, ("bernoulli", "exact"))
    return UniformNoise(rate=p) if count == "bernoulli" else ExactCountNoise(rate=p)


@final
@dataclass(frozen=True)
class NoisySphere(AbstractDistribution):
    r"""Uniform points on the unit sphere, target +1 everywhere, labels -1 with probability p.

    .. math:: x_i \sim \mathrm{Unif}(S^{d-1}), \qquad \tilde y_i = +1, \qquad P(y_i = -1) = p

    independent of x_i [KYS23, sec. 2]. The clean test error is P(N(x) <= 0).

    Parameters
    ----------
    dimension : int
        d.
    p : number in [0, 1]
        Noise rate; the theorems take p < 1/2, the figures go to 0.5.
    count : "bernoulli" or "exact"
        Independent flips (the paper), or exactly round(p n) of them: at n = 100 the realised rate of independent flips
        fluctuates by 0.05, which blurs curves over p.

    Deviations
    ----------
    [KYS23, Rem. 4.2] names other isotropic laws. For those use `Gaussian(variance="1/d", labels="positive")` and
    `Ball(radius=1, labels="positive")` with `UniformNoise`; a standard Gaussian has the wrong scale for that remark.

    Examples
    --------
    >>> from marginflow.data import NoisySphere
    >>> data = NoisySphere(dimension=50, p=0.1, count="exact").sample(200, seed=0)
    >>> int(data.noisy.sum())
    20
    """

    dimension: int
    p: float = 0.1
    count: NoiseCount = "bernoulli"

    def __post_init__(self) -> None:
        check_dimension("dimension", self.dimension)
        constant_target_noise(self.p, self.count)

    @property
    def inputs(self) -> Sphere:
        """The law of the inputs with the constant target."""
        return Sphere(dimension=self.dimension, radius=1.0, labels="positive")

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        return self.inputs._draw(n_samples, rng)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        return self.inputs._fresh(n_samples, train, rng)

    def _noises(self) -> tuple[AbstractLabelNoise, ...]:
        return (constant_target_noise(self.p, self.count),)
