"""docs/findings.md is what the statements say, and every counterexample on it is judged."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from findings_page import SEVERITIES, findings_page

from marginflow import InputError, theory
from marginflow.theory import dependencies
from marginflow.theory.errata import Erratum

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
ERRATA = [
    (statement, erratum)
    for statement in theory.statements()
    if statement.forms is not None
    for erratum in statement.forms.errata
]
FALSE = sorted({statement.id for statement, erratum in ERRATA if erratum.severity == "statement false"})


def test_the_page_is_current() -> None:
    """`python docs/findings_page.py docs/findings.md` writes it again."""
    listed = tuple(statement for statement in theory.statements() if statement.id in theory.catalogue())
    assert findings_page(listed) == PAGE


def test_every_severity_occurs_and_every_repair_that_is_an_id_exists() -> None:
    assert {erratum.severity for _, erratum in ERRATA} == set(SEVERITIES)
    known = {statement.id for statement in theory.statements()}
    for _, erratum in ERRATA:
        for word in erratum.repair.replace(":", " ").replace(",", " ").replace(";", " ").split():
            if word.partition("/")[0] in theory.PAPERS and "/" in word:
                assert word.rstrip(".)") in known, word


@pytest.mark.parametrize("id", FALSE)
def test_a_statement_that_is_false_as_printed_is_refuted_on_its_control(id: str) -> None:
    statement = theory.statement(id)
    verdict = statement.judge_instance(statement.control())
    # what a paper says of its data is not met by them: an assumption cannot be refuted, only not met
    expected = "violated" if statement.kind == "assumption" else "refuted"
    assert verdict.outcome == statement.control_outcome == expected, str(verdict)


@pytest.mark.parametrize("id", ["KYS23/LemB.3", "KYS23/Prop4.6", "KYS23/Thm3.2"])
def test_existence_claims_and_theorems_with_a_gap_are_not_called_false(id: str) -> None:
    statement = theory.statement(id)
    assert id not in FALSE
    assert statement.gap is not None
    assert statement.judge_instance(statement.gap()).outcome == "proof step fails"


def test_small_facts_of_the_page_in_fractions() -> None:
    # 1 + 1/sqrt(3) <= sqrt(2) would give 4/3 + 2/sqrt(3) <= 2, that is 4/3 <= 4/9
    assert Fraction(4, 3) > Fraction(2, 3) ** 2
    # one neuron, v = b = 1, w . x = -1: N = relu(0) = 0 against 1 - |relu(-1)| = 1
    assert max(Fraction(-1) + 1, Fraction(0)) < 1 - abs(max(Fraction(-1), Fraction(0)))


def test_the_exponent_of_lemma_b1_is_too_large() -> None:
    """P(Bin(276, 7/64) >= 45.3) > exp(-pm/5), with e^(1/5) enclosed in fractions; 3/28 is small enough."""
    m, p = 276, Fraction(7, 64)
    tail = sum(math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in range(math.ceil(3 * p * m / 2), m + 1))
    low = sum(Fraction(1, 5**k * math.factorial(k)) for k in range(12))  # e^(1/5) > low
    whole = int(p * m)  # exp(-pm/5) < low^-whole, for pm >= whole
    assert tail > 1 / low**whole
    assert float(tail) < math.exp(-3 * float(p) * m / 28)
    assert theory.statement("KYS23/LemB.1").check(m=m, dimension=10**6, p=float(p)).outcome == "proof step fails"


def test_what_rests_on_a_false_lemma_is_marked() -> None:
    assert dependencies.shaken_by("KYS23/Thm3.2")[0] in ("KYS23/LemA.1", "KYS23/Thm3.2.sandwich")
    assert "KYS23/PropA.4" in dependencies.shaken_by("KYS23/Thm3.2")
    assert "FCB22/Thm3.1.1" in dependencies.used_by("FCB22/Eq6")
    known = {statement.id for statement in theory.statements()}
    for id, others in dependencies.DIRECT.items():
        assert {id, *others} <= known, id
        assert id not in dependencies.rests_on(id), "a proof does not use itself"


@pytest.mark.parametrize(("fields", "sentence"), [({"severity": "odd"}, "severity"), ({"what": ""}, "what is wrong")])
def test_an_erratum_says_what_and_how_grave(fields: dict[str, str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Erratum(**({"severity": "slip", "what": "x"} | fields))
