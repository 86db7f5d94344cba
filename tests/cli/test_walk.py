"""docs/concepts/walk.md names the files through which a sample of the demo's first picture goes, as it is traced."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import marginflow
from marginflow.cli import main
from marginflow.demo import plane, sequence

SOURCE = Path(marginflow.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "concepts" / "walk.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*?) \| `([^`]+)` \| (.*?) \|$", PAGE, flags=re.MULTILINE)
TEMPLATES = "report/templates/"
# What is handed on, by its class; the rest is told by `called`.
CLASSES = (
    "Dataset", "TwoLayer", "Run", "Trajectory", "Start", "Polished", "InteriorPoint", "Finished", "Multipliers",
    "Certificate", "Limit", "PlaneFlow", "Chapter",
)  # fmt: skip
OTHERS = {"frame": {"neurons", "forgiven"}, "record": {"samples", "frames", "point"}}


def called(value: object) -> str | None:
    """How the page calls what a function returned, if it is handed on."""
    kind = type(value)
    if kind.__module__.startswith("marginflow.") and kind.__name__ in CLASSES:
        return kind.__name__
    if isinstance(value, dict):
        return next((name for name, keys in OTHERS.items() if keys <= value.keys()), None)
    if isinstance(value, str):
        return "page" if value.startswith("<!doctype html>") and "{%" not in value else None  # no template
    return "index.html" if isinstance(value, Path) and value.name == "index.html" else None


class Way:
    """For all that is handed on, the files at work when it was made."""

    def __init__(self) -> None:
        self.made: dict[str, set[str]] = {}
        self.files: dict[str, None] = {}  # in the order in which things were made
        self.seen: dict[int, object] = {}

    def look(self, frame: FrameType, event: str, value: object) -> Any:
        if named(frame.f_code.co_filename) is None:
            return None
        frame.f_trace_lines = False
        if event == "return" and id(value) not in self.seen and (name := called(value)) is not None:
            self.seen[id(value)] = value  # kept, so that no other object gets its number
            files = dict.fromkeys(at_work(frame))
            self.made.setdefault(name, set()).update(files)
            self.files |= {file: None for file in files if file not in self.files}
        return self.look


@cache
def named(file: str) -> str | None:
    """A file of the package; a door only compares what it is given, and hands it on to the function behind it."""
    path = Path(file)
    inside = path.is_relative_to(SOURCE) and path.name != "doors.py"
    return path.relative_to(SOURCE).as_posix() if inside else None


def at_work(frame: FrameType | None) -> list[str]:
    """The files of the functions on the stack, from the command on."""
    files: list[str] = []
    while frame is not None and "cli/demo.py" not in files:
        file = named(frame.f_code.co_filename)
        files += [file] if file is not None else []
        frame = frame.f_back
    return files[::-1]


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Way:
    """The command with its first picture alone, which has fewer frames than usual."""
    marginflow.theory.statements()  # the page asks them what is false in print; importing them is no part of the way
    found = Way()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "CHAPTERS", {"Where training goes": plane.plane})
        patch.setattr(plane, "N_FRAMES", 6)
        before = sys.gettrace()
        sys.settrace(found.look)
        try:
            assert main(["demo", "--out", str(tmp_path_factory.mktemp("walk") / "page")]) == 0
        finally:
            sys.settrace(before)
    return found


def test_the_files_at_work_when_something_is_handed_on_are_those_of_the_page_in_their_order(way: Way) -> None:
    files = [file for _, file, _ in ROWS]
    assert len(files) == len(set(files))
    assert [file for file in files if not file.startswith(TEMPLATES)] == list(way.files)
    assert all((SOURCE / file).is_file() for file in files)


def test_the_page_says_of_each_thing_where_it_is_made(way: Way) -> None:
    assert set(way.made) == {*CLASSES, *OTHERS, "page", "index.html"}
    told = {name: file for _, file, things in ROWS for name in re.findall(r"`([^`]+)`", things)}
    assert {name for name in way.made if name not in told} == set()
    assert {name: file for name, file in told.items() if file not in way.made.get(name, ())} == {}
