"""Arithmetic with constants, entry by entry, in the forward of torch modules and in ONNX graphs; wrapped modules."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.interop.auditing import audit_head
from marginflow.interop.models import read_model

torch = pytest.importorskip("torch", reason="reads models of torch, an optional extra")
onnx = pytest.importorskip("onnx", reason="reads ONNX, an optional extra")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime judges the values")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.utils import parametrizations  # noqa: E402

X = np.random.default_rng(0).standard_normal((20, 3))


class Forward(nn.Module):
    """Two layers with a step of its own before and another between them."""

    def __init__(self, before=None, between=torch.relu):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(3, 5), nn.Linear(5, 1)
        self.register_buffer("mean", torch.tensor([0.5, -1.0, 2.0]))
        self.register_buffer("row", torch.tensor([[3.0, 0.25, 2.0]]))
        self.register_buffer("scale", torch.tensor(4.0))
        self.centre = nn.Parameter(torch.ones(3))
        self.before, self.between = before or (lambda x, net: x), between
        self.double()

    def forward(self, x):
        return self.last(self.between(self.first(self.before(x, self))))


def assert_read(module: nn.Module) -> list[str]:
    found = read_model(module)
    with torch.no_grad():
        expected = module.eval()(torch.tensor(X)).numpy()[:, 0]
    np.testing.assert_allclose(found.two_classes()(X), expected, rtol=1e-12, atol=1e-12)
    return list(found.remarks)


@pytest.mark.parametrize(
    "before",
    [
        lambda x, net: x / 255.0,
        lambda x, net: (x - net.mean) / net.row,
        lambda x, net: 1 - x * net.scale,
        lambda x, net: net.mean * 3.0 + 2.0 * (x - net.centre),
        lambda x, net: torch.div(torch.sub(x, 3), net.scale),
    ],
)
def test_arithmetic_in_front_is_folded(before) -> None:
    remarks = assert_read(Forward(before))
    assert any("in front" in remark and "folded into the first layer" in remark for remark in remarks)


@pytest.mark.parametrize("between", [lambda z: z.clamp(min=0), lambda z: torch.clamp_min(z, 0), lambda z: z.clamp(0)])
def test_what_cuts_at_0_is_a_rectifier(between) -> None:
    assert_read(Forward(between=between))


def test_arithmetic_between_the_layers_is_folded() -> None:
    assert_read(Forward(between=lambda z: 3.0 * torch.relu(0.5 * z - 1.0) + 2.0))


@pytest.mark.parametrize(
    "module",
    [
        Forward(lambda x, net: x * x),
        Forward(lambda x, net: x + net.centre * 2.0),
        Forward(lambda x, net: 1.0 / x),
        Forward(lambda x, net: x / 0.0),
        Forward(lambda x, net: torch.add(x, net.mean, alpha=2)),
        Forward(lambda x, net: x * net.row.T),
        Forward(between=lambda z: z.clamp(max=0)),
        Forward(between=lambda z: z.clamp(0, 6)),
        Forward(between=lambda z: z.clamp(min=1)),
    ],
)
def test_what_is_not_affine_or_not_a_rectifier_is_refused(module: nn.Module) -> None:
    with pytest.raises(InputError):
        read_model(module)


def layers(first: nn.Module | None = None, bend: nn.Module | None = None) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(first or nn.Linear(3, 5), bend or nn.ReLU(), nn.Linear(5, 1)).double()


@pytest.mark.parametrize(
    "module",
    [
        layers(parametrizations.weight_norm(nn.Linear(3, 5))),
        layers(parametrizations.spectral_norm(nn.Linear(3, 5))),
        layers(parametrizations.orthogonal(nn.Linear(3, 5))),
        layers(bend=nn.PReLU()),
        layers(bend=nn.PReLU(5)),
        nn.Sequential(nn.Sequential(nn.Sequential(nn.Linear(3, 5, bias=False)), nn.ReLU()), nn.Linear(5, 1)).double(),
    ],
)
def test_parametrized_layers_and_learned_slopes_are_read(module: nn.Module) -> None:
    module.train()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    found = read_model(module)
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert module[0].training
    assert_read(module)
    assert found.network.dimension == 3


def test_slopes_that_differ_are_refused() -> None:
    module = layers(bend=nn.PReLU(5))
    with torch.no_grad():
        module[1].weight[0] = 0.5
    with pytest.raises(InputError, match="layer PReLU"):
        read_model(module)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.compile itself
def test_wrapped_modules_and_checkpoints_are_opened() -> None:
    module = layers()
    wanted = read_model(module).network
    state = {"epoch": 3, "state_dict": module.state_dict(), "optimizer": {}}
    for given in (torch.compile(module), nn.DataParallel(module), torch.compile(nn.DataParallel(module)), state):
        network = read_model(given).network
        assert network.W.tobytes() == wanted.W.tobytes()
        assert network.v.tobytes() == wanted.v.tobytes()
    y = np.arange(20) % 2
    head = audit_head(torch.compile(layers(parametrizations.weight_norm(nn.Linear(3, 5)))), X, y, points=0)
    assert "is the whole network" in head.remarks[0]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_short_floats_are_read_exactly(kind: torch.dtype) -> None:
    module = layers().to(kind)
    found = read_model(module).network
    np.testing.assert_array_equal(found.W[:5], module[0].weight.detach().double().numpy())


def test_modules_without_numbers_get_a_sentence() -> None:
    with torch.device("meta"):
        meta = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 1))
    for model in (meta, meta.state_dict()):
        with pytest.raises(InputError, match="meta device, which keeps no numbers"):
            read_model(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says once that lazy layers may change
        lazy = nn.Sequential(nn.LazyLinear(5), nn.ReLU(), nn.Linear(5, 1))
    with pytest.raises(InputError, match="LazyLinear, which has no weights before its first samples"):
        read_model(lazy)


node = helper.make_node
FIRST, BEND = node("MatMul", ["z", "W"], ["a"]), node("Relu", ["a"], ["h"])
LAST = node("MatMul", ["h", "V"], ["output"])
PLAIN = node("Identity", ["input"], ["z"])
CONSTANTS = {
    "W": np.random.default_rng(1).standard_normal((3, 5)),
    "V": np.random.default_rng(2).standard_normal((5, 1)),
    "mean": np.array([[0.5, -1.0, 2.0]]),
    "number": np.array(4.0),
    "one": np.array([2.0]),
    "zero": np.array(0.0),
    "axis": np.array([1]),
}
GRAPHS = {
    "minus a mean": [node("Sub", ["input", "mean"], ["z"]), FIRST, BEND, LAST],
    "a mean minus it": [node("Sub", ["mean", "input"], ["z"]), FIRST, BEND, LAST],
    "divided by a number": [node("Div", ["input", "number"], ["z"]), FIRST, BEND, LAST],
    "times a number from the left": [node("Mul", ["one", "input"], ["z"]), FIRST, BEND, LAST],
    "two steps": [node("Add", ["number", "input"], ["y"]), node("Div", ["y", "one"], ["z"]), FIRST, BEND, LAST],
    "Max with 0": [PLAIN, FIRST, node("Max", ["a", "zero"], ["h"]), LAST],
    "Clip at 0": [PLAIN, FIRST, node("Clip", ["a", "zero"], ["h"]), LAST],
    "Squeeze": [PLAIN, FIRST, BEND, node("MatMul", ["h", "V"], ["o"]), node("Squeeze", ["o", "axis"], ["output"])],
}
REFUSED = {
    "a number divided by it": [node("Div", ["number", "input"], ["z"]), FIRST, BEND, LAST],
    "divided by 0": [node("Div", ["input", "zero"], ["z"]), FIRST, BEND, LAST],
    "Max with 2": [PLAIN, FIRST, node("Max", ["a", "one"], ["h"]), LAST],
    "Clip between two": [PLAIN, FIRST, node("Clip", ["a", "zero", "number"], ["h"]), LAST],
    "Min": [PLAIN, FIRST, node("Min", ["a", "zero"], ["h"]), LAST],
}


def graph(nodes: list) -> onnx.ModelProto:
    made = helper.make_graph(
        nodes,
        "foreign",
        [helper.make_tensor_value_info("input", TensorProto.DOUBLE, [None, 3])],
        [helper.make_tensor_value_info("output", TensorProto.DOUBLE, None)],
        [numpy_helper.from_array(array, name) for name, array in CONSTANTS.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


@pytest.mark.parametrize("name", GRAPHS)
def test_onnx_is_read_as_onnxruntime_computes_it(name: str) -> None:
    model = graph(GRAPHS[name])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"input": X})
    np.testing.assert_allclose(read_model(model).two_classes()(X), expected.reshape(-1), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_onnx_that_computes_something_else_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="Node"):
        read_model(graph(REFUSED[name]))
