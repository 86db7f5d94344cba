r"""Where a theorem applies, says something, or does not: its hypotheses and constants on a grid of numbers alone.

A statement has a map if it has a `Region`: the letters on which its hypotheses and bounds depend, and a function from
numbers to `Findings`. No network is needed, and ten thousand cells take seconds. Observed values are those of
`sweeps.observe`, which computes the `Observation` of the region cell by cell.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from marginflow.arrays import vector
from marginflow.display import Plotted, shortened
from marginflow.errors import InputError
from marginflow.plain import Plain
from marginflow.theory.findings import Findings
from marginflow.theory.observation import Observation
from marginflow.theory.outcomes import Outcome
from marginflow.theory.verdict import Verdict

Word = Literal["not applicable", "says nothing", "says something"]
Number = float | int


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A case of the paper's own, to be shown on the map."""

    name: str
    numbers: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Region:
    """How a theorem depends on numbers.

    Parameters
    ----------
    letters : dict of str to str
        The letters, and what they mean.
    defaults : dict of str to float, or to a function of the other numbers
        Values of letters that the grid leaves out, in the order in which they are computed.
    judge : function of the numbers that returns Findings
        Hypotheses, and the claims with their bounds; a bound that says nothing is marked vacuous.
    marks : tuple of Mark
        The paper's own experiments.
    observation : Observation or None
        What the bound is about, measured on an instance of these numbers.
    """

    letters: Mapping[str, str]
    judge: Callable[[Mapping[str, float]], Findings]
    defaults: Mapping[str, Number | Callable[[Mapping[str, float]], float]]
    marks: tuple[Mark, ...] = ()
    observation: Observation | None = None

    def complete(self, given: Mapping[str, float]) -> dict[str, float]:
        """All letters, the given ones first; an `InputError` names what is missing or unknown."""
        foreign = sorted(set(given) - set(self.letters))
        if foreign:
            raise InputError(f"There is no letter {foreign[0]!r}; the map has {', '.join(self.letters)}.")
        missing = [name for name in self.letters if name not in given and name not in self.defaults]
        if missing:
            raise InputError(f"The grid leaves out {missing[0]} ({self.letters[missing[0]]}).")
        numbers = {name: float(value) for name, value in given.items()}
        for name, default in self.defaults.items():
            if name not in numbers:
                numbers[name] = float(default(numbers) if callable(default) else default)
        return numbers


@dataclass(frozen=True, kw_only=True)
class MapCell(Plain):
    """One point of the grid.

    Parameters
    ----------
    numbers : mapping
        All letters.
    word : str
        "not applicable", "says nothing" or "says something".
    binding : str
        The hypothesis that fails by most, or that has the least room; empty where there is none.
    room : float
        Its slack relative to its bound; negative where it fails.
    bound : float
        The bound of the theorem: the observed side of its first claim.
    mark : str
        What of the paper's own this is, if anything.
    observed : tuple of float
        What the bound is about, one number for each seed that was computed.
    outcomes : tuple of str
        How the verdicts on these instances ended.
    """

    numbers: Mapping[str, float]
    word: Word
    binding: str
    room: float
    bound: float
    mark: str = ""
    observed: tuple[float, ...] = ()
    outcomes: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        """The mean of what was observed; not a number where nothing was."""
        return math.fsum(self.observed) / len(self.observed) if self.observed else math.nan


