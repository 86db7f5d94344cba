"""`@stated`: what the id says need not be said again; `require`: where a judge ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from marginflow.errors import InputError
from marginflow.theory.frame import Erratum, Findings, Forms, Instance, Statement, at_least, require, stated, value


def one_is_positive(instance: Instance) -> Findings:
    return Findings(claims=(at_least("one", 1.0, 0.0),))


def written(id: str, judge: Callable[[Instance], Findings] = one_is_positive, **more: str | Erratum) -> Statement:
    return stated(
        id=id,
        meaning="One is at least zero.",
        formula=r"1 \ge 0",
        needs=("parameters",),
        example=Instance,
        control=Instance,
        control_shows="nothing",
        **more,  # words and what is wrong, of which `kind`, `number` and the forms are made
    )(judge)


@pytest.mark.parametrize(
    ("id", "kind", "number"),
    [
        ("VYS22/LemC.4", "lemma", "Lemma C.4"),
        ("FVBS23/LemA.10", "lemma", "Lemma A.10"),
        ("KYS23/Thm3.1", "theorem", "Theorem 3.1"),
        ("KYS23/PropA.4", "proposition", "Proposition A.4"),
        ("FVBS23/Ex2", "example", "Example 2"),
        ("FVBS23/Asm2.2", "assumption", "Assumption 2.2"),
    ],
)
def test_an_id_says_the_kind_and_the_number(id: str, kind: str, number: str) -> None:
    made = written(id)
    assert (made.kind, made.number) == (kind, number)
    assert made.source == f"[{made.paper.key}, {number}]"


@pytest.mark.parametrize(
    ("id", "kind"), [("VYS22/Def.net", "definition"), ("FVBS23/Con-Robust", "construction"), ("VYS22/OQ1", "probe")]
)
def test_an_id_without_a_number_says_the_kind_alone(id: str, kind: str) -> None:
    assert written(id, number="Section 2").kind == kind
    with pytest.raises(InputError, match="has no number"):
        written(id)


@pytest.mark.parametrize("id", ["VYS22/Thm3.1-sharp", "FVBS23/Thm2.1+3.1", "VYS22/Lem3.1a"])
def test_a_part_or_a_variant_of_a_result_is_numbered_by_hand(id: str) -> None:
    with pytest.raises(InputError, match="has no number"):
        written(id)


def test_an_id_that_says_no_kind_needs_one() -> None:
    with pytest.raises(InputError, match="has the kind ''"):
        written("VYS22/X.cert", number="from Lemma C.2")
    assert written("VYS22/X.cert", kind="theorem", number="from Lemma C.2").kind == "theorem"


def test_forms_are_made_of_what_is_said_of_them() -> None:
    assert written("VYS22/LemC.4").forms is None
    assert written("VYS22/LemC.4", printed="1", remark="Loose.").forms == Forms(printed="1", remark="Loose.")


@pytest.mark.parametrize(
    ("id", "errata", "outcome"),
    [
        ("VYS22/LemC.4", Erratum.false_statement("It is false."), "refuted"),
        ("VYS22/LemC.4", Erratum.slip("A sign."), "not applicable"),
        ("FVBS23/Asm2.2", Erratum.false_statement("It is false."), "violated"),
    ],
)
def test_the_control_of_what_is_false_as_printed_refutes_it(id: str, errata: Erratum, outcome: str) -> None:
    assert written(id, errata=errata).control_outcome == outcome


def test_numbers_on_the_way_come_first_and_are_constants() -> None:
    first, second, compared = value("a", 1.0), value("b", 2.0), at_least("c", 1.0, 2.0)
    found = Findings(first, second, constants=(compared,), claims=(at_least("one", 1.0, 0.0),))
    assert [(check.name, check.role) for check in found.constants] == [(name, "constant") for name in "abc"]
    assert replace(found, undefined="nothing").constants == found.constants
    with pytest.raises(InputError, match="a tuple of checks is expected"):
        Findings(1.0)  # type: ignore[arg-type]  # what is refused


def test_what_is_required_is_handed_back() -> None:
    met = at_least("one", 1.0, 0.0)
    assert require(met) == require((met,)) == (met,)


@pytest.mark.parametrize(("number", "outcome"), [(2.0, "holds"), (0.0, "not applicable"), (math.nan, "undecided")])
def test_a_judge_ends_where_a_hypothesis_that_it_requires_is_not_met(number: float, outcome: str) -> None:
    def judge(instance: Instance) -> Findings:
        enough = at_least("the number", number, 1.0)
        require(enough, "there is no square root of its excess")
        return Findings(hypotheses=(enough,), claims=(at_least("the root", math.sqrt(number - 1.0), 0.0),))

    verdict = written("VYS22/LemC.4", judge).judge_instance(Instance())
    assert verdict.outcome == outcome
    assert [check.name for check in verdict.hypotheses] == ["the number"]
    assert len(verdict.claims) == (outcome == "holds")
    assert verdict.findings.undefined == ("" if outcome == "holds" else "there is no square root of its excess")


@pytest.mark.parametrize(("given", "outcome"), [(True, "not applicable"), (False, "not applicable")])
def test_what_is_given_decides_whether_a_judge_goes_on(given: bool, outcome: str) -> None:
    def judge(instance: Instance) -> Findings:
        failed = at_least("the number", 0.0, 1.0)
        require(failed, "there is nothing to divide by", given=given)
        return Findings(hypotheses=(failed,), claims=(at_least("one", 1.0, 0.0),))

    verdict = written("VYS22/LemC.4", judge).judge_instance(Instance())
    assert verdict.outcome == outcome
    assert len(verdict.claims) == given
