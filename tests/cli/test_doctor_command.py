"""`marginflow doctor` and `marginflow completion`."""

from __future__ import annotations

import json
import subprocess

import pytest

from marginflow.cli import doctor as command
from marginflow.cli import main


def test_doctor_finds_everything_that_the_tests_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert "Everything that is needed is there." in printed
    assert "numpy" in printed
    assert "threads" in printed


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
