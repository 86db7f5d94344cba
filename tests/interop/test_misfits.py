"""Networks that cannot be taken as they are: what is in the way, by its name, and what can be audited instead."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.errors import InputError
from marginflow.interop.models import read_model

torch = pytest.importorskip("torch", reason="reads models of torch, an optional extra")

from torch import nn  # noqa: E402

HEAD = r".*the last Linear, ReLU, Linear .* can be audited .* mf\.audit\.head\(module, X, y\)"


class Recurrent(nn.Module):
    """A series of six numbers, read one after another."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.steps, self.out = kind(1, 4, batch_first=True), nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.steps(x[:, :, None])[0][:, -1])


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(6, 6), nn.Linear(6, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.hidden(x)) + x)


class TwoAnswers(Residual):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.hidden(x))
        out = self.out(h)
        torch.relu(out)
        return out


class Undecided(Residual):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.hidden(x if x.sum() > 0 else -x)))


def behind(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 6), *layers, nn.Linear(6, 1))


MISFITS = {
    "tanh": (behind(nn.Tanh()), "Tanh"),
    "GELU": (behind(nn.GELU()), "GELU"),
    "LayerNorm": (behind(nn.LayerNorm(6), nn.ReLU()), "LayerNorm"),
    "GroupNorm": (behind(nn.GroupNorm(2, 6), nn.ReLU()), "GroupNorm"),
    "three hidden layers": (behind(nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU()), "3 hidden"),
    "convolution": (nn.Sequential(nn.Unflatten(1, (1, 6)), nn.Conv1d(1, 1, 3), nn.Flatten(), nn.ReLU()), "Unflatten"),
    "RNN": (Recurrent(nn.RNN), "layer RNN"),
    "LSTM": (Recurrent(nn.LSTM), "layer LSTM"),
    "GRU": (Recurrent(nn.GRU), "layer GRU"),
    "residual": (Residual(), "add in Residual takes something else"),
    "another answer": (TwoAnswers(), "TwoAnswers does not return what it computed last"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_module_that_does_not_fit_is_told_of_its_head(name: str) -> None:
    module, named = MISFITS[name]
    with pytest.raises(InputError, match=named + HEAD):
        read_model(module)


@pytest.mark.parametrize("name", [name for name in MISFITS if name not in ("convolution", "another answer")])
def test_the_head_that_the_sentence_names_can_be_audited(name: str) -> None:
    torch.manual_seed(0)
    X = np.random.default_rng(0).standard_normal((12, 6))
    found = mf.audit.head(MISFITS[name][0], X, np.where(X[:, 0] > 0, "up", "down"), points=1)
    assert "lengths in feature space" in " ".join(found.remarks)
    assert len(found.radii) == 1


def test_what_cannot_be_traced_is_told_to_compute_its_features() -> None:
    with pytest.raises(InputError, match=r"Undecided computes cannot be followed.* compute the features in front"):
        read_model(Undecided())


@pytest.mark.parametrize(
    ("layer", "script", "onnx"),
    [
        (nn.Tanh(), "aten::tanh", "Tanh"),
        (nn.GELU(), "aten::gelu", "Gelu|Erf|Div"),
        (nn.LayerNorm(6), "aten::layer_norm", "LayerNormalization|ReduceMean"),
        (nn.Sequential(nn.Unflatten(1, (1, 6)), nn.Conv1d(1, 1, 1), nn.Flatten()), "aten::", "Conv"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_files_say_the_same(layer: nn.Module, script: str, onnx: str, tmp_path: Path) -> None:
    module = behind(layer, nn.ReLU()).eval()
    torch.jit.script(module).save(str(tmp_path / "net.pt"))
    with pytest.raises(InputError, match=rf"computes '{script}\w*'" + HEAD):
        read_model(tmp_path / "net.pt")
    pytest.importorskip("onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (torch.ones(1, 6),), str(tmp_path / "net.onnx"), dynamo=False)
    with pytest.raises(InputError, match=rf"\('({onnx})'.*is not of a ReLU network" + HEAD):
        read_model(tmp_path / "net.onnx")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_recurrent_layer_of_onnx_is_named_rather_than_what_asks_for_shapes(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = Recurrent(nn.GRU).eval()
        torch.onnx.export(module, (torch.ones(2, 6),), str(tmp_path / "net.onnx"), dynamo=False)
    with pytest.raises(InputError, match=r"\('GRU'.*is not of a ReLU network"):
        read_model(tmp_path / "net.onnx")


def test_more_labels_than_classes_of_the_network_are_refused_with_two_ways_on() -> None:
    torch.manual_seed(0)
    X, y = np.random.default_rng(0).standard_normal((9, 6)), np.arange(9) % 3
    module = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2))
    sentence = r"decides between two classes, but the samples have 3 labels \(0, 1, 2\); .* mf\.audit\(model, X, y"
    with pytest.raises(InputError, match=sentence):
        mf.audit(module, X, y)
    assert mf.audit(module, X, y == 1, points=1).data.n_classes == 2
