r"""Instances that the statements of [FVBS23] share: samples of clusters with exact KKT points, and what must not hold.

A = (d, k, sigma, n) = (549, 2, d^-1/2, 80), B = (957, 10, 0.01, 472), C = (3382, 10, d^-1/2, 661),
E = (5205, 2, 0.1, 147), F = (1415388, 2, 1, 402) are the smallest dimensions that Assumption 2.2 allows, drawn
independently and in reduced coordinates; W = (289, 10, 0.001, 322) has more samples than dimensions. H and S have one
sample per cluster, which the deterministic lemmas allow and the theorems do not.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final, Literal

import numpy as np

from marginflow.data import Clusters, GramReduction
from marginflow.limit import convex_pair, pair_kink, specialist
from marginflow.networks import TwoLayer
from marginflow.robustness.constructions import one_neuron_per_cluster
from marginflow.theory.frame import Instance
from marginflow.theory.instances import at_point

Sigma = float | Literal["1/sqrt(d)"]

A: Final = (549, 2, "1/sqrt(d)", 80)
B: Final = (957, 10, 0.01, 472)
C: Final = (3382, 10, "1/sqrt(d)", 661)
E: Final = (5205, 2, 0.1, 147)
F: Final = (1_415_388, 2, 1.0, 402)
W: Final = (289, 10, 1e-3, 322)
TEST_POINTS: Final = 300


@cache
def law_of(
    d: int, k: int, sigma: Sigma = "1/sqrt(d)", *, correlation: float = 0.0, stratified: bool = False
) -> Clusters:
    """Clusters with orthogonal (or equicorrelated) means and alternating labels."""
    return Clusters(
        dimension=d,
        n_clusters=k,
        sigma=sigma,
        means="equicorrelated" if correlation else "orthogonal",
        correlation=correlation,
        allocation="stratified" if stratified else "iid",
    )


@cache
def cluster_point(
    d: int,
    k: int,
    sigma: Sigma,
    n: int,
    *,
    correlation: float = 0.0,
    stratified: bool = False,
    width: int = 2,
    seed: int = 0,
    reduced: bool = True,
) -> Instance:
    """The exact pair on a sample of clusters, with fresh test points."""
    clusters = law_of(d, k, sigma, correlation=correlation, stratified=stratified)
    law = GramReduction(clusters) if reduced else clusters
    data = law.sample(n, seed=seed)
    point = convex_pair(data)
    if width > 2:
        point = point.widened(width)
    name = f"the exact pair on {n} samples of {k} clusters, d = {d}, sigma = {clusters.sigma_value:.3g}"
    return at_point(point, name, law=law, test=law.fresh(TEST_POINTS, train=data, seed=seed))


def preset(numbers: tuple[int, int, Sigma, int], *, width: int = 2, seed: int = 0) -> Instance:
    """One of A, B, C, E, F (reduced coordinates) or W (ambient: more samples than dimensions)."""
    d, k, sigma, n = numbers
    return cluster_point(d, k, sigma, n, width=width, seed=seed, reduced=n + k <= d)


@cache
def many_clusters(d: int = 1092, k: int = 100, sigma: float = 1e-4) -> Instance:
    """One sample for each of 100 clusters: z is short there, and the deterministic lemmas apply."""
    return cluster_point(d, k, sigma, k, stratified=True)


# sigma = 0: the limit in which samples are means ---------------------------------------------------


@cache
def means_point(d: int = 200, positive: int = 5, negative: int = 5) -> Instance:
    """The closed form (i) on orthogonal means, sigma = 0: every opposite pair is on a kink."""
    point = pair_kink(positive, negative, d)
    y = tuple(np.repeat([1.0, -1.0], [positive, negative]).tolist())
    law = Clusters(dimension=d, n_clusters=positive + negative, sigma=0.0, mean_labels=y, allocation="stratified")
    return at_point(point, f"the closed form on {positive + negative} means", law=law, test=point.data)


@cache
def specialist_point(d: int = 2000, k: int = 10, rho: float = 2.0) -> Instance:
    """The closed form (ii): one neuron per cluster on means with inner products -rho, sigma = 0."""
    law = law_of(d, k, 0.0, correlation=-rho / d, stratified=True)
    data = GramReduction(law).sample(k)
    point = specialist(data)
    return at_point(point, f"one neuron per mean, inner products {-rho:g}", law=law, test=data)


# Controls ------------------------------------------------------------------------------------------


@cache
def flipped_label(numbers: tuple[int, int, Sigma, int] = A) -> Instance:
    """The exact pair after one training label was flipped: a KKT point, but not of a sample of the clusters."""
    good = preset(numbers)
    data = good.the_data()
    y = data.y.copy()
    y[0] = -y[0]
    point = convex_pair(replace(data, y=y, clean_labels=None))
    return at_point(point, "the same sample with one label flipped", law=good.law, test=good.test)


@cache
def robust_control(numbers: tuple[int, int, Sigma, int] = A) -> Instance:
    """The robust network of Theorem 4.1 on a preset: it separates, generalises, and is no KKT point."""
    good = preset(numbers)
    data = good.the_data()
    assert data.means is not None
    assert data.mean_labels is not None
    made = one_neuron_per_cluster(data.means, data.mean_labels, ambient_dimension=data.ambient_dimension)
    return Instance(
        name="the robust network of Theorem 4.1", network=made.network, data=data, law=good.law, test=good.test
    )


@cache
def scaled_neurons(numbers: tuple[int, int, Sigma, int] = A, factor: float = 1.1) -> Instance:
    """A preset with v times `factor` and (w, b) divided by it: the same function, no KKT point."""
    good = preset(numbers)
    network = good.the_network()
    assert network.b is not None
    moved = TwoLayer(W=network.W / factor, b=network.b / factor, v=factor * network.v)
    return Instance(
        name="a preset with unbalanced neurons", network=moved, data=good.data, law=good.law, test=good.test
    )


@cache
def missing_cluster(numbers: tuple[int, int, Sigma, int] = B) -> Instance:
    """A preset without the samples of its last cluster: P6 fails."""
    good = preset(numbers)
    data = good.the_data()
    assert data.clusters is not None
    point = convex_pair(data.subset(data.clusters != numbers[1] - 1))
    return at_point(point, "a sample without its last cluster", law=good.law, test=good.test)


@cache
def noisier(numbers: tuple[int, int, Sigma, int] = B, factor: float = 10.0) -> Instance:
    """The law of a preset with `factor` times its noise: Assumption 2.2 fails."""
    d, k, sigma, n = numbers
    number = d**-0.5 if isinstance(sigma, str) else sigma
    return cluster_point(d, k, factor * number, n)


@cache
def close_means(numbers: tuple[int, int, Sigma, int] = A, cosine: float = 0.2) -> Instance:
    """Means at a cosine far above 1 / (10 k): Assumption 2.2 fails."""
    d, k, sigma, n = numbers
    return cluster_point(d, k, sigma, n, correlation=cosine)


def law_only(law: Clusters, name: str = "") -> Instance:
    """A law without a sample."""
    return Instance(name=name or f"{law.k} clusters in dimension {law.dimension}", law=law)
