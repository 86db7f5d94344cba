r"""Test points of a law of clusters: where they come from, and whether they are as the lemmas of [FVBS23] ask."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from scipy import special

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.data.isotropic import Normal, isotropic_law
from marginflow.errors import InputError
from marginflow.theory.frame import Check, Instance, at_most
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting, cluster_law

IMPLAUSIBLE: Final = 1e-9
"""Test points whose noise would be so long, or so short, with this probability only are not of the law."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FreshPoints:
    """Points with their labels, shapes (t, d') and (t,), their clusters, and the means in the same coordinates."""

    setting: ClusterSetting
    X: FloatArray
    y: FloatArray
    clusters: IntArray
    means: FloatArray

    @classmethod
    def of(cls, instance: Instance) -> FreshPoints:
        """The test points; an `InputError` where they know no clusters, or are not of the law they claim."""
        test, law, s = instance.the_test(), cluster_law(instance.the_law()), ClusterSetting.of(instance)
        if test.clusters is None or test.means is None:
            raise InputError(
                "The test points know no clusters; points of Clusters, with clusters and means, are expected."
            )
        wrong = np.flatnonzero(test.y != s.y[test.clusters])
        if wrong.size:
            raise InputError(
                f"Test point {int(wrong[0])} has the label {test.y[wrong[0]]:+g}, but its cluster of the law has the "
                f"other one ({wrong.size} of {test.n_samples} points); test points of the law are expected."
            )
        if instance.data is not None and instance.data.means is not None:
            means, room = instance.data.means, 1e-9 * math.sqrt(s.d)
            if means.shape != test.means.shape or not np.allclose(means, test.means, rtol=0.0, atol=room):
                raise InputError("The test points belong to other cluster means than the data.")
        resolved = s.sigma > 1e-12 * math.sqrt(s.d)  # below, noise is rounded away
        if resolved and isotropic_law(law.cluster_law) == Normal():
            total = float(((test.X - test.means[test.clusters]) ** 2).sum()) / s.sigma**2
            tail = min(special.chdtr(test.X.size, total), special.chdtrc(test.X.size, total))
            if tail < IMPLAUSIBLE:
                seen = s.sigma * math.sqrt(total / test.X.size)
                raise InputError(
                    f"The noise of the test points has a standard deviation of {seen:.3g} per coordinate, but the law "
                    f"says {s.sigma:.3g}; test points of the law are expected."
                )
        return cls(setting=s, X=test.X, y=test.y, clusters=test.clusters, means=test.means)

    def with_worst(self, sample: ClusterSample) -> FreshPoints:
        """The points, and for every cluster the worst one that the lemmas allow."""
        every = np.append(self.clusters, np.arange(self.setting.k))
        return replace(self, X=np.vstack([self.X, sample.worst_points]), y=self.setting.y[every], clusters=every)

    @cached_property
    def in_event(self) -> BoolArray:
        """Which points have |<mu_q, xi>| <= g for all q, shape (t,)."""
        along = (self.X - self.means[self.clusters]) @ self.means.T
        fine: BoolArray = np.all(np.abs(along) <= self.setting.g * (1 + 1e-12), axis=1)
        return fine

    def _inner_products(self, sample: ClusterSample) -> tuple[FloatArray, BoolArray]:
        """<x_i, x> and whether x is of the cluster of x_i, for the samples that differ, shapes (n, t)."""
        own: BoolArray = sample.distinct.clusters[:, None] == self.clusters[None, :]
        return sample.distinct.data.X @ self.X.T, own

    def _noise_products(self, sample: ClusterSample) -> tuple[FloatArray, FloatArray]:
        """|<x_i, xi>| and |<xi_i, xi>| for the samples that differ, shapes (n, t)."""
        noise = self.X - sample.means[self.clusters]
        return np.abs(sample.distinct.data.X @ noise.T), np.abs(sample.distinct.noise @ noise.T)

    def near_one_cluster(self, sample: ClusterSample) -> tuple[Check, Check]:
        """The hypothesis of Lemmas A.12 and D.2 on x."""
        s = self.setting
        inner, own = self._inner_products(sample)
        return (
            at_most("|<x_i, x> - d| in the own cluster", np.where(own, np.abs(inner - s.d), 0.0), s.Delta, scale=s.d),
            at_most("|<x_i, x>| in other clusters", np.where(own, 0.0, np.abs(inner)), s.p + s.Delta, scale=s.d),
        )

    def nice_noise(self, sample: ClusterSample) -> tuple[Check, ...]:
        """The event of Lemma A.13: the hypothesis of Lemma A.12, and |<x_i, xi>|, |<xi_i, xi>| <= Delta."""
        s = self.setting
        onto_samples, onto_noise = self._noise_products(sample)
        return (
            *self.near_one_cluster(sample),
            at_most("|<x_i, xi>|", onto_samples, s.Delta, scale=s.d),
            at_most("|<xi_i, xi>|", onto_noise, s.Delta, scale=s.d),
        )

    def are_nice(self, sample: ClusterSample) -> BoolArray:
        """Which points are in the event of Lemma A.13, shape (t,)."""
        s = self.setting
        inner, own = self._inner_products(sample)
        off = np.where(own, np.abs(inner - s.d) - s.Delta, np.abs(inner) - s.p - s.Delta)
        along = np.maximum(*self._noise_products(sample)) - s.Delta
        fine: BoolArray = np.all(np.maximum(off, along) <= 1e-9 * s.d, axis=0)
        return fine
