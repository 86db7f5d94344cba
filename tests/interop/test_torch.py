"""Networks to torch and back: bit for bit in float64, one rounding in float32, files without conversion."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer

torch = pytest.importorskip("torch", reason="converts to and from torch, an optional extra")

import safetensors.torch  # noqa: E402

from marginflow.interop import torch as interop  # noqa: E402

EPS = float(np.finfo(np.float64).eps)

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
# Numbers that float32 holds to full precision: the rounding below is relative.
NORMAL = st.floats(1e-30, 1e30) | st.floats(-1e30, -1e-30) | st.just(0.0)


def same_bits(first, second):
    return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()


def assert_same_network(first, second):
    assert type(first) is type(second)
    assert first.outputs == second.outputs
    assert list(first.state_dict()) == list(second.state_dict())
    assert all(same_bits(array, second.state_dict()[name]) for name, array in first.state_dict().items())


@st.composite
def two_layer_networks(draw, elements=FLOATS):
    k, d = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return TwoLayer(
        W=draw(hnp.arrays(np.float64, (k, d), elements=elements)),
        b=draw(hnp.arrays(np.float64, k, elements=elements)) if draw(st.booleans()) else None,
        v=draw(hnp.arrays(np.float64, k, elements=elements)),
        outputs=draw(st.sampled_from(["trained", "frozen"])),
    )


@given(two_layer_networks())
@settings(max_examples=50)
def test_double_precision_goes_there_and_back_bit_for_bit(net):
    assert_same_network(interop.two_layer(interop.to_module(net)), net)
    state = interop.arrays(interop.tensors(net))
    assert_same_network(TwoLayer.from_state_dict(state, outputs=net.outputs), net)


@given(two_layer_networks(NORMAL))
@settings(max_examples=50)
def test_single_precision_rounds_once(net):
    back = interop.two_layer(interop.to_module(net, dtype=torch.float32))
    for name, array in net.state_dict().items():
        assert (np.abs(back.state_dict()[name] - array) <= 2.0**-24 * np.abs(array)).all()
        assert same_bits(back.state_dict()[name], array.astype(np.float32).astype(np.float64))
    # What torch held in float32 we hold exactly, so the second round trip changes nothing.
    assert_same_network(interop.two_layer(interop.to_module(back, dtype=torch.float32)), back)


@pytest.mark.parametrize("bias", ["all", "first", "none"])
@pytest.mark.parametrize("widths", [[], [1], [7, 3], [2, 17, 5]], ids=str)
def test_deep_networks_go_there_and_back_with_their_values(widths, bias):
    net = MLP.initialise(widths, 3, bias=bias, seed=0)
    module = interop.to_module(net)
    assert_same_network(interop.mlp(module), net)
    X = np.random.default_rng(0).standard_normal((11, 3))
    with torch.no_grad():
        values = module(torch.tensor(X))[:, 0].numpy()
    np.testing.assert_allclose(values, net(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_a_module_of_any_precision_is_read_exactly(dtype):
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 7), torch.nn.ReLU(), torch.nn.Linear(7, 1, bias=False)).to(dtype)
    net = interop.two_layer(module)
    assert net.W.tolist() == module[0].weight.tolist()
    assert net.b.tolist() == module[0].bias.tolist()
    assert net.v.tolist() == module[2].weight[0].tolist()


def test_the_module_computes_the_margins_that_we_compute():
    net = TwoLayer.initialise(17, 5, seed=1)
    X = np.random.default_rng(1).standard_normal((33, 5))
    values = interop.to_module(net)(torch.tensor(X))
    assert values.shape == (33, 1)
    np.testing.assert_allclose(values.detach().numpy()[:, 0], net(X), rtol=1e-12, atol=50 * EPS)


def test_torch_reads_our_file_as_a_state_dict(tmp_path):
    net = TwoLayer.initialise(7, 3, seed=2)
    path = net.save(tmp_path / "net.safetensors")
    state = safetensors.torch.load_file(path)
    module = torch.nn.Sequential(torch.nn.Linear(3, 7), torch.nn.ReLU(), torch.nn.Linear(7, 1, bias=False)).double()
    module.load_state_dict(state)
    assert same_bits(module[0].weight.detach().numpy(), net.W)
    assert same_bits(module[0].bias.detach().numpy(), net.b)
    assert same_bits(module[2].weight.detach().numpy()[0], net.v)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_we_read_the_file_that_torch_wrote(tmp_path, dtype):
    torch.manual_seed(1)
    module = torch.nn.Sequential(torch.nn.Linear(3, 7), torch.nn.ReLU(), torch.nn.Linear(7, 1, bias=False)).to(dtype)
    path = tmp_path / "module.safetensors"
    safetensors.torch.save_file(module.state_dict(), path)
    assert_same_network(TwoLayer.load(path), interop.two_layer(module))
    assert_same_network(MLP.load(path), interop.mlp(module))


def test_training_the_module_in_torch_moves_what_we_read_along_our_gradient():
    net = TwoLayer.initialise(5, 3, outputs="frozen", seed=3)
    X = np.random.default_rng(3).standard_normal((9, 3))
    module = interop.to_module(net)
    module(torch.tensor(X)).sum().backward()
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.grad is not None:
                parameter -= 0.1 * parameter.grad
    moved, slope = interop.two_layer(module), net.gradient(X, np.ones(9))
    np.testing.assert_allclose(moved.W, net.W - 0.1 * slope.W, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(moved.b, net.b - 0.1 * slope.b, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(moved.v, net.v)
    assert moved.outputs == "frozen"


def test_outputs_are_frozen_when_only_they_need_no_gradient():
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1, bias=False))
    assert interop.two_layer(module).outputs == "trained"
    module[2].weight.requires_grad_(False)
    assert interop.two_layer(module).outputs == "frozen"
    assert interop.two_layer(module, outputs="trained").outputs == "trained"
    for parameter in module.parameters():
        parameter.requires_grad_(False)  # a module put aside for evaluation says nothing
    assert interop.two_layer(module).outputs == "trained"


def test_nested_modules_are_opened_and_converting_leaves_the_random_state_alone():
    inner = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    module = torch.nn.Sequential(torch.nn.Identity(), inner, torch.nn.Linear(2, 1))
    before = torch.random.get_rng_state()
    net = interop.mlp(module)
    interop.to_module(net)
    assert bool((torch.random.get_rng_state() == before).all())
    assert net.widths == (2,)
    assert not net.homogeneous


def test_a_module_is_a_copy():
    net = TwoLayer.initialise(2, 2, seed=0)
    module = interop.to_module(net)
    kept, state = interop.two_layer(module), interop.arrays(module.state_dict())
    with torch.no_grad():
        module[0].weight.zero_()
    assert net.W.all()
    assert kept.W.all()
    assert state["0.weight"].all()


class Shifted(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) + 1.0


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (
            lambda nn: nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1, bias=False)),
            r"\[Linear, Tanh, Linear\]",
        ),
        (lambda nn: nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)), "in turn is expected"),
        (lambda nn: nn.Sequential(nn.Linear(3, 2), nn.ReLU()), "in turn is expected"),
        (lambda nn: nn.Sequential(), "in turn is expected"),
        (lambda nn: nn.Sequential(Shifted(3, 2), nn.ReLU(), nn.Linear(2, 1)), r"\[Shifted, ReLU, Linear\]"),
        (lambda nn: nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1)), "depth 2 with output bias"),
        (lambda nn: nn.Sequential(nn.Linear(3, 1, bias=False)), "depth 1 without output bias"),
        (
            lambda nn: nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 10, bias=False)),
            "has 10 rows; .* one output",
        ),
        (lambda nn: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(2, 1, bias=False)), "has 2 columns"),
        (lambda nn: nn.Linear(3, 1).weight, "module is a Parameter"),
    ],
)
def test_other_modules_are_refused_in_one_sentence(module, sentence):
    with pytest.raises(InputError, match=sentence):
        interop.two_layer(module(torch.nn))


def test_values_that_a_network_cannot_have_are_refused():
    module = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU(), torch.nn.Linear(1, 1, bias=False))
    with torch.no_grad():
        module[0].weight.fill_(float("nan"))
    with pytest.raises(InputError, match="Linear 1: weight has the value nan"):
        interop.two_layer(module)
    huge = TwoLayer(W=[[1e300]], v=[1.0])
    with pytest.raises(InputError, match=r"0\.weight has the entry 1e\+300, which is too large for torch\.float32"):
        interop.to_module(huge, dtype=torch.float32)
    with pytest.raises(InputError, match="a floating type"):
        interop.to_module(huge, dtype=torch.int64)
    with pytest.raises(InputError, match=r"0\.weight is not a tensor of real numbers"):
        interop.arrays({"0.weight": torch.ones(1, 1, dtype=torch.complex64)})


def test_importing_the_door_does_not_import_torch():
    code = "import sys, marginflow.interop.torch; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
