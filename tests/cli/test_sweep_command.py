"""`marginflow sweep`: one sentence per error, exit codes that mean something, rows that stay."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from marginflow import sweeps
from marginflow.cli import main
from marginflow.sweeps import Store, Sweep

SPEC = """
[sweep]
name = "small"
task = "limit"
seeds = 2
[grid]
dimension = [4, 6]
[fixed]
n_samples = 4
width = 6
"""
OWN = '''
import msgspec
import numpy as np
from marginflow.sweeps import TaskResult, task

class Own(msgspec.Struct, frozen=True, kw_only=True):
    size: int = 4

@task("own")
def own(parameters: Own, seed: int) -> TaskResult:
    """A task that stands beside its spec."""
    if parameters.size < 0:
        raise ValueError("a size below zero")
    return TaskResult(row={"squared": seed * seed}, arrays={"x": np.full(parameters.size, float(seed))})
'''


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = tmp_path / "spec.toml"
    file.write_text(SPEC)
    return file


def own_spec(folder: Path, sizes: str, seeds: int) -> Path:
    (folder / "own_tasks.py").write_text(OWN)
    file = folder / "own.toml"
    file.write_text(f'[sweep]\ntask = "own_tasks:own"\nseeds = {seeds}\n[grid]\nsize = {sizes}\n')
    return file


def test_a_sweep_is_computed_once_and_exported(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "spec.toml", "--dry-run"]) == 1
    assert "small: 4 cells, 0 done, 0 failed, 4 missing" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [spec]  # a look writes nothing
    assert main(["sweep", "spec.toml", "--export", "rows.csv", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["done"], record["failed"], record["missing"], len(record["rows"])) == (4, 0, 0, 4)
    assert [(row["dimension"], row["seed"]) for row in record["rows"]] == [(4, 0), (4, 1), (6, 0), (6, 1)]
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 5
    assert main(["sweep", "spec.toml", "--dry-run"]) == 0
    assert "small: 4 cells, 4 done, 0 failed, 0 missing" in capsys.readouterr().out


def test_rows_of_other_code_are_named_before_they_are_computed_again(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", "spec.toml"]) == 0
    monkeypatch.setattr("marginflow.sweeps.cell.code_version", lambda task: "other")
    capsys.readouterr()
    assert main(["sweep", "spec.toml", "--dry-run"]) == 1
    said = capsys.readouterr()
    assert "small: 4 cells, 0 done, 0 failed, 4 missing" in said.out
    assert "4 cells have rows by another version of the code in spec.sqlite; --any-code accepts them." in said.err
    assert main(["sweep", "spec.toml", "--dry-run", "--any-code"]) == 0
    assert "another version" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("sweep no.toml", "There is no file no.toml."),
        ("sweep typo.toml", "typo.toml: grid.dimension[1]: expected a whole number >= 1 or none, got -2."),
        ("sweep spec.toml --export rows.xls", "rows.xls ends in '.xls'; .csv or .parquet is expected."),
        ("sweep spec.toml --store rows.db", "a name that ends in .sqlite is expected."),
        ("sweep spec.toml --workers 0", "workers is 0; a whole number of at least 1 is expected."),
        ("sweep spec.toml --address tcp://127.0.0.1:1", "--address is for --engine dask."),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    line: str, sentence: str, spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typo = tmp_path / "typo.toml"
    typo.write_text(SPEC.replace("[4, 6]", "[4, -2]"))
    assert main(line.split()) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert sorted(tmp_path.iterdir()) == [spec, typo]


def test_without_a_spec_the_tasks_are_listed_those_of_figures_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep"]) == 0
    assert "limit: Residuals, norm and sparsity of a KKT point" in capsys.readouterr().out
    assert main(["sweep", "--json"]) == 0
    listed = {entry["task"]: entry["parameters"] for entry in json.loads(capsys.readouterr().out)["tasks"]}
    assert {"limit", "flip", "radius", "overfitting", "vys22-sphere"} <= listed.keys()
    assert "width" in listed["limit"]


def test_the_example_in_the_docs_is_a_sweep() -> None:
    example = Path(__file__).parents[2] / "docs" / "examples" / "flip.toml"
    assert len(Sweep.load(example).cells) == 12


def test_two_sweeps_at_once_are_refused(spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "spec.sqlite").writing():
        assert main(["sweep", "spec.toml"]) == 2
    assert f"Another sweep (process {os.getpid()}) is writing to spec.sqlite" in capsys.readouterr().err


def test_a_task_of_ones_own_stands_beside_the_spec_and_its_failures_are_told(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_spec(tmp_path, "[2, -1]", seeds=2)
    assert main(["sweep", "own.toml", "--workers", "2"]) == 1
    printed = capsys.readouterr().out
    assert "4 cells, 2 done, 2 failed, 0 missing" in printed
    assert "failed: cell 2: size=-1, seed=0: ValueError: a size below zero" in printed
    assert main(["sweep", "own.toml", "--retry-failed", "--json"]) == 1
    failures = json.loads(capsys.readouterr().out)["failures"]
    assert len(failures) == 2
    assert failures[0]["error"].startswith("Traceback")


def test_an_interrupt_keeps_what_is_stored(
    spec: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "run", interrupted)
    assert main(["sweep", "spec.toml"]) == 130
    assert "Interrupted; what was stored stays" in capsys.readouterr().err


def test_a_disk_that_takes_no_more_is_a_sentence_and_nothing_is_lost(spec: Path, tmp_path: Path) -> None:
    file = own_spec(tmp_path, "[100, 200, 30000]", seeds=2)  # files of 0.8, 1.6 and 240 kB
    command = [sys.executable, "-m", "marginflow.cli", "sweep", str(file)]

    def at_most_200_kb_in_a_file() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=at_most_200_kb_in_a_file)
    assert done.returncode == 1
    assert "own.sqlite cannot be written (File too large;" in done.stderr
    assert "every row that was stored is still there" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "6 cells, 4 done, 0 failed, 2 missing" in done.stdout
    assert [path.name for path in (tmp_path / "own.arrays").glob(".*")] == []  # no half-written file is left
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "6 cells, 6 done, 0 failed, 0 missing" in again.stdout


def test_the_time_left_is_told_in_words() -> None:
    from marginflow.cli.progress import time_left

    assert time_left(None, 0) == ""
    assert time_left(60.0, 1) == "about 60 s left, 1 failed"
