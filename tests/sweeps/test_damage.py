"""A damaged store is one true sentence and exit code 2; no wrong row is accepted, and the readable ones are saved."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marginflow import InputError
from marginflow.sweeps import Store, Sweep, run, salvage, stored

_FILE = Path(__file__).parents[2] / "benchmarks" / "sweeps_damage.py"
_SPEC = importlib.util.spec_from_file_location("sweeps_damage", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
damage = importlib.util.module_from_spec(_SPEC)
sys.modules["sweeps_damage"] = damage  # where dataclasses look for it
_SPEC.loader.exec_module(damage)

pytestmark = pytest.mark.usefixtures("task_folder")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory, task_folder: Path) -> tuple[Path, list[dict[str, object]]]:
    return damage.good_store(tmp_path_factory.mktemp("good"), "cheap_tasks:cheap")


@pytest.mark.parametrize(("index", "case"), list(enumerate(damage.CASES)), ids=[case.name for case in damage.CASES])
def test_a_damaged_store_is_a_sentence_and_what_can_be_read_is_saved(
    index: int, case: Any, good: tuple[Path, list[dict[str, object]]], tmp_path: Path
) -> None:
    spec, truth = good
    found = damage.check_damaged(case, index, spec, truth, tmp_path)
    if case.name in ("bad JSON", "another number", "text that is not UTF-8", "another status"):
        assert found == "recovered 23"  # all rows but the changed one
    if case.name in ("no table", "other columns", "no version"):
        assert found == "recovered 24"


def test_rows_that_were_not_yet_in_the_file_itself_are_saved_too(tmp_path: Path, task_folder: Path) -> None:
    """As after a kill: the newest rows are in the write-ahead log."""
    sweep, source = Sweep(task="cheap", grid={"a": [1, 2, 3]}, seeds=4), Store(tmp_path / "s.sqlite")
    copied = tmp_path / "copy.sqlite"

    def copy(now: object) -> None:
        if getattr(now, "left", 1) == 0:
            for ending in ("", "-wal"):
                copied.with_name(copied.name + ending).write_bytes(
                    source.path.with_name(source.path.name + ending).read_bytes()
                )

    rows = run(sweep, store=source, progress=copy).rows
    source.folder.rename(copied.with_suffix(".arrays"))
    target = Store(tmp_path / "new.sqlite")
    assert salvage(Store(copied), target).rows == 12
    assert stored(sweep, target).rows == rows


def test_rows_longer_than_a_page_are_saved(tmp_path: Path) -> None:
    sweep = Sweep(task="long-words", grid={"a": [1, 900, 4000, 30_000, 200_000]})
    store = Store(tmp_path / "s.sqlite")
    rows = run(sweep, store=store).rows
    target = Store(tmp_path / "new.sqlite")
    assert salvage(store, target).rows == 5
    assert stored(sweep, target).rows == rows


def test_a_recovered_store_is_a_new_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    with pytest.raises(InputError, match="There is no file"):
        salvage(store, Store(tmp_path / "new.sqlite"))
    run(Sweep(task="cheap"), store=store)
    with pytest.raises(InputError, match="exists already; choose another name"):
        salvage(store, store)


def test_damaged_arrays_are_noticed_when_they_are_read_and_their_row_is_not_recovered(tmp_path: Path) -> None:
    sweep, store = Sweep(task="cheap", seeds=4), Store(tmp_path / "s.sqlite")
    run(sweep, store=store)
    file = sorted(store.folder.iterdir())[0]
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    (broken,) = [record for record in stored(sweep, store) if getattr(record.kept, "path", None) == file]
    with pytest.raises(InputError, match="are not what was written; compute the cell again"):
        _ = broken.arrays
    saved = salvage(store, Store(tmp_path / "new.sqlite"))
    assert (saved.rows, saved.without_arrays) == (3, 1)


def test_a_store_in_a_folder_that_takes_no_file_can_be_read_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task_folder: Path
) -> None:
    spec, truth = damage.good_store(tmp_path, "cheap_tasks:cheap")
    store = tmp_path / "spec.sqlite"
    before = sorted(path.name for path in tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # rights do not bind an administrator
    code, out, _ = damage.run_quietly("sweep", str(spec), "--dry-run")
    assert code == 0
    assert "24 cells, 24 done" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert stored(Sweep.load(spec), store).rows == truth

    def refused(*_: object, **__: object) -> sqlite3.Connection:
        error = sqlite3.OperationalError("unable to open database file")
        error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise error

    monkeypatch.setattr(sqlite3, "connect", refused)
    code, _, err = damage.run_quietly("sweep", str(spec))
    assert code == 2
    assert "cannot be opened for writing: the fi" in err
    assert "is read-only" in err
    assert "make room" not in err


def test_a_store_in_a_folder_that_takes_no_file_from_anybody_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be opened for writing"):
        run(Sweep(task="cheap"), store="/proc/rows.sqlite")


def test_of_rows_of_several_codes_the_last_that_came_counts_whatever_the_clock(tmp_path: Path) -> None:
    sweep, now, several = Sweep(task="cheap"), Store(tmp_path / "now.sqlite"), Store(tmp_path / "several.sqlite")
    run(sweep, store=now)
    (line,) = now.lines()
    with several.writing():
        for key, word in (("1" * 32, "first"), ("2" * 32, "second"), ("3" * 32, "third")):
            several.add(replace(line, code=word, key=key, row=f'{{"from": "{word}"}}'), None)
        several.add(replace(line, code="first", key="1" * 32, row='{"from": "first again"}'), None)
        several.add(replace(line, code="late", key="4" * 32, status="failed", row="{}", error="x"), None)
    with closing(sqlite3.connect(several.path)) as connection, connection:
        connection.execute("VACUUM")
    (record,) = stored(sweep, several, any_code=True)
    assert record.row == {"from": "first again"}


def test_a_seed_that_no_column_holds_is_a_sentence() -> None:
    with pytest.raises(InputError, match="is larger than 9223372036854775807"):
        Sweep(task="cheap", seeds=[2**63])
