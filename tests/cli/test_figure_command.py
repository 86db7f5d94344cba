import csv
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

import pytest

from marginflow import experiments
from marginflow.cli import main
from marginflow.experiments.running import ComputedCells


def test_without_an_id_every_figure_is_listed_with_its_claim_and_cost(capsys):
    assert main(["figure", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {row["id"] for row in listed} == {figure.id for figure in experiments.figures()}
    assert all(row["claim"] for row in listed)
    known = [row for row in listed if row["cost"] != "unknown"]
    assert {row["id"] for row in known} >= {row["id"] for row in listed if row["published"]}
    assert all(row["paper_hours"] >= row["smoke_hours"] > 0 for row in known)
    assert all(row["paper_hours"] is row["smoke_hours"] is None for row in listed if row not in known)
    assert main(["figure"]) == 0
    assert "VYS22/Fig1a" in capsys.readouterr().out


def test_a_figure_is_computed_judged_and_written(tmp_path, capsys):
    folder = tmp_path / "figures"
    name = "FVBS23-Dimension.ours-smoke"
    line = ["figure", "FVBS23/Dimension.ours", "--size", "smoke", "--seeds", "2", "--out", str(folder), "--json"]
    code = main([*line, "--images", "svg", "png"])
    record = json.loads(capsys.readouterr().out)
    assert code == 0
    assert record["outcome"]["status"] == "borne out"
    assert {path.suffix for path in folder.iterdir()} >= {".html", ".csv", ".json", ".svg", ".png"}
    assert record["claim"] in (folder / f"{name}.html").read_text(encoding="utf-8")
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(record["rows"])


@pytest.fixture(scope="module")
def figure_3(tmp_path_factory):
    """Figure 3 of KYS23 by the command, once: its exit code, what it said, and the folder of its files."""
    folder, out, err = tmp_path_factory.mktemp("figure"), io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(folder)])
    return code, out.getvalue(), err.getvalue(), folder


def test_the_claim_and_its_outcome_are_printed(figure_3):
    code, out, err, _ = figure_3
    assert code == 0
    assert "Claim: " in out
    assert "Our numbers bear out the claim" in out
    assert "on one core" in err


def made_up(rows):
    return ComputedCells(rows=tuple(rows), seconds=1.0, missing=())


@pytest.fixture(scope="module")
def rows_of_figure_3(figure_3):
    *_, folder = figure_3
    return json.loads((folder / "KYS23-Fig3-smoke.json").read_text(encoding="utf-8"))["rows"]


