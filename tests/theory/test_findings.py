"""docs/findings.md is what the statements say, and every counterexample on it is judged."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from marginflow import InputError, theory
from marginflow.theory.errata import Erratum
from marginflow.theory.findings_page import SEVERITIES, findings_page

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
ERRATA = [(one, erratum) for one in theory.statements() if one.forms is not None for erratum in one.forms.errata]
FALSE = sorted({one.id for one, erratum in ERRATA if erratum.severity == "statement false"})


def test_the_page_is_current() -> None:
    """`python -m marginflow.theory.findings_page docs/findings.md` writes it again."""
    assert findings_page(theory.statements()) == PAGE


def test_every_severity_occurs_and_every_repair_that_is_an_id_exists() -> None:
    assert {erratum.severity for _, erratum in ERRATA} == set(SEVERITIES)
    known = {one.id for one in theory.statements()}
    for _, erratum in ERRATA:
        for word in erratum.repair.replace(":", " ").replace(",", " ").replace(";", " ").split():
            if word.partition("/")[0] in theory.PAPERS and "/" in word:
                assert word.rstrip(".)") in known, word


@pytest.mark.parametrize("id", FALSE)
def test_a_statement_that_is_false_as_printed_is_refuted_on_its_control(id: str) -> None:
    statement = theory.statement(id)
    verdict = statement.judge_instance(statement.control())
    assert verdict.outcome == statement.control_outcome == "refuted", str(verdict)


@pytest.mark.parametrize("id", ["KYS23/LemB.3", "KYS23/Prop4.6", "KYS23/Thm3.2"])
def test_existence_claims_and_theorems_with_a_gap_are_not_called_false(id: str) -> None:
    statement = theory.statement(id)
    assert id not in FALSE
    assert statement.judge_instance(statement.control()).outcome == "proof step fails"


def test_small_facts_of_the_page_in_fractions() -> None:
    # 1 + 1/sqrt(3) <= sqrt(2) would give 4/3 + 2/sqrt(3) <= 2, that is 4/3 <= 4/9
    assert Fraction(4, 3) > Fraction(2, 3) ** 2
    # one neuron, v = b = 1, w . x = -1: N = relu(0) = 0 against 1 - |relu(-1)| = 1
    assert max(Fraction(-1) + 1, Fraction(0)) < 1 - abs(max(Fraction(-1), Fraction(0)))


@pytest.mark.parametrize(("fields", "sentence"), [({"severity": "odd"}, "severity"), ({"what": ""}, "what is wrong")])
def test_an_erratum_says_what_and_how_grave(fields: dict[str, str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Erratum(**({"severity": "slip", "what": "x"} | fields))  # type: ignore[arg-type]
