"""`import marginflow`: every public name is there, and nothing heavy comes with it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import marginflow


@pytest.mark.parametrize("name", marginflow.__all__)
def test_public_name_can_be_reached_and_is_listed(name: str) -> None:
    assert getattr(marginflow, name) is not None
    assert name in dir(marginflow)


def test_only_doors_are_listed() -> None:
    assert dir(marginflow) == sorted([*marginflow.__all__, "__version__"])


def test_the_version_stands_in_one_place() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in text
    assert marginflow.__version__ not in text


def test_names_of_public_classes_are_unique() -> None:
    found: dict[str, list[str]] = {}
    for file in sorted(Path(marginflow.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(file.name)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = marginflow.nonsense


def test_rooms_are_entered_only_when_asked_for() -> None:
    script = (
        "import sys, marginflow; before = 'scipy' in sys.modules; marginflow.certify;"
        "print(before, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"]


def test_every_room_together_imports_no_optional_package() -> None:
    heavy = ("altair", "torch", "sklearn", "flint", "vl_convert", "jinja2", "onnx", "rich", "cyclopts")
    script = (
        "import sys, marginflow; [getattr(marginflow, name) for name in marginflow.__all__];"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_whatever_the_type_checker_is_told_to_ignore_has_its_reason_beside_it_or_above() -> None:
    bare = []
    for path in Path(marginflow.__file__).parent.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for above, line in zip(["", *lines], lines, strict=False):
            if "# type: ignore" in line and not (re.search(r"ignore\[[^]]+\]\s+# \w", line) or "# " in above):
                bare.append(f"{path.name}: {line.strip()}")
    assert bare == []
