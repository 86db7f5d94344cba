"""`marginflow radius`: closed forms, proofs that stand from the file alone, exit code 1 where there are only bounds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset, Sphere
from marginflow.measurements import radii as measured
from marginflow.networks import TwoLayer
from marginflow.robustness import RadiusCertificate, check_certificate
from marginflow.robustness.radius import exact
from marginflow.robustness.radius.search import SearchOutcome


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """N(x) = relu(x_1) - relu(x_2): the unit vectors are 1/sqrt(2) from the diagonal."""
    monkeypatch.chdir(tmp_path)
    Dataset(X=np.eye(2), y=[1, -1]).save("data.npz")
    TwoLayer(W=np.eye(2), v=[1.0, -1.0]).save("net.safetensors")
    TwoLayer(W=np.eye(3), v=[1.0, -1.0, 1.0]).save("three.safetensors")
    Sphere(dimension=6, labels="balanced").sample(8, seed=0).save("sphere.npz")
    TwoLayer.initialise(12, 6, scale=1.0, seed=0).save("random.safetensors")


def test_distance_to_the_diagonal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("radius net.safetensors data.npz --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["all_proved"] is True
    assert record["statuses"] == {"proved": 2}
    for entry in record["radii"]:
        assert entry["lower"] <= np.sqrt(0.5) * (1 + 1e-12)
        assert entry["upper"] >= np.sqrt(0.5) * (1 - 1e-12)
        assert entry["upper"] - entry["lower"] <= 1e-6 * entry["upper"]
    np.testing.assert_allclose(record["relative"]["median"], [0.5, 0.5], rtol=1e-6)


def test_level_moves_the_boundary(capsys: pytest.CaptureFixture[str]) -> None:
    """x_1 - x_2 = -1/2 is 3/2 / sqrt(2) from (1, 0), and the foot of the perpendicular has positive entries."""
    assert main("radius net.safetensors data.npz --first 1 --level=-0.5 --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(record["smallest"], 1.5 / np.sqrt(2), rtol=1e-6)


def test_proofs_stand_from_the_files_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("radius random.safetensors sphere.npz --samples 5,0,2 --out radii.json".split()) == 0
    printed = capsys.readouterr().out
    assert "3 of 3 radii are proved" in printed
    assert "radii.json" in printed
    network, data = TwoLayer.load("random.safetensors"), Dataset.load("sphere.npz")
    written = json.loads(Path("radii.json").read_text())
    assert [entry["sample"] for entry in written["radii"]] == [5, 0, 2]
    for entry in written["radii"]:
        x, y, witness = data.X[entry["sample"]], data.y[entry["sample"]], np.array(entry["witness"])
        assert np.linalg.norm(witness - x) == pytest.approx(entry["upper"], rel=1e-12)
        assert y * network(witness[None, :])[0] <= 1e-12
        certificate = RadiusCertificate.from_plain(entry["certificate"])
        np.testing.assert_array_equal(certificate.point, x)
        assert check_certificate(certificate, network).holds
        assert not check_certificate(replace(certificate, lower=1.01 * entry["upper"] + 0.01), network).holds


def test_no_random_point_within_the_lower_bound_is_on_the_other_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("radius random.safetensors sphere.npz --json".split()) == 0
    network, data = TwoLayer.load("random.safetensors"), Dataset.load("sphere.npz")
    rng = np.random.default_rng(0)
    right = network.margins(data.X, data.y) > 0
    assert right.any()
    for entry in json.loads(capsys.readouterr().out)["radii"]:
        assert (entry["status"] == "misclassified") == (not right[entry["sample"]])
        steps = rng.standard_normal((2000, 6))
        steps *= entry["lower"] / np.linalg.norm(steps, axis=1, keepdims=True)
        if right[entry["sample"]]:
            assert (data.y[entry["sample"]] * network(data.X[entry["sample"]] + steps) > 0).all()


def test_two_workers_say_the_same_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for workers in ("1", "2"):
        assert main(["radius", "random.safetensors", "sphere.npz", "--workers", workers, "--json"]) == 0
        radii = json.loads(capsys.readouterr().out)["radii"]
        answers.append([(entry["sample"], entry["lower"], entry["upper"], entry["status"]) for entry in radii])
    assert answers[0] == answers[1]


def test_too_little_time_is_bounded_and_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    TwoLayer.initialise(40, 6, scale=1.0, seed=1).save("wide.safetensors")
    line = "radius wide.safetensors sphere.npz --first 5"
    assert main([*line.split(), "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)["radii"]
    assert main([*line.split(), "--time-limit", "1e-9", "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["all_proved"] is False
    assert record["statuses"]["bounded"] > 0
    for hasty, entry in zip(record["radii"], exact, strict=True):
        assert hasty["lower"] <= entry["upper"]
        assert hasty["upper"] is None or hasty["upper"] >= entry["lower"]


def test_a_proof_that_the_judge_refuses_is_not_called_proved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = exact.solve

    def boastful(*arguments: object, **options: object) -> SearchOutcome:
        outcome = honest(*arguments, **options)  # handed on as it came
        return replace(outcome, lower=0.9 * outcome.upper, tree=[])

    monkeypatch.setattr(exact, "solve", boastful)
    assert main("radius net.safetensors data.npz".split()) == 1
    printed = capsys.readouterr().out
    assert "0 of 2 radii are proved" in printed
    assert "Sample 0: the judge refused what the search said" in printed


def test_boundary_that_does_not_exist_is_infinitely_far(capsys: pytest.CaptureFixture[str]) -> None:
    TwoLayer(W=[[1.0, 0.0]], v=[1.0]).save("positive.safetensors")
    assert main("radius positive.safetensors data.npz --first 1 --level=-1 --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["statuses"] == {"infinite": 1}
    assert record["radii"][0]["upper"] is None


def test_sample_on_the_wrong_side_has_radius_zero(capsys: pytest.CaptureFixture[str]) -> None:
    TwoLayer(W=np.eye(2), v=[-1.0, 1.0]).save("wrong.safetensors")
    assert main("radius wrong.safetensors data.npz".split()) == 0
    assert "2 of them are 0" in capsys.readouterr().out


def test_interrupt_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    honest = measured.each_radius

    def impatient(*arguments: object, **options: object) -> Iterator[tuple[int, object]]:
        yield next(honest(*arguments, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(measured, "each_radius", impatient)
    assert main("radius net.safetensors data.npz --out radii.json --json".split()) == 130
    record = json.loads(capsys.readouterr().out)
    assert (record["points"], record["asked"], record["interrupted"]) == (1, 2, True)
    assert len(json.loads(Path("radii.json").read_text())["radii"]) == 1


def test_interrupt_of_two_workers_keeps_every_finished_point(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def impatient(_: str) -> Iterator[Callable[[float, str], None]]:
        def show(share: float, remark: str) -> None:
            if remark.startswith("3 of "):
                raise KeyboardInterrupt

        yield show

    monkeypatch.setattr(sys.modules["marginflow.cli.radius"], "progress", impatient)
    line = ["radius", "random.safetensors", "sphere.npz", "--workers", "2", "--out", "radii.json", "--json"]
    assert main(line) == 130
    record = json.loads(capsys.readouterr().out)
    assert (record["points"], record["interrupted"]) == (3, True)
    assert record["asked"] > 3
    assert len(json.loads(Path("radii.json").read_text())["radii"]) == 3


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("radius no.safetensors data.npz", "There is no file no.safetensors"),
        ("radius net.safetensors no.npz", "There is no file no.npz"),
        ("radius three.safetensors data.npz", "dimension 3"),
        ("radius net.safetensors data.npz --samples 0,2", "--samples contains 2"),
        ("radius net.safetensors data.npz --samples 0,x", "--samples is '0,x'"),
        ("radius net.safetensors data.npz --samples 1,1", "named once"),
        ("radius net.safetensors data.npz --samples 0 --first 1", "give one of them"),
        ("radius net.safetensors data.npz --first 3", "first is 3"),
        ("radius net.safetensors data.npz --first 0", "first is 0"),
        ("radius net.safetensors data.npz --tolerance 0", "tolerance is 0"),
        ("radius net.safetensors data.npz --time-limit 0", "--time-limit is 0"),
        ("radius net.safetensors data.npz --workers 0", "workers is 0"),
        ("radius net.safetensors data.npz --level nan", "level is nan"),
        ("radius net.safetensors data.npz --out radii.csv", ".json is expected"),
        ("radius net.safetensors data.npz --out no/radii.json", "folder no does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert sorted(tmp_path.iterdir()) == before
