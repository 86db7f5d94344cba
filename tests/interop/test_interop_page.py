"""The examples of docs/interop.md run as they are printed, commands in the folder of the example before them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from marginflow.cli import main

for _name in ("torch", "onnx", "sklearn", "pandas"):
    pytest.importorskip(_name, reason="the page shows every library")

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"
PARTS: list[tuple[str, str]] = re.findall(
    r"```(python|sh)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
)
BLOCKS = [index for index, (kind, _) in enumerate(PARTS) if kind == "python"]


def commands_after(number: int) -> list[str]:
    """The lines of the shell between an example and the next."""
    lines: list[str] = []
    for kind, text in PARTS[number + 1 :]:
        if kind == "python":
            break
        lines += text.splitlines()
    return lines


# torch itself announces that TorchScript and its old exporter will go.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning:torch")
@pytest.mark.parametrize("number", BLOCKS)
def test_example_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("skl2onnx", "foolbox", "safetensors"):
        if re.search(rf"^(?:import|from) {name}\b", PARTS[number][1], flags=re.MULTILINE):
            pytest.importorskip(name, reason="this example needs it")
    monkeypatch.chdir(tmp_path)
    code = compile(PARTS[number][1], f"{PAGE.name}, example {number + 1}", "exec", dont_inherit=True)
    exec(code, {"__name__": "page"})
    for line in commands_after(number):
        name, *arguments = shlex.split(line)
        assert name == "marginflow"
        assert main(arguments) in (0, 1), line  # 1: an audit of a network that is not a KKT point


# Every way in and out, and what an example of it cannot do without.
DOORS = {
    "data of lists": "mf.data.Dataset(\n    [[",
    "data of a table and a series": 'Dataset(people[["age"]], people["ill"])',
    "data of many classes": "Dataset(X, np.arange(30) % 3)",
    "a table of one's own": "convert visits.csv --label outcome --positive ill --standardise --one-hot --missing",
    "semicolons and decimal commas": "marginflow convert preise.csv",
    "new lines of that table": "--like data.npz",
    "back to raw inputs": "preparation.undo(network)",
    "columns of one name": 'convert(twice, drop=["pay.1"])',
    "small data sets": "mf.data.digits(3, 8)",
    "all classes of one": "mf.data.digits()  #",
    "a nest of torch": "torch.nn.LeakyReLU(0.1)",
    "TorchScript": "torch.jit.script(module)",
    "traced TorchScript": "torch.jit.trace(module",
    "ONNX of torch": "torch.onnx.export(module",
    "ONNX of skl2onnx": "to_onnx(pipeline",
    "safetensors": "named.safetensors",
    "a state_dict": "module.state_dict()",
    "an MLPClassifier": "model = MLPClassifier(",
    "a linear classifier": "LogisticRegression().fit(X, y)",
    "a pipeline": "make_pipeline(StandardScaler()",
    "a search": "GridSearchCV(",
    "to torch": "network.to_torch()",
    "to ONNX": "network.to_onnx(",
    "to scikit-learn": "network.to_sklearn(",
    "to foolbox": "to_foolbox(network)",
    "misfits": "[linear, tanh, last], [linear, norm, relu, last], [recurrent, last]",
    "a deeper network": "radius_bracket(network",
    "its KKT residual": "certify_deep(network, data)",
    "a head": "mf.audit.head(deep",
    "a head on the command line": "--features body.pt",
    "many classes": "mf.networks.Classifier(W=",
    "its radius": "found.rival",
    "its KKT conditions": "certify_classifier(",
    "its KKT point": "mf.kkt_point(data, width=20)",
    "flips along a direction": "class_steps(network",
    "one vector for all": "universal_change(network",
    "certified accuracy": "certified_accuracy(network",
    "its curve": "marginflow curve network.safetensors data.npz --csv curve.csv",
    "the page of an audit": "--out audit.html",
    "the estimator": "cross_val_score(MaxMarginReLUClassifier",
    "warm start": "warm_start=True",
    "probabilities": "CalibratedClassifierCV(",
    "a sparse matrix": "csr_matrix(",
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_an_example_that_runs(door: str) -> None:
    assert any(DOORS[door] in text for _, text in PARTS)
