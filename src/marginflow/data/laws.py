"""Every law of this room, found in its files: a new one is one new file and nothing else."""

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from marginflow.data.distribution import AbstractDistribution
from marginflow.data.isotropic import AbstractIsotropicLaw
from marginflow.data.noise import AbstractLabelNoise

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


def isotropic_laws() -> Mapping[str, type[AbstractIsotropicLaw]]:
    """The laws of a cluster by the names of their classes."""
    return _found(AbstractIsotropicLaw)  # type: ignore[type-abstract]  # as above


def _found(kind: type[Kind]) -> Mapping[str, type[Kind]]:
    room = importlib.import_module(_ROOM)
    found: dict[str, type[Kind]] = {}
    for entry in pkgutil.iter_modules(room.__path__):
        module = importlib.import_module(f"{_ROOM}.{entry.name}")
        for name, thing in inspect.getmembers(module, inspect.isclass):
            if thing.__module__ == module.__name__ and issubclass(thing, kind) and not inspect.isabstract(thing):
                found[name] = thing
    return MappingProxyType(found)
