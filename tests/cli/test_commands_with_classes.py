"""`radius`, `flip`, `certify` of networks with a logit for each class, and the sentences of commands that take none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness import check_certificate
from marginflow.robustness.radius.result import certificate_from_plain

ROOT = np.sqrt(2.0)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """f(x) = (relu(x_1), relu(x_2), 0): classes 0 and 1 meet on the diagonal, each meets 2 where it is zero."""
    monkeypatch.chdir(tmp_path)
    X = np.array([[3.0, 2.5], [1.0, 4.0], [-1.0, -2.0]])
    Dataset(X, ["ash", "elm", "fir"]).save("data.npz")
    Dataset(X[:2], [1, -1]).save("two.npz")
    three = Classifier(W=np.eye(2), V=[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    three.save("three.safetensors")
    Classifier(W=three.W, V=three.V, c=[0.0, 0.0, 0.5]).save("biased.safetensors")
    TwoLayer(W=np.eye(2), v=[1.0, -1.0]).save("net.safetensors")
    np.save("down.npy", [-1.0, 0.0])
    V = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
    Classifier(W=np.sqrt(6.0) * np.eye(3), V=V).save("kkt.safetensors")
    Dataset(np.eye(3), [0, 1, 2]).save("basis.npz")


def test_radius_names_the_nearest_class_and_its_proof_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("radius biased.safetensors data.npz --out radii.json --json".split()) == 0
    rows = json.loads(capsys.readouterr().out)["radii"]
    assert [(row["label"], row["rival"]) for row in rows] == [(0, 1), (1, 0), (2, 0)]
    np.testing.assert_allclose([row["upper"] for row in rows], [0.5 / ROOT, 3.0 / ROOT, 1.5], rtol=1e-6)
    network = Classifier.load("biased.safetensors")
    for row in json.loads(Path("radii.json").read_text())["radii"]:
        judgement = check_certificate(certificate_from_plain(row["certificate"]), network)
        assert judgement.holds
        assert judgement.lower == row["lower"]


def test_radius_prints_the_nearest_class(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("radius biased.safetensors data.npz --first 1".split()) == 0
    printed = capsys.readouterr().out
    assert "label  rival" in printed
    assert "1 of 1 radii are proved" in printed


def test_flip_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Down the first axis: (3, 2.5) meets the diagonal after 1/2; the others are never changed by it."""
    assert main("flip three.safetensors data.npz --direction down.npy --share 0.3 --out flip.json --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    (row,) = record["directions"]
    assert (row["norm"], row["never_flipped"], row["already_flipped"]) == (0.0, 1, 1)  # f(fir) ties at 0
    (whole,) = json.loads(Path("flip.json").read_text())["directions"]
    assert whole["first"] == [0.5, None, 0.0]


def test_flip_finds_a_vector(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("flip biased.safetensors data.npz --share 0.3".split()) == 0
    assert "changes the class of 30 % of 3 samples" in capsys.readouterr().out


def test_flip_needs_no_vector_where_enough_is_wrong_already(capsys: pytest.CaptureFixture[str]) -> None:
    Dataset(np.array([[3.0, 2.5], [1.0, 4.0], [2.0, 1.0]]), ["elm", "ash", "fir"]).save("wrong.npz")
    assert main("flip biased.safetensors wrong.npz".split()) == 0
    assert "3 of 3 samples are wrong already; no vector is needed." in capsys.readouterr().out


def test_certify_asks_about_the_multi_class_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("certify kkt.safetensors basis.npz --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["holds"] is True
    assert record["n_classes"] == 3


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("radius three.safetensors data.npz --level 1", "--level is for networks with one output"),
        ("radius three.safetensors two.npz", "as many classes are expected, or labels from 0 to 2"),
        ("radius net.safetensors data.npz", "a network with a logit for each class is expected"),
        ("curve three.safetensors two.npz", "as many classes are expected, or labels from 0 to 2"),
        ("flip three.safetensors data.npz --direction margin", "give shortest (the default) or a vector in FILE.npy"),
        ("flip three.safetensors basis.npz", "takes points of dimension 2"),
        ("certify biased.safetensors data.npz", "there are no KKT conditions to ask about"),
        ("certify three.safetensors data.npz --penalty 1", "--penalty is for networks with one output"),
        ("plot three.safetensors data.npz --out page.html", "audit, certify, curve, flip and radius take a logit"),
        ("report three.safetensors data.npz --out page.html", "audit, certify, curve, flip and radius take a logit"),
        ("train data.npz --out t.safetensors", "audits take all classes at once"),
        ("influence data.npz", "audits take all classes at once"),
        ("unlearn data.npz --forget 1", "audits take all classes at once"),
        ("value data.npz data.npz", "audits take all classes at once"),
    ],
)
def test_misfits_get_a_sentence(line: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert sentence in capsys.readouterr().err
