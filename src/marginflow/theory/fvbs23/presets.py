r"""Instances that the statements of [FVBS23] share: samples of clusters with exact KKT points, and what must not hold.

A = (d, k, sigma, n) = (549, 2, d^-1/2, 80), B = (957, 10, 0.01, 472), C = (3382, 10, d^-1/2, 661),
E = (5205, 2, 0.1, 147), F = (1415388, 2, 1, 402) are the smallest dimensions that Assumption 2.2 allows, drawn
independently and in reduced coordinates; W = (289, 10, 0.001, 322) has more samples than dimensions. H and S have one
sample per cluster, which the deterministic lemmas allow and the theorems do not.
"""

import math
from dataclasses import replace
from functools import cache, partial
from typing import Final, Literal

import numpy as np

from marginflow.data import Clusters, Dataset, GramReduction
from marginflow.limit import convex_pair, pair_kink, specialist
from marginflow.networks import TwoLayer
from marginflow.robustness.constructions import one_neuron_per_cluster
from marginflow.theory.frame import Instance, stated
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.instances import at_point, changed, pair_with_test, unbalanced, with_neuron

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
) -> Instance:
    """The exact pair on a sample of clusters, with fresh test points; in reduced coordinates where these are fewer."""
    clusters = law_of(d, k, sigma, correlation=correlation, stratified=stratified)
    law = GramReduction(clusters) if n + k <= d else clusters
    name = f"the exact pair on {n} samples of {k} clusters, d = {d}, sigma = {clusters.sigma_value:.3g}"
    return pair_with_test(law, n, name, test=TEST_POINTS, width=width)


def preset(numbers: tuple[int, int, Sigma, int], *, width: int = 2) -> Instance:
    """One of A, B, C, E, F (reduced coordinates) or W (ambient: more samples than dimensions)."""
    return cluster_point(*numbers, width=width)


def many_clusters() -> Instance:
    """One sample for each of 100 clusters: z is short there, and the deterministic lemmas apply."""
    return cluster_point(1092, 100, 1e-4, 100, stratified=True)


# sigma = 0: the limit in which samples are means ---------------------------------------------------


@cache
def means_point(d: int = 200, positive: int = 5, negative: int = 5) -> Instance:
    """The closed form (i) on orthogonal means, sigma = 0: every opposite pair is on a kink."""
    point = pair_kink(positive, negative, d)
    y = (1.0,) * positive + (-1.0,) * negative
    law = Clusters(dimension=d, n_clusters=positive + negative, sigma=0.0, mean_labels=y, allocation="stratified")
    return at_point(point, f"the closed form on {positive + negative} means", law=law, test=point.data)


@cache
def specialist_point(d: int = 2000, k: int = 10, rho: float = 2.0) -> Instance:
    """The closed form (ii): one neuron per cluster on means with inner products -rho, sigma = 0."""
    law = law_of(d, k, 0.0, correlation=-rho / d, stratified=True)
    data = GramReduction(law).sample(k)
    point = specialist(data)
    return at_point(point, f"one neuron per mean, inner products {-rho:g}", law=law, test=data)


