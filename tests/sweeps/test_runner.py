"""Running: what is stored is skipped, what failed is kept with its traceback, one writer at a time."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from marginflow import InputError
from marginflow.sweeps import MemoryStore, StoppedError, Store, Sweep, SweepProgress, SweepTask, TaskResult, run, stored
from marginflow.sweeps.record import Computed
from marginflow.sweeps.runner import by_other_code

pytestmark = pytest.mark.usefixtures("task_folder")


def cheap(**changes: object) -> Sweep:
    return Sweep(**{"task": "cheap", "grid": {"a": [1, 2]}, "seeds": 3, **changes})


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_rows_are_those_of_the_task_called_by_hand(kind: str, tmp_path: Path) -> None:
    sweep = cheap()
    results = run(sweep, store=None if kind == "memory" else tmp_path / "s.sqlite")
    assert isinstance(sweep.task, SweepTask)
    for cell, record in zip(sweep.cells, results, strict=True):
        by_hand = sweep.task(msgspec.convert(dict(cell.parameters), sweep.task.parameters), cell.seed)
        assert dict(record.row) == dict(by_hand.row)
        assert {type(value) for value in record.row.values()} <= {bool, int, float, str, type(None)}
        assert record.arrays.keys() == by_hand.arrays.keys()
        for name, array in record.arrays.items():
            np.testing.assert_array_equal(array, by_hand.arrays[name])
    assert results.rows[0]["endless"] == math.inf
    assert results.complete
    assert results.computed == 6


def test_seconds_are_what_a_cell_computes_and_not_what_it_waits_for() -> None:
    (record,) = run(cheap(grid={}, seeds=[0], fixed={"pause": 0.5})).records  # the clock passes at least this
    assert 0.0 < record.seconds < 0.5


def test_a_stored_cell_is_not_computed_again_and_a_larger_grid_computes_only_what_is_new(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    first = run(cheap(), store=store)
    again = run(cheap(), store=store)
    assert (first.computed, again.computed, again.stored) == (6, 0, 6)
    assert [record.seconds for record in again] == [record.seconds for record in first]
    larger = run(cheap(grid={"a": [3, 2, 1]}), store=store)
    assert (larger.computed, larger.stored) == (3, 6)
    assert larger.rows[-3:] == first.rows[:3]  # the order is that of the grid


def test_a_failed_cell_is_kept_with_its_traceback_and_tried_again_only_on_request(tmp_path: Path) -> None:
    store, marker = tmp_path / "s.sqlite", tmp_path / "marker"
    sweep = Sweep(task="fails-until-marked", fixed={"marker": str(marker)}, seeds=3)
    results = run(sweep, store=store)
    assert [record.status for record in results] == ["done", "failed", "done"]
    (failed,) = results.failed
    assert failed.error is not None
    assert failed.error.startswith("Traceback")
    assert "in fails" in failed.error
    assert failed.reason == "RuntimeError: the marker is not there"
    with pytest.raises(InputError, match=r"1 cells failed; the first is marker=.*seed=1: RuntimeError"):
        results.require_complete()
    marker.touch()
    assert run(sweep, store=store).computed == 0
    repaired = run(sweep, store=store, retry_failed=True)
    assert repaired.computed == 1
    assert [row["value"] for row in repaired.require_complete().rows] == [0.0, 0.1, 0.2]


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("returns-a-list", "The row has list in column 'values'; a number, word, true, false or None is expected"),
        ("overwrites-a-parameter", "The row has a column 'a', which is the name of a parameter; choose another"),
    ],
)
def test_a_row_that_is_no_row_fails_with_a_sentence(task: str, sentence: str) -> None:
    (failed,) = run(Sweep(task=task)).failed
    assert sentence in failed.reason


def test_rows_of_other_code_are_computed_again_unless_they_are_asked_for(tmp_path: Path) -> None:
    store, now = tmp_path / "s.sqlite", tmp_path / "now.sqlite"
    first = run(cheap(), store=now)
    older = Store(store)
    with older.writing():
        for line in Store(now).lines():
            content = (now.with_suffix(".arrays") / line.arrays).read_bytes() if line.arrays else b""
            key = f"01d{line.key}"
            arrays = f"{key}.safetensors" if line.arrays else None
            older.add(replace(line, code="old", key=key, arrays=arrays), content)
    assert stored(cheap(), store).records == ()
    assert (by_other_code(cheap(), store), by_other_code(cheap(), now)) == (6, 0)
    accepted = run(cheap(), store=store, any_code=True)
    assert (accepted.computed, accepted.rows) == (0, first.rows)
    assert run(cheap(), store=store).computed == 6
    assert by_other_code(cheap(), store) == 0


def test_two_sweeps_on_one_store_at_once_are_refused_and_readers_are_not(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with Store(store).writing():
        with pytest.raises(InputError, match=r"Another sweep \(process \d+\) is writing to .*s\.sqlite; wait for it"):
            run(cheap(), store=store)
        assert stored(cheap(), store).records == ()
    assert run(cheap(), store=store).complete
    with Store(store).writing():
        assert len(stored(cheap(), store).rows) == 6


def test_a_store_is_written_only_by_who_holds_the_lock(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not open for writing"):
        Store(tmp_path / "s.sqlite").keep(cheap().cells[0], Computed(key="k", status="done", seconds=0.0))


def test_a_full_database_is_a_sentence_and_every_stored_row_stays(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    sweep = Sweep(task="cheap", grid={"a": list(range(1, 41))}, seeds=5)
    reports: list[SweepProgress] = []

    def fill_the_disk(now: SweepProgress) -> None:
        reports.append(now)
        if now.computed == 0:  # SQLite answers as it does when the disk has no page left
            assert store._writer is not None
            pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
            store._writer.execute(f"PRAGMA max_page_count = {pages + 6}")

    with pytest.raises(StoppedError, match=r"cannot be written \(database or disk is full.*make room and start"):
        run(sweep, store=store, progress=fill_the_disk)
    there = stored(sweep, store)
    assert 0 < len(there.done) < 200
    assert len(there.done) == reports[-1].computed
    resumed = run(sweep, store=store)
    assert resumed.stored == len(there.done)
    assert resumed.rows == run(sweep).rows


def test_what_a_killed_writer_left_half_written_is_removed(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    run(cheap(), store=store)
    leftover = store.folder / ".0123.safetensors.abc.part"
    leftover.write_bytes(b"half")
    run(cheap(), store=store)
    assert not leftover.exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("rows.db", "a name that ends in .sqlite is expected"), ("no/rows.sqlite", "does not exist; make it first")],
)
def test_a_store_that_cannot_be_is_refused(name: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        Store(tmp_path / name)


def test_a_file_that_is_no_store_is_a_sentence_and_stays_as_it_is(tmp_path: Path) -> None:
    foreign = tmp_path / "s.sqlite"
    foreign.write_text("my thesis, chapter one, which is long enough to be mistaken for a database header\n" * 20)
    before = foreign.read_bytes()
    with pytest.raises(InputError, match="is not a SQLite file"):
        run(cheap(), store=foreign)
    assert foreign.read_bytes() == before


def test_progress_counts_cells_and_estimates_what_is_left() -> None:
    reports: list[SweepProgress] = []
    store = MemoryStore()
    run(cheap(seeds=1), store=store)
    run(cheap(), store=store, progress=reports.append)
    assert [(now.stored, now.computed, now.left) for now in reports] == [(2, count, 4 - count) for count in range(5)]
    assert reports[0].seconds_left is None
    assert reports[-1].seconds_left == 0.0
    assert SweepProgress(total=10, stored=2, computed=2, failed=0, seconds=3.0).seconds_left == 9.0


def test_workers_belongs_to_one_place_only() -> None:
    from marginflow.sweeps import LocalEngine

    with pytest.raises(InputError, match="give it to the engine instead"):
        run(cheap(), engine=LocalEngine(), workers=2)
    with pytest.raises(InputError, match="workers is 0"):
        run(cheap(), workers=0)


class OfKind(msgspec.Struct, frozen=True, kw_only=True):
    kind: str


def of_kind(parameters: OfKind, seed: int) -> TaskResult:
    return TaskResult(row={}, arrays={"x": np.array([0, 1], dtype=parameters.kind)})


def test_arrays_of_every_kind_of_numbers_are_kept(tmp_path: Path) -> None:
    task = SweepTask(name="of-kind", parameters=OfKind, function=of_kind)
    sweep = Sweep(task=task, grid={"kind": ["bool", "uint8", "float16", ">f8", "longdouble"]})
    results = run(sweep, store=tmp_path / "s.sqlite")
    assert results.complete
    assert [record.arrays["x"].tolist() for record in results] == [[0.0, 1.0]] * 5
