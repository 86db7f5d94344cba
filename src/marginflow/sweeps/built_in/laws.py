"""The laws that a built-in task can name: every file of the data room whose law few numbers make."""

from dataclasses import MISSING, fields
from typing import Any, Final

from marginflow.data import AbstractDistribution, AbstractLabelNoise, UniformNoise, distributions
from marginflow.errors import InputError
from marginflow.sweeps.registry import closest

# What a task can say of a law; everything else of it has its default.
_SAID: Final = ("dimension", "n_clusters", "noise")
_KNOWN: Final[dict[str, type[AbstractDistribution]]] = {}


def law_named(name: str) -> type[AbstractDistribution]:
    """The law with the name of its file, such as "noisy-sphere"."""
    if name not in _KNOWN:  # its file may have come since
        _KNOWN.update({_name(law): law for law in distributions().values() if _needed(law) <= {*_SAID}})
    if name not in _KNOWN:
        raise InputError(f"There is no law {name!r}; {closest(name, _KNOWN)}")
    return _KNOWN[name]


def parameters_of(law: type[AbstractDistribution]) -> tuple[str, ...]:
    """The names of its parameters."""
    # Every law is a dataclass, which the type of their abstract base does not say.
    return tuple(field.name for field in fields(law))  # type: ignore[arg-type]


def has_noise_of_its_own(law: type[AbstractDistribution]) -> bool:
    """Whether its target is constant, and p is the rate of the labels that are not the target."""
    return "p" in parameters_of(law) and "noise" not in parameters_of(law)


def law_of(name: str, *, dimension: int | None, n_clusters: int | None, noise: float) -> AbstractDistribution:
    """The law with these numbers, and with both labels where that can be chosen; noise is a rate of flipped labels."""
    law = law_named(name)
    there = parameters_of(law)
    for number, value in (("dimension", dimension), ("n_clusters", n_clusters)):
        if (number in there) != (value is not None):
            wrong = f"needs {number}, which is not given" if number in there else f"has no {number}"
            raise InputError(f"the law {name!r} {wrong}.")
    flips: AbstractLabelNoise | None = UniformNoise(rate=noise) if noise > 0.0 else None
    given: dict[str, Any] = {"dimension": dimension, "n_clusters": n_clusters, "labels": "both"}
    given |= {"p": noise} if has_noise_of_its_own(law) else {"noise": flips}
    if noise > 0.0 and not has_noise_of_its_own(law) and "noise" not in there:
        raise InputError(f"the law {name!r} has no label noise.")
    return law(**{key: value for key, value in given.items() if key in there})


def _name(law: type[AbstractDistribution]) -> str:
    return law.__module__.rpartition(".")[2].replace("_", "-")


def _needed(law: type[AbstractDistribution]) -> set[str]:
    """Parameters without a default."""
    every = fields(law)  # type: ignore[arg-type]  # as above
    return {field.name for field in every if field.default is MISSING and field.default_factory is MISSING}
