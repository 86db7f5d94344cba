"""A sweep: one task on a grid of parameters with several seeds, from Python or from a TOML file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, final

import msgspec

from marginflow.display import Displayed, brief_text, shortened
from marginflow.errors import InputError
from marginflow.storage import existing_file
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.registry import SweepTask, closest, find_task
from marginflow.sweeps.values import converted, render_value

_SEED: Final = Annotated[int, msgspec.Meta(ge=0)]
_MOST: Final = 2**63 - 1  # what a column of whole numbers holds
_COUNT: Final = Annotated[int, msgspec.Meta(ge=1)]
_TABLES: Final = ("sweep", "grid", "fixed", "points")
_HEAD: Final = ("name", "task", "seeds", "time_limit")
_SECONDS: Final = Annotated[float, msgspec.Meta(gt=0)] | None


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep(Displayed):
    """Every combination of the axes, for every point and every seed.

    Parameters
    ----------
    task : SweepTask or str
        The task, or its name; "package.module:name" for one that has to be imported first.
    grid : mapping of names to lists
        Axes; the cells are their product, the last axis varying fastest.
    points : sequence of mappings
        Parameters that vary together; the product is taken once for each of them.
    fixed : mapping
        Parameters that do not vary; the others have their defaults.
    seeds : int or sequence of int
        A number n stands for 0, ..., n - 1.
    name : str
        For people.
    time_limit : float or None
        Seconds after which a cell is ended and counted as failed; needs workers. It is not part of what is computed.

    Raises
    ------
    InputError
        With the path of the wrong field, before anything is computed.

    Examples
    --------
    >>> from marginflow.sweeps import Sweep
    >>> sweep = Sweep(task="limit", grid={"dimension": [10, 20]}, fixed={"n_samples": 8}, seeds=3)
    >>> len(sweep.cells)
    6
    >>> Sweep(task="limit", grid={"widht": [10]})
    Traceback (most recent call last):
    marginflow.errors.InputError: grid.widht: the task 'limit' has no such parameter; did you mean 'width'?
    """

    task: SweepTask[Any] | str
    grid: Mapping[str, Sequence[object]] = field(default_factory=dict)
    points: Sequence[Mapping[str, object]] = ()
    fixed: Mapping[str, object] = field(default_factory=dict)
    seeds: int | Sequence[int] = (0,)
    name: str = "sweep"
    time_limit: float | None = None
    _numbers: tuple[int, ...] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.task, SweepTask):
            object.__setattr__(self, "task", find_task(converted("sweep.task", self.task, str)))
        converted("sweep.name", self.name, str)
        object.__setattr__(self, "seeds", _seeds(self.seeds))
        object.__setattr__(self, "time_limit", converted("sweep.time_limit", self.time_limit, _SECONDS))
        _ = self.cells

    def __repr__(self) -> str:
        task = self.task if isinstance(self.task, str) else self.task.name
        axes = ", ".join(f"{name} in {brief_text(tuple(values))}" for name, values in self.grid.items())
        seeds = len(self.seeds) if isinstance(self.seeds, tuple) else self.seeds
        words = [f"{len(self.cells)} cells of {task!r}", *([axes] if axes else []), f"{seeds} seeds"]
        return shortened(f"Sweep({self.name!r}: {'; '.join(words)})")

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, seeds varying fastest, then the last axis."""
        made = tuple(self._cells())
        seen: set[str] = set()
        for cell in made:
            if cell.identity in seen:
                raise InputError(f"points: the cell {cell} occurs twice.")
            seen.add(cell.identity)
        return made

    @property
    def numbered(self) -> tuple[tuple[int, Cell], ...]:
        """The cells with their numbers in the whole sweep, from 0."""
        numbers = range(len(self.cells)) if self._numbers is None else self._numbers
        return tuple(zip(numbers, self.cells, strict=True))

    def some(self, numbers: Sequence[int]) -> Sweep:
        """The sweep of these cells only, which keep their numbers."""
        known = dict(self.numbered)
        for number in numbers:
            if number not in known:
                raise InputError(f"There is no cell {number}; they are numbered from 0 to {len(self.cells) - 1}.")
        chosen = sorted(set(numbers))
        part = replace(self)
        part.__dict__["cells"] = tuple(known[number] for number in chosen)
        object.__setattr__(part, "_numbers", tuple(chosen))
        return part

    def _cells(self) -> Iterator[Cell]:
        task = self.task if isinstance(self.task, SweepTask) else find_task(self.task)
        seeds = self.seeds if isinstance(self.seeds, tuple) else ()
        kinds = {entry.name: entry.type for entry in msgspec.structs.fields(task.parameters)}
        fixed = _table("fixed", self.fixed, task, kinds)
        axes = {
            name: _different(f"grid.{name}", values, _kind("grid", name, task, kinds))
            for name, values in _named("grid", self.grid).items()
        }
        listed = [_table(f"points[{index}]", point, task, kinds) for index, point in enumerate(_list(self.points))]
        _apart(fixed, axes, listed)
        for index, point in enumerate(listed or [{}]):
            for values in itertools.product(*axes.values()):
                given = fixed | point | dict(zip(axes, values, strict=True))
                parameters = _whole(given, task, f"points[{index}]" if listed else "grid")
                for seed in seeds:
                    yield Cell(task=task, parameters=parameters, seed=seed)

    @classmethod
    def load(cls, path: str | Path) -> Sweep:
        """Read a TOML file with the tables [sweep], [grid], [fixed] and [[points]]."""
        source = existing_file(path)
        try:
            text = source.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{source} cannot be read: {error}.") from None
        try:
            return cls.loads(text)
        except InputError as error:
            raise InputError(f"{source}: {error}") from None

    @classmethod
    def loads(cls, text: str) -> Sweep:
        """The sweep that a TOML text describes."""
        try:
            spec = msgspec.toml.decode(text)
        except msgspec.DecodeError as error:
            raise InputError(f"This is not TOML: {error}.") from None
        _known(spec, _TABLES, "")
        head = _named("sweep", spec.get("sweep", {}))
        _known(head, _HEAD, "sweep.")
        if "task" not in head:
            raise InputError("sweep.task: expected the name of a task, but there is none.")
        return cls(**head, **{name: spec[name] for name in _TABLES[1:] if name in spec})


