"""Rules of the house that no linter knows: how long a file may be, and that every test can fail."""

from __future__ import annotations

import ast
from pathlib import Path

import marginflow

SOURCES = Path(marginflow.__file__).parent
TESTS = Path(__file__).parent
LONGEST = 400
JUDGES = ("pytest.raises", "pytest.warns", "pytest.fail")


def can_fail(test: ast.AST, known: dict[str, ast.FunctionDef], asked: frozenset[str] = frozenset()) -> bool:
    """Whether a function asserts something: itself, by an assertion of a library, or in a function of its file."""
    for node in ast.walk(test):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in JUDGES or "assert" in called:
                return True
            if called in known and called not in asked and can_fail(known[called], known, asked | {called}):
                return True
    return False


def without_assertion(text: str) -> list[str]:
    """The tests in the text of a file that cannot fail."""
    known = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    return [name for name, node in known.items() if name.startswith("test_") and not can_fail(node, known)]


def test_no_file_is_longer_than_a_reader_follows() -> None:
    lengths = {
        str(file): len(file.read_text(encoding="utf-8").splitlines())
        for folder in (SOURCES, TESTS)
        for file in folder.rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_every_test_can_fail() -> None:
    files = TESTS.rglob("test_*.py")
    found = {str(file): without_assertion(file.read_text(encoding="utf-8")) for file in files}
    assert {name: tests for name, tests in found.items() if tests} == {}


def test_whoever_writes_json_says_what_becomes_of_infinity() -> None:
    """One rule: null; what keeps Infinity and NaN, `allow_nan=True`, is a sweep's own, which only it reads."""
    silent, keeping = [], []
    for file in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("json.dumps", "json.dump"):
                said = {word.arg: ast.unparse(word.value) for word in node.keywords}.get("allow_nan")
                place = f"{file.relative_to(SOURCES)}: {ast.unparse(node)}"
                (silent if said is None else keeping if said != "False" else []).append(place)
    assert silent == []
    assert {place.split("/")[0] for place in keeping} == {"sweeps"}


def test_a_test_that_only_runs_something_is_found() -> None:
    text = "def f(x):\n    return x\n\ndef g(x):\n    assert x\n\ndef test_f():\n    f(1)\n\ndef test_g():\n    g(1)\n"
    assert without_assertion(text) == ["test_f"]
