"""A real Dask scheduler with two workers on the loopback: one is killed, or the scheduler, or all; nothing is lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from marginflow import InputError
from marginflow.sweeps import DaskEngine, StoppedError, Sweep, SweepProgress, run, stored

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
pytestmark = pytest.mark.usefixtures("task_folder")

Start = Callable[..., subprocess.Popen[bytes]]


@contextmanager
def processes() -> Iterator[Start]:
    """Starts `dask ...` processes and ends those that are left."""
    begun: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        begun.append(subprocess.Popen(command, **quiet))
        return begun[-1]

    try:
        yield start
    finally:
        for process in begun:
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]]]:
    """Address, scheduler and two workers without nannies, so that a worker that is killed stays dead."""
    import json

    file = tmp_path / "scheduler.json"
    with processes() as start:
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                          "--no-jupyter", "--scheduler-file", str(file))  # fmt: skip
        # The workers wait for the file, so all three start side by side.
        workers = [
            start("worker", "--scheduler-file", str(file), "--no-nanny", "--nthreads", "1", "--no-dashboard",
                  "--name", name, "--local-directory", str(tmp_path / name))
            for name in ("first", "second")
        ]  # fmt: skip
        deadline = time.monotonic() + 60.0
        while not (file.is_file() and file.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        with distributed.Client(address, set_as_default=False, timeout=30) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, scheduler, workers


def killing(victims: list[subprocess.Popen[bytes]], at: int) -> Callable[[SweepProgress], None]:
    """Kill the processes when so many cells are stored."""

    def watch(now: SweepProgress) -> None:
        if now.computed == at:
            for victim in victims:
                os.kill(victim.pid, signal.SIGKILL)
                victim.wait()

    return watch


SPEC = """
[sweep]
name = "slow cells"
task = "cheap_tasks:cheap"
seeds = 400

[fixed]
pause = 0.1
"""
SWEEP = {"task": "cheap", "grid": {"a": [1, 2, 3, 4]}, "fixed": {"pause": 0.03}, "seeds": 10}


def test_a_worker_killed_in_the_middle_loses_nothing(cluster, tmp_path: Path) -> None:
    address, _, workers = cluster
    sweep, store = Sweep(**SWEEP), tmp_path / "s.sqlite"
    engine = DaskEngine(address=address, patience=20.0)
    results = run(sweep, store=store, engine=engine, progress=killing(workers[:1], at=10))
    assert workers[0].returncode == -signal.SIGKILL
    assert workers[1].poll() is None
    assert results.computed == 40
    assert results.complete
    assert results.rows == run(sweep).rows


def test_without_any_worker_left_the_sweep_stops_with_a_sentence_and_goes_on_elsewhere(cluster, tmp_path: Path) -> None:
    address, scheduler, workers = cluster
    sweep, store = Sweep(**SWEEP), tmp_path / "s.sqlite"
    engine = DaskEngine(address=address, patience=5.0)
    with pytest.raises(StoppedError, match=r"No worker of the Dask scheduler at tcp://127\.0\.0\.1:\d+ is left"):
        run(sweep, store=store, engine=engine, progress=killing(workers, at=10))
    there = len(stored(sweep, store).done)
    assert 10 <= there < 40
    assert run(sweep, store=store).stored == there
    assert stored(sweep, store).complete
    # The scheduler may still answer, but soon does not.
    scheduler.kill()
    scheduler.wait()
    with pytest.raises(InputError, match="No Dask scheduler answers at"):
        run(Sweep(task="cheap", seeds=50), engine=engine)


def test_a_scheduler_killed_in_the_middle_is_a_sentence_and_what_was_stored_stays(cluster, tmp_path: Path) -> None:
    address, scheduler, _ = cluster
    sweep, store = Sweep(**SWEEP), tmp_path / "s.sqlite"
    with pytest.raises(StoppedError, match=r"The Dask scheduler at .* is gone"):
        run(sweep, store=store, engine=DaskEngine(address=address), progress=killing([scheduler], at=10))
    assert 10 <= len(stored(sweep, store).done) < 40
    assert run(sweep, store=store).complete


def test_a_scheduler_killed_under_a_command_is_one_sentence_and_no_traceback(cluster, tmp_path: Path) -> None:
    address, scheduler, _ = cluster
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    command = [sys.executable, "-m", "marginflow.cli", "sweep", str(spec), "--engine", "dask", "--address", address]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        store = tmp_path / "spec.sqlite"
        deadline = time.monotonic() + 60.0
        while not _some_are_stored(store) and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        scheduler.kill()
        scheduler.wait()
        out, error = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()
    assert running.returncode not in (0, None)
    assert "Traceback" not in out + error
    assert "distributed" not in error
    sentences = [line for line in error.splitlines() if line.strip()]
    assert len(sentences) == 1, error
    assert "The Dask scheduler at" in sentences[0]
    assert "is gone" in sentences[0]


def _some_are_stored(store: Path) -> bool:
    if not store.is_file():
        return False
    with closing(sqlite3.connect(store, timeout=30.0)) as connection:
        try:
            return bool(connection.execute("SELECT count(*) FROM cells").fetchone()[0])
        except sqlite3.OperationalError:  # the table is not there yet
            return False


def test_a_connection_that_closes_is_about_the_scheduler_and_not_about_the_disk() -> None:
    """Dask's error is an `OSError`, as that of a full disk is; which of the two comes first depends on the moment."""

    class Client:
        status = "running"

        def scheduler_info(self) -> dict[str, dict[str, object]]:
            raise OSError("in <TCP (closed) local=tcp://127.0.0.1:2 remote=tcp://127.0.0.1:1>: Stream is closed")

    def closed(timeout: float) -> None:
        raise OSError("Stream is closed")

    def late(timeout: float) -> None:
        raise TimeoutError

    engine = DaskEngine(address="tcp://127.0.0.1:1", patience=1e-9)
    with pytest.raises(StoppedError, match=r"The Dask scheduler at tcp://127\.0\.0\.1:1 is gone"):
        engine._while_somebody_works(Client(), closed)
    with pytest.raises(StoppedError, match="No worker of the Dask scheduler"):
        engine._while_somebody_works(Client(), late)
