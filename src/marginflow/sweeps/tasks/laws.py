"""The part of the parameters that says where the data come from; each built-in task begins with it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from marginflow.data import (
    AbstractDistribution,
    AbstractLabelNoise,
    Clusters,
    Dataset,
    Gaussian,
    Interval,
    NoisySphere,
    Orthogonal,
    Sphere,
    UniformNoise,
    XorClusters,
)
from marginflow.errors import InputError

Count = Annotated[int, Meta(ge=1)]
Rate = Annotated[float, Meta(ge=0.0, le=1.0)]
Law = Literal["sphere", "gaussian", "orthogonal", "clusters", "xor", "noisy-sphere", "interval"]


class DataParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A law, the number of samples, and what the law needs; the rest of its parameters have their defaults.

    `noise` is the rate at which labels are flipped. `n_clusters` belongs to the law "clusters" alone.
    """

    law: Law = "sphere"
    n_samples: Count
    dimension: Count = 1
    n_clusters: Count | None = None
    noise: Rate = 0.0

    def __post_init__(self) -> None:
        if (self.n_clusters is not None) != (self.law == "clusters"):
            raise InputError('n_clusters is needed by the law "clusters" and by no other.')
        distribution(self)


def distribution(given: DataParameters) -> AbstractDistribution:
    """The law that the parameters name."""
    d = given.dimension
    noise: AbstractLabelNoise | None = UniformNoise(rate=given.noise) if given.noise > 0.0 else None
    match given.law:
        case "sphere":
            return Sphere(dimension=d, labels="both", noise=noise)
        case "gaussian":
            return Gaussian(dimension=d, labels="both", noise=noise)
        case "orthogonal":
            return Orthogonal(dimension=d, labels="both", noise=noise)
        case "clusters":
            return Clusters(dimension=d, n_clusters=given.n_clusters or 1, noise=noise)
        case "xor":
            return XorClusters(dimension=d, noise=noise)
        case "noisy-sphere":
            return NoisySphere(dimension=d, p=given.noise)
        case "interval":
            if d != 1:
                raise InputError(f"dimension is {d}; the interval has dimension 1.")
            return Interval(p=given.noise)


def sample(given: DataParameters, seed: int) -> Dataset:
    """The data of one seed."""
    return distribution(given).sample(given.n_samples, seed=seed)
