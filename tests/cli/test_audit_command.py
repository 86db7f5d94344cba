"""`marginflow audit`: our files without any extra, a page with the verdict first, exit codes that mean something."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from marginflow.cli import main
from marginflow.data import Dataset
from marginflow.networks import MLP, Classifier, TwoLayer


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On orthonormal samples with opposite labels the network (e_1, +1), (e_2, -1) is a KKT point by hand."""
    monkeypatch.chdir(tmp_path)
    Dataset(X=np.eye(2), y=[1, -1]).save("data.npz")
    Dataset(X=np.eye(2), y=[1, -1]).save("data.csv")
    Dataset(X=np.eye(3), y=[1, -1, 1]).save("three.npz")
    TwoLayer(W=3.0 * np.eye(2), v=[3.0, -3.0]).save("kkt.safetensors")
    TwoLayer(W=[[1.0, 0.2], [0.0, 1.0]], v=[1.0, -1.0]).save("other.safetensors")
    MLP.initialise([2], 2, bias="all", seed=0).save("bias.safetensors")
    MLP.initialise([2, 2], 2, bias="first", seed=0).save("deep.safetensors")


def test_kkt_point_by_hand_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("audit kkt.safetensors data.csv --json --points 1".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["holds"] is True
    assert record["universal"]["upper"] == pytest.approx(0.5**0.5, rel=1e-6)
    assert len(record["radii"]) == 1
    assert record["made_by"]["command"].startswith("marginflow audit kkt.safetensors")


def test_any_other_network_does_not_and_the_verdict_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("audit other.safetensors data.npz --start kkt.safetensors".split()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("The network is not at a KKT point")
    assert any("nothing keeps training away" in line for line in lines)  # two samples span the plane


def test_the_floor_of_training_is_told_or_said_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    Dataset(X=np.eye(3)[:2], y=[1, -1]).save("plane.npz")  # the third axis is orthogonal to both samples
    TwoLayer(W=[[1.0, 0.0, 0.1], [0.0, 1.0, 0.0]], v=[1.0, -1.0]).save("start.safetensors")
    TwoLayer(W=[[2.0, 0.0, 0.1], [0.0, 2.0, 0.0]], v=[2.0, -2.0]).save("trained.safetensors")
    assert main("audit trained.safetensors plane.npz --start start.safetensors".split()) == 1
    printed = capsys.readouterr().out
    # ||W_0 P|| / ||theta|| = 0.1 / sqrt(16.01)
    assert "cannot have a residual below 0.025" in printed
    assert "was not changed" in printed
    assert main("audit trained.safetensors plane.npz".split()) == 1
    assert "unknown without the network it started from" in capsys.readouterr().out


def test_page_has_the_verdict_and_loads_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("audit other.safetensors data.npz --out page.html".split()) == 1
    page = Path("page.html").read_text()
    assert "The network is not at a KKT point" in page
    assert "Which theorems apply" in page
    first = page.index("One vector of norm")
    assert first < page.index("The network is not at a KKT point")  # the finding that one would forward comes first
    assert "Certified accuracy" in page
    assert "Samples worth a look" in page
    assert "default-src" in page
    assert "marginflow audit other.safetensors data.npz --out page.html" in page
    assert main("audit other.safetensors data.npz --out page.html".split()) == 2
    assert "--force" in capsys.readouterr().err


def test_samples_that_are_images_are_drawn_as_images(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6, 16))
    Dataset(X=X, y=[1, -1, 1, -1, 1, -1]).save("images.npz")
    TwoLayer.initialise(4, 16, seed=0).save("images.safetensors")
    assert main("audit images.safetensors images.npz --out images.html".split()) == 1
    page = Path("images.html").read_text()
    assert "4 × 4 values and are drawn as images" in page
    assert "Samples as images" in page
    capsys.readouterr()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("audit nothing.safetensors data.npz", "There is no file nothing.safetensors"),
        ("audit kkt.safetensors nothing.npz", "There is no file nothing.npz"),
        ("audit data.npz data.npz", "networks end in .safetensors, .pt, .pth, .onnx"),
        ("audit kkt.safetensors three.npz", "takes points of dimension 2, but the samples of three.npz have 3 columns"),
        ("audit deep.safetensors data.npz", "(depth 3); one hidden layer is expected"),
        ("audit kkt.safetensors data.npz --out page.pdf", "ends in '.pdf'; .html is expected"),
        ("audit kkt.safetensors data.npz --points -1", "--points is -1"),
        ("audit kkt.safetensors data.npz --points 100", "--points is 100, but there are 2 samples"),
        ("audit kkt.safetensors data.npz --time-limit -1", "--time-limit is -1; a finite number above 0"),
        ("audit kkt.safetensors data.npz --start bias.safetensors", "they must agree"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    line: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(Path().iterdir())
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize(("name", "package", "extra"), [("a.pt", "torch", "torch"), ("a.onnx", "onnx", "onnx")])
def test_a_missing_package_is_named_with_its_extra(
    name: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["audit", name, "data.npz"]) == 2
    assert f"install marginflow[{extra}]" in capsys.readouterr().err


def test_numbers_whose_squares_overflow_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    TwoLayer(W=[[1e200, 0.0]], v=[1.0]).save("large.safetensors")
    assert main(["audit", "large.safetensors", "data.npz"]) == 2
    assert "exceed float64" in capsys.readouterr().err


def test_more_than_two_classes_are_audited_with_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    V = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
    Classifier(W=np.sqrt(6.0) * np.eye(3), V=V).save("classes.safetensors")
    Dataset(np.eye(3), ["a", "b", "c"]).save("classes.npz")
    assert main("audit classes.safetensors classes.npz --points 2 --out page.html".split()) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The network is a KKT point of the multi-class max-margin problem")
    assert "2 of 2 radii are proved" in printed
    assert "One vector for all samples" in Path("page.html").read_text(encoding="utf-8")
    assert main("audit classes.safetensors classes.npz --points 2 --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kkt"]["residual"] < 1e-9
    assert {row["rival"] for row in record["radii"]} <= {0, 1, 2}


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_a_head_is_audited_on_the_features_of_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason="TorchScript, an optional extra")
    body = torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False), torch.nn.Tanh()).double()
    with torch.no_grad():
        body[0].weight.copy_(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    torch.jit.script(body).save("body.pt")
    Dataset(X=np.eye(3)[:2] * 100.0, y=[1, -1]).save("deep.npz")  # tanh(100) = 1: the features are e_1 and e_2
    assert main("audit kkt.safetensors deep.npz --features body.pt --points 1 --json".split()) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["remarks"][-1].startswith("Audited is the head on the features that body.pt computes")
    assert record["universal"]["upper"] == pytest.approx(0.5**0.5, rel=1e-6)
    assert main("audit kkt.safetensors deep.npz --features nowhere.pt".split()) == 2
    assert "There is no file nowhere.pt" in capsys.readouterr().err


def test_the_screen_shows_the_smallest_radii_and_the_file_all(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((14, 3))
    TwoLayer(W=[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], v=[1.0, -1.0]).save("plane.safetensors")
    Dataset(X, np.sign(X[:, 0])).save("many.npz")
    main("audit plane.safetensors many.npz".split())
    printed = capsys.readouterr().out
    assert "14 of 14 radii are proved; the smallest ones, all are in --out and --json:" in printed
    shown = [line.split() for line in printed.splitlines() if line.endswith("proved")]
    radii = np.sort(np.abs(X[:, 0]))
    np.testing.assert_allclose([float(row[2]) for row in shown], radii[:10], rtol=1e-3)
    main("audit plane.safetensors many.npz --json".split())
    assert len(json.loads(capsys.readouterr().out)["radii"]) == 14
