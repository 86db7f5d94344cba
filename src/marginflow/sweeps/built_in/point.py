"""What the built-in tasks share: parameters that name a law and a network, and the KKT point that they lead to."""

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
from marginflow.limit import Limit, kkt_point
from marginflow.sweeps.registry import Row
from marginflow.sweeps.status import status_of

Count = Annotated[int, Meta(ge=1)]
Width = Annotated[int, Meta(ge=2)]
Rate = Annotated[float, Meta(ge=0.0, le=1.0)]
Law = Literal["sphere", "gaussian", "orthogonal", "clusters", "xor", "noisy-sphere", "interval"]


class PointParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A law, the number of samples, and the network that is fitted to them.

    `noise` is the rate at which labels are flipped; `n_clusters` belongs to the law "clusters" alone; every law but
    "interval" needs a dimension. The other parameters of the laws have their defaults, and both labels occur.
    """

    law: Law = "sphere"
    n_samples: Count
    dimension: Count | None = None
    n_clusters: Count | None = None
    noise: Rate = 0.0
    width: Width = 100
    bias: bool = True
    outputs: Literal["trained", "frozen"] = "trained"

    def __post_init__(self) -> None:
        if (self.dimension is None) != (self.law == "interval"):
            raise InputError('a dimension is needed by every law but "interval", which has none.')
        if (self.n_clusters is None) != (self.law != "clusters"):
            raise InputError('n_clusters is needed by the law "clusters" and by no other.')
        distribution(self)


def distribution(given: PointParameters) -> AbstractDistribution:
    """The law that the parameters name."""
    d, k = given.dimension or 1, given.n_clusters
    noise: AbstractLabelNoise | None = UniformNoise(rate=given.noise) if given.noise > 0.0 else None
    match given.law:
        case "sphere":
            return Sphere(dimension=d, labels="both", noise=noise)
        case "gaussian":
            return Gaussian(dimension=d, labels="both", noise=noise)
        case "orthogonal":
            return Orthogonal(dimension=d, labels="both", noise=noise)
        case "clusters":
            return Clusters(dimension=d, n_clusters=k, noise=noise)
        case "xor":
            return XorClusters(dimension=d, noise=noise)
        case "noisy-sphere":
            return NoisySphere(dimension=d, p=given.noise)
        case "interval":
            return Interval(p=given.noise)


def sample(given: PointParameters, seed: int) -> Dataset:
    """The data of one seed."""
    return distribution(given).sample(given.n_samples, seed=seed)


def point(given: PointParameters, data: Dataset, seed: int) -> Limit:
    """The KKT point; no limit of time, so that the same seed gives the same bits on any clock."""
    return kkt_point(data, width=given.width, seed=seed, bias=given.bias, outputs=given.outputs)


def certified(found: Limit) -> Row:
    """What every task says of the point that it measures."""
    certificate = found.certificate
    return {
        "run_status": status_of(found),
        "holds": certificate.holds(),
        "exact": found.exact,
        "stationarity": certificate.stationarity,
    }
