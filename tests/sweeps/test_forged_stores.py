"""A stranger's store with right checksums: what no store writes is refused, and no name leads out of the folder."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from marginflow import InputError
from marginflow.cli import main
from marginflow.sweeps import Store, Sweep, merge, run, salvage
from marginflow.sweeps.line import COLUMNS, StoredLine

pytestmark = pytest.mark.usefixtures("task_folder")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, task_folder: Path) -> tuple[Path, list[StoredLine]]:
    """A store with arrays, and its lines."""
    path = tmp_path_factory.mktemp("good") / "good.sqlite"
    run(Sweep(task="cheap", grid={"a": [1]}, seeds=2), store=path)
    return path, Store(path).lines()


def forged(folder: Path, good: Path, line: StoredLine) -> Path:
    """A store that holds this line alone, with the checksum that belongs to it, whatever is in it."""
    path = folder / "forged.sqlite"
    with closing(sqlite3.connect(good)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)
        target.execute("DELETE FROM cells")
        target.execute(
            f"INSERT INTO cells ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})", line.values
        )
        target.commit()
    return path


@pytest.mark.parametrize("name", ["../outside.safetensors", "/{folder}/outside.safetensors", "..", "", "a/b", "x.npz"])
def test_arrays_are_never_written_or_read_outside_of_their_folder(
    name: str, rows: tuple[Path, list[StoredLine]], tmp_path: Path
) -> None:
    good, lines = rows
    line = next(line for line in lines if line.arrays is not None)
    content = (good.with_suffix(".arrays") / str(line.arrays)).read_bytes()
    here, there = tmp_path / "stranger", tmp_path / "mine" / "deep"
    (here / "forged.arrays").mkdir(parents=True)
    there.mkdir(parents=True)
    (here / "outside.safetensors").write_bytes(content)
    path = forged(here, good, replace(line, arrays=name.replace("/{folder}", str(here))))
    target = Store(there / "target.sqlite")
    with pytest.raises(InputError, match="is not what was written"):
        merge([Store(path)], target)
    saved = salvage(Store(path), Store(there / "saved.sqlite"))
    assert saved.rows == 0
    written = {file.name for file in (tmp_path / "mine").rglob("*") if file.is_file()}
    assert not {name for name in written if name.endswith(".safetensors")}


@pytest.mark.parametrize(
    "change",
    [
        {"row": "{"},
        {"row": "[1]"},
        {"row": '{"a": ' + "9" * 5000 + "}"},
        {"row": '{"a": ' + "[" * 100_000},
        {"parameters": "nonsense"},
        {"parameters": "null"},
        {"key": "../../key"},
        {"key": "key with spaces"},
    ],
    ids=lambda change: f"{next(iter(change))}={str(next(iter(change.values())))[:12]}",
)
def test_lines_that_no_store_writes_are_one_sentence(
    change: dict[str, str],
    rows: tuple[Path, list[StoredLine]],
    tmp_path: Path,
    task_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    good, lines = rows
    path = forged(tmp_path, good, replace(lines[0], **change))  # columns of text
    with pytest.raises(InputError, match="is not what was written"):
        Store(path).lines()
    spec = tmp_path / "spec.toml"
    spec.write_text('[sweep]\nname = "forged"\ntask = "cheap_tasks:cheap"\nseeds = 2\n[grid]\na = [1]\n')
    assert main(["sweep", "merge", str(path), "--out", str(tmp_path / "target.sqlite")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("marginflow: ")
    assert "is not what was written" in said
    assert said.count("\n") == 1
    if "key" not in change:
        assert main(["sweep", str(spec), "--store", str(path), "--json"]) in (0, 2)


def test_a_row_with_values_that_no_cell_returns_is_shown_as_what_it_is(
    rows: tuple[Path, list[StoredLine]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nested values, names that are code elsewhere, a number beyond float64: no traceback on the way to a table."""
    good, lines = rows
    strange = {"x": {"y": [1, {"z": None}]}, "</script>": "<img src=x>", "it's [0].a": 1e308 * 10, "": "=1+1"}
    path = forged(tmp_path, good, replace(lines[0], row=json.dumps(strange)))
    spec = tmp_path / "spec.toml"
    spec.write_text('[sweep]\nname = "forged"\ntask = "cheap_tasks:cheap"\nseeds = 1\n[grid]\na = [1]\n')
    for more in ([], ["--dry-run"], ["--json"], ["--export", str(tmp_path / "rows.csv")]):
        assert main(["sweep", str(spec), "--store", str(path), *more]) in (0, 1, 2)
        said = capsys.readouterr().err
        assert "Traceback" not in said
