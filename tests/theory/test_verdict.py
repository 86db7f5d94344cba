"""The outcome follows from the checks: a failed hypothesis can never say holds, an empty bound is vacuous."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow import InputError
from marginflow.theory import Check, Counterexample, Findings, Verdict, undefined
from marginflow.theory.check import at_least, at_most, compare, true, value
from marginflow.theory.outcomes import MEANING, OPENING

MET = Check(name="met", observed=1.0, relation="<=", bound=2.0)
FAILED = Check(name="failed", observed=3.0, relation="<=", bound=2.0)
OPEN = Check(name="open", observed=0.0, relation="<=", bound=0.1, interval=(0.0, 1.0))
EMPTY = Check(name="empty", observed=1.0, relation="<=", bound=2.0, vacuous=True)
CHECKS = st.lists(st.sampled_from([MET, FAILED, OPEN, EMPTY]), max_size=5)


def judge(*, kind: str = "theorem", **fields: object) -> Verdict:
    """The verdict on findings with these fields."""
    return Verdict(id="VYS22/x", kind=kind, findings=Findings(**fields))


@settings(max_examples=300)
@given(CHECKS, CHECKS.filter(bool), CHECKS, CHECKS)
def test_outcome_logic(
    hypotheses: list[Check], claims: list[Check], derived: list[Check], arithmetic: list[Check]
) -> None:
    verdict = judge(
        hypotheses=tuple(hypotheses), claims=tuple(claims), derived=tuple(derived), arithmetic=tuple(arithmetic)
    )
    if FAILED in hypotheses:
        assert verdict.outcome == "not applicable"
    elif OPEN in hypotheses:
        assert verdict.outcome == "undecided"
    elif FAILED in claims:
        assert verdict.outcome == "violated"
    elif OPEN in claims:
        assert verdict.outcome == "undecided"
        assert verdict.reason.startswith("not decided: open")
    elif MET in claims:
        assert verdict.outcome == "holds"
    else:
        assert verdict.outcome == "vacuous"
    assert verdict.holds == (verdict.outcome == "holds")
    assert verdict.outcome == judge(hypotheses=tuple(hypotheses), claims=tuple(claims)).outcome
    assert verdict.sentence.startswith(f"VYS22/x {OPENING[verdict.outcome]}: {MEANING[verdict.outcome]}")


def test_a_claim_that_is_met_does_not_hide_another_that_is_open() -> None:
    assert judge(claims=(MET, OPEN)).outcome == "undecided"
    empty = Check(name="empty", observed=0.0, relation="<=", bound=0.1, interval=(0.0, 1.0), vacuous=True)
    partly = judge(claims=(MET, empty))
    assert partly.outcome == "holds", "what says nothing leaves nothing open"
    assert "1 of 2 claims say nothing" in partly.sentence


def test_nothing_to_compare_is_never_a_violation() -> None:
    for check in (at_least("x", [], 1.0), at_most("x", math.nan, 1.0), at_most("x", 1.0, math.nan)):
        assert judge(claims=(check,)).outcome == "undecided"
        assert judge(hypotheses=(check,), claims=(MET,)).outcome == "undecided"


def test_only_a_certified_counterexample_refutes() -> None:
    proved = Counterexample(summary="n = 2, x = (0, 1)", proof="rational arithmetic")
    assert judge(claims=(FAILED,), counterexample=proved).outcome == "refuted"
    assert "rational arithmetic" in judge(claims=(FAILED,), counterexample=proved).sentence
    assert judge(hypotheses=(FAILED,), claims=(FAILED,), counterexample=proved).outcome == "not applicable"
    with pytest.raises(InputError, match="no claim fails"):
        judge(claims=(MET,), counterexample=proved)
    with pytest.raises(InputError, match="arithmetic that proved it"):
        Counterexample(summary="x", proof="")


def test_a_failing_step_of_the_proof_is_not_a_failing_claim() -> None:
    assert judge(claims=(MET,), proof_steps=(FAILED,)).outcome == "proof step fails"
    assert judge(claims=(EMPTY,), proof_steps=(FAILED,)).outcome == "proof step fails"
    assert judge(claims=(FAILED,), proof_steps=(FAILED,)).outcome == "violated"
    assert judge(claims=(MET,), proof_steps=(MET,)).outcome == "holds"


def test_open_constants_cannot_be_contradicted_and_are_shown() -> None:
    C = value("C", 5.0)
    assert judge(claims=(FAILED,), unspecified=(C,)).outcome == "constants unspecified"
    assert "C = 5" in judge(claims=(FAILED,), unspecified=(C,)).sentence
    assert "C = 5" in judge(claims=(MET,), unspecified=(C,)).sentence
    assert judge(claims=(MET,), unspecified=(C,)).outcome == "holds"


def test_a_verdict_is_neither_true_nor_false() -> None:
    with pytest.raises(TypeError, match=r"\.holds or \.outcome"):
        bool(judge(claims=(MET,)))


@settings(max_examples=100)
@given(CHECKS)
def test_a_probe_measures_and_never_holds(hypotheses: list[Check]) -> None:
    probe = judge(hypotheses=tuple(hypotheses), constants=(value("x", 1.0),), kind="probe")
    assert probe.outcome in ("measured", "not applicable", "undecided")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "no claim"),
        ({"derived": (MET,), "arithmetic": (MET,)}, "no claim"),
        ({"claims": (value("x", 1.0),)}, "only reports"),
        ({"hypotheses": (value("x", 1.0),), "claims": (MET,)}, "only reports"),
        ({"kind": "probe", "claims": (MET,), "constants": (MET,)}, "concludes nothing"),
        ({"kind": "probe"}, "without a measurement"),
    ],
)
def test_a_verdict_that_could_not_fail_is_refused(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        judge(**fields)


@pytest.mark.parametrize("hypothesis", [MET, FAILED, OPEN, EMPTY])
def test_an_undefined_claim_never_holds(hypothesis: Check) -> None:
    verdict = Verdict(id="VYS22/x", findings=undefined((hypothesis,), "there is nothing to compare"))
    assert verdict.outcome in ("not applicable", "undecided")
    assert "not judged: there is nothing to compare" in str(verdict)


def test_the_reason_names_the_check_that_decided() -> None:
    assert "failed" in judge(hypotheses=(MET, FAILED), claims=(MET,)).reason
    assert "claim fails" in judge(claims=(MET, FAILED)).reason
    tight = Check(name="tight", observed=1.99, relation="<=", bound=2.0)
    tightest = judge(claims=(MET, tight)).tightest
    assert tightest is not None
    assert tightest.name == "tight"


def test_the_sentence_says_the_deciding_comparison_in_words() -> None:
    worst = compare("y N(x - y z)", [-3.0, -2.5], "<=", -1.0, note="z is short")
    assert judge(claims=(worst,)).sentence.endswith(
        "; the tightest: y N(x - y z) is -2.5, which is at most -1 (the worst of 2; z is short)."
    )
    broken = judge(hypotheses=(true("both labels occur", False),), claims=(worst,)).sentence
    assert broken.endswith("; both labels occur is not true.")
    open_claim = Check(name="risk", observed=0.0, relation="<=", bound=0.01, interval=(0.0, 0.03))
    assert "does not decide whether it is at most 0.01" in judge(claims=(open_claim,)).sentence
    failing = judge(claims=(MET, FAILED))
    for sentence in (failing.sentence, failing.reason, broken):
        assert not re.search(r"slack|, (met|failed)\b|\[", sentence)
    assert "slack" not in str(failing)


def test_checks_are_found_by_name() -> None:
    verdict = judge(hypotheses=(MET,), claims=(EMPTY,))
    assert verdict["met"].observed == MET.observed
    assert verdict["met"].role == "hypothesis"
    with pytest.raises(InputError, match="no check named 'nothing'"):
        verdict["nothing"]
