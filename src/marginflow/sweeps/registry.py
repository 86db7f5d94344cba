"""A task: a pure function of typed parameters and a seed, under a name that a spec can give."""

from __future__ import annotations

import difflib
import importlib
import json
import math
import numbers
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar, final

import msgspec
import numpy as np

from marginflow.arrays import whole_number
from marginflow.display import Brief
from marginflow.errors import InputError

Plain = bool | int | float | str | None
Row = Mapping[str, Any]
P = TypeVar("P", bound=msgspec.Struct)

_TASKS: dict[str, SweepTask[Any]] = {}
_MOST: Final = 10**300  # larger whole numbers have no text that every reader takes
_BUILT_IN: Final = "marginflow.sweeps.built_in"


@final
@dataclass(frozen=True, eq=False)
class TaskResult(Brief):
    """What a task returns: one row of plain values, and arrays that are kept beside it.

    Parameters
    ----------
    row : mapping of names to bool, int, float, str or None
        Numbers of NumPy are accepted. The same parameters and seed must give the same row, bit for bit: no times.
    arrays : mapping of names to arrays
        Written as safetensors; read back as float64.
    """

    row: Row
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class SweepTask(Brief, Generic[P]):
    """A function `(parameters, seed) -> row`, with the type of its parameters; make one with the decorator `task`.

    Parameters
    ----------
    name : str
        What a spec calls it.
    parameters : subclass of msgspec.Struct
        Fields with types, bounds (`Annotated[int, Meta(ge=1)]`) and defaults.
    function : callable
        Returns a mapping of plain values, or a `TaskResult` if there are arrays too.
    version : int
        Raised by hand when what the function computes changes elsewhere than in the library or in its own file.
    """

    name: str
    parameters: type[P]
    function: Callable[[P, int], Row | TaskResult]
    version: int = 1

    @property
    def module(self) -> str:
        """The module that a worker imports to find the task."""
        return self.function.__module__

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(entry.name for entry in msgspec.structs.fields(self.parameters))

    def __call__(self, parameters: P, seed: int) -> TaskResult:
        """Compute one cell; the row is checked and made plain."""
        returned = self.function(parameters, seed)
        result = returned if isinstance(returned, TaskResult) else TaskResult(row=returned)
        arrays = {str(name): _array(name, array) for name, array in result.arrays.items()}
        return TaskResult(row=plain_row(result.row, taken=(*self.fields, "seed", "status", "seconds")), arrays=arrays)


def _array(name: object, array: object) -> np.ndarray:
    made = np.ascontiguousarray(array)
    if made.dtype.kind not in "biuf":
        raise InputError(f"The array {name!r} holds {made.dtype}; numbers are expected.")
    return made if made.dtype.itemsize <= 8 else made.astype(np.float64)  # no file has longer numbers


def plain_row(row: object, *, taken: tuple[str, ...] = ()) -> dict[str, Plain]:
    """A row with every number as Python's own; refuses what a cell of a table cannot hold.

    Numbers that are not finite stay what they are, as nowhere else: figures tell a length that is infinite from one
    that was not measured. Stores and pipes to workers hold them as Python's json writes them (`row_text`), CSV and
    Parquet write them, and results in JSON make null of them, as `marginflow.plain` does. docs/json.md has the rule.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.sweeps.registry import plain_row
    >>> plain_row({"error": np.float64(0.5), "exact": np.bool_(True), "radius": float("inf")})
    {'error': 0.5, 'exact': True, 'radius': inf}
    """
    if not isinstance(row, Mapping):
        raise InputError(f"The task returned {type(row).__name__}; a mapping of names to plain values is expected.")
    made: dict[str, Plain] = {}
    for name, value in row.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"The row has a column named {name!r}; a word is expected.")
        if name in taken:
            raise InputError(f"The row has a column {name!r}, which is the name of a parameter; choose another.")
        made[_text("its name", name)] = _plain(name, value)
    return made


def row_text(values: object) -> str:
    """Plain values as text for a store or a pipe: JSON, but for Infinity and NaN, which are kept."""
    return json.dumps(values, ensure_ascii=False, allow_nan=True)


