r"""The letters of [FVBS23]: `ClusterLetters` know numbers, `ClusterSetting` the law, `ClusterSample` a training set.

KKT points are in neurons.py.

c is the balance of the labels of the clusters, c' = k (p + Delta + 1) / (d - Delta + 1); the two are unrelated.
Logarithms are natural. `Delta` = 4 g with g = sigma sqrt(d) ln d, and q_d = d^(-ln(d)/2).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.data import AbstractDistribution, ClusterConstants, Clusters, Dataset, GramReduction
from marginflow.errors import InputError
from marginflow.robustness.cluster_bounds import ClusterBounds
from marginflow.robustness.explicit_vectors import fvbs23_steps
from marginflow.theory.frame import Check, Instance, above, at_least, at_most, equal
from marginflow.theory.probability import log_share, log_sum, log_two_sided_gaussian_tail

LENGTH: Final = 13.31
"""The constant of Lemma D.9: ||z|| <= 13.31 sqrt(d / (c^2 k))."""


def cluster_law(law: AbstractDistribution) -> Clusters:
    """The clusters behind a law, reduced or not; an `InputError` for any other law."""
    inner = law.distribution if isinstance(law, GramReduction) else law
    if not isinstance(inner, Clusters):
        raise InputError(f"The law is {type(inner).__name__}; Clusters (or GramReduction of Clusters) is expected.")
    return inner


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterLetters(ClusterConstants):
    """The constants by the paper's letters, and what its formulas make of them."""

    @property
    def d(self) -> int:
        """Dimension."""
        return self.dimension

    @property
    def k(self) -> int:
        """Number of clusters."""
        return self.n_clusters

    @property
    def L(self) -> float:
        """ln d."""
        return math.log(self.d)

    @property
    def g(self) -> float:
        """sigma sqrt(d) ln d."""
        return self.Delta / 4

    @property
    def c(self) -> float:
        """min(|Q+|, |Q-|) / k."""
        return self.balance

    @property
    def least(self) -> float:
        """min(|Q+|, |Q-|) = c k."""
        return self.c * self.k

    @property
    def D_u(self) -> float:
        """d - Delta - k p - k Delta."""
        return self.d - self.Delta - self.k * (self.p + self.Delta)

    @property
    def eta_1(self) -> float:
        """(2 Delta + p + 1) / D_u [FVBS23, Lem D.6]."""
        return self._steps[0]

    @property
    def eta_2(self) -> float:
        """3 (3d + Delta + 1)(1 - 2c') / (D_u (1 - 3c') c k) [FVBS23, Lem D.7]; infinite where a label is missing."""
        return self._steps[1]

    @property
    def _steps(self) -> tuple[float, float]:
        try:
            return fvbs23_steps(self, self.least)
        except ZeroDivisionError:  # D_u = 0 or c' = 1/3
            return math.nan, math.nan

    @property
    def spare(self) -> float:
        """1 - 2c', by which the bounds on weights and outputs divide; not a number where it is 0."""
        return 1 - 2 * self.c_prime or math.nan

    @property
    def S_max(self) -> float:
        """1 / ((1 - 2c')(d - Delta + 1)) [FVBS23, Lem A.10]."""
        return 1 / (self.spare * (self.d - self.Delta + 1))

    @property
    def S_min(self) -> float:
        """(1 - c'/(1 - 2c')) / (3d + Delta + 1) [FVBS23, Lem A.11]."""
        return (1 - 3 * self.c_prime) / (self.spare * (3 * self.d + self.Delta + 1))

    @property
    def least_output(self) -> float:
        """The lower bound of y N(x) that the proof of [FVBS23, Lem A.12] gives, with c' as it is."""
        return self.S_min * (self.d - self.Delta + 1) - 2 * self.c_prime / self.spare

    @property
    def largest_output(self) -> float:
        """The upper bound of |N(x)| that the proof of [FVBS23, Lem D.2] gives, with c' as it is."""
        room = self.d - self.Delta + 1 or math.nan
        return ((self.d + self.Delta + 1) / room + self.c_prime) / self.spare

    def log_failure(self, n: float) -> float:
        """ln F, F = 3 n^2 q_d + n^2 e^(-d/16) + d^(1 - ln d) [FVBS23, Prop A.1]."""
        twice = 2 * math.log(n)
        return log_sum(math.log(3) + twice + self.log_q, twice - self.d / 16, (1 - self.L) * self.L)

    def log_failure_sharp(self, n: int) -> float:
        """ln of (n(n-1) + 2nk) q_d + n e^(-d/16) + k d^(-ln d): the same union, counted without waste."""
        return log_sum(
            math.log(n * (n - 1) + 2 * n * self.k) + self.log_q, math.log(n) - self.d / 16, math.log(self.k) - self.L**2
        )

    def log_test_failure(self, n: float) -> float:
        """ln(4 n q_d) [FVBS23, Lem A.13]."""
        return math.log(4 * n) + self.log_q

    def enough(self, n: float) -> Check:
        """n >= k ln(d)^2."""
        return at_least("n", n, self.k * self.L**2, note="k ln(d)^2")

    def log_window(self, epsilon: float, delta: float) -> tuple[float, float]:
        """ln of the smallest and the largest n that Theorem 3.1 allows; the window may be empty."""
        upper = min(
            0.5 * log_share(delta / 3) + self.d / 32,
            0.5 * log_share(delta) - math.log(3) + self.L**2 / 4,
            log_share(epsilon / 4) + self.L**2 / 2,
        )
        return math.log(self.k * self.L**2), upper

    def window(self, n: float, epsilon: float, delta: float) -> tuple[Check, ...]:
        """1/delta <= d^(ln d - 1) / 3 and n <= the minimum of three, as Theorem 3.1 asks."""
        return (
            at_most("ln(1 / delta)", -log_share(delta), (self.L - 1) * self.L - math.log(3)),
            at_most("ln n", math.log(n), self.log_window(epsilon, delta)[1], note="the smallest of the three bounds"),
        )

    # Assumption 2.2, each part written once --------------------------------------------------------

    def noise_range(self) -> tuple[Check, ...]:
        """0 < sigma <= 1."""
        return above("sigma, from below", self.sigma, 0.0, tolerance=0.0), at_most("sigma", self.sigma, 1.0)

    def separation(self) -> Check:
        """k (p + Delta + 1) <= (d - Delta + 1) / 10, on the nose: at the smallest d the slack is almost nothing."""
        left = self.k * (self.p + self.Delta + 1)
        right = (self.d - self.Delta + 1) / 10
        note = f"c' = {self.c_prime:.6g}"
        return at_most("k (p + Delta + 1)", left, right, tolerance=1e-14, scale=self.d, note=note)

    def two_labels(self) -> Check:
        """Both labels occur among the clusters."""
        return above("balance c of the clusters", self.c, 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterSetting(ClusterLetters):
    """The letters of a distribution, with <mu^(q), mu^(r)> and the labels of its clusters, shapes (k, k) and (k,)."""

    gram: FloatArray
    y: FloatArray

    @classmethod
    def of(cls, instance: Instance) -> ClusterSetting:
        """From the law of an instance."""
        return _setting(instance.the_law())

    @property
    def least(self) -> int:
        """min(|Q+|, |Q-|) = c k."""
        return int(min((self.y > 0).sum(), (self.y < 0).sum()))

    @property
    def u_norm(self) -> float:
        """||u||, u = sum_q y^(q) mu^(q)."""
        return math.sqrt(float(self.y @ self.gram @ self.y))

    @property
    def z_norm(self) -> float:
        """||z|| = (eta_1 + eta_2) ||u||, of the vector that is printed; not finite where it is none."""
        return (self.eta_1 + self.eta_2) * self.u_norm

    @property
    def squared_distances(self) -> FloatArray:
        """||mu^(q) - mu^(r)||^2, shape (k, k)."""
        norms = np.diag(self.gram)
        return np.add.outer(norms, norms) - 2 * self.gram

    @property
    def proved_bounds(self) -> ClusterBounds:
        """Bounds on inner products that P1 to P3 give."""
        return ClusterBounds.proved(self, self.least)

    def equal_norms(self) -> Check:
        """||mu^(q)|| = sqrt(d)."""
        return equal("||mu|| / sqrt(d)", np.sqrt(np.diag(self.gram) / self.d), 1.0)

    def assumption(self, *, noise: bool = True) -> tuple[Check, ...]:
        """Assumption 2.2 with the labels of both kinds; `noise=False` leaves out 0 < sigma, for the limit."""
        given = self.noise_range() if noise else self.noise_range()[1:]
        return (self.equal_norms(), *given, self.separation(), self.two_labels())


@lru_cache(maxsize=32)
def _setting(law: AbstractDistribution) -> ClusterSetting:
    clusters = cluster_law(law)
    coordinates = clusters.mean_coordinates()
    gram = coordinates @ coordinates.T
    y = clusters.mean_label_values
    constants = ClusterConstants.from_gram(gram, y, sigma=clusters.sigma_value, dimension=clusters.dimension)
    return ClusterSetting(**asdict(constants), gram=gram, y=y)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterSample:
    """A training set beside its distribution; properties P1 to P6 [FVBS23, App. A.1]."""

    setting: ClusterSetting
    data: Dataset
    means: FloatArray
    clusters: IntArray

    @classmethod
    def of(cls, instance: Instance) -> ClusterSample:
        """From the data and the law of an instance."""
        return _sample(instance.the_data(), instance.the_law())

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.data.n_samples

    @cached_property
    def noise(self) -> FloatArray:
        """xi_i, shape (n, d')."""
        noise = self.means[self.clusters]
        return np.subtract(self.data.X, noise, out=noise)

    @cached_property
    def gram(self) -> FloatArray:
        """<x_i, x_i'>, shape (n, n)."""
        return self.data.X @ self.data.X.T

    @cached_property
    def distinct(self) -> ClusterSample:
        """The samples that differ: one per cluster where all noise is rounded away, otherwise all.

        Copies of a sample add no pair to P2, P4 and P5 that i = i' does not have, and to P3 nothing.
        """
        if self.noise.any():
            return self
        return replace(self, data=self.data.subset(self.first), clusters=self.clusters[self.first])

    @property
    def first(self) -> IntArray:
        """The first sample of every cluster."""
        return np.unique(self.clusters, return_index=True)[1]

    @cached_property
    def same(self) -> BoolArray:
        """cluster(i) = cluster(i'), shape (n, n)."""
        together: BoolArray = self.clusters[:, None] == self.clusters[None, :]
        return together

    @cached_property
    def u(self) -> FloatArray:
        """sum_q y^(q) mu^(q) in the coordinates of the data."""
        return self.setting.y @ self.means

    @cached_property
    def noise_norms(self) -> FloatArray:
        """||xi_i||, shape (n,)."""
        norms: FloatArray = np.linalg.norm(self.noise, axis=1)
        return norms

    def own_labels(self) -> Check:
        """y_i = y^(cluster(i)): part of the distribution, and of every lemma."""
        return equal("labels are those of the clusters", self.data.y, self.setting.y[self.clusters])

    def P1(self) -> Check:
        """||xi_i|| <= sigma sqrt(2d)."""
        return at_most("P1: ||xi_i||", self.noise_norms, self.setting.sigma * math.sqrt(2 * self.setting.d))

    def P2(self) -> Check:
        """|<xi_i, xi_i'>| <= sigma^2 sqrt(2d) ln d for i != i'; nothing to check for one sample."""
        bound = self.setting.sigma**2 * math.sqrt(2 * self.setting.d) * self.setting.L
        noise = self.distinct.noise
        inner = np.abs(noise @ noise.T)
        np.fill_diagonal(inner, 0.0)
        return at_most("P2: |<xi_i, xi_i'>|", inner, bound)

    def P3(self) -> Check:
        """|<mu^(q), xi_i>| <= sigma sqrt(d) ln d."""
        return at_most("P3: |<mu, xi_i>|", np.abs(self.distinct.noise @ self.means.T), self.setting.g)

    def P4(self) -> Check:
        """|<x_i, x_i'>| <= p + Delta across clusters."""
        across = np.abs(np.where(self.distinct.same, 0.0, self.distinct.gram))
        bound = self.setting.p + self.setting.Delta
        return at_most("P4: |<x_i, x_i'>| across clusters", across, bound, scale=self.setting.d)

    def P5(self) -> tuple[Check, Check]:
        """d - Delta <= <x_i, x_i'> <= 3d + Delta within a cluster, i = i' included."""
        s = self.setting
        within = self.distinct.gram[self.distinct.same]
        return (
            at_least("P5: <x_i, x_i'> within a cluster, from below", within, s.d - s.Delta),
            at_most("P5: <x_i, x_i'> within a cluster", within, 3 * s.d + s.Delta),
        )

    def P6(self) -> Check:
        """Every cluster has a sample."""
        sizes = np.bincount(self.clusters, minlength=self.setting.k)
        return at_least("P6: samples in the rarest cluster", float(sizes.min()), 1.0)

    @cached_property
    def nice(self) -> tuple[Check, ...]:
        """P1 to P6, and the labels."""
        return (self.P1(), self.P2(), self.P3(), self.P4(), *self.P5(), self.P6(), self.own_labels())

    def measured_bounds(self, X: FloatArray, clusters: IntArray) -> ClusterBounds:
        """Bounds on inner products of the samples and of test points."""
        return ClusterBounds.measured(self.data, self.data.y, self.setting.y, X, clusters)

    def log_test_tail(self) -> float:
        """ln of sum_i P(|<xi_i, xi>| > 2g) + sum_q P(|<mu_q, xi>| > g), exact for this sample [FVBS23, Lem A.13]."""
        s = self.setting
        if s.sigma == 0:
            return -math.inf
        tails = [log_two_sided_gaussian_tail(2 * s.g / (s.sigma * norm)) for norm in self.noise_norms if norm > 0]
        return log_sum(*tails, math.log(s.k) + log_two_sided_gaussian_tail(s.L))

    @cached_property
    def worst_points(self) -> FloatArray:
        r"""For every cluster a point that is as bad as the event of Lemma A.13 allows, shape (k, d').

        For cluster r the target <x, x_i> = d - Delta on I^(r) and -y^(r) y_i (p + Delta) elsewhere is the vertex of
        the polytope of Lemma A.12 at which y N is least; the point is mu^(r) + t (x - mu^(r)) with the largest t <= 1
        that respects every inequality of Lemma A.13.
        """
        s, X, centres = self.setting, self.data.X, self.means
        own = self.clusters[:, None] == np.arange(s.k)  # (n, k)
        target = np.where(own, s.d - s.Delta, -self.data.y[:, None] * s.y * (s.p + s.Delta))
        at_centre = X @ centres.T
        aims = np.linalg.lstsq(X, target - at_centre, rcond=1e-10)[0]  # (d', k)
        # Along centre + t aim every quantity of Lemma A.13 is start + t step, and start is inside its interval.
        along = X @ aims
        starts = np.vstack([at_centre - np.where(own, s.d, 0.0), np.zeros((2 * self.n, s.k))])
        steps = np.vstack([along, along, self.noise @ aims])
        limits = np.vstack([np.where(own, s.Delta, s.p + s.Delta), np.full((2 * self.n, s.k), s.Delta)])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(steps != 0, (limits - np.sign(steps) * starts) / np.abs(steps), np.inf)
        found: FloatArray = centres + np.clip(room.min(axis=0), 0.0, 1.0)[:, None] * aims.T
        return found

    def sums_by_cluster(self, per_sample: FloatArray) -> FloatArray:
        """Sums over I^(q) of numbers per sample, shape (n, ...) to (k, ...)."""
        total = np.zeros((self.setting.k, *per_sample.shape[1:]))
        np.add.at(total, self.clusters, per_sample)
        return total


@lru_cache(maxsize=16)
def _sample(data: Dataset, law: AbstractDistribution) -> ClusterSample:
    if data.clusters is None or data.means is None:
        raise InputError("The data know no clusters; samples of Clusters, with clusters and means, are expected.")
    setting = _setting(law)
    if data.means.shape[0] != setting.k:
        raise InputError(f"The data have {data.means.shape[0]} means, but the law has {setting.k} clusters.")
    ambient = data.full_dimension
    if ambient != setting.d:
        raise InputError(f"The data are of dimension {ambient}, but the law of dimension {setting.d}.")
    return ClusterSample(setting=setting, data=data, means=data.means, clusters=data.clusters)
