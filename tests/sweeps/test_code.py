"""The code of a cell: what it runs counts, comments, docstrings, layout and rooms that it does not reach do not."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from marginflow import experiments
from marginflow.sweeps import code, find_task

TASK = '''
"""A task."""
from marginflow.limit import (
    kkt_point,
)

class Parameters:
    side = 1

    @property
    def operations(self):
        """Of an estimate."""
        return self.side**2

    def area(self):
        return self.side**3

def function(parameters, seed):
    """Computes."""
    return kkt_point(seed)
'''
FILES = {
    "__init__.py": "from marginflow import theory\n",
    "errors.py": "class InputError(Exception):\n    pass\n",
    "limit/__init__.py": "from marginflow.limit.point import kkt_point\n",
    "limit/point.py": "def kkt_point(seed):\n    from marginflow.flow import step\n    return step(seed)\n",
    "limit/starts/plane.py": "START = 29  # found by looking into the folder\n",
    "flow/__init__.py": "import marginflow.errors\n\ndef step(seed):\n    return {1, 2, seed} if seed else 2.0\n",
    "theory/__init__.py": "THEOREM = 1\n",
}


@pytest.fixture
def version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """The version of a task in a small library, computed anew each time."""
    package = tmp_path / "marginflow"
    for name, text in FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    (tmp_path / "tasks.py").write_text(TASK)
    monkeypatch.setattr(code, "_PACKAGE", package)

    def compute() -> str:
        for cached in (code._version, code._imports, code._digest):
            cached.cache_clear()
        # The file is compiled under its own name, without its imports, which only the digest follows.
        body = (tmp_path / "tasks.py").read_text().partition("def function")
        space: dict[str, Any] = {}
        exec(compile(body[1] + body[2], str(tmp_path / "tasks.py"), "exec"), space)
        try:
            return code._version(space["function"])
        finally:
            for cached in (code._version, code._imports, code._digest):
                cached.cache_clear()

    return compute


def test_an_edit_of_any_source_is_seen_by_the_quick_look(version: Callable[[], str], tmp_path: Path) -> None:
    """Where the quick look sees no difference there is none in what is run: it sees every byte of every file."""
    task = find_task("limit")

    def look() -> str:
        code.same_sources.cache_clear()
        return code.same_sources(task)

    first = look()
    assert look() == first
    change(tmp_path, "marginflow/theory/__init__.py", "THEOREM = 1", "THEOREM = 1  # a comment")
    second = look()
    (tmp_path / "marginflow" / "theory" / "new.py").write_text("")
    assert len({first, second, look()}) == 3
    code.same_sources.cache_clear()


def change(tmp_path: Path, name: str, old: str, new: str) -> None:
    file = tmp_path / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tasks.py", '"""Computes."""', '"""Computes, as it did before."""\n    # and a remark'),
        ("tasks.py", "return self.side**2", "return self.side**2.5 + 7"),
        ("tasks.py", '"""A task."""', '"""Another sentence.\n\nAnd a longer text.\n"""'),
        (
            "marginflow/limit/point.py",
            "    return step(seed)",
            "\n    # a comment\n    return step(\n        seed\n    )",
        ),
        ("marginflow/theory/__init__.py", "THEOREM = 1", "THEOREM = 2"),
        ("marginflow/__init__.py", "theory", "limit"),
    ],
)
def test_what_changes_nothing_that_is_run_keeps_the_version(
    name: str, old: str, new: str, version: Callable[[], str], tmp_path: Path
) -> None:
    before = version()
    change(tmp_path, name, old, new)
    assert version() == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tasks.py", "kkt_point(seed)", "kkt_point(seed + 1)"),
        ("tasks.py", "return self.side**3", "return self.side**2"),
        ("tasks.py", "    @property\n", ""),
        ("marginflow/limit/point.py", "step(seed)", "step(2 * seed)"),
        ("marginflow/limit/starts/plane.py", "29", "30"),
        ("marginflow/flow/__init__.py", "2.0", "2.5"),
        ("marginflow/flow/__init__.py", "{1, 2, seed}", "{1, 3, seed}"),
        ("marginflow/errors.py", "Exception", "ValueError"),
        ("marginflow/limit/point.py", "def kkt_point(seed):", "def kkt_point(seed, width=3):"),
    ],
)
def test_what_is_run_is_part_of_the_version_however_it_is_reached(
    name: str, old: str, new: str, version: Callable[[], str], tmp_path: Path
) -> None:
    before = version()
    assert before == version()
    change(tmp_path, name, old, new)
    assert version() != before


def test_a_task_of_the_library_reaches_the_solver_and_not_the_theorems() -> None:
    experiments.figures()
    file = importlib.util.find_spec(find_task("vys22-sphere").module)
    assert file is not None
    assert file.origin is not None
    reached = {path.relative_to(code._PACKAGE).as_posix() for path in code._reached(Path(file.origin))}
    assert {"limit/point.py", "certificates/__init__.py", "flow/loop.py", "sweeps/status.py"} <= reached
    assert not any(name.startswith(("theory/", "cli/", "report/", "sweeps/engines")) for name in reached)
