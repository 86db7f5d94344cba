"""`marginflow flip`: closed forms, curves that the network itself confirms, exit code 1 where no length is enough."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Clusters, Dataset
from marginflow.direction_names import DIRECTIONS
from marginflow.networks import TwoLayer


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """N(x) = 9 (relu(x_1) - relu(x_2)), a KKT point by hand up to scale; along (1, -1) both samples flip at t = 1/2."""
    monkeypatch.chdir(tmp_path)
    Dataset(X=np.eye(2), y=[1, -1]).save("data.npz")
    TwoLayer(W=3.0 * np.eye(2), v=[3.0, -3.0]).save("net.safetensors")
    TwoLayer(W=np.eye(2), v=[-1.0, 1.0]).save("wrong.safetensors")
    TwoLayer(W=np.eye(3), v=[1.0, -1.0, 1.0]).save("three.safetensors")
    Dataset(X=np.eye(3), y=[1, -1, 1]).save("three.npz")
    np.save("z.npy", np.array([2.0, -2.0]))
    np.save("three.npy", np.ones(3))
    np.save("matrix.npy", np.eye(2))
    np.save("zero.npy", np.zeros(2))
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    Path("text.npy").write_text("1 2")


def record_of(line: str, capsys: pytest.CaptureFixture[str], *, code: int = 0) -> dict[str, object]:
    assert main([*line.split(), "--json"]) == code
    record: dict[str, object] = json.loads(capsys.readouterr().out)
    return record


@pytest.mark.parametrize("direction", ["label-sum", "margin", "support", "dual", "z.npy"])
def test_every_direction_is_the_same_by_symmetry(direction: str, capsys: pytest.CaptureFixture[str]) -> None:
    record = record_of(f"flip net.safetensors data.npz --direction {direction}", capsys)
    (found,) = record["directions"]
    assert found["norm"] == pytest.approx(np.sqrt(0.5), rel=1e-12)
    assert found["norm_by_sqrt_dimension"] == pytest.approx(0.5, rel=1e-12)
    assert found["median_first_by_sqrt_dimension"] == pytest.approx(0.5, rel=1e-12)
    assert record["flips"] is True


def test_the_help_explains_every_direction_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flip", "--help"]) == 0
    said = " ".join(re.sub("[│\n]", " ", capsys.readouterr().out).split())
    assert all(f"{name} ({words})" in said for name, words in DIRECTIONS.items())


def test_unsigned_flips_one_class_only(capsys: pytest.CaptureFixture[str]) -> None:
    record = record_of("flip net.safetensors data.npz --unsigned", capsys, code=1)
    (found,) = record["directions"]
    assert (record["flips"], found["norm"], found["never_flipped"]) == (False, None, 1)
    record = record_of("flip net.safetensors data.npz --unsigned --share 0.5", capsys)
    (found,) = record["directions"]
    assert found["norm"] == pytest.approx(np.sqrt(0.5), rel=1e-12)
    assert main("flip net.safetensors data.npz --unsigned".split()) == 1
    assert "no length flips every sample" in capsys.readouterr().out


def test_cluster_means_are_a_direction_of_data_that_know_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Without noise the samples are the means sqrt(d) e_q, and N(x) = x_1 - x_2 changes sign half way: sqrt(d / 2)."""
    Clusters(dimension=4, n_clusters=2, sigma=0.0, allocation="stratified").sample(4, seed=0).save("clusters.npz")
    TwoLayer(W=np.eye(4)[:2], v=[1.0, -1.0]).save("pair.safetensors")
    record = record_of("flip pair.safetensors clusters.npz --direction means", capsys)
    (found,) = record["directions"]
    assert found["norm"] == pytest.approx(np.sqrt(2.0), rel=1e-12)
    assert found["norm_by_sqrt_dimension"] == pytest.approx(np.sqrt(0.5), rel=1e-12)


