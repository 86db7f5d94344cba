"""Parquet: typed columns with the same bits as the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginflow.sweeps import Sweep, export, run

pytest.importorskip("pyarrow", reason="needs the extra parquet")
pytestmark = pytest.mark.usefixtures("task_folder")


def test_parquet_reads_back_with_the_same_bits_and_types(tmp_path: Path) -> None:
    import pyarrow.parquet

    made = run(Sweep(task="cheap", grid={"a": [2, 1]}, seeds=3))
    read = pyarrow.parquet.read_table(export(made, tmp_path / "rows.parquet"))
    assert str(read.schema.field("a").type) == "int64"
    assert str(read.schema.field("mean").type) == "double"
    assert str(read.schema.field("large").type) == "bool"
    lines = [{name: value for name, value in line.items() if name != "status"} for line in read.to_pylist()]
    assert lines == made.rows


def test_failed_cells_are_nulls(tmp_path: Path) -> None:
    import pyarrow.parquet

    made = run(Sweep(task="fails-until-marked", fixed={"marker": str(tmp_path / "none")}, seeds=3))
    read = pyarrow.parquet.read_table(export(made, tmp_path / "rows.parquet")).to_pydict()
    assert read["status"] == ["done", "failed", "done"]
    assert read["value"] == [0.0, None, 0.2]
