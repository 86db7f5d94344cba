"""Every statement of every paper holds on its example, does not on its control, and can be shown to a reader."""

from __future__ import annotations

import json

import pytest
from latex2mathml.converter import convert

from marginflow import InputError, theory
from marginflow.theory import Statement
from marginflow.theory.registry import statements_of

ALL = theory.statements()


def by_id(statement: Statement) -> str:
    return statement.id


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_example_holds_and_control_does_not(statement: Statement) -> None:
    example = statement.judge_instance(statement.example())
    assert example.outcome == ("measured" if statement.is_probe else "holds"), str(example)
    control = statement.judge_instance(statement.control())
    assert control.outcome == statement.control_outcome, str(control)


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_verdicts_are_plain_values_and_the_same_again(statement: Statement) -> None:
    first = statement.judge_instance(statement.example())
    again = statement.judge_instance(statement.example())
    assert json.dumps(first.to_dict()) == json.dumps(again.to_dict())
    names = [check.name for check in (*first.hypotheses, *first.constants, *first.conclusions)]
    assert len(names) == len(set(names)), "two checks share a name"
    assert statement.id in str(first)


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_formulas_become_mathml(statement: Statement) -> None:
    forms = statement.forms
    written = [statement.formula] + ([] if forms is None else [forms.printed, forms.proved, forms.sharp])
    for latex in filter(None, written):
        assert convert(latex).startswith("<math")


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_every_statement_is_in_the_catalogue(statement: Statement) -> None:
    entry = theory.catalogue()[statement.id]
    assert entry == ("probe" if statement.is_probe else "statement")
    assert len(statement.meaning) <= 160
    assert not statement.meaning.count("\n")


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_what_is_missing_is_named_in_one_sentence(statement: Statement) -> None:
    needed = [need for need in statement.needs if need != "parameters"]
    if needed:
        with pytest.raises(InputError, match=f"{needed[0]} was not given"):
            statement.check()
    with pytest.raises(InputError, match=r"has no parameter 'no such thing'|was not given"):
        statement.check(**{"no such thing": 1})


def test_catalogue_counts_every_paper() -> None:
    entries = theory.catalogue()
    counts = {
        key: sum(name.startswith(f"{key}/") and kind == "statement" for name, kind in entries.items())
        for key in theory.PAPERS
    }
    assert counts == {"VYS22": 52, "FVBS23": 74, "KYS23": 61, "FCB22": 44}
    assert sum(kind == "probe" for kind in entries.values()) == 27


def test_unknown_ids_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean VYS22/Thm4\.1"):
        theory.statement("VYS22/Thmm4.1")
    with pytest.raises(InputError, match="There is no paper"):
        statements_of("XYZ99")


def test_coverage_lists_what_is_missing_as_missing() -> None:
    rows = theory.coverage(run=False)
    assert len(rows) == sum(kind != "figure" for kind in theory.catalogue().values())
    implemented = {row.id for row in rows if row.implemented}
    assert implemented == {statement.id for statement in ALL}
    assert not any(row.sound for row in rows), "nothing was judged, so nothing is sound"
