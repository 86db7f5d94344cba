"""An interrupt ends a sweep, even if the cell that it met caught it and returned what it had."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from marginflow.cli import main
from marginflow.data import Sphere
from marginflow.limit import kkt_point
from marginflow.processes import Answer
from marginflow.sweeps import Store, Sweep, run, stored
from marginflow.sweeps.engines import local
from marginflow.sweeps.interrupt import interrupts_count
from marginflow.sweeps.record import Computed
from marginflow.sweeps.worker import Order


@pytest.fixture(autouse=True)
def _interrupts_arrive() -> Iterator[None]:
    """Processes in the background of a shell ignore SIGINT, and so do their children; here it must arrive."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def sweep_of(marker: str) -> Sweep:
    return Sweep(task="cheap_tasks:keeps-what-is-done", grid={"place": [0]}, fixed={"marker": marker}, seeds=3)


@pytest.mark.usefixtures("task_folder")
@pytest.mark.parametrize("marker", ["returns", "raises"])
def test_a_cell_that_caught_its_interrupt_is_not_stored_and_the_sweep_ends(tmp_path: Path, marker: str) -> None:
    store = Store(tmp_path / "rows.sqlite")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run(sweep_of(marker), store=store)
    assert signal.getsignal(signal.SIGINT) is before
    assert [(record.cell.seed, record.status) for record in stored(sweep_of(marker), store)] == [(0, "done")]


@pytest.mark.usefixtures("task_folder")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_cell_that_interrupts_its_own_worker_is_a_failed_row_and_the_others_are_done(
    tmp_path: Path, workers: int
) -> None:
    """Ctrl-C does not reach workers: a sweep that ended here would end here again, however often it is resumed."""
    results = run(sweep_of("returns"), store=Store(tmp_path / "rows.sqlite"), workers=workers)
    assert {record.cell.seed: record.status for record in results} == {0: "done", 1: "failed", 2: "done"}
    assert "KeyboardInterrupt" in results.failed[0].reason


@pytest.mark.usefixtures("task_folder")
def test_the_command_ends_with_exit_code_130_and_says_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text('[sweep]\ntask = "cheap_tasks:cheap"\nseeds = 3\n')
    original, seen = local.decode, []

    def decode(order: Order, answer: Answer) -> Computed:
        seen.append(order)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)
        return original(order, answer)

    monkeypatch.setattr(local, "decode", decode)
    assert main(["sweep", str(spec)]) == 130
    printed = capsys.readouterr()
    assert "3 cells, 1 done, 0 failed, 2 missing" in printed.out
    assert "Interrupted; what was stored stays" in printed.err


def test_a_kkt_point_keeps_what_is_done_and_the_interrupt_counts_all_the_same() -> None:
    data = Sphere(dimension=20, labels="both").sample(40, seed=0)
    seen: list[object] = []

    def interrupt(_: object) -> None:
        seen.append(None)
        if len(seen) == 1:
            signal.raise_signal(signal.SIGINT)

    def solve() -> None:
        with interrupts_count():
            seen.append(kkt_point(data, width=20, seed=0, progress=interrupt).stopped_by)

    with pytest.raises(KeyboardInterrupt):
        solve()
    assert seen == [None, "interrupt"]  # the solver did return


def test_a_handler_that_only_takes_notice_is_left_its_way() -> None:
    noticed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: noticed.append(number))
    try:
        with interrupts_count():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert noticed == [signal.SIGINT]


def test_other_threads_and_ignored_signals_are_left_alone() -> None:
    handlers: list[object] = []

    def in_thread() -> None:
        with interrupts_count():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert handlers == [before]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_count():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
