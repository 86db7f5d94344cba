"""`marginflow statements`: the list, one statement in full, and coverage counted against the catalogue."""

from __future__ import annotations

import json

import pytest

from marginflow import theory
from marginflow.cli import main


def test_list_has_one_line_for_each_statement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("statements --paper VYS22".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [statement.id for statement in theory.statements("VYS22")]


def test_list_by_kind_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("statements --paper VYS22 --kind probe --json".split()) == 0
    records = json.loads(capsys.readouterr().out)
    assert [record["id"] for record in records] == [f"VYS22/OQ{number}" for number in range(1, 10)]


def test_one_statement_in_full_shows_printed_beside_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("statements VYS22/LemC.5".split()) == 0
    output = capsys.readouterr().out
    for word in ("printed", "sharp", "remark", "needs", "control"):
        assert word in output
    assert main("statements VYS22/LemC.5 --json".split()) == 0
    assert json.loads(capsys.readouterr().out)["forms"]["sharp"]


def test_coverage_of_a_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("statements --coverage --paper VYS22 --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["added"] == [row["id"] for row in record["rows"] if row["id"] not in theory.catalogue()]
    total = 61 + len(record["added"])
    assert record["total"] == record["implemented"] == total
    assert record["unsound"] == []
    assert main("statements --coverage --paper VYS22".split()) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert f"{total} of {total}" in last
    assert ("Not in the catalogue" in last) is bool(record["added"])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("statements VYS22/Nothing", "There is no statement"),
        ("statements --kind axiom", "no statement of the kind 'axiom'"),
        ("statements VYS22/Thm4.1 --coverage", "leave out the id"),
    ],
)
def test_what_does_not_exist_is_refused_in_one_sentence(
    line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in captured.err
    assert captured.err.count("\n") == 1


def test_a_statement_names_the_commands_that_judge_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["statements", "FVBS23/Thm3.1"]) == 0
    printed = capsys.readouterr().out
    assert "command    marginflow check FVBS23/Thm3.1 --network kkt.safetensors --data data.npz" in printed
    assert "command    marginflow map FVBS23/Thm3.1 --grid d=... k=... --observe" in printed