@pytest.mark.parametrize("unsigned", [False, True])
def test_curve_in_the_file_is_what_the_network_says(unsigned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    data = Dataset(X=rng.standard_normal((80, 5)), y=rng.choice([-1, 1], 80))
    network = TwoLayer.initialise(15, 5, scale=1.0, seed=3)
    data.save("random.npz")
    network.save("random.safetensors")
    line = "flip random.safetensors random.npz --share 0.6 --out curve.json" + (" --unsigned" if unsigned else "")
    main(line.split())
    assert "Written to curve.json" in capsys.readouterr().out
    (written,) = json.loads(Path("curve.json").read_text())["directions"]
    z = np.array(written["vector"])
    np.testing.assert_allclose(z, data.y @ data.X, rtol=1e-12)
    step = z[None, :] / np.linalg.norm(z) * (1.0 if unsigned else -data.y[:, None])
    norms, after = np.array(written["curve"]["norm"]), np.array(written["curve"]["after"])
    middles = np.append(0.5 * (norms[:-1] + norms[1:]), norms[-1] + 1.0)
    measured = np.array([np.mean(data.y * network(data.X + t * step) <= 0) for t in middles])
    assert len(norms) > 20
    np.testing.assert_allclose(after, measured, atol=1e-12)
    reached = np.maximum(written["curve"]["at"], after) >= 0.6 - 1e-9
    assert written["norm"] == (norms[reached][0] if reached.any() else None)


def test_samples_that_flip_one_after_the_other_are_never_flipped_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """N(x) = |x - 1| - 1/2 < 0 on (1/2, 3/2): 2 - t is there for t in (1/2, 3/2), 4 - t for t in (5/2, 7/2)."""
    TwoLayer(W=[[1.0], [-1.0], [0.0]], b=[-1.0, 1.0, 1.0], v=[1.0, 1.0, -0.5]).save("dip.safetensors")
    Dataset(X=[[2.0], [4.0]], y=[1, 1]).save("line.npz")
    np.save("one.npy", np.ones(1))
    record = record_of("flip dip.safetensors line.npz --direction one.npy", capsys, code=1)
    (found,) = record["directions"]
    assert (found["smallest_first"], found["largest_first"], found["all_at_once"]) == (0.5, 2.5, None)
    assert (found["flip_back"], found["never_flipped"], found["share_0.5"]) == (2, 0, 0.5)


def test_fresh_points_are_flipped_along_the_direction_of_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    """N(x) = 9 (x_1 - x_2) on (3, 1) and (1, 5): along (1, -1) these flip at t = 1 and t = 2."""
    Dataset(X=[[3.0, 1.0], [1.0, 5.0]], y=[1, -1]).save("fresh.npz")
    for source in ("", " --direction dual", " --direction z.npy"):
        record = record_of(f"flip net.safetensors data.npz --test fresh.npz{source}", capsys)
        (found,) = record["directions"]
        assert record["samples"] == 2
        assert found["smallest_first"] == pytest.approx(np.sqrt(2.0), rel=1e-12)
        assert found["all_at_once"] == pytest.approx(2.0 * np.sqrt(2.0), rel=1e-12)
    itself = record_of("flip net.safetensors data.npz --test data.npz", capsys)
    assert itself["directions"] == record_of("flip net.safetensors data.npz", capsys)["directions"]


def test_several_directions_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("flip net.safetensors data.npz --direction label-sum dual z.npy".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("label-sum", "dual", "z.npy"):
        assert f"{name}: 0.707107 = 0.5 sqrt(d) flips every sample; the median first flip is at 0.5 sqrt(d)." in lines


def test_multipliers_off_a_kkt_point_come_with_a_remark(
    capsys: pytest.CaptureFixture[str],
) -> None:
    TwoLayer(W=[[1.0, 0.2], [0.0, 1.0]], v=[1.0, -1.0]).save("other.safetensors")
    assert main("flip other.safetensors data.npz --direction dual --json".split()) == 0
    captured = capsys.readouterr()
    assert "is not a KKT point" in captured.err
    json.loads(captured.out)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("flip no.safetensors data.npz", "There is no file no.safetensors"),
        ("flip net.safetensors no.npz", "There is no file no.npz"),
        ("flip three.safetensors data.npz", "3"),
        ("flip net.safetensors data.npz --direction sum", "direction is 'sum'; one of label-sum, margin"),
        ("flip net.safetensors data.npz --direction", "--direction requires at least 1 element"),
        ("flip net.safetensors data.npz --direction --json", "--direction requires at least 1 element"),
        ("flip net.safetensors data.npz --direction no.npy", "There is no file no.npy"),
        ("flip net.safetensors data.npz --direction text.npy", "not a readable .npy file of numbers; numpy.save("),
        ("flip net.safetensors data.npz --direction objects.npy", "not a readable .npy"),
        ("flip net.safetensors data.npz --direction matrix.npy", "a vector (one axis) is expected"),
        ("flip net.safetensors data.npz --direction three.npy", "direction has 3 entries"),
        ("flip net.safetensors data.npz --direction zero.npy", "direction is zero"),
        ("flip net.safetensors data.npz --direction means", "know no cluster means"),
        ("flip wrong.safetensors data.npz --direction margin", "classified correctly"),
        ("flip net.safetensors data.npz --share 0", "share is 0"),
        ("flip net.safetensors data.npz --test no.npz", "There is no file no.npz"),
        ("flip net.safetensors data.npz --test three.npz", "three.npz has 3 columns, but the network has dimension 2"),
        ("flip net.safetensors data.npz --share 1.5", "share is 1.5"),
        ("flip net.safetensors data.npz --out curve.csv", ".json is expected"),
        ("flip net.safetensors data.npz --direction z.npy no.npy --out curve.json", "There is no file no.npy"),
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
