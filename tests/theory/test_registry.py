"""Every statement of every paper holds on its example, does not on its control, and can be shown to a reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from latex2mathml.converter import convert

from marginflow import InputError, theory
from marginflow.theory import Statement, conformance, registry
from marginflow.theory.registry import statements_of

OWN = ("VYS22", "FVBS23", "KYS23", "FCB22")  # other papers may be installed beside them
ALL = tuple(statement for key in OWN for statement in theory.statements(key))
LISTED = {id: entry for id, entry in theory.catalogue().items() if entry != "figure"}
JUDGED = json.loads((Path(__file__).parents[2] / "docs" / "examples.json").read_text(encoding="utf-8"))


def by_id(statement: Statement) -> str:
    return statement.id


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_every_statement_keeps_the_rules_for_statements(statement: Statement) -> None:
    """One test for all rules: nine times as many tests take longer to hand out than to run."""
    broken: dict[str, str] = {}
    for rule in conformance.RULES:
        try:
            rule(statement)
        except AssertionError as error:
            broken[conformance.name_of(rule)] = str(error)
    assert broken == {}
    if statement.id not in {*LISTED, *JUDGED}:
        return  # the site tells nothing of it yet
    verdicts = {"example": conformance.on_example(statement), "control": conformance.on_control(statement)}
    written = {name: (said["instance"], said["outcome"]) for name, said in JUDGED[statement.id].items()}
    now = {name: (verdict.instance, verdict.outcome) for name, verdict in verdicts.items()}
    assert written == now, "the site says otherwise: python benchmarks/examples.py"


@pytest.mark.parametrize("statement", ALL, ids=by_id)
def test_formulas_become_mathml(statement: Statement) -> None:
    forms = statement.forms
    written = [statement.formula] + ([] if forms is None else [forms.printed, forms.proved, forms.sharp])
    for latex in filter(None, written):
        assert convert(latex).startswith("<math")


def test_every_statement_of_the_catalogue_is_there() -> None:
    found = {statement.id: "probe" if statement.is_probe else "statement" for statement in ALL}
    assert {id: found.get(id) for id in LISTED} == LISTED


def test_the_site_tells_of_the_whole_catalogue_and_of_no_statement_that_is_gone() -> None:
    assert set(LISTED) <= set(JUDGED) <= {statement.id for statement in ALL}


def test_catalogue_counts_every_paper() -> None:
    entries = theory.catalogue()
    counts = {
        key: sum(name.startswith(f"{key}/") and kind == "statement" for name, kind in entries.items()) for key in OWN
    }
    assert counts == {"VYS22": 52, "FVBS23": 74, "KYS23": 61, "FCB22": 44}
    assert sum(kind == "probe" for kind in entries.values()) == 27


def test_unknown_ids_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"did you mean VYS22/Thm4\.1"):
        theory.statement("VYS22/Thmm4.1")
    with pytest.raises(InputError, match="There is no paper"):
        statements_of("XYZ99")


def test_coverage_lists_the_catalogue_and_what_was_added_to_it() -> None:
    rows = [row for row in theory.coverage(run=False) if row.id.partition("/")[0] in OWN]
    assert {row.id for row in rows if not row.added} == set(LISTED)
    assert {row.id for row in rows if row.implemented} == {statement.id for statement in ALL}
    assert not any(row.sound for row in rows), "nothing was judged, so nothing is sound"


def test_what_nobody_wrote_down_is_missing_and_what_nobody_listed_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    (first, kind), *others = LISTED.items()
    monkeypatch.setattr(registry, "catalogue", lambda: {**dict(others), "VYS22/Nothing": "statement"})
    rows = {row.id: row for row in theory.coverage(run=False)}
    assert [id for id, row in rows.items() if not row.implemented] == ["VYS22/Nothing"]
    assert not rows["VYS22/Nothing"].added
    assert {id for id, row in rows.items() if row.added and row.statement in ALL} >= {first}
    assert rows[first].entry == kind
    assert not rows[others[0][0]].added
