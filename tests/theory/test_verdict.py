"""The outcome follows from the checks: a failed hypothesis can never say holds, an empty bound is vacuous."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow import InputError
from marginflow.theory import Check, Verdict, undefined
from marginflow.theory.check import value

MET = Check(name="met", observed=1.0, relation="<=", bound=2.0)
FAILED = Check(name="failed", observed=3.0, relation="<=", bound=2.0)
OPEN = Check(name="open", observed=0.0, relation="<=", bound=0.1, interval=(0.0, 1.0))
EMPTY = Check(name="empty", observed=1.0, relation="<=", bound=2.0, vacuous=True)
CHECKS = st.lists(st.sampled_from([MET, FAILED, OPEN, EMPTY]), max_size=5)


@settings(max_examples=300, deadline=None)
@given(CHECKS, CHECKS.filter(bool))
def test_outcome_logic(hypotheses: list[Check], conclusions: list[Check]) -> None:
    verdict = Verdict(id="VYS22/x", hypotheses=tuple(hypotheses), conclusions=tuple(conclusions))
    if FAILED in hypotheses or OPEN in hypotheses:
        assert verdict.outcome == "not applicable"
    elif FAILED in conclusions:
        assert verdict.outcome == "violated"
    elif OPEN in conclusions:
        assert verdict.outcome == "undecided"
        assert verdict.reason.startswith("not decided: open")
    elif MET in conclusions:
        assert verdict.outcome == "holds"
    else:
        assert verdict.outcome == "vacuous"
    assert verdict.holds == (verdict.outcome == "holds")


def test_one_conclusion_that_is_met_does_not_hide_another_that_is_open() -> None:
    assert Verdict(id="VYS22/x", conclusions=(MET, OPEN)).outcome == "undecided"
    empty = Check(name="empty", observed=0.0, relation="<=", bound=0.1, interval=(0.0, 1.0), vacuous=True)
    assert Verdict(id="VYS22/x", conclusions=(MET, empty)).outcome == "holds", "what says nothing leaves nothing open"


@settings(max_examples=100, deadline=None)
@given(CHECKS)
def test_a_probe_measures_and_never_holds(hypotheses: list[Check]) -> None:
    probe = Verdict(id="VYS22/x", hypotheses=tuple(hypotheses), constants=(value("x", 1.0),), probe=True)
    assert probe.outcome in ("measured", "not applicable")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "no conclusion"),
        ({"conclusions": (value("x", 1.0),)}, "only reports"),
        ({"hypotheses": (value("x", 1.0),), "conclusions": (MET,)}, "only reports"),
        ({"probe": True, "conclusions": (MET,), "constants": (MET,)}, "concludes nothing"),
        ({"probe": True}, "without a measurement"),
    ],
)
def test_a_verdict_that_could_not_fail_is_refused(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Verdict(id="VYS22/x", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("hypothesis", [MET, FAILED, OPEN, EMPTY])
def test_an_undefined_claim_never_holds(hypothesis: Check) -> None:
    found = undefined((hypothesis,), "there is nothing to compare")
    verdict = Verdict(id="VYS22/x", hypotheses=found.hypotheses, conclusions=found.conclusions)
    assert verdict.outcome in ("not applicable", "violated")


def test_the_reason_names_the_check_that_decided() -> None:
    assert "failed" in Verdict(id="VYS22/x", hypotheses=(MET, FAILED), conclusions=(MET,)).reason
    assert "conclusion fails" in Verdict(id="VYS22/x", conclusions=(MET, FAILED)).reason
    tight = Check(name="tight", observed=1.99, relation="<=", bound=2.0)
    assert Verdict(id="VYS22/x", conclusions=(MET, tight)).tightest is tight


def test_checks_are_found_by_name() -> None:
    verdict = Verdict(id="VYS22/x", hypotheses=(MET,), conclusions=(EMPTY,))
    assert verdict["met"] is MET
    with pytest.raises(InputError, match="no check named 'nothing'"):
        verdict["nothing"]
