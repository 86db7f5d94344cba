r"""Four clusters in XOR position, the distribution of [FCB22, sec. 2]."""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, one_of, read_only
from marginflow.data.clusters import AbstractClusters, Allocation
from marginflow.data.distribution import check_dimension, check_room
from marginflow.data.isotropic import AbstractIsotropicLaw
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.reduction import random_frame
from marginflow.data.streams import MEANS, generator
from marginflow.errors import InputError


@final
@dataclass(frozen=True, eq=False)
class XorClusters(AbstractClusters):
    r"""The XOR mixture of four log-concave clusters with label noise.

    .. math:: x = c + \sigma z, \quad c \sim \mathrm{Unif}\{+\mu_1, -\mu_1, +\mu_2, -\mu_2\}, \quad
              \tilde y = +1, +1, -1, -1, \quad P(y = -\tilde y \mid x) = \eta(x)

    with mu1, mu2 orthonormal and z log-concave, E z = 0, E z z^T = I [FCB22, sec. 2]. Clusters are numbered in the
    order above.

    Parameters
    ----------
    dimension : int
        d >= 2.
    sigma : "1/sqrt(d)" or number >= 0
        In-cluster standard deviation per coordinate; the figure of the paper has sigma = 1/(5 sqrt(d)).
    cluster_law : word or isotropic law
        Law of z, see `isotropic`: "gaussian", "laplace", "logistic", "cube", "ball", "cross-polytope",
        "radial-exponential", "exponential", "negative-exponential", "gumbel", "gamma", "weibull", "beta", "simplex", or
        an object such as `isotropic.Gamma(shape=3)`. Laws outside the theory are refused with the reason.
    means : "axes", "random" or array of shape (2, d)
        mu1 = e_1, mu2 = e_2; a uniformly random orthonormal pair; given, orthonormal to 1e-12.
    allocation : "iid" or "stratified"
        Clusters drawn at random (the paper), or in turn.
    means_seed : int
        Seed of random means.
    noise : label noise or None
        eta(x), see `noise`; [FCB22, Fig. 1] flips exactly 15% of the labels or each with probability 0.15 (not stated).

    Examples
    --------
    >>> from marginflow.data import UniformNoise, XorClusters
    >>> data = XorClusters(dimension=2, sigma=0.14, noise=UniformNoise(rate=0.15)).sample(400, seed=0)
    >>> sorted(set(data.clusters.tolist())), bool((data.clean_labels[data.noisy] == -data.y[data.noisy]).all())
    ([0, 1, 2, 3], True)
    """

    dimension: int
    sigma: float | Literal["1/sqrt(d)"] = "1/sqrt(d)"
    cluster_law: str | AbstractIsotropicLaw = "gaussian"
    means: Literal["axes", "random"] | ArrayLike = "axes"
    allocation: Allocation = "iid"
    means_seed: int = 0
    noise: AbstractLabelNoise | None = None

    def __post_init__(self) -> None:
        d = check_dimension("dimension", self.dimension, minimum=2)
        if isinstance(self.means, str):
            one_of("means", self.means, ("axes", "random"))
        else:
            pair = matrix("means", self.means)
            if pair.shape != (2, d):
                raise InputError(f"means has shape {pair.shape}; the two rows mu1 and mu2 of length {d} are expected.")
            defect = float(np.abs(pair @ pair.T - np.eye(2)).max())
            if defect > 1e-12:
                raise InputError(f"means are orthonormal only up to {defect:.3g}; mu1 and mu2 must be, up to 1e-12.")
            object.__setattr__(self, "means", read_only(pair))
        self._check()

    @property
    def mean_label_values(self) -> FloatArray:
        """+1, +1, -1, -1."""
        return np.array([1.0, 1.0, -1.0, -1.0])

    def mean_coordinates(self) -> FloatArray:
        """The four means in the basis mu1, mu2; shape (4, 2)."""
        return np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

    def ambient_means(self) -> FloatArray:
        """+mu1, -mu1, +mu2, -mu2 in R^d; shape (4, d)."""
        check_room(4, self.dimension)
        if not isinstance(self.means, str):
            pair: FloatArray = np.asarray(self.means)
        elif self.means == "random":
            pair = random_frame(2, self.dimension, generator(self.means_seed, *MEANS))
        else:
            pair = np.eye(2, self.dimension)
        return np.stack([pair[0], -pair[0], pair[1], -pair[1]])
