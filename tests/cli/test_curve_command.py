"""`marginflow curve`: shares and breakpoints by hand, K classes, the file, and sentences for what does not fit."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import Classifier, TwoLayer


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """N(x) = relu(x_1) - relu(x_2); distances to the diagonal are |x_1 - x_2| / sqrt(2) in the quadrant."""
    monkeypatch.chdir(tmp_path)
    X = np.array([[3.0, 1.0], [1.0, 2.0], [5.0, 4.0], [1.0, 4.0]])
    Dataset(X=X, y=[1, -1, 1, 1]).save("data.npz")
    np.savez("classes.npz", X=X, y=[0, 1, 0, 0])
    TwoLayer(W=np.eye(2), v=[1.0, -1.0]).save("net.safetensors")
    Classifier(W=np.eye(2), V=[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).save("three.safetensors")


@pytest.mark.parametrize("line", ["net.safetensors data.npz", "three.safetensors classes.npz"])
def test_curve_has_every_breakpoint(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = np.sqrt(2.0)
    assert main(["curve", *line.split(), "--epsilon", "0,0.7,0.8,2", "--csv", "curve.csv", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["samples"], record["accuracy"], record["exact"]) == (4, 0.75, True)
    assert [entry["certified"] for entry in record["at"]] == [0.75, 0.75, 0.25, 0.0]
    with Path("curve.csv").open() as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    assert rows[0] == {"epsilon": 0.0, "certified": 0.75, "possible": 0.75}
    for size, share in ((1 / root, 0.75), (2 / root, 0.25)):
        assert any(row["epsilon"] == pytest.approx(size, rel=1e-5) and row["possible"] == share for row in rows)


def test_table_says_how_far_a_share_is_certified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("curve net.safetensors data.npz".split()) == 0
    printed = capsys.readouterr().out
    assert "3 of 4 samples are right (75.0%)" in printed
    assert "certified up to" in printed


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("curve net.safetensors data.npz --epsilon 0.1,x", "--epsilon is '0.1,x'"),
        ("curve net.safetensors data.npz --epsilon=-1", "at least 0"),
        ("curve net.safetensors data.npz --csv curve.txt", ".csv"),
        ("curve three.safetensors data.npz", "labels from 0 to 2"),
        ("curve net.safetensors no.npz", "There is no file no.npz"),
        ("curve net.safetensors data.npz --first 0", "--first is 0"),
    ],
)
def test_bad_input_is_named(line: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert sentence in capsys.readouterr().err
    assert not Path("curve.csv").exists()
