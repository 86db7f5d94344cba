"""Every engine does the same: each cell once, failures as rows, one BLAS thread, the same bits."""

from __future__ import annotations

import importlib.util
import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import safetensors.numpy

from marginflow import InputError
from marginflow.sweeps import Cell, DaskEngine, LocalEngine, Sweep, TaskResult, run, stored, task
from marginflow.sweeps.record import Computed

pytestmark = pytest.mark.usefixtures("task_folder")

needs_dask = pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs the extra dask")
ENGINES = [
    pytest.param(LocalEngine(), id="this-process"),
    pytest.param(LocalEngine(workers=1), id="one-process"),
    pytest.param(LocalEngine(workers=2), id="two-processes"),
    pytest.param(DaskEngine(workers=2), id="dask", marks=needs_dask),
]


def cells() -> dict[str, tuple[Cell, ...]]:
    """Cheap ones, some that fail, some that look at their threads, and real ones; all go through in one start."""
    nowhere = {"marker": "/no/such/file"}
    small = {"n_samples": 6, "width": 8, "arrays": True}
    return {
        "cheap": Sweep(task="cheap", grid={"a": [1, 2, 3]}, seeds=4).cells,
        "failing": Sweep(task="fails-until-marked", fixed=nowhere, seeds=3).cells,
        "threads": Sweep(task="counts-threads", seeds=2).cells,
        "limit": Sweep(task="limit", grid={"dimension": [4, 9]}, fixed=small, seeds=2).cells,
    }


@pytest.fixture(scope="module", params=ENGINES)
def computed(request: pytest.FixtureRequest, task_folder: Path) -> list[Computed]:
    with closing(request.param.compute([cell for some in cells().values() for cell in some])) as stream:
        return list(stream)


@pytest.fixture(scope="module")
def by_hand(task_folder: Path) -> dict[str, TaskResult]:
    """Every cell that does not fail, by calling its task."""
    some = [cell for name, group in cells().items() if name != "failing" for cell in group]
    return {cell.key: cell.task(msgspec.convert(cell.parameters, cell.task.parameters), cell.seed) for cell in some}


def test_every_cell_comes_back_once(computed: list[Computed]) -> None:
    wanted = [cell.key for some in cells().values() for cell in some]
    assert sorted(result.key for result in computed) == sorted(wanted)


@pytest.mark.parametrize("task", ["cheap", "limit"])
def test_every_engine_gives_the_same_rows_bit_for_bit(
    task: str, computed: list[Computed], by_hand: dict[str, TaskResult]
) -> None:
    found = {result.key: result for result in computed}
    for cell in cells()[task]:
        here, there = by_hand[cell.key], found[cell.key]
        assert json.dumps(dict(there.row)) == json.dumps(dict(here.row))  # the text that the store keeps
        assert there.arrays == (safetensors.numpy.save(dict(here.arrays)) if here.arrays else b"")


def test_a_task_that_raises_is_a_failed_cell_with_its_traceback(computed: list[Computed]) -> None:
    found = {result.key: result for result in computed}
    assert [found[cell.key].status for cell in cells()["failing"]] == ["done", "failed", "done"]
    error = found[cells()["failing"][1].key].error
    assert error is not None
    assert error.startswith("Traceback")
    assert error.rstrip().endswith("RuntimeError: the marker is not there")


def test_workers_have_one_blas_thread(computed: list[Computed]) -> None:
    found = {result.key: result for result in computed}
    assert [found[cell.key].row["threads"] for cell in cells()["threads"]] == [1, 1]


@pytest.mark.parametrize("task", ["kills-its-worker", "kills-its-first-worker"])
def test_a_cell_that_kills_its_worker_takes_no_other_cell_with_it(task: str, tmp_path: Path) -> None:
    sweep = Sweep(task=task, fixed={"marker": str(tmp_path / "marker")}, seeds=8)
    results = run(sweep, workers=2, store=tmp_path / "s.sqlite")
    values = {record.cell.seed: record.row["value"] for record in results.done}
    if task == "kills-its-first-worker":  # tried again, and it went well
        assert results.complete
        return
    assert values == {seed: seed * 0.1 for seed in range(8) if seed != 3}
    (failed,) = results.failed
    assert failed.cell.seed == 3
    assert failed.reason == "The worker process died: it was killed by SIGKILL, often because the memory was full."


def test_workers_end_when_the_sweep_is_left_early(tmp_path: Path) -> None:
    class LeaveError(Exception):
        pass

    def leave(now: object) -> None:
        if getattr(now, "computed", 0) == 3:
            raise LeaveError

    sweep = Sweep(task="cheap", fixed={"pause": 0.05}, seeds=25)
    with pytest.raises(LeaveError):
        run(sweep, workers=2, store=tmp_path / "s.sqlite", progress=leave)
    assert len(stored(sweep, tmp_path / "s.sqlite").done) == 3
    left = [int(word) for each in Path("/proc/self/task").glob("*/children") for word in each.read_text().split()]
    lines = [Path(f"/proc/{child}/cmdline").read_bytes() for child in left]
    assert not any(b"marginflow.processes" in line for line in lines)
    assert run(sweep, store=tmp_path / "s.sqlite").complete


def test_a_worker_with_other_code_is_refused_with_a_sentence(tmp_path: Path, task_folder: Path) -> None:
    from marginflow.sweeps.worker import Order, OtherCodeError, compute

    cell = Sweep(task="cheap").cells[0]
    order = Order.of(cell)
    assert compute(order).status == "done"
    with pytest.raises(OtherCodeError, match="start it again with the same versions on both sides"):
        compute(replace(order, code="0.0.1", sources=""))
    with pytest.raises(OtherCodeError, match="start it again with the same versions on both sides"):
        compute(replace(order, code="0.0.1", sources="those of another day"))
    assert compute(replace(order, sources="those of another day")).status == "done", "a comment was edited"
    with pytest.raises(OtherCodeError, match="A worker cannot find the task 'cheap' of nowhere"):
        compute(Order(order.key, "nowhere", order.task, order.parameters, order.seed, order.code))


def test_a_task_typed_at_a_prompt_needs_one_worker() -> None:
    class Nothing(msgspec.Struct, frozen=True, kw_only=True):
        pass

    def typed(parameters: Nothing, seed: int) -> dict[str, int]:
        return {"value": seed}

    typed.__module__ = "__main__"
    sweep = Sweep(task=task("typed-at-a-prompt", parameters=Nothing)(typed), seeds=2)
    assert [row["value"] for row in run(sweep).rows] == [0, 1]
    with pytest.raises(InputError, match="move it to a module that can be imported, or leave workers"):
        run(sweep, workers=2)


def test_without_dask_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"install it with: pip install 'marginflow\[dask\]'"):
        run(Sweep(task="cheap"), engine=DaskEngine())


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LocalEngine(workers=0), "workers is 0"),
        (lambda: DaskEngine(workers=0), "workers is 0"),
        (lambda: DaskEngine(address="tcp://127.0.0.1:1", workers=2), "the one at the address has its own"),
        (lambda: DaskEngine(patience=0.0), "patience is 0"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