@dataclass(frozen=True, kw_only=True)
class Atlas(Plotted, Plain):
    """A map: the cells of a grid, and the paper's own experiments as cells.

    Parameters
    ----------
    id : str
    axes : tuple of str
        Letters that vary.
    cells, marks : tuple of MapCell
    observed_name : str
        What was observed, in the unit of the bound; empty where nothing was.
    failures : tuple of str
        Cells that could not be computed, and why.
    """

    plain_names: ClassVar = ("id", "axes", "counts", "sentence", "cells", "marks", "observed_name", "failures")

    id: str
    axes: tuple[str, ...]
    cells: tuple[MapCell, ...]
    marks: tuple[MapCell, ...]
    observed_name: str = ""
    failures: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many cells have which word."""
        found = Counter(cell.word for cell in self.cells)
        return {word: found[word] for word in ("not applicable", "says nothing", "says something")}

    def sentence(self) -> str:
        """The map in one sentence."""
        counts = self.counts()
        total = len(self.cells)
        binding = Counter(cell.binding for cell in self.cells if cell.word == "not applicable").most_common(1)
        most = f" (most often because of {binding[0][0]})" if binding else ""
        sentence = (
            f"{self.id} says something on {counts['says something']} of {total} cells, says nothing on "
            f"{counts['says nothing']} and does not apply to {counts['not applicable']}{most}."
        )
        if self.marks:
            said, n = sum(mark.word == "says something" for mark in self.marks), len(self.marks)
            if n == 1:
                sentence += f" About the one experiment in the paper it says {'something' if said else 'nothing'}."
            else:
                sentence += f" It says something about {said or 'none'} of the {n} experiments in the paper."
        return sentence + self._observed_sentence()

    def _observed_sentence(self) -> str:
        if not self.observed_name:
            return ""
        seen = [cell for cell in self.cells if cell.observed]
        outcomes = Counter(outcome for cell in seen for outcome in cell.outcomes)
        words = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common())
        sentence = f" Observed on {len(seen)} of them ({self.observed_name}): {words or 'nothing'}."
        shares = [cell.mean / cell.bound for cell in seen if cell.bound > 0 and math.isfinite(cell.mean)]
        if shares:
            sentence += f" What is observed is {min(shares):.3g} to {max(shares):.3g} times the bound."
        if self.failures:
            sentence += f" {len(self.failures)} could not be computed; the first: {self.failures[0]}"
        return sentence

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        return shortened(f"Atlas({self.sentence()})")


def draw(id: str, region: Region, grid: Mapping[str, Sequence[float]]) -> Atlas:
    """The map of a region on a grid, letter by letter; `theory.map` looks the region up.

    Every combination is a cell; letters that are left out take their defaults.
    """
    if not grid or not all(vector(f"grid[{name!r}]", values).size for name, values in grid.items()):
        raise InputError("A map needs a grid: at least one letter with at least one value.")
    names = tuple(grid)
    cells = [_cell(id, region, dict(zip(names, chosen, strict=True))) for chosen in itertools.product(*grid.values())]
    marks = [_cell(id, region, mark.numbers, mark.name) for mark in region.marks]
    axes = tuple(name for name in names if len(grid[name]) > 1)
    return Atlas(id=id, axes=axes or names, cells=tuple(cells), marks=tuple(marks))


def _cell(id: str, region: Region, given: Mapping[str, float], mark: str = "") -> MapCell:
    try:
        numbers = region.complete(given)
        found = region.judge(numbers)
    except InputError:
        raise
    except (ArithmeticError, ValueError, TypeError) as error:  # a quotient by zero, a logarithm or a root of -1
        letters = ", ".join(f"{name} = {value:g}" for name, value in given.items())
        raise InputError(f"{id} has no meaning at {letters}: {error}.") from None
    words: dict[Outcome, Word] = {"vacuous": "says nothing", "holds": "says something", "violated": "says something"}
    word = words.get(Verdict(id=id, findings=found).outcome, "not applicable")
    rooms = ((check.relative_slack, check.name) for check in found.hypotheses)
    room, binding = min(rooms, default=(math.inf, ""))
    bound = found.claims[0].observed if found.claims else math.nan
    return MapCell(numbers=numbers, word=word, binding=binding, room=room, bound=bound, mark=mark)


def with_observations(
    atlas: Atlas, name: str, found: Sequence[Sequence[tuple[float, str]]], failures: Sequence[str]
) -> Atlas:
    """The map with what was observed: for each cell the pairs of number and outcome, one for each seed."""
    cells = [
        replace(cell, observed=tuple(number for number, _ in pairs), outcomes=tuple(word for _, word in pairs))
        for cell, pairs in zip(atlas.cells, found, strict=True)
    ]
    return replace(atlas, cells=tuple(cells), observed_name=name, failures=tuple(failures))


def grid_of(texts: Sequence[str]) -> dict[str, list[float]]:
    """A grid from words such as "d=100,1000", "m=2:400:50" (that many values, evenly) or "d=1e2:1e6:40log".

    Letters whose bounds are whole numbers get whole numbers, each once.

    Examples
    --------
    >>> from marginflow.theory.atlas import grid_of
    >>> grid_of(["d=100:1000:4", "c=0.5"])
    {'d': [100.0, 400.0, 700.0, 1000.0], 'c': [0.5]}
    """
    grid: dict[str, list[float]] = {}
    for text in texts:
        name, equals, word = text.partition("=")
        if not equals or not name or not word:
            raise InputError(f"The axis {text!r} is not of the form LETTER=VALUES.")
        if name in grid:
            raise InputError(f"The letter {name} is given twice.")
        grid[name] = _values(text, word)
    return grid


def _values(text: str, word: str) -> list[float]:
    parts = word.split(":")
    try:
        if len(parts) == 1:
            return [float(part) for part in word.split(",")]
        low, high = float(parts[0]), float(parts[1])
        logarithmic = parts[2].endswith("log")
        count = int(parts[2].removesuffix("log"))
    except (ValueError, IndexError):
        raise InputError(
            f"The axis {text!r} cannot be read; 1,2,5 or LOW:HIGH:COUNT or LOW:HIGH:COUNTlog is expected."
        ) from None
    if count < 1 or not low <= high or (logarithmic and low <= 0) or not math.isfinite(high):
        raise InputError(f"The axis {text!r} is empty; 0 < LOW <= HIGH and a positive COUNT are expected.")
    steps = [index / (count - 1) if count > 1 else 0.0 for index in range(count)]
    values = [low * (high / low) ** step if logarithmic else low + (high - low) * step for step in steps]
    if low == int(low) and high == int(high) and high - low >= 1:
        values = [float(round(value)) for value in values]
    return list(dict.fromkeys(values))
