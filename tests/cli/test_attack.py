"""Random command lines against every command: no traceback, no exit code without a meaning."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from marginflow.cli import main


@pytest.fixture(scope="module")
def attack() -> ModuleType:
    source = Path(__file__).parents[2] / "benchmarks" / "attack_cli.py"
    spec = importlib.util.spec_from_file_location("attack_cli", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_command_lines_end_in_an_exit_code_and_a_sentence(attack: ModuleType) -> None:
    codes, bad = attack.run(60, seed=20, seconds=1.0)
    assert bad == []
    assert set(codes) <= set(attack.CODES)
    assert codes[2] < 60  # some of them are right


@pytest.fixture
def files(attack: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    attack.make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", [["report", "digits.json", "--out", "a.html"], ["cite", "digits.json"]])
def test_a_number_of_6000_digits_is_refused_in_one_sentence(command: list[str], files: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(command) == 2
    assert "digits.json holds a whole number with thousands of digits" in capsys.readouterr().err
    assert not (files / "a.html").exists()


def test_a_link_to_nowhere_as_folder_of_pictures_is_refused_before_the_page_is_written(files: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert main(["report", "rows.csv", "--x", "it's", "--y", "a[0].b", "--out", "a.html", "--svg", "dangling"]) == 2
    assert "is a link to a folder that does not exist" in capsys.readouterr().err
    assert not (files / "a.html").exists()


def test_quotes_and_brackets_in_names_of_columns_are_drawn(files: Path) -> None:
    line = [
        "report",
        "rows.csv",
        "--x",
        "it's",
        "--y",
        "a[0].b",
        "--series",
        "s x",
        "--out",
        "a.html",
        "--svg",
        "drawn",
    ]
    assert main(line) == 0
    (picture,) = (files / "drawn").iterdir()
    text = picture.read_text()
    assert "a[0].b" in text
    assert 'aria-roledescription="point"' in text or "<path" in text
    assert "s x: a" in text  # a datum was found under its name


def test_installing_the_completion_prints_a_line_and_writes_nothing(files: Path, monkeypatch, capsys) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", str(files))
    before = sorted(files.iterdir())
    assert main(["--install-completion"]) == 0
    assert capsys.readouterr().out.splitlines()[1].strip() == 'eval "$(marginflow completion bash)"'
    assert sorted(files.iterdir()) == before
