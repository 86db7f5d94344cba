"""`marginflow limit`: the point on disk is a KKT point by a certificate that starts from the files alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from marginflow import certify
from marginflow.certificates import certify_classifier
from marginflow.cli import limit as command
from marginflow.cli import main
from marginflow.data import Dataset, Orthogonal, Sphere
from marginflow.networks import Classifier, TwoLayer


@pytest.fixture(autouse=True)
def _a_few_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Sphere(dimension=20, labels="balanced").sample(20, seed=1).save("data.npz")


def test_point_is_certified_from_the_files_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("limit data.npz --width 40 --seed 2 --out kkt.safetensors --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["holds"] is True
    certificate = certify(TwoLayer.load("kkt.safetensors"), Dataset.load("data.npz"))
    assert certificate.holds(1e-9)
    assert certificate.network.width == 40
    assert main("certify kkt.safetensors data.npz --tolerance 1e-9".split()) == 0
    written = json.loads(Path("kkt.certificate.json").read_text())
    assert sum(written["certificate"]["multipliers"]) == pytest.approx(certificate.norm_squared / 2, rel=1e-9)
    assert written["moved"]["cosine"] <= 1.0


def test_text_judges_at_the_tolerance_and_says_what_vanished(capsys: pytest.CaptureFixture[str]) -> None:
    """Neurons of the flow vanish in the polish; the network that is written has its whole width all the same."""
    assert main("limit data.npz --width 40 --out kkt.safetensors".split()) == 0
    printed = capsys.readouterr().out
    assert "holds at 1e-09" in printed
    assert "40 of 40 neurons live" in printed
    assert "% of the flow's neurons vanished (those that remain were split to fill the width)" in printed
    assert main("limit data.npz --width 40 --tolerance 1e-30 --out kkt.safetensors --force".split()) == 1
    assert "does not hold at 1e-30" in capsys.readouterr().out


def test_norm_on_orthogonal_samples_is_the_closed_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Orthonormal samples, no bias: one neuron per class, and sum_j ||u_j|| = sqrt(n_+) + sqrt(n_-)."""
    data = Orthogonal(dimension=8, design="basis", labels="halves").sample(6, seed=0)
    Dataset(X=data.X / np.sqrt(8), y=data.y).save("basis.npz")
    assert main("limit basis.npz --width 30 --no-bias --compact --out kkt.safetensors --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["certificate"]["norm_squared"] == pytest.approx(2 * 2 * np.sqrt(3), rel=1e-9)
    assert TwoLayer.load("kkt.safetensors").width == 2


def test_trained_network_is_polished_from_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("train data.npz --width 40 --scale 0.01 --stop-loss 1e-6 --out net.safetensors".split()) == 0
    capsys.readouterr()
    assert main("limit data.npz --start net.safetensors --flow-steps 0 --out kkt.safetensors --json".split()) == 0
    moved = json.loads(capsys.readouterr().out)["moved"]
    assert moved["separated_by_flow"] is True
    assert moved["norm_squared_after"] <= moved["norm_squared_before"]


def test_time_that_is_too_short_is_exit_code_one_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code = main("limit data.npz --width 40 --time-limit 1e-6 --out kkt.safetensors --json".split())
    record = json.loads(capsys.readouterr().out)
    assert code == 1
    assert record["holds"] is False
    assert Path("kkt.safetensors").exists()


def test_interrupt_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def impatient(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "remark", impatient)
    assert main("limit data.npz --width 40 --out kkt.safetensors --json".split()) == 130
    record = json.loads(capsys.readouterr().out)
    assert "interrupt" in record["status"]
    assert TwoLayer.load("kkt.safetensors").width == 40


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("limit no.npz --out k.safetensors", "There is no file no.npz"),
        ("limit data.npz --width 1 --out k.safetensors", "width is 1"),
        ("limit data.npz --time-limit -1 --out k.safetensors", "--time-limit is -1; a finite number above 0"),
        ("limit data.npz --tolerance 0 --out k.safetensors", "tolerance is 0"),
        ("limit data.npz --outputs none --out k.safetensors", "none"),
        ("limit data.npz --penalty=-1 --out k.safetensors", "penalty is -1"),
        ("limit data.npz --start data.npz --out k.safetensors", "it is an archive, as torch.save"),
        ("limit data.npz --out k.npz", ".safetensors is expected"),
        ("limit one.npz --out k.safetensors", "both -1 and +1 must occur"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Dataset(X=np.eye(2), y=[1, 1]).save("one.npz")
    before = sorted(tmp_path.iterdir())
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert sorted(tmp_path.iterdir()) == before


def test_the_global_optimum_in_the_plane_is_asked_for_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    Dataset(X=[[1, 1], [-1, -1], [1, -1], [-1, 1]], y=[1, 1, -1, -1]).save("xor.npz")
    assert main("limit xor.npz --optimum global --width 8 --out xor.safetensors --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["exact"]
    assert "no network of any width" in record["status"]
    assert TwoLayer.load("xor.safetensors").norm_squared() == pytest.approx(4 * 2**0.5)


def test_three_classes_end_at_a_classifier_whose_file_the_judge_confirms(capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).standard_normal((24, 12))
    Dataset(X, np.arange(24) % 3).save("three.npz")
    assert main("limit three.npz --width 12 --out kkt.safetensors --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["holds"], record["n_classes"]) == (True, 3)
    written = json.loads(Path("kkt.certificate.json").read_text())["certificate"]
    candidates = np.array(written["multipliers"]), np.zeros((24, record["width"]))
    for i, j, mu in written["mu"]:
        candidates[1][i, j] = mu
    judged = certify_classifier(Classifier.load("kkt.safetensors"), X, np.arange(24) % 3, multipliers=candidates)
    assert judged.holds(1e-9)
    assert main("limit three.npz --penalty 1 --out soft.safetensors".split()) == 2
    assert "penalty is for two classes only" in capsys.readouterr().err
    assert not Path("soft.safetensors").exists()
