"""`marginflow doctor` and `marginflow completion`."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from marginflow.cli import doctor as command
from marginflow.cli import main


def test_doctor_finds_everything_that_the_tests_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert "Everything that is needed is there." in printed
    assert "numpy" in printed
    assert "threads" in printed


def test_doctor_knows_every_package_and_every_extra_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert list(command.NEEDED) == [re.split("[>=<]", line)[0] for line in project["dependencies"]]
    for_users = {name for name in project["optional-dependencies"] if name not in ("test", "docs", "dev")}
    assert {extra for extra, *_ in command.EXTRAS} == for_users
    for extra, package, _, _ in command.EXTRAS:
        assert any(line.startswith(package) for line in project["optional-dependencies"][extra])


def test_lines_of_the_doctor_fit_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("->")]  # commands stay whole
    assert max(map(len, lines)) <= 80


def test_missing_package_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "NEEDED", ("numpy", "a-package-that-nobody-has"))
    assert main(["doctor", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["healthy"] is False
    assert record["packages"]["a-package-that-nobody-has"] is None
    assert any("pip install a-package-that-nobody-has" in sentence for sentence in record["advice"])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in ("certify", "radius", "report", "--seed"))
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
