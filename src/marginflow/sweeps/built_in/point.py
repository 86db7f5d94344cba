"""What the built-in tasks share: parameters that name a law and a network, and the KKT point that they lead to."""

from dataclasses import MISSING, fields
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Struct

from marginflow.data import AbstractDistribution, Dataset, UniformNoise, distributions
from marginflow.errors import InputError
from marginflow.limit import Limit, kkt_point
from marginflow.sweeps.registry import Row, closest
from marginflow.sweeps.status import status_of

Count = Annotated[int, Meta(ge=1)]
Width = Annotated[int, Meta(ge=2)]
Rate = Annotated[float, Meta(ge=0.0, le=1.0)]
# What a task can say of a law; everything else of it has its default.
_SAID: Final = ("dimension", "n_clusters", "noise")
_KNOWN: Final[dict[str, type[AbstractDistribution]]] = {}


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
        if self.constant_target and not _has_noise_of_its_own(_law_named(self.law)):
            raise InputError(f"the law {self.law!r} has no constant target, against which the clean error is counted.")


def _law_named(name: str) -> type[AbstractDistribution]:
    """The law with the name of its file, such as "noisy-sphere", if few numbers make it."""
    if name not in _KNOWN:  # its file may have come since
        for law in distributions().values():
            # Every law is a dataclass, which the type of their abstract base does not say.
            entries = fields(law)  # type: ignore[arg-type]
            needed = {entry.name for entry in entries if entry.default is MISSING and entry.default_factory is MISSING}
            if needed <= {*_SAID}:
                _KNOWN[law.__module__.rpartition(".")[2].replace("_", "-")] = law
    if name not in _KNOWN:
        raise InputError(f"There is no law {name!r}; {closest(name, _KNOWN)}")
    return _KNOWN[name]


def _parameters_of(law: type[AbstractDistribution]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(law))  # type: ignore[arg-type]  # as above


def _has_noise_of_its_own(law: type[AbstractDistribution]) -> bool:
    """Whether its target is constant, and p is the rate of the labels that are not the target."""
    return "p" in _parameters_of(law) and "noise" not in _parameters_of(law)


def distribution(given: PointParameters) -> AbstractDistribution:
    """The law that the parameters name, with both labels where that can be chosen."""
    law, noise = _law_named(given.law), given.noise
    there = _parameters_of(law)
    for number, value in (("dimension", given.dimension), ("n_clusters", given.n_clusters)):
        if (number in there) != (value is not None):
            wrong = f"needs {number}, which is not given" if number in there else f"has no {number}"
            raise InputError(f"the law {given.law!r} {wrong}.")
    known: dict[str, Any] = {"dimension": given.dimension, "n_clusters": given.n_clusters, "labels": "both"}
    if _has_noise_of_its_own(law):
        known["p"] = noise
    elif noise > 0.0 and "noise" not in there:
        raise InputError(f"the law {given.law!r} has no label noise.")
    else:
        known["noise"] = UniformNoise(rate=noise) if noise > 0.0 else None
    return law(**{name: value for name, value in known.items() if name in there})


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
