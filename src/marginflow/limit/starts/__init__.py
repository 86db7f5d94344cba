"""Where `kkt_point` begins: one class for each way, found by itself and tried in the order of the ranks."""

import importlib
import pkgutil
from collections.abc import Sequence

from marginflow.errors import InputError
from marginflow.limit.starts.start import AbstractStart, Finished, Start, finished

__all__ = ["AbstractStart", "Finished", "Start", "all_starts", "finished", "named_starts"]


def all_starts() -> list[AbstractStart]:
    """One of every way in this folder, in the order in which they are tried."""
    found = []
    for entry in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{entry.name}")
        found += [
            thing()
            for thing in vars(module).values()
            if isinstance(thing, type) and issubclass(thing, AbstractStart) and thing.__module__ == module.__name__
            if thing is not AbstractStart
        ]
    return sorted(found, key=lambda start: (start.rank, start.name))


def named_starts(names: Sequence[str] | None) -> list[AbstractStart]:
    """The ways with these names, in this order; all of them by default."""
    known = all_starts()
    if names is None:
        return known
    by_name = {start.name: start for start in known}
    for name in names:
        if name not in by_name:
            raise InputError(f"There is no start {name!r}; known are {', '.join(by_name)}.")
    return [by_name[name] for name in names]
