"""Wrong-typed calls of public functions end in an `InputError`, a sentence; the large attack is in benchmarks."""

from __future__ import annotations

import importlib.util
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike

import marginflow as mf
from marginflow.arrays import FloatArray
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
        ({"n": 1, "x": 10**400}, "door: x is a whole number beyond 1.8e308; a number is expected"),
    ],
)
def test_a_wrong_type_is_named_with_what_is_expected(arguments: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        door(**arguments)


def test_a_fraction_arrives_as_a_float() -> None:
    assert type(checked(lambda x: x)(Fraction(1, 4))) is float


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mf.networks.TwoLayer.from_layers([]), "depth 0 without output bias"),
        (lambda: mf.data.BoundaryNoise(rate=0.1, distance=10**400), "distance is a whole number beyond"),
        (lambda: mf.data.Dataset(X=[[1.0], [2.0]], y=[1, -1], classes=np.array([1, 2])), "a tuple of labels"),
        (lambda: mf.data.Dataset(X=[[1.0], [2.0]], y=[1, -1], features=np.array("x")), "features is array('x'"),
        (lambda: mf.data.Orthogonal(dimension=4, p=Fraction(1, 3)), "p is 0.333333"),
        (lambda: mf.generalisation.test_error(lambda X: np.ones(3), np.ones((3, 2)), []), "y has 0 entries; 3 are"),
        (lambda: mf.generalisation.test_error(lambda X: np.ones(3), np.ones((3, 2)), [1]), "y has 1 entries; 3 are"),
        (lambda: mf.theory.map("VYS22/Thm4.1", grid={"d": 1}), "grid"),
        (lambda: mf.theory.map("VYS22/Thm4.1", grid={"d": [10**400]}), "grid"),
        (lambda: mf.generalisation.nearest_neighbour_line_error([[1.0], [1.0, 2.0]], [1, -1]), "X is"),
    ],
)
def test_wrong_values_that_once_went_through_are_named(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        call()


def test_a_wrong_name_is_what_python_says() -> None:
    with pytest.raises(TypeError, match="nonsense"):
        door(1, nonsense=2)


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
        ("\ud800", str | Path, False),
        ("\udc80", str, True),
        (10**400, float, False),
        (10**400, int, True),
        (Fraction(1, 3), float, True),
        ([[1.0], [2.0, 3.0]], ArrayLike, False),
        ([[1.0], [2.0, 3.0]], FloatArray | None, False),
        ([[1.0], [2.0]], ArrayLike | None, True),
        (None, FloatArray | None, True),
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
    attack_api.import_first()
    tally = attack_api.attack(1500, seed=7, seconds=20.0)
    assert tally.calls >= 200
    assert tally.refused > tally.calls / 2
    assert not tally.wrong


@pytest.mark.parametrize("options", [{}, {"outputs": "frozen"}, {"penalty": 1.0}])
def test_a_caller_who_turns_every_floating_point_event_into_an_error_gets_the_same_point(
    options: dict[str, object],
) -> None:
    data = mf.data.Sphere(dimension=20).sample(30, seed=1)
    plain = mf.kkt_point(data, width=20, seed=0, **options)  # options of `kkt_point`
    with np.errstate(all="raise"):
        strict = mf.kkt_point(data, width=20, seed=0, **options)  # options of `kkt_point`
        assert mf.robustness.exact_radius(strict.network, data.X[0]).proved
    assert np.array_equal(strict.network.W, plain.network.W)
