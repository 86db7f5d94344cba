r"""Exact reduction of rotation invariant laws: samples in dimension 10^12 at the cost of their number.

Everything that training, margins and test errors depend on is a function of inner products, and the Gram matrix of
rotation invariant samples has a triangular factor with independent entries of known law (`bartlett`). Its rows are the
samples in an orthonormal basis of their span. Nothing is approximated; the ambient vectors are never formed.
[FVBS23, catalogue 7.1; KYS23, catalogue X.InSpan]
"""

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from marginflow.arrays import FloatArray, whole_number
from marginflow.data.ball import Ball
from marginflow.data.clusters import Clusters, draw_clusters
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import AbstractDistribution, AbstractLabelled, check_room, draw_labels
from marginflow.data.gaussian import Gaussian
from marginflow.data.isotropic import Normal, isotropic_law
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.noisy_sphere import NoisySphere
from marginflow.data.reduction import bartlett
from marginflow.data.sphere import Sphere
from marginflow.data.xor import XorClusters
from marginflow.errors import InputError

Reducible = Sphere | NoisySphere | Gaussian | Ball | Clusters | XorClusters


@final
@dataclass(frozen=True, eq=False)
class GramReduction(AbstractDistribution):
    r"""The same law in coordinates of the span of its means and samples.

    The samples are the rows of a matrix Z with n columns (k' + n with means that span k' dimensions; never more than d)
    such that Z Z^T, and the inner products with the means, have exactly the law of the ambient ones:

    - `Gaussian`: s L, L the Bartlett factor of n vectors in dimension d;
    - `Sphere`, `NoisySphere`: rows of L scaled to norm r; `Ball`: then times U^(1/d);
    - `Clusters`, `XorClusters` (Gaussian): (mu^(j), 0) + sigma (g, L'), g standard normal in the k' mean coordinates,
      L' the Bartlett factor of n vectors in the remaining dimension d - k'.

    Test points come from `fresh`: the coordinates of an independent ambient point in the same basis. They determine
    N(x) for every network whose weights lie in the span, which is where training from zero or from the span stays; the
    component of a test point off the span is not available, so neither is its norm.

    Parameters
    ----------
    distribution : Sphere, NoisySphere, Gaussian, Ball, Clusters or XorClusters
    spare : int
        Extra columns outside the span: zero on the training samples, not on test points. They hold the part of initial
        weights that training never moves; `bartlett` with d minus the other columns is its law.

    Examples
    --------
    >>> from marginflow.data import GramReduction, Sphere
    >>> law = GramReduction(Sphere(dimension=10**12))
    >>> train = law.sample(50, seed=0)
    >>> train
    Dataset(GramReduction: n=50, d=50 standing for 1000000000000, 23 positive, 27 negative)
    >>> law.fresh(1000, train=train, seed=0).X.shape
    (1000, 50)
    """

    distribution: Reducible
    spare: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.distribution, Reducible):
            raise InputError(
                f"{type(self.distribution).__name__} cannot be reduced; "
                "Sphere, NoisySphere, Gaussian, Ball, Clusters or XorClusters is expected."
            )
        law = self.distribution
        if isinstance(law, Clusters | XorClusters) and isotropic_law(law.cluster_law) != Normal():
            raise InputError("Only Gaussian clusters are rotation invariant; the cluster law must be 'gaussian'.")
        whole_number("spare", self.spare, minimum=0)

    @property
    def dimension(self) -> int:
        """d, the dimension that the law speaks of."""
        return self.distribution.dimension

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        law, d = self.distribution, self.dimension
        check_room(n_samples, min(n_samples, d))
        if isinstance(law, Clusters | XorClusters):
            return self._reduced(self._around_means(law, n_samples, law.allocation, rng, columns=None))
        Z = bartlett(n_samples, d, rng)
        if not isinstance(law, Gaussian):
            Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        return self._reduced(self._scaled_and_labelled(Z, rng))

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        law, d, r = self.distribution, self.dimension, train.dimension
        if train.ambient_dimension != d:
            raise InputError(
                f"train stands for dimension {train.ambient_dimension}, but the law has dimension {d}; draw it by "
                "GramReduction.sample of the same law."
            )
        check_room(n_samples, r)
        if isinstance(law, Clusters | XorClusters):
            dataset = self._around_means(law, n_samples, "iid", rng, columns=r)
        else:
            Z = rng.standard_normal((n_samples, r))
            if not isinstance(law, Gaussian):
                # The squared norm off the span is chi-squared with d - r degrees, which is all that normalising needs.
                rest = rng.chisquare(d - r, size=n_samples) if d > r else np.zeros(n_samples)
                Z /= np.sqrt((Z**2).sum(axis=1) + rest)[:, None]
            dataset = self._scaled_and_labelled(Z, rng)
        return replace(dataset, ambient_dimension=d)

    def _noises(self) -> tuple[AbstractLabelNoise, ...]:
        return self.distribution._noises()

    def _scaled_and_labelled(self, Z: FloatArray, rng: np.random.Generator) -> Dataset:
        """Unit (or standard Gaussian) rows scaled as the law says, with its labels."""
        law, n = self.distribution, Z.shape[0]
        if isinstance(law, NoisySphere):
            law = law.inputs
        assert isinstance(law, AbstractLabelled)  # laws with means are drawn elsewhere
        Z = law.scale * Z
        if isinstance(law, Ball):
            Z *= rng.random((n, 1)) ** (1.0 / law.dimension)
        y = draw_labels(law.labels, n, rng)
        return Dataset(X=Z, y=y, clean_labels=y)

    def _around_means(
        self, law: Clusters | XorClusters, n: int, allocation: str, rng: np.random.Generator, columns: int | None
    ) -> Dataset:
        """Clusters in reduced coordinates: training samples (columns=None), or test points with that many columns."""
        centres, mean_labels, sigma = law.mean_coordinates(), law.mean_label_values, law.sigma_value
        k, r = centres.shape
        clusters = draw_clusters(allocation, n, k, rng)
        if columns is None:
            beyond = self.dimension - r
            noise = np.hstack([rng.standard_normal((n, r)), bartlett(n, beyond, rng) if beyond else np.empty((n, 0))])
        else:
            noise = rng.standard_normal((n, columns))
        means = np.pad(centres, ((0, 0), (0, noise.shape[1] - r)))
        y = mean_labels[clusters]
        X = means[clusters] + sigma * noise
        return Dataset(X=X, y=y, clean_labels=y, clusters=clusters, means=means, mean_labels=mean_labels)

    def _reduced(self, dataset: Dataset) -> Dataset:
        """With spare columns of zeros, and the dimension that it stands for."""
        total = dataset.dimension + self.spare
        if total > self.dimension:
            raise InputError(
                f"spare is {self.spare}; {dataset.dimension} columns are taken and the dimension is {self.dimension}."
            )
        padding = ((0, 0), (0, self.spare))
        return replace(
            dataset,
            X=np.pad(dataset.X, padding),
            means=None if dataset.means is None else np.pad(dataset.means, padding),
            ambient_dimension=self.dimension,
        )
