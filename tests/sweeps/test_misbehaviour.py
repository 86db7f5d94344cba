"""A cell that exits, dies, hangs or returns what cannot be written is a failed row with its reason; others go on."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from marginflow import InputError, sweeps
from marginflow.cli import main
from marginflow.sweeps import Store, Sweep, run, stored

REASONS = {
    "exits": "SystemExit: 3",
    "half a character": "which cannot be written as UTF-8",
    "half a name": "which cannot be written as UTF-8",
    "raises half a character": "ValueError: \\ud800",
    "endless number": "a whole number beyond 10^300 in column 'value'",
    "objects": "The array 'x' holds object; numbers are expected",
    "no exception": "BaseException: of no kind",
}
IN_PROCESSES = {
    "leaves": "The worker process died: it ended itself with exit code 4.",
    "dies": "The worker process died: it was killed by SIGSEGV.",
    "hangs": "Timeout: ended after 3 s, the limit for one piece of work.",
}

pytestmark = pytest.mark.usefixtures("task_folder")


def sweep_of(marker: str, **options: object) -> Sweep:
    return Sweep(task="cheap_tasks:misbehaves", fixed={"marker": marker}, seeds=3, **options)


@pytest.mark.parametrize("marker", REASONS)
def test_in_this_process_a_cell_fails_with_its_reason_and_the_others_are_done(marker: str, tmp_path: Path) -> None:
    results = run(sweep_of(marker), store=tmp_path / "s.sqlite")
    assert [record.status for record in results] == ["done", "failed", "done"]
    assert REASONS[marker] in results.failed[0].reason


def test_with_one_worker_every_kind_of_misbehaviour_is_a_failed_row(tmp_path: Path) -> None:
    every = REASONS | IN_PROCESSES
    sweep = Sweep(task="cheap_tasks:misbehaves", grid={"marker": list(every)}, seeds=3, time_limit=3.0)
    results = run(sweep, store=tmp_path / "s.sqlite", workers=1)
    assert len(results.done) == 2 * len(every)
    assert {str(record.cell.parameters["marker"]) for record in results.failed} == set(every)
    for record in results.failed:
        assert every[str(record.cell.parameters["marker"])] in record.reason
        assert record.log.startswith("this is seed 1")
    assert results.done[0].log == "this is seed 0\n"
    assert (results.done[0].memory or 2**24) >= 2**24  # an interpreter with NumPy


def test_a_timeout_of_the_spec_or_of_the_call_needs_no_workers_to_be_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sweep\.time_limit: expected a number > 0 or none, got 0"):
        sweep_of("hangs", time_limit=0)
    results = run(sweep_of("none", time_limit=1e9), time_limit=100.0)
    assert results.complete
    with pytest.raises(InputError, match="time_limit is -1"):
        run(sweep_of("none"), time_limit=-1)


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = tmp_path / "spec.toml"
    marker = tmp_path / "marker"
    head = '[sweep]\nname = "some fail"\ntask = "cheap_tasks:fails-until-marked"\nseeds = 3\n'
    file.write_text(f'{head}[fixed]\nmarker = "{marker}"\n')
    return file


def test_a_failed_cell_can_be_listed_shown_and_run_again_alone(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(spec)]) == 1
    assert "failed: cell 1: marker=" in capsys.readouterr().out
    assert main(["sweep", str(spec), "--failures"]) == 1
    assert "RuntimeError: the marker is not there" in capsys.readouterr().out
    assert main(["sweep", str(spec), "--show", "1"]) == 0
    record = capsys.readouterr().out
    assert "Traceback (most recent call last)" in record
    assert "in fails" in record
    assert main(["sweep", str(spec), "--show", "7"]) == 2
    assert "There is no cell 7; they are numbered from 0 to 2." in capsys.readouterr().err
    spec.with_name("marker").touch()
    assert main(["sweep", str(spec), "--cell", "1", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["cells"], record["done"], record["rows"][0]["value"]) == (1, 1, 0.1)
    assert stored(Sweep.load(spec), Store(spec.with_suffix(".sqlite"))).complete


def test_a_command_with_an_export_goes_on_after_it_was_interrupted_or_cells_failed(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["sweep", str(spec), "--export", str(tmp_path / "rows.csv")]
    whole = sweeps.run

    def interrupted(*arguments: object, **options: object) -> None:
        whole(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "run", interrupted)
    assert main(line) == 130
    assert not (tmp_path / "rows.csv").exists()  # half a table is none
    monkeypatch.setattr(sweeps, "run", whole)
    assert main(line) == 1
    assert (tmp_path / "rows.csv").read_text().count("failed") == 1
    spec.with_name("marker").touch()
    assert main([*line, "--retry-failed"]) == 0  # the table is one of this sweep and may be written again
    assert (tmp_path / "rows.csv").read_text().count("done") == 3
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    capsys.readouterr()
    assert main(line) == 2
    assert "rows.csv exists already" in capsys.readouterr().err
    assert (tmp_path / "rows.csv").read_text() == "a,b\n1,2\n"


def test_parquet_without_its_library_is_refused_before_anything_is_computed(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["sweep", str(spec), "--export", str(tmp_path / "rows.parquet")]) == 2
    assert "Parquet needs pyarrow" in capsys.readouterr().err
    assert not spec.with_suffix(".sqlite").exists()


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "tcp://127.0.0.1:1", "tcp://no.such.host.invalid:8786"])
def test_an_address_where_nobody_listens_is_one_sentence_at_once(
    address: str, spec: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    assert main(["sweep", str(spec), "--engine", "dask", "--address", address]) == 2
    printed = capfd.readouterr().err
    assert printed.count("\n") == 1
    assert address in printed
