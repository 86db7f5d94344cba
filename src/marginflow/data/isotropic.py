r"""Log-concave laws on R^d with mean 0 and covariance I: the cluster laws that [FCB22, sec. 2] allows.

A density exp(-U) with U convex (+inf off the support) is log-concave. Each class below says its density before it is
centred and scaled; the scaling is exact, not estimated. Laws that are not log-concave or not isotropic are refused.
"""

import abc
from dataclasses import dataclass
from math import exp, gamma, lgamma, sqrt
from typing import ClassVar, Literal, final

import numpy as np

from marginflow.arrays import FloatArray, real_number
from marginflow.errors import InputError


class AbstractIsotropicLaw(abc.ABC):
    """A log-concave law with mean 0 and covariance I."""

    # Whether z and -z are known to have the same law; if not, a linear classifier can beat chance on the XOR mixture.
    symmetric: ClassVar[bool] = False

    def draw(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        """Independent samples as rows; shape (n, d)."""
        return self._rows(n_samples, dimension, rng)

    @abc.abstractmethod
    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray: ...


@final
@dataclass(frozen=True)
class Normal(AbstractIsotropicLaw):
    """Independent standard normal coordinates."""

    symmetric: ClassVar[bool] = True

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return rng.standard_normal((n_samples, dimension))


@final
@dataclass(frozen=True)
class Laplace(AbstractIsotropicLaw):
    """Independent coordinates with density proportional to exp(-sqrt2 |t|)."""

    symmetric: ClassVar[bool] = True

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return rng.laplace(scale=np.sqrt(0.5), size=(n_samples, dimension))


@final
@dataclass(frozen=True)
class LogisticCoordinates(AbstractIsotropicLaw):
    """Independent logistic coordinates of scale sqrt3 / pi."""

    symmetric: ClassVar[bool] = True

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return rng.logistic(scale=np.sqrt(3.0) / np.pi, size=(n_samples, dimension))


@final
@dataclass(frozen=True)
class Cube(AbstractIsotropicLaw):
    """Uniform on [-sqrt3, sqrt3]^d."""

    symmetric: ClassVar[bool] = True

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), size=(n_samples, dimension))


@final
@dataclass(frozen=True)
class LpBall(AbstractIsotropicLaw):
    r"""Uniform on a ball {sum |t_i|^p <= r^p}, p >= 1; p = 2 is the Euclidean ball of radius sqrt(d + 2).

    With g_i of density exp(-|t|^p) and E ~ Exp(1), g / (sum |g_i|^p + E)^(1/p) is uniform on the unit ball and
    independent of the denominator, whose p-th power is Gamma(d/p + 1). So the coordinate variance is
    Gamma(3/p) Gamma(d/p + 1) / (Gamma(1/p) Gamma((d + 2)/p + 1)).
    """

    p: float = 2.0
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        real_number("p", self.p)
        if self.p < 1:
            raise InputError(f"p is {self.p:g}; for p < 1 the ball is not convex, so the law is not log-concave.")
        if self.p > 20:  # |g|^p would underflow
            raise InputError(f"p is {self.p:g}; at most 20 is drawn accurately, and the limit of large p is 'cube'.")

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        d, p = dimension, float(self.p)
        powers = rng.gamma(1.0 / p, size=(n_samples, d))  # |g|^p
        total = powers.sum(axis=1, keepdims=True) + rng.standard_exponential((n_samples, 1))
        magnitude = (powers / total) ** (1.0 / p)
        log_variance = lgamma(3 / p) + lgamma(d / p + 1) - lgamma(1 / p) - lgamma((d + 2) / p + 1)
        points: FloatArray = magnitude * rng.choice([-1.0, 1.0], size=(n_samples, d)) * exp(-0.5 * log_variance)
        return points


@final
@dataclass(frozen=True)
class RadialExponential(AbstractIsotropicLaw):
    """Density proportional to exp(-c ||t||): a uniform direction times a Gamma(d) radius over sqrt(d + 1)."""

    symmetric: ClassVar[bool] = True

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        g = rng.standard_normal((n_samples, dimension))
        radius = rng.gamma(float(dimension), size=(n_samples, 1)) / np.sqrt(dimension + 1.0)  # E Gamma(d)^2 = d (d + 1)
        points: FloatArray = g * (radius / np.linalg.norm(g, axis=1, keepdims=True))
        return points


@final
@dataclass(frozen=True)
class ExponentialCoordinates(AbstractIsotropicLaw):
    """Independent coordinates E - 1 (`sign=1`) or 1 - E (`sign=-1`), E ~ Exp(1)."""

    sign: Literal[1, -1] = 1

    def __post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise InputError(f"sign is {self.sign!r}; 1 or -1 is expected.")

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return self.sign * (rng.standard_exponential((n_samples, dimension)) - 1.0)