def test_a_page_is_not_overwritten_unasked(tmp_path, monkeypatch, capsys, rows_of_figure_3):
    rows = rows_of_figure_3
    asked = []
    monkeypatch.setattr("marginflow.experiments.frame.computed", lambda *_, **__: (asked.append(1), made_up(rows))[1])
    line = ["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(tmp_path)]
    page = tmp_path / "KYS23-Fig3-smoke.html"
    page.write_text("mine", encoding="utf-8")
    assert main(line) == 2
    assert "exists already" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "mine"
    assert asked == []  # nothing was computed in vain
    assert main([*line, "--force"]) == 0
    assert "KYS23/Fig3" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["figure", "VYS22/Fig9z"], "There is no figure 'VYS22/Fig9z'"),
        (["figure", "KYS23/Fig3", "--size", "huge"], "--size"),
        (["figure", "KYS23/Fig3", "--workers", "0"], "--workers is 0"),
        (["figure", "KYS23/Fig3", "--seed", "-1", "--size", "smoke"], "seed"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert sentence in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    assert main(["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(tmp_path / "taken")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


def test_an_interrupt_is_one_sentence_and_keeps_what_is_stored(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("marginflow.experiments.frame.computed", interrupted)
    assert main(["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(tmp_path)]) == 130
    assert "finished cells are kept" in capsys.readouterr().err


def test_a_claim_that_is_not_borne_out_is_exit_code_one(tmp_path, monkeypatch, capsys, rows_of_figure_3):
    rows = [dict(row, norm_after=row["norm_before"] + 1.0) for row in rows_of_figure_3]
    monkeypatch.setattr("marginflow.experiments.frame.computed", lambda *_, **__: made_up(rows))
    assert main(["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(tmp_path)]) == 1
    assert "Our numbers do not bear out the claim: least fall" in capsys.readouterr().out


def test_a_dry_run_says_cells_hours_and_memory_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "figures"
    assert main(["figure", "VYS22/Fig1a", "--size", "paper", "--dry-run", "--out", str(out), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["cells"], record["stored"]) == (500, 0)
    assert record["hours"] > 1.0
    assert record["memory"] > 2**26
    assert not out.exists()
    line = ["figure", "VYS22/Fig1a", "--size", "paper", "--dry-run", "--out", str(out), "--seeds", "2"]
    assert main([*line, "--only", "alpha=1,method=KKT point", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cells"] == 20
    assert main([*line, "--only", "alpha=7"]) == 2
    assert "no cell has {'alpha': 7}; there are {'alpha': [0.5, 0.8, 1.0, 1.2, 1.5]}" in capsys.readouterr().err
    assert main([*line, "--only", "alfa=1"]) == 2
    assert "the cells have no parameter 'alfa'" in capsys.readouterr().err


def test_what_is_stored_is_drawn_with_its_gaps_and_their_cost(tmp_path, capsys):
    line = ["figure", "VYS22/Fig1b", "--size", "smoke", "--out", str(tmp_path / "out"), "--json"]
    assert main([*line, "--only", "width=30", "--seeds", "1"]) == 1  # one width leaves nothing to compare
    capsys.readouterr()
    assert main([*line, "--only-stored", "--force", "--images", "svg"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["missing"] == 6
    assert len(record["rows"]) == 2
    assert record["outcome"]["gaps"]
    assert "6 of 8 runs of the grid were not made and are gaps; they would take about" in record["outcome"]["sentence"]
    page = (tmp_path / "out" / "VYS22-Fig1b-smoke.html").read_text()
    assert "6 of 8 runs of the grid were not made" in page


def test_an_estimate_that_proves_wrong_is_said(tmp_path, capsys, monkeypatch, rows_of_figure_3):
    from marginflow.cli import figure as command
    from marginflow.experiments import Figure
    from marginflow.experiments.cost import Cost

    monkeypatch.setattr(command, "_WORTH_SAYING", 0.0)
    monkeypatch.setattr("marginflow.experiments.frame.computed", lambda *_, **__: made_up(rows_of_figure_3))
    wrong = Cost(cells=5, hours=50.0, memory=None, measured=1)
    monkeypatch.setattr(Figure, "cost", lambda self, grid, store=None: wrong)
    assert main(["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err
    assert "the estimate was 50.0 h" in said
    assert "times too long." in said


@pytest.mark.parametrize(("seconds", "said"), [(0.1, "100 times too short."), (10.0, ""), (90.0, "9 times too long.")])
def test_estimate_and_run_are_compared(seconds, said, tmp_path, capsys, monkeypatch, rows_of_figure_3):
    from marginflow.experiments.cost import recorded

    measured = [replace(cell, seconds=seconds / 5) for cell in recorded("kys23-proof-case")]
    taken = replace(made_up(rows_of_figure_3), seconds=10.0)
    monkeypatch.setattr("marginflow.experiments.frame.recorded", lambda task: measured)
    monkeypatch.setattr("marginflow.experiments.frame.computed", lambda *_, **__: taken)
    assert main(["figure", "KYS23/Fig3", "--size", "smoke", "--out", str(tmp_path / "out"), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["estimated_hours"] == pytest.approx(seconds / 3600)
    assert printed.err.rstrip().endswith(said or "on one core.")
    assert ("the estimate was" in printed.err) is bool(said)
