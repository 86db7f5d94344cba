r"""Gaussian clusters around nearly orthogonal means, the distribution of [FVBS23, sec. 2]."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, IntArray, labels, matrix, one_of, read_only, real_number, whole_number
from marginflow.data.cluster_constants import ClusterConstants
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import (
    AbstractDistribution,
    check_coordinates,
    check_dimension,
    check_noise,
    check_room,
    scale_by_dimension,
)
from marginflow.data.isotropic import AbstractIsotropicLaw, isotropic_law
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.reduction import bartlett, in_span, random_frame
from marginflow.data.streams import MEANS, generator
from marginflow.display import Brief
from marginflow.errors import InputError

Allocation = Literal["iid", "stratified"]


def draw_clusters(allocation: str, n_samples: int, n_clusters: int, rng: np.random.Generator) -> IntArray:
    """Cluster numbers: independent and uniform, or in turn so that sizes differ by at most one; shape (n,)."""
    if allocation == "iid":
        return rng.integers(n_clusters, size=n_samples)
    if n_samples < n_clusters:
        raise InputError(
            f"n_samples is {n_samples}; stratified samples of {n_clusters} clusters need at least as many."
        )
    return np.arange(n_samples) % n_clusters


class AbstractClusters(Brief, AbstractDistribution):
    """A law of clusters around labelled means; the fields below are those that such laws share."""

    dimension: int
    sigma: float | Literal["1/sqrt(d)"]
    cluster_law: str | AbstractIsotropicLaw
    allocation: Allocation
    means_seed: int

    @property
    @abc.abstractmethod
    def mean_label_values(self) -> FloatArray:
        """The labels of the means; shape (k,)."""

    @abc.abstractmethod
    def ambient_means(self) -> FloatArray:
        """The means in R^d; shape (k, d)."""

    def _check(self) -> None:
        _ = self.sigma_value
        isotropic_law(self.cluster_law)
        one_of("allocation", self.allocation, ("iid", "stratified"))
        whole_number("means_seed", self.means_seed, minimum=0)
        check_noise(self.noise)

    @property
    def sigma_value(self) -> float:
        """Sigma as a number."""
        return scale_by_dimension("sigma", self.sigma, {"1/sqrt(d)": self.dimension**-0.5}, minimum="zero")

    def _population(self, n_samples: int, allocation: str, rng: np.random.Generator) -> Dataset:
        """Samples x_i = mu_{c_i} + sigma g_i with the labels of their clusters."""
        check_room(n_samples, self.dimension)
        means, mean_labels = self.ambient_means(), self.mean_label_values
        clusters = draw_clusters(allocation, n_samples, mean_labels.size, rng)
        X = isotropic_law(self.cluster_law).draw(n_samples, self.dimension, rng)
        X *= self.sigma_value
        X += means[clusters]
        y = mean_labels[clusters]
        return Dataset(X=X, y=y, clean_labels=y, clusters=clusters, means=means, mean_labels=mean_labels)

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        return self._population(n_samples, self.allocation, rng)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        check_coordinates(train, self.dimension)
        return self._population(n_samples, "iid", rng)


@final
@dataclass(frozen=True, eq=False)
class Clusters(AbstractClusters):
    r"""k Gaussian clusters with labelled means.

    .. math:: j \sim \mathrm{Unif}[k], \quad x = \mu^{(j)} + \xi, \quad \xi \sim N(0, \sigma^2 I_d), \quad y = y^{(j)}

    [FVBS23, sec. 2.2]. The means belong to the law, not to the draw: samples with different seeds share them.

    Parameters
    ----------
    dimension : int
        d.
    n_clusters : int or None
        k; may be left out when `means` is an array.
    sigma : "1/sqrt(d)" or number >= 0
        Standard deviation of the noise per coordinate; 0 gives the means themselves, the limit case of the paper.
    means : "orthogonal", "sphere", "equicorrelated" or array of shape (k, d)
        sqrt(d) e_q; independent and uniform on the sphere of radius sqrt(d); Gram matrix d ((1-r) I + r 1 1^T); given.
    correlation : number
        r of the equicorrelated means, -1/(k-1) <= r <= 1.
    mean_labels : "balanced" or k labels
        "balanced" alternates +1, -1, +1, ...
    allocation : "iid" or "stratified"
        Clusters drawn at random (the theorems), or in turn with sizes that differ by at most one (enough for the
        deterministic lemmas, with n as small as k).
    means_seed : int
        Seed of random means. Their inner products are the same here and under `GramReduction`.
    cluster_law : word or isotropic law
        Law of xi / sigma, see `isotropic`; Gaussian in the paper, which remarks that other noise with small components
        in every direction would do.
    noise : label noise or None

    Examples
    --------
    >>> from marginflow.data import Clusters
    >>> law = Clusters(dimension=549, n_clusters=2)
    >>> law.constants.holds()
    True
    >>> law.sample(80, seed=0)
    Dataset(Clusters: n=80, d=549, 34 positive, 46 negative)
    """

    dimension: int
    n_clusters: int | None = None
    sigma: float | Literal["1/sqrt(d)"] = "1/sqrt(d)"
    means: Literal["orthogonal", "sphere", "equicorrelated"] | ArrayLike = "orthogonal"
    correlation: float = 0.0
    mean_labels: Literal["balanced"] | Sequence[float] = "balanced"
    allocation: Allocation = "iid"
    means_seed: int = 0
    cluster_law: str | AbstractIsotropicLaw = "gaussian"
    noise: AbstractLabelNoise | None = None

    def __post_init__(self) -> None:
        d = check_dimension("dimension", self.dimension)
        if isinstance(self.means, str):
            one_of("means", self.means, ("orthogonal", "sphere", "equicorrelated"))
            k = whole_number("n_clusters", self.n_clusters)
        else:
            means = matrix("means", self.means)
            if means.shape[1] != d:
                raise InputError(f"means has {means.shape[1]} columns, but the dimension is {d}.")
            k = means.shape[0]
            if self.n_clusters not in (None, k):
                raise InputError(f"n_clusters is {self.n_clusters}, but means has {k} rows.")
            object.__setattr__(self, "means", read_only(means))
        object.__setattr__(self, "n_clusters", k)
        if isinstance(self.means, str) and self.means in ("orthogonal", "equicorrelated") and k > d:
            raise InputError(f"n_clusters is {k}; at most {d} {self.means} means fit in dimension {d}.")
        least = -1.0 / (k - 1) if k > 1 else -1.0
        real_number("correlation", self.correlation, at_least=least, at_most=1.0)
        if self.correlation != 0 and not (isinstance(self.means, str) and self.means == "equicorrelated"):
            raise InputError(f"correlation is {self.correlation:g}, but only equicorrelated means have one.")
        if isinstance(self.mean_labels, str):
            one_of("mean_labels", self.mean_labels, ("balanced",))
        else:
            given = labels("mean_labels", self.mean_labels, k)
            object.__setattr__(self, "mean_labels", tuple(given.tolist()))
        self._check()

    @property
    def k(self) -> int:
        """Number of clusters."""
        return whole_number("n_clusters", self.n_clusters)

    @property
    def mean_label_values(self) -> FloatArray:
        """The labels y^(q); shape (k,)."""
        if isinstance(self.mean_labels, str):
            return np.where(np.arange(self.k) % 2 == 0, 1.0, -1.0)
        return np.asarray(self.mean_labels, dtype=np.float64)

    def mean_coordinates(self) -> FloatArray:
        """The means in an orthonormal basis of a space that contains them; shape (k, r), r = min(k, d)."""
        d, k = self.dimension, self.k
        if not isinstance(self.means, str):
            return in_span(self.means)[0]
        if self.means == "sphere":
            triangle = bartlett(k, d, generator(self.means_seed, *MEANS, 0))
            sphere: FloatArray = triangle * (sqrt(d) / np.linalg.norm(triangle, axis=1, keepdims=True))
            return sphere
        # The symmetric square root of (1 - r) I + r 1 1^T; the identity for r = 0.
        r = self.correlation
        inner = sqrt(1.0 - r)
        outer = (sqrt(max(0.0, 1.0 + (k - 1) * r)) - inner) / k
        return sqrt(d) * (inner * np.eye(k) + outer)

    def ambient_means(self) -> FloatArray:
        """The means in R^d; shape (k, d)."""
        if not isinstance(self.means, str):
            return np.asarray(self.means)
        check_room(self.k, self.dimension)
        coordinates = self.mean_coordinates()
        if self.means == "sphere":
            rng = generator(self.means_seed, *MEANS, 1)
            return coordinates @ random_frame(coordinates.shape[1], self.dimension, rng)
        return np.pad(coordinates, ((0, 0), (0, self.dimension - coordinates.shape[1])))

    @property
    def constants(self) -> ClusterConstants:
        """The numbers of Assumption 2.2."""
        coordinates = self.mean_coordinates()
        return ClusterConstants.from_gram(
            coordinates @ coordinates.T, self.mean_label_values, sigma=self.sigma_value, dimension=self.dimension
        )
