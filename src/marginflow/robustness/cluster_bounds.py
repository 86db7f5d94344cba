r"""What bounds on the inner products of clustered samples, proved or measured, say of every KKT point.

The chain of [FVBS23, Lem A.10 to A.12 and D.2 to D.7] uses nothing of the clusters but such bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import ClusterConstants, Dataset


@dataclass(frozen=True, kw_only=True)
class ClusterBounds:
    r"""Bounds on inner products (the +1 of the bias included) of samples of k clusters, and what follows from them.

    With c'' = (k - 1) B / a < 1/3 every KKT point has sums between S_min = (1 - 3 c'') / ((1 - 2 c'') A) and
    S_max = 1 / (a (1 - 2 c'')), outputs of at most (A_test + (k - 1) B) S_max, and is flipped by (eta_1 + eta_2) u:

    .. math:: \eta_1 = \max(2X, B) / D, \qquad \eta_2 = (A_{test} + (k - 1) B) S_{max} / (D\, |Q_{least}|\, S_{min})

    What follows is not a number where the clusters are too close.

    Parameters
    ----------
    k, least : int
        Clusters, and those of the rarer label.
    a, A : float
        Training samples of one cluster lie in [a, A].
    a_test, A_test : float
        A test point and the samples of its cluster lie in [a_test, A_test].
    B : float
        Everything across clusters is at most B in size.
    X : float
        |<x_i, xi>| <= X for the noise xi of other samples and of test points.
    D : float
        y_i <x_i, u> >= D.
    """

    k: int
    least: int
    a: float
    A: float
    a_test: float
    A_test: float
    B: float
    X: float
    D: float

    @classmethod
    def proved(cls, numbers: ClusterConstants, least: int) -> ClusterBounds:
        """What the properties P1 to P3 give, for any sigma."""
        d, k, sigma, p, g = numbers.dimension, numbers.n_clusters, numbers.sigma, numbers.p, numbers.Delta / 4
        spread = (2 + math.sqrt(2) * sigma) * g
        return cls(
            k=k,
            least=least,
            a=d - spread + 1,
            A=max(d + spread, (1 + 2 * sigma**2) * d + 2 * g) + 1,
            a_test=d - spread + 1,
            A_test=d + spread + 1,
            B=p + spread + 1,
            X=(1 + math.sqrt(2) * sigma) * g,
            D=d - g - (k - 1) * (p + g),
        )

    @classmethod
    def measured(
        cls, data: Dataset, y: FloatArray, mean_labels: FloatArray, tests: FloatArray, test_clusters: IntArray
    ) -> ClusterBounds:
        """From training samples that know their clusters, with labels y, and test points; no assumption on noise."""
        assert data.clusters is not None
        assert data.means is not None
        X, q = data.X, data.clusters
        gram, cross = X @ X.T, X @ tests.T
        same, own = q[:, None] == q[None, :], q[:, None] == test_clusters[None, :]
        noise, test_noise = X @ (X - data.means[q]).T, X @ (tests - data.means[test_clusters]).T
        others = np.abs(noise[~np.eye(q.size, dtype=np.bool_)])
        across = max(float(np.abs(gram[~same]).max(initial=0.0)), float(np.abs(cross[~own]).max(initial=0.0)))
        return cls(
            k=mean_labels.size,
            least=int(min((mean_labels > 0).sum(), (mean_labels < 0).sum())),
            a=float(gram[same].min()) + 1,
            A=float(gram[same].max()) + 1,
            a_test=float(cross[own].min(initial=math.inf)) + 1,
            A_test=float(cross[own].max(initial=-math.inf)) + 1,
            B=across + 1,
            X=max(float(np.abs(test_noise).max()), float(others.max(initial=0.0)), -float(np.diag(noise).min())),
            D=float((y * (X @ (mean_labels @ data.means))).min()),
        )

    @property
    def ratio(self) -> float:
        """c'' = (k - 1) B / a."""
        return (self.k - 1) * self.B / self.a if self.a > 0 else math.inf

    @property
    def usable(self) -> bool:
        """Whether the clusters are far enough apart: c'' < 1/3 and D > 0, with both labels."""
        return self.ratio < 1 / 3 and self.D > 0 and self.least > 0

    @property
    def S_max(self) -> float:
        """Upper bound of the sums of a cluster."""
        return 1 / (self.a * (1 - 2 * self.ratio)) if self.usable else math.nan

    @property
    def S_min(self) -> float:
        """Lower bound of the sum of a cluster over the neurons of its own sign."""
        return (1 - 3 * self.ratio) / ((1 - 2 * self.ratio) * self.A) if self.usable else math.nan

    @property
    def least_output(self) -> float:
        """Lower bound of y N(x) on test points."""
        return self.a_test * self.S_min - 2 * (self.k - 1) * self.B * self.S_max

    @property
    def largest_output(self) -> float:
        """Upper bound of y N(x) on test points."""
        return (self.A_test + (self.k - 1) * self.B) * self.S_max

    @property
    def eta_1(self) -> float:
        """The step along u that opens the neurons of the other label."""
        return max(2 * self.X, self.B) / self.D if self.usable else math.nan

    @property
    def eta_2(self) -> float:
        """The step along u that then overturns the output."""
        return self.largest_output / (self.D * self.least * self.S_min)
