"""One comparison: strictness, tolerance, intervals, arrays, and that nothing passes for lack of numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow import InputError
from marginflow.theory import check
from marginflow.theory.check import TOLERANCE, Check, above, at_least, at_most, below, compare, equal, true, value

NUMBERS = st.floats(-1e6, 1e6)
RELATIONS = st.sampled_from(["<=", ">=", "<", ">", "=="])


@settings(max_examples=200)
@given(NUMBERS, RELATIONS, NUMBERS)
def test_without_tolerance_a_check_is_the_comparison_itself(a: float, relation: str, b: float) -> None:
    truth = {"<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b, "==": a == b}[relation]
    assert Check(name="x", observed=a, relation=relation, bound=b).state == ("met" if truth else "failed")


@settings(max_examples=200)
@given(NUMBERS, NUMBERS, st.floats(0, 10), RELATIONS)
def test_a_point_interval_decides_like_the_point(a: float, b: float, tolerance: float, relation: str) -> None:
    point = Check(name="x", observed=a, relation=relation, bound=b, tolerance=tolerance)
    interval = Check(name="x", observed=a, relation=relation, bound=b, tolerance=tolerance, interval=(a, a))
    if relation != "==":
        assert interval.state == point.state
    elif point.state == "failed":
        assert interval.state == "failed"
    else:
        assert interval.state == "undecided", "an interval can refute an equality, never prove it"


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), RELATIONS)
def test_many_entries_have_the_same_worst_as_few(seed: int, relation: str) -> None:
    """With one bound for all only those near the end are compared; ties, infinities and rounding change nothing."""
    rng = np.random.default_rng(seed)
    seen = rng.standard_normal((5, 8)) * 10.0 ** rng.integers(-3, 4)
    if rng.random() < 0.5:
        seen = np.round(seen)  # ties
    if rng.random() < 0.5:
        seen = seen[0, 0] * (1.0 + 1e-16 * rng.integers(-3, 4, seen.shape))  # nothing but rounding
    if rng.random() < 0.3:
        seen.flat[rng.integers(0, 40, 2)] = rng.choice([np.inf, -np.inf, np.nan], 2)
    bound = float(rng.choice([0.0, seen.flat[3], 1.5, -20.0, 1e7, np.inf]))
    options = {"tolerance": float(rng.choice([0.0, 1e-9, 0.1])), "scale": float(rng.choice([0.0, 3.0]))}
    few, many = [], []
    for threshold, made in ((math.inf, few), (0, many)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(check, "MANY", threshold)
            made.append(compare("x", seen, relation, bound, **options))
    assert repr(few[0].to_dict()) == repr(many[0].to_dict())


def test_an_interval_that_contains_the_bound_decides_nothing() -> None:
    assert Check(name="x", observed=0.0, relation="<=", bound=0.01, interval=(0.0, 0.03)).state == "undecided"
    assert Check(name="x", observed=0.0, relation="<=", bound=0.05, interval=(0.0, 0.03)).state == "met"
    assert Check(name="x", observed=0.2, relation="<=", bound=0.05, interval=(0.1, 0.3)).state == "failed"


def test_strict_relations_must_hold_beyond_rounding() -> None:
    assert at_most("x", 1.0 + 0.5 * TOLERANCE, 1.0).state == "met"
    assert below("x", 1.0 - 0.5 * TOLERANCE, 1.0).state == "failed"
    assert below("x", 1.0 - 2 * TOLERANCE, 1.0).state == "met"
    assert above("x", 1e-300, 0.0).state == "met", "the tolerance is relative: tiny positive numbers are positive"
    assert above("x", 0.0, 0.0).state == "failed"


@pytest.mark.parametrize("relation", ["<=", ">=", "<", ">", "=="])
def test_nothing_and_not_a_number_decide_nothing(relation: str) -> None:
    assert compare("x", [], relation, 1.0).state == "undecided"
    assert compare("x", math.nan, relation, 1.0).state == "undecided"
    assert compare("x", [1.0, math.nan], relation, [math.nan, 1.0]).state == "undecided"


def test_infinities_compare_as_numbers() -> None:
    assert at_most("x", math.inf, math.inf).state == "met"
    assert at_most("x", math.inf, 1.0).state == "failed"
    assert at_least("x", math.inf, 1.0).state == "met"
    assert equal("x", math.inf, math.inf).state == "met"
    assert equal("x", -math.inf, math.inf).state == "failed"


@settings(max_examples=100)
@given(st.lists(NUMBERS, min_size=1, max_size=8), st.lists(NUMBERS, min_size=1, max_size=8), RELATIONS)
def test_an_array_is_met_exactly_when_every_entry_is(a: list[float], b: list[float], relation: str) -> None:
    size = min(len(a), len(b))
    together = compare("x", a[:size], relation, b[:size])
    single = [compare("x", x, relation, y).state for x, y in zip(a[:size], b[:size], strict=True)]
    assert (together.state == "met") == all(state == "met" for state in single)


def test_the_worst_entry_is_named() -> None:
    check = at_most("x", np.array([[1.0, 2.0], [9.0, 3.0]]), 2.5)
    assert check.observed == 9.0
    assert check.note == "worst of 4, at 1, 0"


def test_scale_widens_the_tolerance_and_nothing_else_does() -> None:
    assert at_most("x", 1e-10, 0.0).state == "failed"
    assert at_most("x", 1e-10, 0.0, scale=1.0).state == "met"
    assert at_most("x", 1e-10, 0.0, scale=1.0, tolerance=1e-12).state == "failed"


@settings(max_examples=100)
@given(NUMBERS, NUMBERS, st.sampled_from(["<=", ">="]))
def test_the_bar_stands_below_its_mark_exactly_when_the_check_is_met(a: float, b: float, relation: str) -> None:
    check = Check(name="x", observed=a, relation=relation, bound=b)
    assert check.used is not None
    assert 0.0 <= check.used <= 2.0
    assert (check.used <= 1.0) == (check.state == "met")


def test_a_reported_value_has_no_bound_and_a_comparison_has_one() -> None:
    assert value("x", 3.0).slack is None
    assert value("x", 3.0).used is None
    assert true("x", False).state == "failed"
    with pytest.raises(InputError):
        Check(name="x", observed=1.0, relation="is", bound=2.0)
    with pytest.raises(InputError):
        Check(name="x", observed=1.0, relation="<=")
    with pytest.raises(InputError):
        Check(name="x", observed=1.0, relation="<=", bound=2.0, interval=(3.0, 1.0))
