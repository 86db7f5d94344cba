"""A sweep that is killed with SIGKILL loses at most the cells that were running."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from marginflow.sweeps import Sweep, run, stored

SPEC = """
[sweep]
name = "a hundred and twenty cells"
task = "cheap_tasks:cheap"
seeds = 10

[grid]
a = [1, 2, 3]
b = [0.5, 1.0]
kind = ["plain", "other"]

[fixed]
pause = 0.01
"""
ROWS = "SELECT key, identity, code, task, parameters, seed, status, row, arrays, error FROM cells ORDER BY key"
TIMES = "SELECT number, key, seconds FROM cells"


def ask(store: Path, statement: str) -> list[tuple[object, ...]]:
    if not store.is_file():
        return []
    with closing(sqlite3.connect(store, timeout=30.0)) as connection:
        try:
            return connection.execute(statement).fetchall()
        except sqlite3.OperationalError:  # the table is not there yet
            return []


def start(spec: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "marginflow.cli", "sweep", str(spec), "--workers", "2"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def children(process: int) -> list[int]:
    """Numbers of the child processes, where /proc tells them (Linux)."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return [int(word) for path in lists for word in path.read_text().split()]


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.is_file() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.usefixtures("task_folder")
def test_a_sweep_killed_twice_and_resumed_ends_with_the_rows_of_an_uninterrupted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, store = tmp_path / "spec.toml", tmp_path / "spec.sqlite"
    spec.write_text(SPEC)
    orphans: list[int] = []
    for least in (20, 60):
        running = start(spec)
        try:
            while len(ask(store, TIMES)) < least and running.poll() is None:
                time.sleep(0.01)
            assert running.poll() is None, running.communicate()[1].decode()
            orphans += children(running.pid)
            assert len(orphans) >= 2 or not Path("/proc").is_dir()
            before = ask(store, TIMES)
        finally:
            running.send_signal(signal.SIGKILL)
            running.communicate()
        kept = ask(store, TIMES)
        assert set(before) <= set(kept)  # whatever was committed is there after the kill
        assert least <= len(kept) < 120
    last = start(spec)
    out, error = last.communicate(timeout=120)
    assert last.returncode == 0, error.decode()
    assert b"120 cells, 120 done, 0 failed, 0 missing" in out
    assert set(kept) <= set(ask(store, TIMES))  # and it was not computed again: even the times are the old ones

    whole = tmp_path / "whole.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", lambda _: None)  # nobody has to catch this one in the middle
        uninterrupted = run(Sweep.load(spec), store=whole)
    assert ask(store, ROWS) == ask(whole, ROWS)
    assert stored(Sweep.load(spec), store).rows == uninterrupted.rows
    files = {path.name: path.read_bytes() for path in whole.with_suffix(".arrays").iterdir()}
    assert len(files) == 60
    assert {path.name: path.read_bytes() for path in store.with_suffix(".arrays").iterdir()} == files

    deadline = time.monotonic() + 30.0
    while any(alive(process) for process in orphans) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [process for process in orphans if alive(process)] == []  # workers do not outlive the sweep
