"""Shards: sixty cells in three shards, two of them killed, merged, are the undivided sweep, bit for bit."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginflow import InputError
from marginflow.cli import main
from marginflow.sweeps import Shard, Store, Sweep, merge, run, stored

SPEC = """
[sweep]
name = "sixty cells"
task = "cheap_tasks:cheap"
seeds = 10

[grid]
a = [1, 2, 3]
kind = ["plain", "other"]

[fixed]
pause = 0.05
"""
# What `sbatch` does with an array of jobs, all at once on this machine; it waits for none of them.
SBATCH = """#!/bin/bash
count=$(sed -n 's/^#SBATCH --array=1-//p' "$1")
for index in $(seq "$count"); do
    SLURM_ARRAY_TASK_ID=$index bash "$1" > "$1.$index.log" 2>&1 &
    echo $!
done
"""
COLUMNS = "key, identity, code, task, parameters, seed, status, row, arrays, arrays_sha256, error"
ROWS = f"SELECT {COLUMNS} FROM cells ORDER BY key"

pytestmark = pytest.mark.usefixtures("task_folder")


def ask(store: Path, statement: str = ROWS) -> list[tuple[object, ...]]:
    if not store.is_file():
        return []
    with closing(sqlite3.connect(store, timeout=30.0)) as connection:
        try:
            return connection.execute(statement).fetchall()
        except sqlite3.OperationalError:  # the table is not there yet
            return []


def gone(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return not state.is_file() or state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = tmp_path / "spec.toml"
    file.write_text(SPEC)
    return file


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks at processes in /proc")
def test_an_array_of_jobs_with_two_killed_submitted_again_and_merged_is_the_undivided_sweep(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["sweep", "slurm", str(spec), "--shards", "3", "--hours", "1.5", "--memory", "512"]) == 0
    script, submit = tmp_path / "jobs.sh", tmp_path / "sbatch"
    script.write_text(capsys.readouterr().out)
    assert "#SBATCH --array=1-3\n" in script.read_text()
    assert "#SBATCH --time=01:30:00\n" in script.read_text()
    submit.write_text(SBATCH)
    submit.chmod(0o755)
    stores = [Shard(index, 3).store(tmp_path / "spec.sqlite") for index in (1, 2, 3)]

    def submitted() -> list[int]:
        said = subprocess.run([str(submit), str(script)], capture_output=True, text=True, check=True)
        return [int(word) for word in said.stdout.split()]

    jobs = submitted()
    deadline = time.monotonic() + 120.0
    victims = dict(zip(jobs[:2], stores[:2], strict=True))
    while victims and time.monotonic() < deadline:
        for job in [job for job, store in victims.items() if len(ask(store)) >= 3]:
            os.kill(job, signal.SIGKILL)  # `exec`: the job is the sweep itself
            del victims[job]
        time.sleep(0.01)
    while not all(gone(job) for job in jobs) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [len(ask(store)) == 20 for store in stores] == [False, False, True]
    jobs = submitted()
    while not all(gone(job) for job in jobs) and time.monotonic() < deadline:
        time.sleep(0.05)

    out = tmp_path / "merged.sqlite"
    assert main(["sweep", "merge", *map(str, stores), "--out", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["added"], record["done"], record["failed"]) == (60, 60, 0)
    whole = tmp_path / "whole.sqlite"
    monkeypatch.setattr(time, "sleep", lambda _: None)  # nobody has to catch this one in the middle
    undivided = run(Sweep.load(spec), store=whole)
    assert ask(out) == ask(whole)
    assert stored(Sweep.load(spec), out).rows == undivided.rows
    assert {path.name: path.read_bytes() for path in out.with_suffix(".arrays").iterdir()} == {
        path.name: path.read_bytes() for path in whole.with_suffix(".arrays").iterdir()
    }
    assert main(["sweep", "merge", *map(str, stores), "--out", str(out)]) == 0  # again: nothing new
    assert "0 rows of 3 stores were added" in capsys.readouterr().out


def test_shards_share_all_cells_and_keep_their_numbers(spec: Path) -> None:
    sweep = Sweep.load(spec)
    parts = [Shard.parse(f"{index}/3").of(sweep) for index in (1, 2, 3)]
    numbers = [number for part in parts for number, _ in part.numbered]
    assert sorted(numbers) == list(range(60))
    assert dict(parts[1].numbered)[4].key == sweep.cells[4].key


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4", "1/4/2"])
def test_a_shard_that_cannot_be_is_refused(text: str, spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(spec), f"--shard={text}"]) == 2
    assert "i/n with i from 1 to n is expected" in capsys.readouterr().err
    with pytest.raises(InputError, match="nothing is left for shard 300/300"):
        Shard.parse("300/300").of(Sweep.load(spec))


def test_rows_of_other_code_and_rows_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    sweep, first, other = Sweep(task="cheap", seeds=[0, 2]), Store(tmp_path / "a.sqlite"), Store(tmp_path / "b.sqlite")
    run(sweep, store=first)
    line = first.lines()[0]
    with other.writing():
        other.add(replace(line, code="old", key="0" * 32), None)
    target = Store(tmp_path / "t.sqlite")
    with pytest.raises(InputError, match=r"rows of 'cheap' by the code old, but .* accept them with --any-code"):
        merge([first, other], target)
    assert not target.path.exists()
    assert merge([first, other], target, any_code=True) == 3
    with other.writing():
        other.add(replace(line, row='{"mean": 7.0}'), None)
    with pytest.raises(InputError, match="have different rows for the cell"):
        merge([first, other], Store(tmp_path / "u.sqlite"), any_code=True)
    with pytest.raises(InputError, match="There is no store"):
        merge([Store(tmp_path / "no.sqlite")], Store(tmp_path / "v.sqlite"))


def test_a_finished_cell_replaces_a_failed_one(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    sweep = Sweep(task="fails-until-marked", fixed={"marker": str(marker)}, seeds=3)
    failed, done = Store(tmp_path / "a.sqlite"), Store(tmp_path / "b.sqlite")
    run(sweep, store=failed)
    marker.touch()
    run(sweep, store=done)
    target = Store(tmp_path / "t.sqlite")
    merge([failed, done], target)
    assert stored(sweep, target).complete


def test_more_jobs_than_cells_are_refused(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "slurm", str(spec), "--shards", "61"]) == 2
    assert "there are 60 cells" in capsys.readouterr().err


def test_a_watched_sweep_writes_a_page_with_rows_failures_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from marginflow.cli import sweep as command

    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(command, "_PAGE_EVERY", 0.0)
    written: list[str] = []
    write = command.write_text

    def remember(path: Path, text: str) -> Path:
        written.append(text)
        return write(path, text)

    monkeypatch.setattr(command, "write_text", remember)
    file = tmp_path / "spec.toml"
    file.write_text('[sweep]\nname = "watched"\ntask = "cheap_tasks:cheap"\nseeds = 2\n[grid]\na = [1, 2]\n')
    assert main(["sweep", str(file), "--watch", str(tmp_path / "page.html")]) == 0
    assert "0 of 4 cells are done, 0 failed, 4 are missing" in written[0]
    assert 'http-equiv="refresh"' in written[0]
    assert "4 of 4 cells are done, 0 failed, 0 are missing" in written[-1]
    assert 'http-equiv="refresh"' not in written[-1]
    assert "<svg" in written[-1]
    failing = tmp_path / "failing.toml"
    failing.write_text('[sweep]\nname = "w"\ntask = "cheap_tasks:misbehaves"\nseeds = 3\n[fixed]\nmarker = "exits"\n')
    assert main(["sweep", str(failing), "--watch", str(tmp_path / "page.html")]) == 1
    assert "SystemExit: 3" in written[-1]
    assert "this is seed 1" in written[-1]
