"""The README: its example prints what it says, its commands exist, its links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from marginflow.cli import app as frame

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_example_is_short_and_prints_what_the_readme_says() -> None:
    (example,), (printed,) = blocks("python"), blocks("text")
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(example, "README.md", "exec"), {"__name__": "__readme__"})
    assert output.getvalue() == printed


def test_the_first_page_of_the_site_prints_what_it_says() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    example, printed = (
        re.search(rf"^```{kind}\n(.*?)^```", page, re.DOTALL | re.MULTILINE) for kind in ("python", "text")
    )
    assert example is not None
    assert printed is not None
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(example[1], "index.md", "exec"), {"__name__": "__first_page__"})
    assert output.getvalue() == printed[1]


def test_two_commands_set_everything_up() -> None:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/marginflow demo" in lines
    assert "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest" in lines
    assert README.index("```sh") < README.index("## ")  # before anything else


def test_commands_shown_run_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("marginflow ")]
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "train":  # its first second is enough here
            words += ["--time-limit", "1"]
        assert frame.main(words) in (0, 1), line


@pytest.mark.parametrize("target", re.findall(r"\]\((?!https?:)([^)#]+)\)", README))
def test_links_lead_to_files(target: str) -> None:
    assert (ROOT / target).is_file()


def test_every_command_that_is_shown_exists() -> None:
    known = {name for name in frame.app if not name.startswith("-")}
    assert set(re.findall(r"(?:^|`)marginflow ([a-z]+)", README, flags=re.MULTILINE)) <= known
