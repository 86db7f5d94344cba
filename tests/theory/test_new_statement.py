"""A newcomer adds a statement in one new file, and nothing else is changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from marginflow import theory
from marginflow.cli import main
from marginflow.theory import registry, vys22

TEMPLATE = Path(__file__).parents[2] / "docs" / "statement_template.py"
ID = "VYS22/LemC.4.again"


def test_one_new_file_is_a_new_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lem_c4_again.py").write_text(TEMPLATE.read_text(encoding="utf-8").replace("VYS22/BLANK", ID))
    monkeypatch.setattr(vys22, "__path__", [*vys22.__path__, str(tmp_path)])
    registry.statements_of.cache_clear()
    try:
        assert theory.statement(ID).judge_instance(theory.statement(ID).example()).outcome == "holds"
        assert ID in [covered.id for covered in theory.coverage("VYS22", run=False)]
        assert main(["check", ID]) == 0
        assert main(["check", ID, "--control"]) == 1
        assert main(["statements", ID]) == 0
    finally:
        sys.modules.pop("marginflow.theory.vys22.lem_c4_again", None)
        vars(vys22).pop("lem_c4_again", None)
        registry.statements_of.cache_clear()
    assert "lem_c4_again.py" in capsys.readouterr().out
