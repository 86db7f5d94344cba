"""A newcomer adds a figure in one new file, and nothing else is changed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).parents[2] / "docs" / "figure_template.py"
ID = "VYS22/FewSamples.ours"


def test_the_template_is_found_computed_judged_and_drawn(newcomer: Any, tmp_path: Path) -> None:
    newcomer.adds("experiments/vys22/few_samples.py", TEMPLATE.read_text(encoding="utf-8"))
    line = ["figure", ID, "--size", "smoke", "--out", str(tmp_path / "out"), "--images", "svg"]
    code = f"import sys; from marginflow.cli import main; sys.exit(main(['figure']) or main({line!r}))"
    done = newcomer.runs("-c", code)
    assert done.returncode == 0, done.stderr
    listed, drawn = done.stdout.split("Claim: ")
    own = next(row for row in listed.splitlines() if ID in row)
    assert "unknown" in own  # no cell like these was ever measured
    assert "Our numbers bear out the claim" in drawn
    name = "VYS22-FewSamples.ours-smoke"
    assert {path.suffix for path in (tmp_path / "out").glob(f"{name}.*")} == {".html", ".csv", ".json", ".svg"}
    with (tmp_path / "out" / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["dimension"], row["seed"]) for row in rows] == [("9", "0"), ("9", "1"), ("16", "0"), ("16", "1")]


RULES = {
    "test_sizes_are_valid",
    "test_claims_and_titles_are_sentences",
    "test_larger_sizes_cost_more_and_what_was_never_measured_is_unknown",
    "test_the_smoke_size_runs_and_is_drawn",
    "test_no_judge_says_yes_whatever_was_measured",
}


def test_the_template_keeps_the_rules_for_figures(newcomer: Any) -> None:
    newcomer.adds("experiments/vys22/few_samples.py", TEMPLATE.read_text(encoding="utf-8"))
    found = newcomer.is_judged_by(
        "experiments/test_figure_registry.py",
        "experiments/test_cost.py",
        "experiments/test_smoke_sizes.py",
        "experiments/test_judgements.py",
        "cli/test_figure_command.py",
        "test_house_rules.py",
        "test_package.py",
        only="FewSamples or guessable or catalogue or every_paper or judge_is_tried or is_listed or house or names_of",
    )
    assert set(found.values()) == {"PASSED"}
    assert {name.partition("[")[0] for name in found if ID in name} == RULES
    assert {
        "test_every_figure_lives_in_a_module_of_its_own_whose_name_is_guessable",
        "test_every_judge_is_tried",
        "test_without_an_id_every_figure_is_listed_with_its_claim_and_cost",
        "test_no_file_is_longer_than_a_reader_follows",
    } <= set(found)


def test_a_figure_whose_file_nobody_finds_and_whose_judge_only_says_yes_is_refused(newcomer: Any) -> None:
    text = TEMPLATE.read_text(encoding="utf-8")
    yes = text.replace('Mean.of(column(rows, "on_margin"))', "Mean.of([1.0 for _ in rows])")
    assert yes != text
    newcomer.adds("experiments/vys22/margin_share.py", yes)
    found = newcomer.is_judged_by(
        "experiments/test_figure_registry.py",
        "experiments/test_smoke_sizes.py",
        only="guessable or (FewSamples and whatever_was_measured)",
    )
    assert found == {
        "test_every_figure_lives_in_a_module_of_its_own_whose_name_is_guessable": "FAILED",
        f"test_no_judge_says_yes_whatever_was_measured[{ID}]": "FAILED",
    }
