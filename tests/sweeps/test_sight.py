"""What a process that computes nothing sees of a sweep in its stores."""

from pathlib import Path

import pytest

from marginflow.sweeps import Shard, Store, Sweep, look, run
from marginflow.sweeps.lock import is_held

pytestmark = pytest.mark.usefixtures("task_folder")


def test_shards_are_seen_together_in_the_order_of_the_sweep(tmp_path: Path) -> None:
    sweep = Sweep(task="cheap_tasks:cheap", grid={"a": [1, 2, 3]}, fixed={"b": 1.0}, seeds=2)
    shards = [Shard(index, 2) for index in (1, 2)]
    stores = [Store(shard.store(tmp_path / "s.sqlite")) for shard in shards]
    run(shards[1].of(sweep), store=stores[1])
    found = look(stores, sweep)
    assert [(seen.done, seen.failed, seen.writing) for seen in found.stores] == [(0, 0, False), (3, 0, False)]
    assert (found.total, found.missing, found.ended) == (6, 3, False)
    run(shards[0].of(sweep), store=stores[0])
    found = look(stores, sweep)
    assert found.ended
    assert found.rows == run(sweep).rows
    assert found.varying == ("a",)
    assert [found.numbers[record.cell.identity] for record in found.records] == [0, 1, 2, 3, 4, 5]  # in turn


def test_a_store_that_is_written_to_is_seen_and_a_look_is_in_nobodys_way(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    assert not is_held(store.lock_path)
    with store.writing():
        assert is_held(store.lock_path)
        assert not look([store]).ended
    assert not is_held(store.lock_path)
    with store.writing():
        pass
    assert look([store]).ended


def test_a_row_counts_more_than_a_failure_of_the_same_cell(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    sweep = Sweep(task="cheap_tasks:fails-until-marked", fixed={"marker": str(marker)}, seeds=2)
    first, second = Store(tmp_path / "first.sqlite"), Store(tmp_path / "second.sqlite")
    run(sweep, store=first)
    marker.touch()
    run(sweep, store=second)
    for stores in ((first, second), (second, first)):
        assert (len(look(stores, sweep).done), len(look(stores, sweep).failed)) == (2, 0)
    alone = look([first])
    assert (alone.name, alone.total, len(alone.failed)) == ("first.sqlite", None, 1)


def test_rows_of_other_code_are_left_out_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = Sweep(task="cheap_tasks:cheap", seeds=2)
    store = Store(tmp_path / "s.sqlite")
    run(sweep, store=store)
    monkeypatch.setattr("marginflow.sweeps.cell.code_version", lambda task: "other")
    again = Sweep(task="cheap_tasks:cheap", seeds=2)
    assert len(look([store], again).done) == 2
    assert len(look([store], again, any_code=False).done) == 0