def _known(table: Mapping[str, object], names: Sequence[str], path: str) -> None:
    for name in table:
        if name not in names:
            raise InputError(f"{path}{name}: there is no such field; {closest(name, names)}")


def _named(path: str, table: object) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise InputError(f"{path}: expected a table, got {render_value(table)}.")
    return table


def _list(points: object) -> Sequence[object]:
    if not isinstance(points, Sequence) or isinstance(points, str):
        raise InputError(f"points: expected a list of tables, got {render_value(points)}.")
    return points


def _seeds(given: object) -> tuple[int, ...]:
    if isinstance(given, int):
        return tuple(range(converted("sweep.seeds", given, _COUNT)))
    seeds = _different("sweep.seeds", given, _SEED, expected="a whole number >= 1 or a list of seeds")
    if max(seeds) > _MOST:
        raise InputError(f"sweep.seeds: {max(seeds)} is larger than {_MOST}, the largest seed that a store can hold.")
    return seeds


def _table(path: str, given: object, task: SweepTask[Any], kinds: Mapping[str, Any]) -> dict[str, Any]:
    table = _named(path, given)
    return {name: converted(f"{path}.{name}", table[name], _kind(path, name, task, kinds)) for name in table}


def _different(
    path: str, given: object, kind: Any, *, expected: str = "a list of at least one value"
) -> tuple[Any, ...]:
    """The entries of a list as values of one kind, none of them twice."""
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) == 0:
        raise InputError(f"{path}: expected {expected}, got {render_value(given)}.")
    values = tuple(converted(f"{path}[{index}]", value, kind) for index, value in enumerate(given))
    seen: set[str] = set()
    for index, value in enumerate(values):
        word = render_value(value)
        if word in seen:
            raise InputError(f"{path}[{index}]: {word} occurs twice.")
        seen.add(word)
    return values


def _kind(path: str, name: str, task: SweepTask[Any], kinds: Mapping[str, Any]) -> Any:
    if name not in kinds:
        raise InputError(f"{path}.{name}: the task {task.name!r} has no such parameter; {closest(name, kinds)}")
    return kinds[name]


def _apart(fixed: Mapping[str, Any], axes: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
    """Each parameter is given once only."""
    for name in axes:
        if name in fixed:
            raise InputError(f"fixed.{name}: is an axis of the grid too; leave one of them out.")
    for index, point in enumerate(points):
        for name in point:
            if name in fixed or name in axes:
                where = "fixed" if name in fixed else "grid"
                raise InputError(f"points[{index}].{name}: is given under [{where}] too; leave one of them out.")


def _whole(given: Mapping[str, Any], task: SweepTask[Any], path: str) -> dict[str, Any]:
    """All parameters with defaults; what the struct itself refuses (its `__post_init__`) is said with the values."""
    for entry in msgspec.structs.fields(task.parameters):
        if entry.required and entry.name not in given:
            raise InputError(f"fixed.{entry.name}: the task {task.name!r} needs this parameter, but it is not given.")
    try:
        whole = msgspec.convert(dict(given), task.parameters)
    except msgspec.ValidationError as error:
        values = ", ".join(f"{name} = {render_value(value)}" for name, value in given.items())
        raise InputError(f"{path}: {values}: {error}") from None
    made: dict[str, Any] = msgspec.to_builtins(whole)
    return made
