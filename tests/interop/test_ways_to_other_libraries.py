"""Networks go to torch, ONNX and scikit-learn and come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.errors import InputError
from marginflow.interop import onnx as onnx_door
from marginflow.interop import torch as torch_door
from marginflow.interop.models import read_model
from marginflow.networks import Classifier, TwoLayer

torch = pytest.importorskip("torch", reason="reads models of torch, an optional extra")
onnx = pytest.importorskip("onnx", reason="reads ONNX, an optional extra")
pytest.importorskip("sklearn", reason="reads models of scikit-learn, an optional extra")


X = np.random.default_rng(0).standard_normal((20, 4))


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("biases", ["all", "hidden", "none"])
def test_classifiers_go_to_other_libraries_and_back_bit_for_bit(n_classes: int, biases: str) -> None:
    rng = np.random.default_rng(n_classes)
    network = Classifier(
        W=rng.standard_normal((5, 4)),
        b=None if biases == "none" else rng.standard_normal(5),
        V=rng.standard_normal((n_classes, 5)),
        c=rng.standard_normal(n_classes) if biases == "all" else None,
    )
    module, model = network.to_torch(), network.to_onnx()
    for back in (torch_door.classifier(module), onnx_door.classifier(model)):
        assert back.state_dict().keys() == network.state_dict().keys()
        assert all(back.state_dict()[name].tobytes() == array.tobytes() for name, array in network.state_dict().items())
    with torch.no_grad():
        np.testing.assert_allclose(module(torch.tensor(X)).numpy(), network(X), rtol=1e-12, atol=1e-12)
    if n_classes > 2:
        assert read_model(module).network.V.tobytes() == network.V.tobytes()
        assert read_model(model).network.V.tobytes() == network.V.tobytes()
    words = [f"class {number}" for number in range(n_classes)]
    assert network.to_sklearn().predict(X).tolist() == network.predict(X).tolist()
    assert network.to_sklearn(words).predict(X).tolist() == [words[number] for number in network.predict(X)]
    read = read_model(network.to_sklearn()).network
    assert read.W[:5].tobytes() == network.W.tobytes()
    if n_classes > 2:
        assert read.V.tobytes() == network.V.tobytes()


def test_single_precision_of_a_classifier_rounds_once(tmp_path: Path) -> None:
    network = Classifier.initialise(width=5, dimension=4, n_classes=3, seed=0)
    rounded = network.V.astype(np.float32).astype(np.float64)
    network.to_onnx(tmp_path / "net.onnx", dtype="float32")
    assert (read_model(tmp_path / "net.onnx").network.V == rounded).all()
    assert (torch_door.classifier(network.to_torch(dtype=torch.float32)).V == rounded).all()


def test_deep_networks_go_to_other_libraries() -> None:
    network = mf.networks.MLP.initialise(widths=[5, 3], dimension=4, bias="all", seed=0)
    with torch.no_grad():
        np.testing.assert_allclose(network.to_torch()(torch.tensor(X)).numpy()[:, 0], network(X), rtol=1e-12)
    assert onnx_door.mlp(network.to_onnx()).weights[1].tobytes() == network.weights[1].tobytes()
    assert network.to_sklearn().predict(X).tolist() == np.where(network(X) > 0, 1, -1).tolist()


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (["a", "b"], "3 labels that differ are expected"),
        (["a", "b", "b"], "3 labels that differ are expected"),
        (["c", "b", "a"], r"ascending order.*\['a', 'b', 'c'\]"),
        ([1, None, "a"], "3 labels that differ are expected"),
    ],
)
def test_labels_for_scikit_learn_are_as_many_as_classes_and_in_order(classes: list, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Classifier.initialise(width=5, dimension=4, n_classes=3, seed=0).to_sklearn(classes)


def test_the_ways_back_are_exact() -> None:
    network = TwoLayer.initialise(width=5, dimension=4, seed=0)
    for back in (network.to_torch(), network.to_onnx()):
        read = read_model(back).two_classes()
        assert read.W.tobytes() == network.W.tobytes()
        assert read.v.tobytes() == network.v.tobytes()
    sklearn = network.to_sklearn(["no", "yes"])
    assert sklearn.predict(X).tolist() == np.where(network(X) > 0, "yes", "no").tolist()
    assert read_model(sklearn).two_classes().W.tobytes() == network.W.tobytes()
