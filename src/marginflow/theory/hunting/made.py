"""Samples and KKT points that boxes of numbers are turned into."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from marginflow.data import Clusters, Dataset, GramReduction, Interval, NoisySphere, Orthogonal
from marginflow.data.orthogonal import Pattern
from marginflow.errors import InputError
from marginflow.limit import convex_pair, kkt_point, line
from marginflow.networks import TwoLayer
from marginflow.theory.hunting.boxes import box, ranges
from marginflow.theory.instance import Instance
from marginflow.theory.instances import at_limit, at_point, frozen_limit, pair_with_test
from marginflow.theory.kys23.sphere_points import near_pair
from marginflow.theory.kys23.thm_4_1.theorem import EXAMPLE_CONSTANTS

_PATTERNS: Final[tuple[Pattern, ...]] = ("equal", "signs", "uniform")
_TEST_POINTS = 50


@box("nearly orthonormal samples", ranges(samples=(2, 12), negative=(1, 6), tilt=(0, 4)))
def tilted_samples(samples: int, negative: int, tilt: int) -> Instance:
    """Orthonormal samples, the last `negative` of them negative; the last is turned towards the one before it.

    The turn has the tangent 2 t / (1 - t^2), t = tilt/64, so that all coordinates are rational.
    """
    if not 0 < negative < samples:
        raise InputError(f"negative is {negative}; a number between 0 and samples = {samples} is expected.")
    X = np.eye(samples)
    t = tilt / 64
    X[-1, -1], X[-1, -2] = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    y = np.where(np.arange(samples) < samples - negative, 1.0, -1.0)
    name = f"{samples} unit samples, {negative} negative" + (f", the last turned by t = {tilt}/64" if tilt else "")
    return Instance(name=name, data=Dataset(X=X, y=y))


@box(
    "the exact pair on samples with a designed Gram matrix",
    ranges(dimension=(8, 200), samples=(2, 20), p=(0, 16, 0.5), pattern=(0, 2), width=(2, 6)),
)
def designed_gram(dimension: int, samples: int, p: float, pattern: int, width: int, seed: int) -> Instance:
    """The exact pair on samples of norm sqrt(d) with largest |<x_i, x_l>| = p."""
    data, name = _designed(dimension, samples, p, _PATTERNS[pattern], seed)
    point = convex_pair(data)
    return at_point(point.widened(width) if width > 2 else point, f"the exact pair on {name}")


def _designed(dimension: int, samples: int, p: float, pattern: Pattern, seed: int) -> tuple[Dataset, str]:
    data = Orthogonal(dimension=dimension, design="gram", p=p, pattern=pattern).sample(samples, seed=seed)
    return data, f"{samples} samples in dimension {dimension}, p = {p:g} ({pattern}, seed {seed})"


@box(
    "the exact pair on samples of clusters",
    ranges(dimension=(300, 3000), clusters=(2, 5), spread=(1, 64, 1 / 64), samples=(80, 300)),
)
def clusters_in_general_position(dimension: int, clusters: int, spread: float, samples: int, seed: int) -> Instance:
    """The exact pair on samples of orthogonal clusters; `spread` is sigma sqrt(d)."""
    law = GramReduction(Clusters(dimension=dimension, n_clusters=clusters, sigma=spread / math.sqrt(dimension)))
    name = f"the exact pair on {samples} samples of {clusters} clusters, d = {dimension}, sigma sqrt(d) = {spread:g}"
    return pair_with_test(law, samples, name, test=_TEST_POINTS, seed=seed)


@box(
    "the exact pair on one sample of each of many clusters, d = ratio * clusters, sigma sqrt(d) = 2^-spread",
    ranges(clusters=(60, 140), ratio=(8, 40), spread=(4, 20)),
)
def one_sample_per_cluster(clusters: int, ratio: int, spread: int, seed: int) -> Instance:
    """The exact pair on one sample of each of many orthogonal clusters in dimension ratio times clusters."""
    dimension = ratio * clusters
    sigma = 2.0**-spread / math.sqrt(dimension)
    law = GramReduction(Clusters(dimension=dimension, n_clusters=clusters, sigma=sigma, allocation="stratified"))
    name = f"the exact pair on one sample of each of {clusters} clusters, d = {dimension}, sigma sqrt(d) = 2^-{spread}"
    return pair_with_test(law, clusters, name, test=_TEST_POINTS, seed=seed)


@box("laws of clusters", ranges(dimension=(100, 10**6), clusters=(2, 4), spread=(1, 64, 1 / 64)))
def law_of_clusters(dimension: int, clusters: int, spread: float) -> Instance:
    """A law of orthogonal clusters without a sample; `spread` is sigma sqrt(d)."""
    law = Clusters(dimension=dimension, n_clusters=clusters, sigma=spread / math.sqrt(dimension))
    name = f"{clusters} clusters in dimension {dimension}, sigma sqrt(d) = {spread:g}"
    return Instance(name=name, law=law, parameters={"draws": 2})


@box("the exact pair on the noisy sphere, d = 10^decades", ranges(samples=(10, 400), negative=(1, 40), decades=(4, 14)))
def noisy_pair(samples: int, negative: int, decades: int, seed: int) -> Instance:
    """The exact pair on samples of the noisy sphere in dimension 10^decades, `negative` of them negative."""
    law, data = _noisy_sphere(samples, negative, decades, seed)
    name = f"the exact pair on {samples} samples, {negative} negative, d = 1e{decades} (seed {seed})"
    return at_point(convex_pair(data), name, law=law)


@box(
    "the exact pair on the noisy sphere, d = 10^decades, with c_1 = 0.05, c_2 = 2.5, c_3 = 648, c_4 = 0.155",
    ranges(samples=(240, 500), negative=(5, 11), decades=(11, 14)),
)
def noisy_pair_with_constants(samples: int, negative: int, decades: int, seed: int) -> Instance:
    """The same with values of c_1 to c_4, which [KYS23, Theorem 4.1] leaves open: those of its own example."""
    return replace(noisy_pair.make(samples, negative, decades, seed), parameters=dict(EXAMPLE_CONSTANTS))


@box(
    "KKT points with frozen outputs on the noisy sphere, d = 10^decades",
    ranges(samples=(4, 120), negative=(1, 40), pairs=(1, 4), decades=(6, 15)),
)
def noisy_frozen(samples: int, negative: int, pairs: int, decades: int, seed: int) -> Instance:
    """A KKT point with 2 * pairs outputs frozen at +1 and -1 on samples of the noisy sphere."""
    law, data = _noisy_sphere(samples, negative, decades, seed)
    limit = kkt_point(data, start=near_pair(data, 2 * pairs, seed=seed))
    name = f"{2 * pairs} frozen outputs, {samples} samples, {negative} negative, d = 1e{decades} (seed {seed})"
    return at_limit(limit, data, name, law=law)


def _noisy_sphere(samples: int, negative: int, decades: int, seed: int) -> tuple[GramReduction, Dataset]:
    if not 0 < negative < samples:
        raise InputError(f"negative is {negative}; a number between 0 and samples = {samples} is expected.")
    law = GramReduction(NoisySphere(dimension=10**decades, p=negative / samples, count="exact"))
    return law, law.sample(samples, seed=seed)


@box(
    "KKT points with outputs +1 and -1 on samples with a designed Gram matrix",
    ranges(dimension=(8, 200), samples=(2, 20), p=(0, 16, 0.5), pattern=(0, 2)),
)
def frozen_gram(dimension: int, samples: int, p: float, pattern: int, seed: int) -> Instance:
    """A KKT point with outputs frozen at +1 and -1 on samples with a designed Gram matrix, from the exact pair."""
    data, name = _designed(dimension, samples, p, _PATTERNS[pattern], seed)
    return at_limit(frozen_limit(data), data, f"outputs +1, -1 on {name}")


@box(
    "uniform points of [0, 1], the global optimum (start 0) or a local minimum",
    ranges(samples=(8, 80), p=(1, 31, 1 / 64), start=(0, 8)),
)
def uniform_points(samples: int, p: float, start: int, seed: int) -> Instance:
    """Uniform points of [0, 1] with noisy labels: the global optimum (start 0), or a local minimum from a start."""
    law = Interval(p=p)
    data = law.sample(samples, seed=seed)
    limit = line.max_margin(data) if start == 0 else line.local_minimum(data, seed=start)
    what = "the global optimum" if start == 0 else f"a local minimum (start {start})"
    return at_point(limit, f"{what} on {samples} uniform points, p = {p:g} (seed {seed})", law=law)


@box(
    "four clusters with label noise",
    ranges(size=(5, 200), uneven=(0, 3), noisy_1=(0, 60), noisy_2=(0, 60), noisy_3=(0, 60), noisy_4=(0, 60)),
)
def four_clusters(size: int, uneven: int, noisy_1: int, noisy_2: int, noisy_3: int, noisy_4: int) -> Instance:
    """Samples at +-mu_1, +-mu_2, `size` at each and `uneven` more at the first; this many of each flipped."""
    sizes = np.array([size + uneven, size, size, size])
    noisy = np.array([noisy_1, noisy_2, noisy_3, noisy_4])
    if (noisy > sizes).any():
        raise InputError(f"noisy is {noisy.tolist()}; at most {sizes.tolist()} are expected.")
    means = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    clusters = np.repeat(np.arange(4), sizes)
    flipped = np.concatenate([np.arange(total) < wrong for total, wrong in zip(sizes, noisy, strict=True)])
    clean = labels[clusters]
    data = Dataset(
        X=means[clusters],
        y=np.where(flipped, -clean, clean),
        clean_labels=clean,
        clusters=clusters,
        means=means,
        mean_labels=labels,
    )
    return Instance(name=f"clusters of {sizes.tolist()} samples, {noisy.tolist()} noisy", data=data)


@box(
    "networks with a part that works against the rest",
    ranges(width=(4, 512), outside=(1, 64), share=(1, 60), x=(16, 64)),
)
def part_of_a_network(width: int, outside: int, share: int, x: int) -> Instance:
    """Neurons along one direction, of which the last `outside` work against the others with share/64 of the norm."""
    if not 0 < outside < width:
        raise InputError(f"outside is {outside}; a number between 0 and width = {width} is expected.")
    a = share / 64
    inside = np.arange(width) < width - outside
    along = np.where(inside, math.sqrt((1 - a) / (width - outside)), math.sqrt(a / outside))
    W, signs = np.column_stack([along, np.zeros(width)]), np.where(inside, 1.0, -1.0)
    network = TwoLayer(W=W, v=signs / math.sqrt(width), outputs="frozen")
    return Instance(
        name=f"{width} neurons, {outside} of them against the rest with {share}/64 of the norm",
        network=network,
        data=Dataset(X=np.array([[x / 32, 0.0]]), y=np.ones(1)),
        parameters={"inside": width - outside},
    )
