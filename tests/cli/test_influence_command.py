"""`marginflow influence`: numbers of the library, on the screen and in the file, and bad input in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.cli import main
from marginflow.data import Dataset, Sphere


@pytest.fixture(autouse=True)
def _a_few_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Sphere(dimension=12, labels="balanced").sample(12, seed=1).save("data.npz")


def test_the_file_has_what_the_library_computes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("influence data.npz --width 30 --seed 2 --out influence.json --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads(Path("influence.json").read_text())
    data = Dataset.load("data.npz")
    found = mf.influence(mf.kkt_point(data, width=30, seed=2), data)
    np.testing.assert_allclose(record["margins"], found.margins, atol=1e-9)
    assert record["error"] == found.error
    assert record["holds"] is True


def test_text_ranks_samples_by_their_margin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("influence data.npz --width 30 --folds 3 --mode fast --first 2".split()) == 0
    printed = capsys.readouterr().out
    assert "Exact leave-out error" in printed
    assert "3 groups" in printed
    data = Dataset.load("data.npz")
    found = mf.influence(mf.kkt_point(data, width=30, seed=0), data, folds=3, mode="fast")
    first, last = (" ".join(map(str, found.groups[g])) for g in found.rank()[[0, -1]])
    assert first in printed
    assert last not in printed, "only the first two are asked for"


def test_bad_input_ends_in_a_sentence_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("influence data.npz --folds 99 --out influence.json".split()) == 2
    assert "at most as many folds" in capsys.readouterr().err
    Path("kept.safetensors").write_bytes(b"mine")
    assert main("unlearn data.npz --forget 3 --exact kept.safetensors".split()) == 2
    assert "kept.safetensors exists already" in capsys.readouterr().err
    assert main("unlearn data.npz --forget 3 --exact exact.txt".split()) == 2
    assert ".safetensors is expected" in capsys.readouterr().err
    assert Path("kept.safetensors").read_bytes() == b"mine"
    assert not Path("exact.txt").exists()
    Sphere(dimension=4).sample(20, seed=0).save("crowded.npz")
    assert main("influence crowded.npz --width 2 --out influence.json".split()) == 2
    assert "not exact" in capsys.readouterr().err
    assert not Path("influence.json").exists()