@cache
def hundreds_of_clusters(d: int = 6961, k: int = 396) -> Instance:
    """So many clusters that the printed z is shorter than the data, with n >= k ln(d)^2 samples drawn independently.

    The noise is far below the resolution of a float: every sample is rounded to its mean. The network is the closed
    form on the means; the first sample of each cluster carries the multiplier of its mean.
    """
    y = (1.0,) * (k // 2) + (-1.0,) * (k // 2)
    law = Clusters(dimension=d, n_clusters=k, sigma=1e-30, mean_labels=y)
    point = pair_kink(k // 2, k // 2, d)
    means = point.data.X[:, :k]  # the means are multiples of the first k basis vectors
    rng = np.random.default_rng(0)

    def draw(count: int) -> Dataset:
        q = rng.integers(k, size=count)
        labels = np.array(y)
        return Dataset(X=means[q], y=labels[q], clusters=q, means=means, mean_labels=labels, ambient_dimension=d)

    data, test = draw(math.ceil(k * math.log(d) ** 2)), draw(TEST_POINTS)
    assert data.clusters is not None
    seen, first = np.unique(data.clusters, return_index=True)
    lam, clarke = np.zeros(data.n_samples), point.clarke[data.clusters]
    lam[first] = point.multipliers[seen]
    network = TwoLayer(W=point.network.W[:, :k], b=point.network.b, v=point.network.v)
    return Instance(
        name=f"the closed form on {data.n_samples} samples of {k} clusters, d = {d}, noise below rounding",
        network=network,
        data=data,
        multipliers=(lam, lam[:, None] * clarke),
        law=law,
        test=test,
    )


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
    """The robust network of Theorem 4.1 on a preset: it separates, generalises, and is not a KKT point."""
    return with_robust_network(preset(numbers))


def with_robust_network(good: Instance) -> Instance:
    """The same data with the robust network of Theorem 4.1, which knows the means and is not a KKT point."""
    sample = ClusterSample.of(good)
    made = one_neuron_per_cluster(sample.means, sample.setting.y, ambient_dimension=sample.setting.d)
    return good.only("data", "law", "test", name="the robust network of Theorem 4.1", network=made.network)


@cache
def robust_of_many(d: int = 6961, k: int = 396) -> Instance:
    """The robust network of Theorem 4.1 on hundreds of clusters, one sample each: the printed z does not flip it."""
    robust = with_robust_network(hundreds_of_clusters(d, k))
    few = robust.the_data().subset(ClusterSample.of(robust).first)
    return robust.but(name=f"the robust network of Theorem 4.1 on {k} clusters", data=few)


@cache
def blind_network() -> Instance:
    """The robust network of Theorem 4.1 on preset B without the neurons of its first two clusters: not a KKT point."""
    good = robust_control(B)
    kept = np.arange(2, good.the_network().width)
    return good.but(name="the robust network, blind to two clusters", network=good.the_network().neurons(kept))


@cache
def scaled_neurons(numbers: tuple[int, int, Sigma, int] = A, factor: float = 1.1) -> Instance:
    """A preset with v times `factor` and (w, b) divided by it: the same function, not a KKT point."""
    name = "a preset with unbalanced neurons"
    return changed(preset(numbers), name, lambda network: unbalanced(network, factor), "law", "test")


@cache
def backward_neuron() -> Instance:
    """Preset A with one more positive neuron that points along -u: it separates, and is not a KKT point."""
    good = preset(A)
    moved = with_neuron(good.the_network(), -1e-3 * ClusterSample.of(good).u, 0.0, 0.5)
    return good.but(name="a preset with a neuron that points along -u", network=moved, multipliers=None)


@cache
def missing_cluster() -> Instance:
    """Preset B without the samples of its last cluster: P6 fails."""
    good = preset(B)
    sample = ClusterSample.of(good)
    point = convex_pair(sample.data.subset(sample.clusters != sample.setting.k - 1))
    return at_point(point, "a sample without its last cluster", law=good.law, test=good.test)


@cache
def close_means(numbers: tuple[int, int, Sigma, int] = A, cosine: float = 0.2) -> Instance:
    """Means at a cosine far above 1 / (10 k): Assumption 2.2 fails."""
    return cluster_point(*numbers, correlation=cosine)


def law_only(law: Clusters, name: str = "") -> Instance:
    """A law without a sample."""
    return Instance(name=name or f"{law.k} clusters in dimension {law.dimension}", law=law)


# What statements are written with ------------------------------------------------------------------

stated_of_clusters = partial(stated, needs=("network", "data", "law", "test"), example=lambda: preset(A))
"""Writes a statement about a network on samples of clusters and fresh points; its example is preset A by default."""
stated_of_networks = partial(stated, needs=("network", "networks", "data", "law", "test"))
"""Writes a statement about several networks on one sample of clusters and fresh points."""
stated_of_z = partial(
    stated_of_clusters,
    example=hundreds_of_clusters,
    control=robust_of_many,
    control_shows="the robust network of Theorem 4.1 is not a KKT point, and the printed z does not flip it",
)
"""Writes a statement about what the printed z does to fresh points."""
stated_of_sample = partial(stated, needs=("network", "data", "law"), example=lambda: preset(A))
"""Writes a statement about a network on samples of clusters; its example is preset A by default."""
stated_of_draw = partial(stated, needs=("data", "law", "test"), example=lambda: preset(A))
"""Writes a statement about a sample of clusters and fresh points; its example is preset A by default."""
stated_of_law = partial(stated, needs=("law",), example=lambda: law_only(law_of(549, 2)))
"""Writes a statement about a law of clusters alone; its example is that of preset A by default."""
