"""The examples of docs/interop.md run as they are printed, commands in the folder of the example before them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from marginflow.cli import main

for _name in ("torch", "onnx", "sklearn", "pandas"):
    pytest.importorskip(_name, reason="the page shows every library")

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"
PARTS: list[tuple[str, str]] = re.findall(
    r"```(python|sh)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
)
BLOCKS = [index for index, (kind, _) in enumerate(PARTS) if kind == "python"]


def commands_after(number: int) -> list[str]:
    """The lines of the shell between an example and the next."""
    lines: list[str] = []
    for kind, text in PARTS[number + 1 :]:
        if kind == "python":
            break
        lines += text.splitlines()
    return lines


# torch itself announces that TorchScript and its old exporter will go.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning:torch")
@pytest.mark.parametrize("number", BLOCKS)
def test_example_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("skl2onnx", "foolbox", "safetensors"):
        if re.search(rf"^(?:import|from) {name}\b", PARTS[number][1], flags=re.MULTILINE):
            pytest.importorskip(name, reason="this example needs it")
    monkeypatch.chdir(tmp_path)
    code = compile(PARTS[number][1], f"{PAGE.name}, example {number + 1}", "exec", dont_inherit=True)
    exec(code, {"__name__": "page"})
    for line in commands_after(number):
        name, *arguments = shlex.split(line)
        assert name == "marginflow"
        assert main(arguments) in (0, 1), line  # 1: an audit of a network that is not a KKT point


def test_the_page_has_examples() -> None:
    assert len(BLOCKS) >= 12
    assert sum(kind == "sh" for kind, _ in PARTS) >= 4
