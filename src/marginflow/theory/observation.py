"""What a theorem's bound is about, measured on one instance of given numbers: the cells of a map that were computed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from marginflow.errors import InputError
from marginflow.theory.instance import Instance

LARGEST: Final = 4000
"""Samples up to which a cell is computed; a map of bounds has no such limit."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """How to make an instance of a theorem from numbers, and what to measure on it.

    Parameters
    ----------
    name : str
        What is measured, in the unit of the bound: "||z|| / sqrt(d) that flips every sample".
    instance : function of the numbers and a seed
        Data of that size with a network that the theorem is about.
    measure : function of the numbers and the instance that returns a number
    """

    name: str
    instance: Callable[[Mapping[str, float], int], Instance]
    measure: Callable[[Mapping[str, float], Instance], float]


def whole(numbers: Mapping[str, float], name: str, *, least: int = 1, most: int | None = None) -> int:
    """A letter as a whole number that can be computed with; an `InputError` says what is expected."""
    number = numbers[name]
    if not number >= least or number != int(number):
        raise InputError(f"{name} is {number:g}; a whole number of at least {least} is expected.")
    if most is not None and number > most:
        raise InputError(f"{name} is {number:g}; cells are computed up to {most}.")
    return int(number)


def test_error(numbers: Mapping[str, float], instance: Instance) -> float:
    """A measure: the share of test points that do not get their label; 0 counts as wrong."""
    test = instance.the_test()
    return float((test.y * instance.the_network()(test.X) <= 0).mean())
