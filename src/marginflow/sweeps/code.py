"""Which code computed a row: a change of the library or of the task is a change of the cell."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy
import scipy

from marginflow.sweeps.registry import Task

_PACKAGE: Final = Path(__file__).parents[1]
# Rooms whose code no task runs, or, for experiments, in which the file of the task itself is what counts.
_APART: Final = ("cli", "report", "interop", "experiments", "sweeps")


def code_version(task: Task[Any]) -> str:
    """Versions of marginflow, NumPy and SciPy, and a digest of the library's sources and of the file of the task.

    Comments count too: a digest that looked only at what is executed would have to prove that it misses nothing.
    What the task calls outside the library and its own file does not count; raise the task's `version` for that.
    """
    return _version(task.function)


@cache
def _version(function: Callable[..., object]) -> str:
    digest = hashlib.sha256(_library().encode())
    digest.update(_source(function))
    return f"{version('marginflow')}-numpy{numpy.__version__}-scipy{scipy.__version__}-{digest.hexdigest()[:16]}"


def _source(function: Callable[..., object]) -> bytes:
    try:
        return Path(inspect.getsourcefile(function) or "").read_bytes()
    except (OSError, TypeError):  # typed at a prompt: there is no file
        return function.__code__.co_code + repr(function.__code__.co_consts).encode()


@cache
def _library() -> str:
    digest = hashlib.sha256()
    for file in _files():
        digest.update(file.relative_to(_PACKAGE).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    found = (file for file in _PACKAGE.rglob("*.py") if file.relative_to(_PACKAGE).parts[0] not in _APART)
    yield from sorted([*found, *(_PACKAGE / "sweeps" / "built_in").glob("*.py")])
