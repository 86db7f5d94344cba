"""`marginflow sample`: every law can be drawn from, files hold what the library draws, bad input writes nothing."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from marginflow import data
from marginflow.cli import main
from marginflow.cli.sample import example, laws


@pytest.fixture(autouse=True)
def _inside_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written_down() -> set[str]:
    """The laws in the files of the room, read without importing anything."""
    files = Path(data.__file__).parent.glob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    bases = {node.name: {*map(ast.unparse, node.bases)} for node in nodes if isinstance(node, ast.ClassDef)}
    laws, before = {"AbstractDistribution"}, set[str]()
    while laws != before:
        before = set(laws)
        laws |= {name for name in bases if bases[name] & before}
    return {name for name in laws if not name.startswith("Abstract")}


def test_every_distribution_of_the_library_is_offered() -> None:
    assert written_down() > {"Sphere", "Clusters", "GramReduction"}
    assert {law.__name__ for law in laws().values()} == written_down() - {"GramReduction"}
    assert written_down() <= set(dir(data))
    assert all(getattr(data, name).__name__ == name for name in dir(data) if name in written_down())


@pytest.mark.parametrize("name", laws())
def test_example_in_the_help_of_every_law_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(example(name))
    assert words[0] == "marginflow"
    assert main([*words[1:], "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    drawn = data.Dataset.load(record["out"])
    assert drawn.n_samples == record["n_samples"] == 20
    assert main(["sample", name, "--help"]) == 0
    assert example(name) in " ".join(capsys.readouterr().out.split())


def test_file_holds_the_bits_that_the_library_draws(capsys: pytest.CaptureFixture[str]) -> None:
    law = data.Sphere(dimension=7, radius=2.0, labels="balanced", noise=data.UniformNoise(rate=0.25))
    expected = law.sample(12, seed=5)
    line = "sample sphere 12 --dimension 7 --radius 2 --labels balanced --noise-rate 0.25 --seed 5 --out"
    for name in ("a.npz", "a.csv"):
        assert main([*line.split(), name]) == 0
        drawn = data.Dataset.load(name)
        np.testing.assert_array_equal(drawn.X, expected.X)
        np.testing.assert_array_equal(drawn.y, expected.y)
    assert "Written to" in capsys.readouterr().out


def test_lists_of_numbers_are_given_with_commas() -> None:
    assert main("sample clusters 9 --dimension 5 --n-clusters 3 --mean-labels -1,1,1 --out a.npz".split()) == 0
    drawn = data.Dataset.load("a.npz")
    np.testing.assert_array_equal(drawn.mean_labels, [-1, 1, 1])


def test_reduced_coordinates_stand_for_an_astronomical_dimension(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("sample sphere 6 --dimension 1000000000000 --reduced --out a.npz --json".split()) == 0
    assert json.loads(capsys.readouterr().out)["dimension"] == 6
    assert data.Dataset.load("a.npz").ambient_dimension == 10**12


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("sample sphere 10 --dimension 0 --out a.npz", "dimension is 0"),
        ("sample sphere 0 --dimension 3 --out a.npz", "n_samples is 0"),
        ("sample sphere ten --dimension 3 --out a.npz", "ten"),
        ("sample sphere 10 --dimension 3 --radius=-1 --out a.npz", "radius is -1"),
        ("sample sphere 10 --dimension 3 --labels odd --out a.npz", "odd"),
        ("sample sphere 10 --dimension 3 --out a.pickle", "'.pickle'; .npz or .csv is expected"),
        ("sample sphere 10 --dimension 3 --out nowhere/a.npz", "nowhere does not exist"),
        ("sample sphere 10 --dimension 3", "--out"),
        ("sample sphere 10 --out a.npz", "--dimension"),
        ("sample sphere 10 --dimension 3 --seed=-1 --out a.npz", "seed"),
        ("sample sphere 10 --dimension 3 --noise-rate 2 --out a.npz", "rate is 2"),
        ("sample torus 10 --dimension 3 --out a.npz", "torus"),
        ("sample clusters 9 --dimension 5 --n-clusters 2 --mean-labels a,b --out a.npz", "'a,b'"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("marginflow: ")
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert list(tmp_path.iterdir()) == []


def test_existing_file_is_kept_unless_force_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    line = "sample sphere 10 --dimension 3 --out a.npz"
    assert main([*line.split(), "--seed", "0"]) == 0
    before = Path("a.npz").read_bytes()
    assert main([*line.split(), "--seed", "1"]) == 2
    assert "--force" in capsys.readouterr().err
    assert Path("a.npz").read_bytes() == before
    assert main([*line.split(), "--seed", "1", "--force"]) == 0
    assert Path("a.npz").read_bytes() != before
