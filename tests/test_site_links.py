"""The judge of the site's links finds what is broken and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECK = Path(__file__).parents[1] / "docs" / "check_links.py"


def judge(folder: Path) -> tuple[int, str]:
    ran = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout


def test_a_missing_file_a_missing_anchor_and_half_an_address_are_named(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<h1 id="top">B</h1>', encoding="utf-8")
    good = '<a href="b.html#top">b</a><a href="#here">here</a><p id="here"><a href="https://example.org/x">out</a>'
    (tmp_path / "a.html").write_text(good, encoding="utf-8")
    assert judge(tmp_path) == (0, "Every link leads somewhere.\n")
    bad = good + '<a href="c.html">c</a><a href="b.html#bottom">b</a><a href="https:/half">half</a>'
    (tmp_path / "a.html").write_text(bad, encoding="utf-8")
    code, said = judge(tmp_path)
    assert code == 1
    assert [line.split(": ", 1)[1] for line in said.splitlines()] == [
        "c.html: there is no such file",
        "b.html#bottom: there is no such place on that page",
        "https:/half: not an address",
    ]
