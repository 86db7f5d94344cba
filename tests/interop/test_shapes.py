"""What stands between the layers of a model: changes of shape that are read, and what is refused by name."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.interop.models import read_model

torch = pytest.importorskip("torch", reason="reads models of torch, an optional extra")
onnx = pytest.importorskip("onnx", reason="reads ONNX, an optional extra")
pytest.importorskip("sklearn", reason="reads models of scikit-learn, an optional extra")

from torch import nn  # noqa: E402


class _Forward(torch.nn.Module):
    """Two layers with something of its own before, between or behind them."""

    def __init__(self, before=None, between=None, behind=None, outputs=1):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = torch.nn.Linear(2, 5), torch.nn.Linear(5, outputs)
        self.steps = (before, between, behind)

    def forward(self, x):
        before, between, behind = (step or (lambda z: z) for step in self.steps)
        return behind(self.last(between(torch.relu(self.first(before(x))))))


@pytest.mark.parametrize(
    "module",
    [
        _Forward(before=lambda x: x[:, :2]),
        _Forward(between=torch.sigmoid),
        _Forward(before=torch.sigmoid),
        _Forward(behind=lambda z: z[:, 0], outputs=3),
        torch.nn.Sequential(torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Sigmoid(), torch.nn.Linear(5, 1)),
        torch.nn.Sequential(torch.nn.Softmax(dim=1), torch.nn.Linear(2, 5), torch.nn.ReLU(), torch.nn.Linear(5, 1)),
    ],
)
def test_what_changes_values_inside_the_chain_is_refused(module):
    with pytest.raises(InputError):
        read_model(module)
    if isinstance(module, torch.nn.Sequential):
        from marginflow.interop.folding import fold
        from marginflow.interop.torch_modules import script_pieces

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch would rather have us export
            script = torch.jit.script(module)
        with pytest.raises(InputError):
            fold(script_pieces(script))


@pytest.mark.parametrize("behind", [torch.sigmoid, lambda z: z[:, 0], lambda z: z.squeeze(-1), lambda z: z[..., 0]])
def test_what_stands_at_the_end_changes_no_prediction(behind):
    module = _Forward(behind=behind).double()
    X = np.random.default_rng(0).standard_normal((50, 2))
    values = module(torch.tensor(X)).detach().numpy().reshape(-1)
    threshold = 0.5 if behind is torch.sigmoid else 0.0
    network = read_model(module).two_classes()
    assert ((network(X) > 0) == (values > threshold)).all()


def traced(module: nn.Module) -> torch.jit.ScriptModule:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch would rather have us export
        return torch.jit.trace(module, torch.zeros(2, 2))


@pytest.mark.parametrize("read", [lambda module: module, traced], ids=["module", "TorchScript"])
@pytest.mark.parametrize(
    "before",
    [
        lambda x: x.view(2, -1),  # of two samples what it was, of four something else
        lambda x: x.reshape(2, 2),
        lambda x: x.view(-1, 1, 2),
        lambda x: torch.flatten(x).view(-1, 2),
        lambda x: x.flatten().reshape((-1, 2)),
    ],
)
def test_a_change_of_shape_that_may_take_samples_apart_is_refused(read, before):
    with pytest.raises(InputError, match=r"changes the shape to|flattens from dimension 0"):
        read_model(read(_Forward(before=before)))


@pytest.mark.parametrize("read", [lambda module: module, traced], ids=["module", "TorchScript"])
def test_a_change_of_shape_behind_a_layer_keeps_its_rows(read):
    with pytest.raises(InputError, match="makes rows of 2 numbers of the 4"):
        read_model(read(_Forward(behind=lambda z: z.view(-1, 2), outputs=4)))
    assert read_model(read(_Forward(behind=lambda z: z.view(-1, 4), outputs=4))).network.n_classes == 4


def test_a_layer_that_flattens_across_samples_is_refused():
    with pytest.raises(InputError, match=r"flatten\(1\) is expected"):
        read_model(nn.Sequential(nn.Flatten(0), nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1)))


@pytest.mark.parametrize("read", [lambda module: module, traced], ids=["module", "TorchScript"])
@pytest.mark.parametrize(
    "before",
    [lambda x: x.view(-1, 2), lambda x: x.reshape((-1, 2)), lambda x: x.flatten(1), lambda x: torch.flatten(x, 1)],
)
def test_a_change_of_shape_that_keeps_samples_together_is_read(read, before):
    module = _Forward(before=before).double()
    X = np.random.default_rng(0).standard_normal((50, 2))
    network = read_model(read(module.float()) if read is traced else module).two_classes()
    expected = module.double()(torch.tensor(X)).detach().numpy()[:, 0]
    np.testing.assert_allclose(network(X), expected, atol=1e-12)


def test_torchscript_that_asks_for_the_number_of_samples_is_read():
    module = _Forward(before=lambda x: x.view(x.size(0), -1))
    X = np.random.default_rng(0).standard_normal((50, 2))
    network = read_model(traced(module)).two_classes()
    expected = module.double()(torch.tensor(X)).detach().numpy()[:, 0]
    np.testing.assert_allclose(network(X), expected, atol=1e-12)
    with pytest.raises(InputError, match="changes the shape to"):
        read_model(traced(_Forward(before=lambda x: x.view(x.size(1), -1))))


@pytest.mark.parametrize(
    "body",
    [
        [torch.nn.Linear(4, 6), torch.nn.Tanh()],
        [torch.nn.Unflatten(1, (1, 2, 2)), torch.nn.Conv2d(1, 3, 2), torch.nn.ReLU(), torch.nn.Flatten()],
    ],
    ids=["tanh", "convolution"],
)
def test_what_cannot_be_taken_from_torchscript_is_told_of_heads(body: list[torch.nn.Module], tmp_path: Path) -> None:
    width = 6 if len(body) == 2 else 3
    module = torch.nn.Sequential(*body, torch.nn.Linear(width, 1)).eval()
    told = r"mf\.audit\.head\(module, X, y\), or marginflow audit HEAD DATA --features BODY"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # TorchScript, which people still have
        torch.jit.trace(module, torch.zeros(2, 4)).save(tmp_path / "model.pt")
        with pytest.raises(InputError, match=told):
            read_model(tmp_path / "model.pt")


class Image(nn.Module):
    """Images through `layers`, made rows by `view`."""

    def __init__(self, *layers: nn.Module, size: int) -> None:
        super().__init__()
        self.body, self.size = nn.Sequential(*layers), size
        self.head = nn.Sequential(nn.Linear(size, 6), nn.ReLU(), nn.Linear(6, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).view(-1, self.size))


def exported(module: nn.Module, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module.eval(), (torch.ones(2, 1, 4, 4),), str(path), dynamo=False)
    return path


@pytest.mark.parametrize(
    ("layers", "size", "named"),
    [
        ((nn.Conv2d(1, 2, 3),), 8, "Conv"),
        ((nn.MaxPool2d(2),), 4, "MaxPool"),
        ((nn.Tanh(),), 16, "Tanh"),
        ((nn.GELU(),), 16, "Div|Erf|Gelu"),
        ((nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.AvgPool2d(2)), 2, "Conv"),
    ],
)
def test_what_cannot_be_taken_from_onnx_is_named_and_told_of_heads(layers, size, named, tmp_path: Path) -> None:
    torch.manual_seed(0)
    path = exported(Image(*layers, size=size), tmp_path / "net.onnx")
    with pytest.raises(InputError, match=rf"'({named})'.* is not of a ReLU network.*audit\.head.*--features BODY"):
        read_model(path)


def test_images_that_are_made_rows_are_read_from_onnx(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = Image(nn.Identity(), size=16)
    network = read_model(exported(module, tmp_path / "net.onnx")).network
    images = np.random.default_rng(0).standard_normal((5, 16))
    with torch.no_grad():
        expected = module.double()(torch.tensor(images.reshape(5, 1, 4, 4))).numpy()
    np.testing.assert_allclose(network(images), expected, atol=1e-6)


def test_a_constant_behind_a_batch_norm_is_added_to_what_the_batch_norm_gives() -> None:
    rng = np.random.default_rng(0)
    W, V = rng.standard_normal((2, 5)), rng.standard_normal((5, 1))
    weight, bias, mean, variance, shift = (rng.uniform(0.5, 2.0, 5) for _ in range(5))
    arrays = {"W": W, "V": V, "g": weight, "b": bias, "m": mean, "s": variance, "c": shift}
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "W"], ["z"]),
        onnx.helper.make_node("BatchNormalization", ["z", "g", "b", "m", "s"], ["n"], epsilon=0.0),
        onnx.helper.make_node("Add", ["n", "c"], ["a"]),
        onnx.helper.make_node("Relu", ["a"], ["r"]),
        onnx.helper.make_node("MatMul", ["r", "V"], ["N"]),
    ]
    kind = onnx.TensorProto.DOUBLE
    ends = [onnx.helper.make_tensor_value_info(name, kind, ["n", size]) for name, size in (("x", 2), ("N", 1))]
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = onnx.helper.make_graph(nodes, "batch norm", ends[:1], ends[1:], initializer=tensors)
    network = read_model(onnx.helper.make_model(graph)).network
    X = rng.standard_normal((20, 2))
    hidden = np.maximum((X @ W - mean) / np.sqrt(variance) * weight + bias + shift, 0.0)
    assert network(X) == pytest.approx((hidden @ V)[:, 0])
