"""`map-cell`: what the bound of a theorem is about, measured on one instance of given numbers."""

from dataclasses import replace
from typing import Final

from msgspec import Struct

from marginflow import theory
from marginflow.errors import InputError
from marginflow.sweeps.registry import Row, task

CHOSEN: Final[tuple[str, ...]] = ("epsilon", "delta", "c", "C", "c1", "c2", "c3", "c4")
"""Letters that are not sizes: a statement with a parameter of that name is judged with it."""


class MapCellParameters(Struct, frozen=True, kw_only=True):
    """The theorem, and its letters as "d=100 m=20"; letters that are left out take their defaults."""

    id: str
    numbers: str


@task("map-cell")
def map_cell(parameters: MapCellParameters, seed: int) -> Row:
    """The observed value of a theorem at given numbers, and how the verdict on that instance ends."""
    statement = theory.statement(parameters.id)
    region = statement.region
    if region is None or region.observation is None:
        raise InputError(f"{statement.id} has no observed value on a map.")
    numbers = region.complete(numbers_of(parameters.numbers))
    instance = region.observation.instance(numbers, seed)
    chosen = {name: numbers[name] for name in CHOSEN if name in numbers and name in (statement.parameters or {})}
    instance = replace(instance, parameters={**instance.parameters, **chosen})
    return {
        "observed": region.observation.measure(numbers, instance),
        "outcome": statement.judge_instance(instance).outcome,
        "instance": instance.name,
    }


def text_of(numbers: dict[str, float]) -> str:
    """Letters and numbers as one word, the same for the same numbers."""
    return " ".join(f"{name}={number!r}" for name, number in sorted(numbers.items()))


def numbers_of(text: str) -> dict[str, float]:
    """The letters of a word such as "d=100 m=20"."""
    try:
        pairs = [part.split("=") for part in text.split()]
        return {name: float(number) for name, number in pairs}
    except ValueError:
        raise InputError(f"numbers is {text!r}; letters with numbers such as 'd=100 m=20' are expected.") from None
