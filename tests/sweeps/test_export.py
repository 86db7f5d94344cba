"""Tables for other programs: every number reads back with the same bits."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path

import msgspec
import pytest

from marginflow import InputError
from marginflow.cli.output import result_text
from marginflow.report.results.reading import read_result
from marginflow.sweeps import Results, Store, Sweep, export, run, stored, task

pytestmark = pytest.mark.usefixtures("task_folder")


def results(tmp_path: Path) -> Results:
    return run(Sweep(task="cheap", grid={"a": [2, 1]}, seeds=3))


def test_csv_reads_back_with_the_same_bits_in_the_order_of_the_grid(tmp_path: Path) -> None:
    made = results(tmp_path)
    with export(made, tmp_path / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0])[:6] == ["a", "b", "kind", "pause", "seed", "status"]
    assert len(lines) == 6
    for line, row in zip(lines, made.rows, strict=True):
        assert float(line["mean"]) == row["mean"]
        assert float(line["norm"]) == row["norm"]
        assert float(line["endless"]) == math.inf
        assert (int(line["a"]), int(line["seed"]), line["word"]) == (row["a"], row["seed"], row["word"])
        assert (line["large"], line["nothing"], line["status"]) == (str(row["large"]).lower(), "", "done")


class Nothing(msgspec.Struct, frozen=True, kw_only=True):
    """No parameters."""


@task("not-finite")
def not_finite(parameters: Nothing, seed: int) -> dict[str, object]:
    """Every kind of number that is none, and nothing."""
    return {"high": math.inf, "low": -math.inf, "unknown": math.nan, "nothing": None}


def test_only_stores_keep_infinity_in_json_and_every_export_has_the_one_rule(tmp_path: Path) -> None:
    store = Store(tmp_path / "rows.sqlite")
    made = run(Sweep(task=not_finite, seeds=1), store=store)
    assert store.lines()[0].row == '{"high": Infinity, "low": -Infinity, "unknown": NaN, "nothing": null}'
    (row,) = stored(made.sweep, store).rows
    assert repr(row) == repr(made.rows[0]) == "{'seed': 0, 'high': inf, 'low': -inf, 'unknown': nan, 'nothing': None}"
    assert export(made, tmp_path / "rows.csv").read_text().splitlines()[1] == "0,done,inf,-inf,nan,"
    said = json.loads(result_text(row))
    assert {name: said[name] for name in row} == {"seed": 0} | dict.fromkeys(["high", "low", "unknown", "nothing"])
    read = read_result(tmp_path / "rows.csv").content
    assert repr(read) == "[{'seed': 0, 'status': 'done', 'high': inf, 'low': -inf, 'unknown': nan, 'nothing': None}]"


def test_equal_sweeps_give_equal_files_unless_times_are_asked_for(tmp_path: Path) -> None:
    first, second = (export(results(tmp_path), tmp_path / f"{name}.csv").read_bytes() for name in "ab")
    assert first == second
    timed = export(results(tmp_path), tmp_path / "timed.csv", seconds=True).read_text()
    assert timed.splitlines()[0].endswith(",seconds")


def test_failed_cells_are_in_the_table_with_their_status(tmp_path: Path) -> None:
    made = run(Sweep(task="fails-until-marked", fixed={"marker": str(tmp_path / "none")}, seeds=3))
    lines = export(made, tmp_path / "rows.csv").read_text().splitlines()
    assert [line.split(",")[3:] for line in lines] == [
        ["status", "value"],
        ["done", "0.0"],
        ["failed", ""],
        ["done", "0.2"],
    ]


def test_a_table_needs_a_known_ending(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in '\.xlsx'; \.csv or \.parquet is expected"):
        export(results(tmp_path), tmp_path / "rows.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"install it with: pip install 'marginflow\[parquet\]'"):
        export(results(tmp_path), tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []
