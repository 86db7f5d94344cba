"""Papers of other packages: found by their entry point, judged by the same rules, and harmless when broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from marginflow import InputError
from marginflow.cli import main
from marginflow.theory import PAPERS, Paper, conformance
from marginflow.theory.bibliography import Papers
from marginflow.theory.new_paper import files_of, write_package

REPOSITORY = Path(__file__).parents[2]
OURS = REPOSITORY / "examples" / "ours"


def installed(folder: Path, name: str, entry_points: str) -> Path:
    """What an installer leaves behind: a dist-info with entry points, in a folder for the path of modules."""
    info = folder / f"{name}-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[marginflow.papers]\n{entry_points}\n", encoding="utf-8")
    return folder


def run(*line: str, paths: list[Path], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command in a fresh interpreter that finds these folders."""
    import marginflow

    source = Path(marginflow.__file__).parents[1]
    roots = os.pathsep.join(str(path) for path in (source, *paths))
    return subprocess.run(
        [sys.executable, *line],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": roots},
    )


def test_ours_is_found_by_its_entry_point_and_its_rules_hold(tmp_path: Path) -> None:
    declared = (OURS / "pyproject.toml").read_text(encoding="utf-8")
    entry = 'OURS = "marginflow_ours:PAPER"'
    assert f'[project.entry-points."marginflow.papers"]\n{entry}' in declared
    paths = [installed(tmp_path, "marginflow_ours", entry.replace('"', "")), OURS]
    lines = [
        ["statements", "--paper", "OURS", "--json"],
        ["figure", "--json"],
        ["figure", "OURS/LabelNoise.ours", "--size", "smoke"],
        ["check", "ours thm 1"],
    ]
    code = "from marginflow.cli import main\n" + "\n".join(
        f"print('exit', main({line!r}), end='\\f')" for line in lines
    )
    done = run("-c", code, paths=paths, folder=tmp_path)  # one interpreter: importing all papers takes seconds
    assert done.returncode == 0, done.stdout + done.stderr
    listed, figures, drawn, judged, _ = done.stdout.split("\f")
    assert all(said.endswith("exit 0") for said in (listed, figures, drawn, judged)), done.stdout + done.stderr
    statements = json.loads(listed.removesuffix("exit 0"))
    assert [statement["id"] for statement in statements] == ["OURS/Obs2", "OURS/Thm1"]
    assert "OURS/LabelNoise.ours" in figures
    assert "Our numbers bear out the claim" in drawn
    assert "OURS/Thm1 holds here" in judged


def test_the_tests_of_ours_pass() -> None:
    options = ["-q", "-p", "no:cacheprovider", "-n", "0", "-W", "error", "--rootdir", str(OURS)]
    done = run("-m", "pytest", *options, str(OURS / "tests"), paths=[OURS], folder=OURS)
    assert done.returncode == 0, done.stdout


def test_a_new_paper_passes_its_own_tests_as_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "mine"
    assert main(["new-paper", "ABC26", "--out", str(folder)]) == 0
    assert "lem_1.py" in capsys.readouterr().out
    assert main(["new-paper", "ABC26", "--out", str(folder)]) == 2, "nothing is overwritten"
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "-W", "error", paths=[folder], folder=folder)
    assert done.returncode == 0, done.stdout
    assert f"{len(conformance.RULES)} passed" in done.stdout


@pytest.mark.parametrize("key", ["VYS22", "abc", "A-B", "", "2022A"])
def test_keys_that_are_taken_or_are_none_are_refused(key: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_package(key, tmp_path / "x")
    assert not (tmp_path / "x").exists()
    assert "pyproject.toml" in files_of("XYZ1")


def test_a_package_that_cannot_be_loaded_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = installed(tmp_path, "broken", "BAD9 = no_such_module_at_all:PAPER\nVYS22 = marginflow.theory:PAPERS")
    done = run("-c", "from marginflow import theory; print(list(theory.PAPERS))", paths=[path])
    assert done.stdout.strip() == "['VYS22', 'FVBS23', 'KYS23', 'FCB22']", done.stderr
    assert "BAD9 (no_such_module_at_all:PAPER) cannot be loaded" in done.stderr
    assert "is not a Paper with the key VYS22" in done.stderr


def test_a_key_belongs_to_one_paper() -> None:
    papers = Papers({"A1": Paper(key="A1", title="t", authors="a", year=2020, room="x")})
    papers.add(papers["A1"])
    with pytest.raises(InputError, match="There is a paper A1 already"):
        papers.add(Paper(key="A1", title="another", authors="a", year=2020, room="x"))
    with pytest.raises(InputError, match="is not a paper"):
        papers.add("A1")
    with pytest.raises(InputError, match="capital letters"):
        Paper(key="a1", title="t", authors="a", year=2020)
    assert PAPERS["VYS22"].room == "marginflow.theory.vys22"
