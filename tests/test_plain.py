import dataclasses
import enum
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginflow.data import Sphere, UniformNoise
from marginflow.errors import InputError
from marginflow.plain import Plain, to_plain


class Colour(enum.Enum):
    RED = "red"


class Word(enum.StrEnum):
    YES = "yes"


@dataclasses.dataclass(frozen=True)
class Pair(Plain):
    plain_names = ("total", "first", "sign")
    first: float
    second: float

    @property
    def total(self) -> float:
        return self.first + self.second

    def sign(self) -> int:
        return int(np.sign(self.total))


@dataclasses.dataclass(frozen=True)
class Long(Plain):
    entries: np.ndarray

    def plain_values(self) -> dict[str, object]:
        return {"length": len(self.entries)}

    def plain_arrays(self) -> dict[str, object]:
        return {"entries": self.entries}


@dataclasses.dataclass(frozen=True)
class Whole(Plain):
    part: Long


@dataclasses.dataclass(frozen=True)
class Everything(Plain):
    pair: Pair
    path: Path


def test_laws_carry_the_names_of_their_classes() -> None:
    assert to_plain(Sphere(dimension=3, noise=UniformNoise(rate=0.5)), named=True) == {
        "name": "Sphere",
        "dimension": 3,
        "radius": "sqrt(d)",
        "labels": "random",
        "noise": {"name": "UniformNoise", "rate": 0.5},
    }


def test_arrays_numbers_and_enumerations_become_plain() -> None:
    assert to_plain((np.float64(0.5), np.arange(2), {"a": None})) == [0.5, [0, 1], {"a": None}]
    assert type(to_plain(np.int64(3))) is int
    assert to_plain([Colour.RED, Word.YES, np.bool_(True), {2, 1}]) == ["red", "yes", True, [1, 2]]
    assert type(to_plain(Word.YES)) is str


def test_a_result_shows_what_it_names_or_else_every_field() -> None:
    expected = {"total": 3.0, "first": 1.0, "sign": 1}
    assert list(Pair(1.0, 2.0).to_dict().items()) == list(expected.items())
    assert to_plain(Everything(Pair(1.0, 2.0), Path("a/b"))) == {"pair": expected, "path": "a/b"}


def test_arrays_are_left_out_of_a_result_and_of_its_parts() -> None:
    whole = Whole(Long(np.arange(2)))
    assert whole.to_dict() == {"part": {"length": 2, "entries": [0, 1]}}
    assert whole.to_dict(arrays=False) == {"part": {"length": 2}}


@given(
    st.recursive(st.floats() | st.integers() | st.text() | st.booleans() | st.none(), lambda x: st.lists(x, max_size=3))
)
def test_every_plain_value_is_strict_json(value: object) -> None:
    plain = to_plain(value)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -np.inf, np.float32("nan")])
def test_numbers_that_are_not_finite_become_none(bad: float) -> None:
    assert to_plain({"value": [bad, np.array([[bad]])]}) == {"value": [None, [[None]]]}


@pytest.mark.parametrize("foreign", [object(), 1j, b"bytes", iter([]), Pair])
def test_other_things_are_refused(foreign: object) -> None:
    with pytest.raises(InputError, match="no plain form"):
        to_plain(foreign)
