"""`marginflow certify`: exit code 0 at a KKT point, 1 away from one, 2 for what cannot be judged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import TwoLayer


@pytest.fixture(autouse=True)
def _two_orthogonal_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On orthonormal samples with opposite labels the network (e_1, +1), (e_2, -1) is a KKT point by hand."""
    monkeypatch.chdir(tmp_path)
    Dataset(X=np.eye(2), y=[1, -1]).save("data.npz")
    TwoLayer(W=3.0 * np.eye(2), v=[3.0, -3.0]).save("kkt.safetensors")
    TwoLayer(W=[[1.0, 0.2], [0.0, 1.0]], v=[1.0, -1.0]).save("other.safetensors")
    TwoLayer(W=np.eye(2), v=[-1.0, 1.0]).save("wrong.safetensors")
    TwoLayer(W=np.eye(3), v=[1.0, -1.0, 1.0]).save("three.safetensors")


def test_kkt_point_by_hand_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("certify kkt.safetensors data.npz --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["holds"] is True
    assert record["norm_squared"] == pytest.approx(4.0)
    assert record["multiplier_sum"] == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["other", "wrong"])
def test_any_other_network_does_not_hold(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", f"{name}.safetensors", "data.npz", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["holds"] is False


def test_tolerance_decides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("certify other.safetensors data.npz --json".split()) == 1
    residual = json.loads(capsys.readouterr().out)["stationarity"]
    assert main(["certify", "other.safetensors", "data.npz", "--tolerance", str(2 * residual)]) == 0
    assert "holds at" in capsys.readouterr().out


def test_whole_certificate_goes_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("certify kkt.safetensors data.npz --out certificate.json".split()) == 0
    assert "certificate.json" in capsys.readouterr().out
    written = json.loads(Path("certificate.json").read_text())
    np.testing.assert_allclose(written["multipliers"], [1.0, 1.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("certify nothing.safetensors data.npz", "There is no file nothing.safetensors"),
        ("certify kkt.safetensors nothing.npz", "There is no file nothing.npz"),
        ("certify data.npz data.npz", "the network (.safetensors) is expected first"),
        ("certify kkt.safetensors kkt.safetensors", ".npz or .csv"),
        ("certify three.safetensors data.npz", "dimension 3"),
        ("certify kkt.safetensors data.npz --tolerance 0", "tolerance is 0"),
        ("certify kkt.safetensors data.npz --penalty=-1", "penalty is -1"),
        ("certify kkt.safetensors data.npz --out data.npz", ".json is expected"),
        ("certify kkt.safetensors", "requires an argument"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_sentence(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert sorted(tmp_path.iterdir()) == before
