"""What the built-in tasks share: parameters that name a law and a network, and the KKT point that they lead to."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from marginflow.data import AbstractDistribution, Dataset
from marginflow.errors import InputError
from marginflow.limit import Limit, kkt_point
from marginflow.sweeps.built_in.laws import has_noise_of_its_own, law_named, law_of
from marginflow.sweeps.registry import Row
from marginflow.sweeps.status import status_of

Count = Annotated[int, Meta(ge=1)]
Width = Annotated[int, Meta(ge=2)]
Rate = Annotated[float, Meta(ge=0.0, le=1.0)]


class PointParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A law, the number of samples, and the network that is fitted to them.

    The law has the name of its file in the data room. `noise` is the rate at which labels are flipped; `dimension` and
    `n_clusters` are given where the law has them. Its other parameters have their defaults, and both labels occur.
    """

    constant_target: ClassVar[bool] = False
    """Whether the task is about laws with one clean label only."""

    law: str = "sphere"
    n_samples: Count
    dimension: Count | None = None
    n_clusters: Count | None = None
    noise: Rate = 0.0
    width: Width = 100
    bias: bool = True
    outputs: Literal["trained", "frozen"] = "trained"

    def __post_init__(self) -> None:
        distribution(self)
        if self.constant_target and not has_noise_of_its_own(law_named(self.law)):
            raise InputError(f"the law {self.law!r} has no constant target, against which the clean error is counted.")


def distribution(given: PointParameters) -> AbstractDistribution:
    """The law that the parameters name."""
    return law_of(given.law, dimension=given.dimension, n_clusters=given.n_clusters, noise=given.noise)


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
