"""Audits of whole modules and of the heads of deep ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torch_values import X, values

import marginflow as mf
from marginflow.networks import TwoLayer

torch = pytest.importorskip("torch", reason="reads models of torch, an optional extra")
onnx = pytest.importorskip("onnx", reason="reads ONNX, an optional extra")
pytest.importorskip("sklearn", reason="reads models of scikit-learn, an optional extra")

from torch import nn  # noqa: E402


def test_an_audit_of_a_module_says_what_was_folded() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)).double()
    y = np.where(values(module) > np.median(values(module)), "yes", "no")
    found = mf.audit(module, X, y, points=1)
    assert found.network(X) == pytest.approx(values(module))
    assert any("two logits" in remark for remark in found.remarks)
    assert any("output bias" in remark for remark in found.remarks)
    assert found.to_dict()["remarks"] == list(found.remarks)


def test_an_assumed_activation_is_doubted_where_too_much_is_wrong(tmp_path: Path) -> None:
    network = TwoLayer.initialise(width=5, dimension=4, seed=0)
    torch.save(network.to_torch().state_dict(), tmp_path / "net.pt")
    y = np.where(network(X) > np.median(network(X)), 1, -1)
    right, wrong = (mf.audit(tmp_path / "net.pt", X, labels, points=0) for labels in (y, -y))
    assert any("ReLU is assumed" in remark for remark in right.remarks)
    assert any("suggests that the activation is another one" in remark for remark in wrong.remarks)


@pytest.mark.parametrize("linear", [False, True])
def test_the_head_of_a_deep_network_is_audited_on_its_features(linear: bool) -> None:
    torch.manual_seed(0)
    tail = [nn.Linear(5, 2)] if linear else [nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2)]
    images = np.random.default_rng(0).standard_normal((20, 1, 6, 6))
    module = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Tanh(), nn.Flatten(), nn.Linear(32, 5), nn.Tanh(), *tail).double()
    with torch.no_grad():
        logits = module(torch.tensor(images)).numpy()
    difference = logits[:, 1] - logits[:, 0]
    y = np.where(difference > np.median(difference), 1, -1)
    found = mf.audit.head(module, images, y, points=0)
    assert found.data.dimension == 5
    np.testing.assert_allclose(found.network(found.data.X), difference, rtol=1e-12, atol=1e-12)
    assert any("feature space" in remark for remark in found.remarks)


class _Images(nn.Module):
    """A class of somebody's own: a body of a convolution, dropout within the head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.drop = nn.Conv2d(1, 2, 3), nn.Dropout()
        self.first, self.last = nn.Linear(32, 6), nn.Linear(6, 3)

    def features(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x)).flatten(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.drop(torch.relu(self.first(self.features(x)))))


def test_the_head_of_a_class_with_its_own_forward_is_audited_on_its_features() -> None:
    torch.manual_seed(0)
    module, images = _Images().double(), np.random.default_rng(0).standard_normal((20, 1, 6, 6))
    found = mf.audit.head(module, images, np.arange(20) % 3, points=0)
    assert module.training  # as it was
    with torch.no_grad():
        features, logits = (part(torch.tensor(images)).numpy() for part in (module.features, module.eval()))
    np.testing.assert_array_equal(found.data.X, features)
    np.testing.assert_allclose(found.network(features), logits, rtol=1e-12, atol=1e-12)
    assert any("the head (Linear, relu, Linear) on the features that Conv2d, relu, flatten" in r for r in found.remarks)


class _Ends(_Images):
    """The same, but with an end that is not a head."""

    def __init__(self, end: str) -> None:
        super().__init__()
        self.end = end

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        logits = super().forward(x)
        if self.end == "a branch":
            return logits if x.sum() > 0 else -logits
        return (logits, x) if self.end == "a pair" else logits.softmax(1)


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ("a branch", "cannot be followed.*give its layers as a torch.nn.Sequential"),
        ("a pair", "ends in several outputs"),
        ("softmax", "ends in softmax; a Linear is expected"),
    ],
)
def test_modules_without_a_head_say_why(end: str, sentence: str) -> None:
    with pytest.raises(mf.InputError, match=sentence):
        mf.audit.head(_Ends(end), np.zeros((4, 1, 6, 6)), [0, 1, 2, 0])
