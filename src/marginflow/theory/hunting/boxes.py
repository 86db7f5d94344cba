"""Whole numbers within ranges, and what is made of them: parameters alone, or a KKT point on samples of a law."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.instance import Instance

SEEDS: Final = (0, 1000)
"""The least and the largest seed that a box draws."""


@dataclass(frozen=True)
class Range:
    """Whole numbers from `low` to `high`, drawn evenly in their logarithm, times `unit`.

    With unit = 1/8 and low, high = 1, 80 the values are eighths from 1/8 to 10. `low` may be 0.
    """

    low: int
    high: int
    unit: float = 1.0

    def draw(self, rng: np.random.Generator) -> int:
        """A whole number."""
        drawn = np.exp(rng.uniform(0.0, np.log(self.high - self.low + 2)))
        return min(self.low + int(drawn) - 1, self.high)

    def value(self, number: int) -> int | float:
        """The number times the unit, whole where the unit is 1."""
        return number if self.unit == 1 else number * self.unit


def parameters_alone(**numbers: int | float) -> Instance:
    """An instance that is nothing but its numbers."""
    name = ", ".join(f"{key} = {value:g}" for key, value in numbers.items())
    return Instance(name=name, parameters=dict(numbers))


@final
@dataclass(frozen=True, kw_only=True)
class NumberBox(AbstractFamily):
    """Instances that are made of a few whole numbers.

    Parameters
    ----------
    what : str
        What its members are.
    ranges : mapping of str to Range
        The numbers, by name.
    make : function of these names that returns an Instance
        Parameters alone by default.
    """

    what: str
    ranges: Mapping[str, Range]
    make: Callable[..., Instance] = parameters_alone

    @property
    def title(self) -> str:
        """What its members are, and the ranges."""
        ends = [f"{name} {box.value(box.low):g} to {box.value(box.high):g}" for name, box in self.ranges.items()]
        return f"{self.what}: {', '.join(ends)}"

    def draw(self, rng: np.random.Generator) -> Candidate:
        """All numbers afresh."""
        return {name: box.draw(rng) for name, box in self.ranges.items()}

    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """One number, by a little or afresh."""
        name = list(self.ranges)[int(rng.integers(len(self.ranges)))]
        box = self.ranges[name]
        step = int(rng.choice([-1, 1])) * max(1, candidate[name] // 8)
        changed = box.draw(rng) if rng.random() < 0.3 else candidate[name] + step
        return {**candidate, name: min(max(changed, box.low), box.high)}

    def build(self, candidate: Candidate) -> Instance:
        """What is made of the numbers."""
        return self.make(**{name: box.value(candidate[name]) for name, box in self.ranges.items()})

    def simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """Smaller numbers."""
        for name, box in self.ranges.items():
            for less in sorted({box.low, candidate[name] // 2, candidate[name] - 1}):
                if box.low <= less < candidate[name]:
                    yield {**candidate, name: less}


def numbers(**ends: tuple[int, int] | tuple[int, int, float]) -> NumberBox:
    """A box of parameters alone, of these ranges.

    Examples
    --------
    >>> from marginflow.theory.hunting.boxes import numbers
    >>> numbers(n=(1, 80), t=(1, 80, 1 / 8)).title
    'numbers: n 1 to 80, t 0.125 to 10'
    """
    return NumberBox(what="numbers", ranges=ranges(**ends))


def ranges(**ends: tuple[int, int] | tuple[int, int, float]) -> dict[str, Range]:
    """The least and the largest of each number, with a unit if not 1."""
    return {name: Range(*given) for name, given in ends.items()}


def box(what: str, drawn: Mapping[str, Range]) -> Callable[[Callable[..., Instance]], NumberBox]:
    """Make a family of the function below, which makes an instance of these numbers; a seed is one of `SEEDS`."""

    def of(make: Callable[..., Instance]) -> NumberBox:
        seeded = "seed" in inspect.signature(make).parameters
        return NumberBox(what=what, ranges={**drawn, "seed": Range(*SEEDS)} if seeded else drawn, make=make)

    return of
