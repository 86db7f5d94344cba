"""The page of what was found in print names statements that exist and counterexamples that are judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from marginflow import theory

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
FALSE = re.findall(r"^\| ((?:KYS23|FCB22)/[\w.-]+)", PAGE, flags=re.M)


def test_every_id_on_the_page_is_a_statement():
    known = {statement.id for statement in theory.statements()}
    named = set(re.findall(r"\b(?:VYS22|FVBS23|KYS23|FCB22)/[A-Za-z0-9.]+[\w.-]*\w", PAGE))
    assert len(named) > 15
    assert named <= known, named - known


@pytest.mark.parametrize("name", FALSE)
def test_a_statement_that_is_false_as_printed_carries_its_counterexample(name):
    statement = theory.statement(name)
    assert statement.judge_instance(statement.control()).outcome in ("violated", "not applicable")
    assert statement.control_outcome == "violated" or statement.id == "FCB22/Rem.Linear"


def test_the_table_was_read():
    assert len(FALSE) == 12