@final
@dataclass(frozen=True)
class Gumbel(AbstractIsotropicLaw):
    """Independent coordinates (sqrt6 / pi) (G - 0.5772...), G of distribution function exp(-exp(-t))."""

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return (sqrt(6.0) / np.pi) * (rng.gumbel(size=(n_samples, dimension)) - np.euler_gamma)


@final
@dataclass(frozen=True)
class Gamma(AbstractIsotropicLaw):
    """Independent coordinates (G - k) / sqrt k, G ~ Gamma(k) with shape k >= 1."""

    shape: float = 2.0

    def __post_init__(self) -> None:
        _require_shape("Gamma", "shape", self.shape)

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        return (rng.gamma(self.shape, size=(n_samples, dimension)) - self.shape) / sqrt(self.shape)


@final
@dataclass(frozen=True)
class Weibull(AbstractIsotropicLaw):
    """Independent coordinates of density k t^(k-1) exp(-t^k), centred and scaled; shape k >= 1."""

    shape: float = 2.0

    def __post_init__(self) -> None:
        _require_shape("Weibull", "shape", self.shape)
        real_number("shape", self.shape, at_most=1e4)  # the variance is a difference that cancels beyond

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        mean = gamma(1.0 + 1.0 / self.shape)
        deviation = sqrt(gamma(1.0 + 2.0 / self.shape) - mean**2)
        return (rng.weibull(self.shape, size=(n_samples, dimension)) - mean) / deviation


@final
@dataclass(frozen=True)
class Beta(AbstractIsotropicLaw):
    """Independent coordinates of density t^(a-1) (1-t)^(b-1) on [0, 1], centred and scaled; a, b >= 1."""

    a: float = 1.0
    b: float = 2.0

    def __post_init__(self) -> None:
        _require_shape("Beta", "a", self.a)
        _require_shape("Beta", "b", self.b)

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        total = self.a + self.b
        deviation = sqrt(self.a * self.b / (total**2 * (total + 1.0)))
        return (rng.beta(self.a, self.b, size=(n_samples, dimension)) - self.a / total) / deviation


@final
@dataclass(frozen=True)
class Simplex(AbstractIsotropicLaw):
    """Uniform on a regular simplex in R^d.

    Dirichlet(1, ..., 1) on d + 1 parts has variance 1/((d+1)(d+2)) in every direction of the plane sum t = 1; the
    coordinates are those of the Helmert basis h_j = (1, ..., 1, -j, 0, ..., 0) / sqrt(j (j+1)) of that plane.
    """

    def _rows(self, n_samples: int, dimension: int, rng: np.random.Generator) -> FloatArray:
        d = dimension
        parts = rng.standard_exponential((n_samples, d + 1))
        parts /= parts.sum(axis=1, keepdims=True)
        j = np.arange(1.0, d + 1.0)
        helmert = (np.cumsum(parts, axis=1)[:, :-1] - j * parts[:, 1:]) / np.sqrt(j * (j + 1.0))
        return helmert * sqrt((d + 1.0) * (d + 2.0))


def _require_shape(law: str, name: str, value: float) -> None:
    real_number(name, value, above=0.0)
    if value < 1:
        raise InputError(f"{name} is {value:g}; {law} is log-concave only for {name} >= 1.")


LAWS: dict[str, AbstractIsotropicLaw] = {
    "gaussian": Normal(),
    "laplace": Laplace(),
    "logistic": LogisticCoordinates(),
    "cube": Cube(),
    "ball": LpBall(p=2.0),
    "cross-polytope": LpBall(p=1.0),
    "radial-exponential": RadialExponential(),
    "exponential": ExponentialCoordinates(),
    "negative-exponential": ExponentialCoordinates(sign=-1),
    "gumbel": Gumbel(),
    "gamma": Gamma(),
    "weibull": Weibull(),
    "beta": Beta(),
    "simplex": Simplex(),
}

REFUSED: dict[str, str] = {
    "student-t": "its tails are polynomial, so it is not log-concave",
    "hypercube": "the vertices of a cube carry no density, so it is not log-concave",
    "separated-mixture": "a mixture of well separated Gaussians has several modes, so it is not log-concave",
    "anisotropic": "its covariance is not a multiple of the identity; whiten it first (an ellipsoid becomes the ball)",
}


def isotropic_law(value: object) -> AbstractIsotropicLaw:
    """The law that a word stands for, or the law itself; laws outside the theory are refused with the reason."""
    if isinstance(value, AbstractIsotropicLaw):
        return value
    if isinstance(value, str) and value in LAWS:
        return LAWS[value]
    if isinstance(value, str) and value in REFUSED:
        raise InputError(f"The cluster law {value!r} is refused: {REFUSED[value]}.")
    known = ", ".join(repr(word) for word in LAWS)
    raise InputError(f"The cluster law is {value!r}; an isotropic law or one of {known} is expected.")
