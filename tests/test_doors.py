"""Wrong-typed calls of public functions end in an `InputError`, a sentence; the large attack is in benchmarks."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

import marginflow as mf
from marginflow.doors import checked, fits
from marginflow.errors import InputError

ATTACK = Path(__file__).parents[1] / "benchmarks" / "attack_api.py"


@checked
def door(
    n: int, x: float = 1.0, *rest: int, mode: Literal["a", "b"] = "a", call: Callable[[], int] | None = None
) -> int:
    return n


def test_fitting_arguments_pass_and_defaults_are_not_looked_at() -> None:
    assert door(1) == door(1, 2) == door(1, 2.5, 3, mode="b", call=lambda: 1) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": "3"}, "door: n is '3'; a whole number is expected"),
        ({"n": 1.5}, "door: n is 1.5"),
        ({"n": True}, "door: n is True"),
        ({"n": 1, "x": None}, "door: x is None; a number is expected"),
        ({"n": 1, "mode": "c"}, "door: mode is 'c'; one of 'a', 'b' is expected"),
        ({"n": 1, "call": 3}, "door: call is 3; a function or None is expected"),
        ({"n": [0] * 100}, "door: n is a list; a whole number"),
    ],
)
def test_a_wrong_type_is_named_with_what_is_expected(arguments: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        door(**arguments)


def test_a_wrong_name_is_what_python_says() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        door(1, nonsense=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("value", "hint", "answer"),
    [
        ([1, 2], Sequence[int], True),
        ([1, "2"], Sequence[int], False),
        ("12", Sequence[int], False),
        ((1.0, 2.0), tuple[float, float], True),
        ((1.0,), tuple[float, float], False),
        (int, type[int], True),
        ([1, "a"], Sequence[Any], True),
        ("x", "unresolved", True),
    ],
)
def test_annotations_are_understood(value: object, hint: object, answer: bool) -> None:
    assert fits(value, hint) is answer


def test_doors_are_still_found_by_name() -> None:
    assert pickle.loads(pickle.dumps(mf.certify)) is mf.certify
    assert mf.certify.__doc__


def test_wrong_typed_calls_end_in_input_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("attack_api", ATTACK)
    assert spec is not None
    assert spec.loader is not None
    attack_api = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "attack_api", attack_api)
    spec.loader.exec_module(attack_api)
    tally = attack_api.attack(1500, seed=7, seconds=20.0)
    assert tally.calls >= 200
    assert tally.refused > tally.calls / 2
    unexpected = sum(tally.wrong.values())
    assert unexpected <= tally.calls // 500, tally.wrong
