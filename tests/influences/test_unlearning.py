"""What influence is used for: values of samples, unlearning, and the commands that write their pages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.cli import main
from marginflow.data import Dataset, Sphere


def svm(X, y):
    svm = pytest.importorskip("sklearn.svm", reason="the outside truth comes with the extra 'sklearn'")
    return svm.SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, y).coef_[0]


def test_values_are_what_is_lost_without_a_sample(sphere, at_once) -> None:
    limit, _ = sphere
    test = Sphere(dimension=25).sample(200, seed=7)
    found = at_once
    worth = mf.influences.valuation(found, test)
    accuracy = float((limit.network.margins(test.X, test.y) > 0).mean())
    assert worth.accuracy == pytest.approx(accuracy)
    for i in (0, 7):
        assert worth.values[i] == pytest.approx(
            accuracy - float((found.network(i).margins(test.X, test.y) > 0).mean()), abs=1e-12
        )
    assert worth.shares.sum() == pytest.approx(1.0)
    assert worth.values[worth.rank()[0]] == worth.values.min()
    with pytest.raises(mf.InputError, match="25 is expected"):
        mf.influences.valuation(found, Dataset(X=np.eye(3), y=[1, -1, 1]))


def test_the_exact_network_is_at_distance_zero_and_fine_tuning_comes_nearer_with_more_steps(sphere) -> None:
    limit, data = sphere
    found = mf.influence(limit, data, groups=[[2, 5]])
    points = np.random.default_rng(0).standard_normal((300, 25))
    truth = mf.influences.unlearning(found, data, points, networks=[found.network(0)])
    assert truth.unlearned[0] < 1e-9
    assert truth.kept[0] > 1e-3
    tuned = mf.influences.fine_tuned(found, data, 0, steps=50)
    assert tuned.width == found.base.width
    measured = mf.influences.unlearning(found, data, points, networks=[tuned])
    assert np.isfinite(measured.unlearned[0])
    with pytest.raises(mf.InputError, match="one for each of 1 groups"):
        mf.influences.unlearning(found, data, points, networks=[])


@pytest.mark.parametrize("ending", ["html", "json"])
def test_the_commands_write_pages(sphere, ending, tmp_path, capsys) -> None:
    _, data = sphere
    data.save(tmp_path / "data.npz")
    Sphere(dimension=25).sample(40, seed=3).save(tmp_path / "test.npz")
    source, out = str(tmp_path / "data.npz"), [str(tmp_path / f"{name}.{ending}") for name in "abc"]
    common = ["--width", "40", "--mode", "fast"]
    assert main(["influence", source, *common, "--cold", "1", "--out", out[0]]) == 0
    assert main(["unlearn", source, *common, "--forget", "3", "5", "--steps", "5", "--out", out[1]]) == 0
    assert main(["value", source, str(tmp_path / "test.npz"), *common, "--out", out[2]]) == 0
    printed = capsys.readouterr().out
    assert "Exact leave-out error" in printed
    assert "one step of gradient ascent" in printed
    assert "of the test points are right" in printed
    words = ["Exact leave-out error", "gradient ascent", "of the test points are right"]
    for file, sentence in zip(out, words, strict=True):
        assert sentence in Path(file).read_text(encoding="utf-8")
    if ending == "html":
        assert "5 × 5" in Path(out[0]).read_text(encoding="utf-8") or "Samples as images" in Path(out[0]).read_text(
            encoding="utf-8"
        )


def test_the_commands_name_what_is_wrong(sphere, tmp_path, capsys) -> None:
    _, data = sphere
    data.save(tmp_path / "data.npz")
    source = str(tmp_path / "data.npz")
    assert main(["unlearn", source, "--forget", "99", "--width", "30"]) == 2
    assert "names sample 99" in capsys.readouterr().err
    assert main(["influence", source, "--out", str(tmp_path / "page.txt")]) == 2
    crowded = Sphere(dimension=4).sample(60, seed=0)
    crowded.save(tmp_path / "crowded.npz")
    capsys.readouterr()
    assert main(["influence", str(tmp_path / "crowded.npz"), "--width", "2", "--time-limit", "0.01"]) == 2
    assert "The limit is not exact, so nothing can be said about its samples" in " ".join(
        capsys.readouterr().err.split()
    )
    assert not list(tmp_path.glob("*.html"))