def _plain(name: str, value: object) -> Plain:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(name, value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        if abs(int(value)) >= _MOST:
            raise InputError(f"The row has a whole number beyond 10^300 in column {name!r}; keep it as a word.")
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        return math.nan if math.isnan(number) else number
    raise InputError(
        f"The row has {type(value).__name__} in column {name!r}; a number, word, true, false or None is expected, "
        "and arrays go into TaskResult(row=..., arrays=...)."
    )


def _text(name: str, value: str) -> str:
    """The word as Python's own; half of a character (a lone surrogate) cannot be written to any file."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"The row has {value!r} in column {name!r}, which cannot be written as UTF-8.") from None
    return str(value)


def task(
    name: str, *, parameters: type[P] | None = None, version: int = 1
) -> Callable[[Callable[[P, int], Row | TaskResult]], SweepTask[P]]:
    """Declare a task and put it into the registry.

    Parameters
    ----------
    name : str
        What a spec calls it; anything that is not taken yet and has no colon.
    parameters : subclass of msgspec.Struct, optional
        Taken from the annotation of the function's first argument if it is not given.
    version : int
        See `SweepTask`.

    Examples
    --------
    >>> import msgspec
    >>> from marginflow.sweeps import Sweep, run, task
    >>> class Square(msgspec.Struct, frozen=True, kw_only=True):
    ...     side: float
    >>> @task("doctest-square", parameters=Square)
    ... def square(parameters, seed):
    ...     return {"area": parameters.side**2 + seed}
    >>> for row in run(Sweep(task=square, grid={"side": [1, 2]}, seeds=2)).rows:
    ...     print(row)
    {'side': 1.0, 'seed': 0, 'area': 1.0}
    {'side': 1.0, 'seed': 1, 'area': 2.0}
    {'side': 2.0, 'seed': 0, 'area': 4.0}
    {'side': 2.0, 'seed': 1, 'area': 5.0}
    """
    if not isinstance(name, str) or not name.strip() or ":" in name:
        raise InputError(f"The name of a task is {name!r}; a word without a colon is expected.")
    whole_number("version", version)

    def declare(function: Callable[[P, int], Row | TaskResult]) -> SweepTask[P]:
        declared = SweepTask(
            name=name, parameters=parameters or _annotated(name, function), function=function, version=version
        )
        there = _TASKS.get(name)
        # The same function declared again (a module imported once more) replaces itself.
        if there is not None and _origin(there) != _origin(declared):
            raise InputError(f"There is a task named {name!r} in {there.module} already; choose another name.")
        _TASKS[name] = declared
        return declared

    return declare


def _origin(declared: SweepTask[Any]) -> tuple[str, str]:
    return declared.module, declared.function.__qualname__


def _annotated(name: str, function: Callable[..., object]) -> type[Any]:
    """The type of the first argument."""
    hints = {key: hint for key, hint in typing.get_type_hints(function).items() if key != "return"}
    first = next(iter(hints.values()), None)
    if not (isinstance(first, type) and issubclass(first, msgspec.Struct)):
        raise InputError(
            f"The first argument of the task {name!r} is annotated with {first!r}; a subclass of msgspec.Struct is "
            "expected."
        )
    return first


def tasks() -> dict[str, SweepTask[Any]]:
    """Every task that is known by now, built-in ones included, by name."""
    importlib.import_module(_BUILT_IN)
    return dict(sorted(_TASKS.items()))


def find_task(name: str) -> SweepTask[Any]:
    """The task with this name; "package.module:name" imports the module first.

    Examples
    --------
    >>> from marginflow.sweeps import find_task
    >>> find_task("limits")
    Traceback (most recent call last):
    marginflow.errors.InputError: There is no task 'limits'; did you mean 'limit'?
    """
    module, colon, own = name.rpartition(":")
    if colon:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise InputError(f"The task {name!r} cannot be found: {error}.") from None
    # Built-in tasks are imported only if the name is not known without them.
    known = _TASKS if own in _TASKS else tasks()
    if own in known and (not colon or known[own].module == module):
        return known[own]
    raise InputError(f"There is no task {name!r}; {closest(own, known)}")


def closest(word: str, known: typing.Iterable[str]) -> str:
    """What was probably meant, as the end of a sentence."""
    listed = list(known)
    near = difflib.get_close_matches(word, listed, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(map(repr, listed)) or 'none'}."
