"""A newcomer adds a statement in one new file, and nothing else is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).parents[2] / "docs" / "statement_template.py"
ID = "VYS22/LemC.4.again"
FILLED = TEMPLATE.read_text(encoding="utf-8").replace("VYS22/BLANK", ID)
PROGRAM = f"""
from marginflow import theory
from marginflow.cli import main

assert theory.statement({ID!r}).judge_instance(theory.statement({ID!r}).example()).outcome == "holds"
(own,) = [covered for covered in theory.coverage("VYS22", run=False) if covered.id == {ID!r}]
assert own.added and own.implemented
assert main(["check", {ID!r}]) == 0
assert main(["check", {ID!r}, "--control"]) == 1
assert main(["statements", {ID!r}]) == 0
"""


def test_one_new_file_is_a_new_statement(newcomer: Any) -> None:
    newcomer.adds("theory/vys22/thm_4_1/lem_c4_again.py", FILLED)
    done = newcomer.runs("-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert "lem_c4_again.py" in done.stdout


def test_a_new_statement_keeps_the_rules_and_is_counted_as_an_addition(newcomer: Any) -> None:
    newcomer.adds("theory/vys22/thm_4_1/lem_c4_again.py", FILLED)
    found = newcomer.is_judged_by(
        "theory/test_registry.py",
        "theory/test_theory_rules.py",
        "theory/test_unicode_math.py",
        "theory/test_atlas.py",
        "theory/test_findings.py",
        "theory/test_hunting.py",
        "theory/test_degenerate_instances.py",
        "report/test_statement_page.py",
        "cli/test_statements_command.py",
        "test_house_rules.py",
        "test_package.py",
        only="LemC.4.again or catalogue or coverage or site or stands_above or guessing or of_the_papers or every_id_is"
        " or names_the_file or page_is_current or has_a_family or has_its_parts or follows or names_of",
    )
    assert set(found.values()) == {"PASSED"}
    assert {name for name in found if ID in name} >= {
        f"test_every_statement_keeps_the_rules_for_statements[{ID}]",
        f"test_formulas_become_mathml[{ID}]",
    }
    assert {
        "test_every_statement_of_the_catalogue_is_there",
        "test_the_site_tells_of_the_whole_catalogue_and_of_no_statement_that_is_gone",
        "test_coverage_lists_the_catalogue_and_what_was_added_to_it",
        "test_coverage_of_a_paper",
        "test_the_file_of_every_statement_is_found_by_guessing",
        "test_every_numbered_statement_has_a_family_or_a_reason_why_it_has_no_number",
    } <= set(found)


def test_a_statement_whose_control_holds_in_a_file_that_nobody_finds_is_refused(newcomer: Any) -> None:
    text = FILLED.replace("W=1.5 * network.W", "W=1.0 * network.W")
    assert text != FILLED
    newcomer.adds("theory/vys22/thm_4_1/lem_c7_again.py", text)
    found = newcomer.is_judged_by(
        "theory/test_registry.py", "theory/test_theory_rules.py", only="(LemC.4.again and rules_for) or by_guessing"
    )
    assert found == {
        f"test_every_statement_keeps_the_rules_for_statements[{ID}]": "FAILED",
        "test_the_file_of_every_statement_is_found_by_guessing": "FAILED",
    }
