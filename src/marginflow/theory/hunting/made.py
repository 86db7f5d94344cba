"""Samples and KKT points that boxes of numbers are turned into."""

from __future__ import annotations

import math

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Clusters, Dataset, GramReduction, Orthogonal
from marginflow.errors import InputError
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer
from marginflow.theory.instance import Instance
from marginflow.theory.instances import at_point

_PATTERNS = ("equal", "signs", "uniform")
_TEST_POINTS = 50


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


def designed_gram(dimension: int, samples: int, p: float, pattern: int, width: int, seed: int) -> Instance:
    """The exact pair on samples of norm sqrt(d) with largest |<x_i, x_l>| = p."""
    # The values of _PATTERNS are the words of the law.
    law = Orthogonal(dimension=dimension, design="gram", p=p, pattern=_PATTERNS[pattern])  # type: ignore[arg-type]
    point = convex_pair(law.sample(samples, seed=seed))
    name = (
        f"the exact pair on {samples} samples in dimension {dimension}, p = {p:g} ({_PATTERNS[pattern]}, seed {seed})"
    )
    return at_point(point.widened(width) if width > 2 else point, name)


def clusters_in_general_position(dimension: int, clusters: int, spread: float, samples: int, seed: int) -> Instance:
    """The exact pair on samples of orthogonal clusters; `spread` is sigma sqrt(d)."""
    law = GramReduction(Clusters(dimension=dimension, n_clusters=clusters, sigma=spread / math.sqrt(dimension)))
    data = law.sample(samples, seed=seed)
    name = f"the exact pair on {samples} samples of {clusters} clusters, d = {dimension}, sigma sqrt(d) = {spread:g}"
    return at_point(convex_pair(data), name, law=law, test=law.fresh(_TEST_POINTS, train=data, seed=seed))


def four_clusters(size: int, uneven: int, noisy_1: int, noisy_2: int, noisy_3: int, noisy_4: int) -> Instance:
    """Samples at +-mu_1, +-mu_2, `size` at each and `uneven` more at the first; so many of each flipped."""
    sizes = np.array([size + uneven, size, size, size])
    noisy = np.array([noisy_1, noisy_2, noisy_3, noisy_4])
    if (noisy > sizes).any():
        raise InputError(f"noisy is {noisy.tolist()}; at most {sizes.tolist()} are expected.")
    means: FloatArray = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
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


def part_of_a_network(width: int, outside: int, share: int, x: int) -> Instance:
    """Neurons along one direction, of which the last `outside` work against the others with share/64 of the norm."""
    if not 0 < outside < width:
        raise InputError(f"outside is {outside}; a number between 0 and width = {width} is expected.")
    a = share / 64
    W = np.zeros((width, 2))
    W[: width - outside, 0] = math.sqrt((1 - a) / (width - outside))
    W[width - outside :, 0] = math.sqrt(a / outside)
    signs = np.where(np.arange(width) < width - outside, 1.0, -1.0)
    network = TwoLayer(W=W, v=signs / math.sqrt(width), outputs="frozen")
    return Instance(
        name=f"{width} neurons, {outside} of them against the rest with {share}/64 of the norm",
        network=network,
        data=Dataset(X=np.array([[x / 32, 0.0]]), y=np.ones(1)),
        parameters={"inside": width - outside},
    )
