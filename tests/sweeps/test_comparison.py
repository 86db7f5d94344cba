"""Two stores side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from marginflow import InputError
from marginflow.cli import main
from marginflow.sweeps import Store, Sweep, compare, run

pytestmark = pytest.mark.usefixtures("task_folder")


def copy_with(source: Store, target: Path, **changed: float) -> Store:
    """The first row of a store with other numbers, by other code."""
    line = source.lines()[0]
    made = Store(target)
    with made.writing():
        row = json.dumps(json.loads(line.row) | changed)
        made.add(replace(line, row=row, code="other", key="0" * 32), None)
    return made


def test_a_store_is_the_same_as_one_that_was_computed_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep, paths = Sweep(task="cheap", seeds=[0, 2]), [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    for path in paths:
        run(sweep, store=Store(path))
    found = compare(*map(Store, paths))
    assert found.same
    assert found.both == found.equal == 2
    assert not found.differences
    assert not found.other_code
    assert main(["sweep", "compare", *map(str, paths)]) == 0
    assert "2 of them have equal rows" in capsys.readouterr().out


def test_a_changed_number_is_named_with_its_size_and_a_tolerance_lets_it_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = Store(tmp_path / "a.sqlite")
    run(Sweep(task="cheap", seeds=[0, 2]), store=first)
    value = json.loads(first.lines()[0].row)["mean"]
    second = copy_with(first, tmp_path / "b.sqlite", mean=value * (1 + 1e-6))
    found = compare(first, second)
    assert (found.both, found.equal, found.only_first, found.only_second, found.other_code) == (1, 0, 1, 0, 1)
    (difference,) = found.differences
    assert difference.column == "mean"
    assert difference.relative == pytest.approx(1e-6, rel=1e-3)
    assert compare(first, second, tolerance=1e-5).equal == 1
    assert main(["sweep", "compare", str(first.path), str(second.path)]) == 1
    assert "1e-06" in capsys.readouterr().out
    assert main(["sweep", "compare", str(first.path), str(second.path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["same"] is False


def test_a_store_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "compare", str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")]) == 2
    assert "There is no store" in capsys.readouterr().err
    with pytest.raises(InputError, match="tolerance"):
        compare(Store(tmp_path / "a.sqlite"), Store(tmp_path / "b.sqlite"), tolerance=-1.0)
