"""`marginflow train`: the network and the trajectory of the library, kept on interrupt, nothing on bad input."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from marginflow import flow
from marginflow.cli import main
from marginflow.cli import train as command
from marginflow.data import Dataset, Sphere
from marginflow.networks import TwoLayer


@pytest.fixture(autouse=True)
def _a_few_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Sphere(dimension=10, labels="balanced").sample(6, seed=1).save("data.npz")


def test_flow_gives_the_network_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    line = "train data.npz --width 30 --scale 0.1 --seed 3 --stop-loss 1e-4 --out net.safetensors --json"
    assert main(line.split()) == 0
    record = json.loads(capsys.readouterr().out)
    start = TwoLayer.initialise(30, 10, scale=0.1, seed=3)
    run = flow.train(start, Dataset.load("data.npz"), flow.GradientFlow(stop=[flow.LossBelow(1e-4)]))
    trained = TwoLayer.load("net.safetensors")
    np.testing.assert_array_equal(trained.W, run.network.W)
    assert record["steps"] == run.steps
    assert record["status"] == "loss reached"
    assert record["separated"] is True
    written = json.loads(Path("net.trajectory.json").read_text())
    np.testing.assert_allclose(written["records"]["log_loss"], run.trajectory.log_loss, rtol=1e-15)
    assert written["records"]["log_time"][0] is None  # ln 0
    assert len(written["records"]["final_margins"]) == 6


@pytest.mark.parametrize("recipe", ["vys22", "kys23", "fcb22", "flow"])
def test_every_recipe_begins_as_its_paper_does(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(
        ["train", "data.npz", "--recipe", recipe, "--width", "8", "--max-steps", "0", "--out", "n.safetensors"]
    ) in (0, 1)
    begun = TwoLayer.load("n.safetensors")
    published = {"vys22": flow.recipes.VYS22(), "kys23": flow.recipes.KYS23(), "fcb22": flow.recipes.FCB22()}
    expected = TwoLayer.initialise(8, 10) if recipe == "flow" else published[recipe].network(8, 10, seed=0)
    np.testing.assert_array_equal(begun.W, expected.W)
    np.testing.assert_array_equal(begun.v, expected.v)
    assert begun.outputs == ("frozen" if recipe == "fcb22" else "trained")


def test_a_recipe_is_known_however_it_is_capitalised(capsys: pytest.CaptureFixture[str]) -> None:
    line = "train data.npz --recipe FCB22 --width 8 --max-steps 0 --out n.safetensors --json"
    assert main(line.split()) in (0, 1)
    assert json.loads(capsys.readouterr().out)["recipe"] == "fcb22"
    assert TwoLayer.load("n.safetensors").outputs == "frozen"


def test_training_that_does_not_separate_the_data_is_exit_code_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("train data.npz --width 4 --scale 0.001 --max-steps 1 --out n.safetensors".split()) == 1
    printed = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert printed["All samples correct"].strip() == "no"
    assert Path("n.safetensors").exists()


def test_training_goes_on_from_a_file() -> None:
    assert main("train data.npz --width 12 --max-steps 5 --out a.safetensors".split()) in (0, 1)
    assert main("train data.npz --start a.safetensors --max-steps 0 --out b.safetensors".split()) in (0, 1)
    np.testing.assert_array_equal(TwoLayer.load("a.safetensors").W, TwoLayer.load("b.safetensors").W)


def test_interrupt_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    @contextlib.contextmanager
    def impatient(_: str) -> Iterator[object]:
        pressed: list[str] = []

        def report(share: float, remark: str) -> None:
            if "step 5," in remark and not pressed:
                pressed.append("Ctrl-C")
                raise KeyboardInterrupt

        yield report

    monkeypatch.setattr(command, "progress", impatient)
    assert main("train data.npz --width 12 --out n.safetensors --json".split()) == 130
    record = json.loads(capsys.readouterr().out)
    assert record["status"] == "interrupted"
    assert record["steps"] == 5
    start = TwoLayer.initialise(12, 10)
    kept = TwoLayer.load("n.safetensors")
    five = flow.train(start, Dataset.load("data.npz"), flow.GradientFlow(stop=[flow.Steps(5)])).network
    np.testing.assert_array_equal(kept.W, five.W)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("train no.npz --out n.safetensors", "There is no file no.npz"),
        ("train data.npz --out n.pt", ".safetensors is expected"),
        ("train data.npz --width 0 --out n.safetensors", "width is 0"),
        ("train data.npz --scale=-1 --out n.safetensors", "scale is -1"),
        ("train data.npz --recipe adam --out n.safetensors", "adam"),
        ("train data.npz --stop-loss 0 --out n.safetensors", "is 0"),
        ("train data.npz --start data.npz --out n.safetensors", "not a readable .safetensors"),
        ("train one.npz --out n.safetensors", "both -1 and +1 must occur"),
        ("train clash.csv --out n.safetensors", "identical but have opposite labels"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Dataset(X=np.eye(2), y=[1, 1]).save("one.npz")
    Path("clash.csv").write_text("1,2,1\n1,2,-1\n")
    before = sorted(tmp_path.iterdir())
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert sorted(tmp_path.iterdir()) == before
