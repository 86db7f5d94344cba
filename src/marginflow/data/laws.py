"""Every law of this room, found in its files: a new one is one new file; and from an origin back to the very sample."""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar

from marginflow.data.dataset import Dataset
from marginflow.data.distribution import AbstractDistribution
from marginflow.data.isotropic import AbstractIsotropicLaw
from marginflow.data.noise import AbstractLabelNoise
from marginflow.errors import InputError

_ROOM = "marginflow.data"
Kind = TypeVar("Kind")


def distributions() -> Mapping[str, type[AbstractDistribution]]:
    """The distributions by the names of their classes.

    Examples
    --------
    >>> from marginflow.data import distributions
    >>> "Sphere" in distributions()
    True
    """
    return _found(AbstractDistribution)  # type: ignore[type-abstract]  # it is compared with, not built


def noises() -> Mapping[str, type[AbstractLabelNoise]]:
    """The kinds of label noise by the names of their classes."""
    return _found(AbstractLabelNoise)  # type: ignore[type-abstract]  # as above


def _found(kind: type[Kind]) -> Mapping[str, type[Kind]]:
    room = importlib.import_module(_ROOM)
    found: dict[str, type[Kind]] = {}
    for entry in pkgutil.iter_modules(room.__path__):
        module = importlib.import_module(f"{_ROOM}.{entry.name}")
        for name, thing in inspect.getmembers(module, inspect.isclass):
            if thing.__module__ == module.__name__ and issubclass(thing, kind) and not inspect.isabstract(thing):
                found[name] = thing
    return MappingProxyType(found)


def from_plain(value: object) -> Any:
    """The object that a mapping with a "name" stands for, with its fields; anything else is returned as it is."""
    if not isinstance(value, Mapping):
        return value
    name = value.get("name")
    clusters = _found(AbstractIsotropicLaw)  # type: ignore[type-abstract]  # as above
    kinds: dict[str, type[Any]] = {**distributions(), **noises(), **clusters}
    if not isinstance(name, str) or name not in kinds:
        raise InputError(f"There is no distribution, noise or cluster law named {name!r}; known are {sorted(kinds)}.")
    known = [field.name for field in fields(kinds[name])]
    foreign = sorted(set(value) - {"name", *known})
    if foreign:
        raise InputError(f"{name} has no parameter {foreign[0]!r}; it has {known}.")
    try:
        return kinds[name](**{key: from_plain(entry) for key, entry in value.items() if key != "name"})
    except TypeError as error:
        raise InputError(f"{name} cannot be made from {sorted(set(value) - {'name'})}: {error}.") from None


def distribution_of(origin: Mapping[str, object]) -> AbstractDistribution:
    """The distribution that a data set's origin names.

    Examples
    --------
    >>> from marginflow.data import Sphere, distribution_of
    >>> data = Sphere(dimension=3, radius=1).sample(5, seed=7)
    >>> distribution_of(data.origin)
    Sphere(dimension=3, radius=1, labels='random', noise=None)
    """
    apart = ("n_samples", "seed", "fresh", "then")
    made = from_plain({key: value for key, value in origin.items() if key not in apart})
    if not isinstance(made, AbstractDistribution):
        raise InputError(f"The origin names {origin.get('name')!r}, which is not a distribution.")
    return made


def redraw(origin: Mapping[str, object], *, train: Dataset | None = None) -> Dataset:
    """The very same data set again, from its origin; for test points (`fresh`) the training set is needed too."""
    distribution = distribution_of(origin)
    n_samples, seed = origin.get("n_samples"), origin.get("seed")
    if not isinstance(n_samples, int) or not isinstance(seed, int):
        raise InputError(f"The origin has n_samples {n_samples!r} and seed {seed!r}; whole numbers are expected.")
    if origin.get("fresh"):
        if train is None:
            raise InputError("The origin is that of test points; the training set is needed to draw them again.")
        dataset = distribution.fresh(n_samples, train=train, seed=seed)
    else:
        dataset = distribution.sample(n_samples, seed=seed)
    steps = origin.get("then", [])
    for step in steps if isinstance(steps, list) else []:
        if not isinstance(step, Mapping):
            raise InputError(f"The origin lists the step {step!r}; a mapping with a name is expected.")
        if step.get("name") == "subset":
            dataset = dataset.subset(step.get("index", []))
            continue
        noise = from_plain({key: value for key, value in step.items() if key != "seed"})
        if not isinstance(noise, AbstractLabelNoise):
            raise InputError(f"The step {step.get('name')!r} of the origin is neither a subset nor label noise.")
        dataset = noise(dataset, seed=step.get("seed", 0))
    return dataset
