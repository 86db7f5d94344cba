"""Somebody's network from a file: the same network whatever the format and names, or a sentence with advice."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer

torch = pytest.importorskip("torch", reason="reads files of torch, an optional extra")
pytest.importorskip("onnx", reason="reads ONNX files, an optional extra")

import safetensors.torch  # noqa: E402

from marginflow.interop import onnx as our_onnx  # noqa: E402
from marginflow.interop.files import layers_by_shape, load_network  # noqa: E402
from marginflow.interop.torch import load_state, tensors, to_module, two_layer  # noqa: E402

EPS = float(np.finfo(np.float64).eps)

NET = TwoLayer.initialise(width=5, dimension=3, seed=0)


def same_bits(first, second):
    return all(array.tobytes() == second.state_dict()[name].tobytes() for name, array in first.state_dict().items())


def torch_module(d, k, *, output_bias):
    return torch.nn.Sequential(torch.nn.Linear(d, k), torch.nn.ReLU(), torch.nn.Linear(k, 1, bias=output_bias)).double()


def test_every_format_gives_the_same_bits(tmp_path):
    module = to_module(NET)
    torch.save(module.state_dict(), tmp_path / "a.pt")
    torch.save({"epoch": 3, "model_state_dict": module.state_dict()}, tmp_path / "b.pth")
    torch.save({"epoch": 3, "model": module.state_dict()}, tmp_path / "c.pth")
    safetensors.torch.save_file(module.state_dict(), tmp_path / "c.safetensors")
    NET.save(tmp_path / "d.safetensors")
    our_onnx.save(NET, tmp_path / "e.onnx")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 6
    for name in names:
        assert same_bits(load_network(tmp_path / name), NET), name


@pytest.mark.parametrize("bias", [True, False])
def test_what_torch_itself_exports_to_onnx_is_read_bit_for_bit(bias, tmp_path):
    first, last = torch.nn.Linear(3, 5, bias=bias), torch.nn.Linear(5, 1, bias=False)
    module = torch.nn.Sequential(first, torch.nn.ReLU(), last)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces that its older exporter, which needs no package, will go
        torch.onnx.export(module, (torch.ones(2, 3),), str(tmp_path / "net.onnx"), dynamo=False)
    assert same_bits(load_network(tmp_path / "net.onnx"), two_layer(module))


@pytest.mark.parametrize(
    ("first", "second"), [("fc1", "fc2"), ("output", "hidden"), ("net.9", "net.10"), ("module.z", "module.a")]
)
def test_layers_may_have_any_name(first, second, tmp_path):
    state = tensors(NET)
    renamed = {name.replace("0.", f"{first}.").replace("2.", f"{second}."): value for name, value in state.items()}
    torch.save(renamed, tmp_path / "a.pt")
    safetensors.torch.save_file(renamed, tmp_path / "b.safetensors")
    assert same_bits(load_network(tmp_path / "a.pt"), NET)
    assert same_bits(load_network(tmp_path / "b.safetensors"), NET)


def test_frozen_outputs_are_remembered_by_our_files(tmp_path):
    frozen = TwoLayer(W=[[1.0]], v=[2.0], outputs="frozen")
    frozen.save(tmp_path / "a.safetensors")
    our_onnx.save(frozen, tmp_path / "b.onnx")
    assert {load_network(tmp_path / name).outputs for name in ("a.safetensors", "b.onnx")} == {"frozen"}
    assert load_network(tmp_path / "b.onnx", outputs="trained").outputs == "trained"


def test_zero_output_bias_is_left_out_and_any_other_is_a_neuron(tmp_path):
    module = torch_module(3, 4, output_bias=True)
    with torch.no_grad():
        module[2].bias.zero_()
    torch.save(module.state_dict(), tmp_path / "zero.pt")
    assert load_network(tmp_path / "zero.pt").width == 4
    with torch.no_grad():
        module[2].bias.fill_(0.25)
    torch.save(module.state_dict(), tmp_path / "one.pt")
    X = np.random.default_rng(1).standard_normal((6, 3))
    network = load_network(tmp_path / "one.pt")
    assert network.width == 5
    np.testing.assert_allclose(network(X), module(torch.tensor(X)).detach().numpy().ravel(), rtol=1e-12, atol=1e-12)


def test_the_advice_on_an_output_bias_computes_the_same():
    c, X = 0.25, np.random.default_rng(0).standard_normal((6, 3))
    assert NET.b is not None
    advised = TwoLayer(W=np.vstack([NET.W, np.zeros(3)]), b=np.append(NET.b, 1.0), v=np.append(NET.v, c))
    np.testing.assert_allclose(advised(X), NET(X) + c, rtol=50 * EPS)


@pytest.mark.parametrize("suffix", ["safetensors", "pt", "onnx"])
def test_other_depths_are_refused_with_advice(suffix, tmp_path):
    deep = MLP.initialise([4, 3], 2, bias="first", seed=0)
    path = tmp_path / f"deep.{suffix}"
    match suffix:
        case "safetensors":
            deep.save(path)
        case "pt":
            torch.save(tensors(deep), path)
        case _:
            our_onnx.save(deep, path)
    with pytest.raises(InputError, match=r"depth 3\).*one hidden layer is expected.*audit\.head"):
        load_network(path)


def test_weights_that_do_not_follow_each_other_are_refused():
    state = {"a.weight": np.ones((4, 3)), "b.weight": np.ones((2, 5))}
    with pytest.raises(InputError, match=r"\(outputs, width\) are expected"):
        layers_by_shape(state)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({}, "holds nothing"),
        ({"0.weight": np.ones((2, 2)), "bn.running_mean": np.ones(2)}, "bn.running_mean"),
        ({"0.weight": np.ones((2, 2)), "1.bias": np.ones(2)}, r"1\.bias"),
        ({"0.weight": np.ones((2, 2, 3, 3)), "2.weight": np.ones((1, 2))}, r"shape \(2, 2, 3, 3\)"),
        ({"0.weight": np.full((1, 2), np.nan)}, "must be finite"),
    ],
)
def test_other_states_are_one_sentence(state, sentence):
    with pytest.raises(InputError, match=sentence):
        layers_by_shape(state)


class _WritesAFile:
    """What a malicious pickle looks like: loading it would create the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_code_in_a_pt_file_is_not_run(tmp_path):
    victim = tmp_path / "victim"
    torch.save({"0.weight": torch.ones(2, 2), "payload": _WritesAFile(victim)}, tmp_path / "evil.pt")
    with pytest.raises(InputError, match="not a file of tensors"):
        load_network(tmp_path / "evil.pt")
    assert not victim.exists()
    torch.load(tmp_path / "evil.pt", weights_only=False)  # the payload is real: the careless way runs it
    assert victim.exists()


def test_a_pickled_module_is_refused_with_advice(tmp_path):
    torch.save(torch_module(2, 3, output_bias=False), tmp_path / "module.pt")
    with pytest.raises(InputError, match=r"torch\.save\(module\.state_dict\(\), path\)") as caught:
        load_state(tmp_path / "module.pt")
    message = str(caught.value)
    assert "it holds the Python object torch.nn.modules.container.Sequential" in message
    assert message.isprintable()  # neither lines nor colours of torch's own text
    assert "weights_only" not in message


def test_a_pt_file_that_is_none_is_refused_with_advice(tmp_path):
    (tmp_path / "junk.pt").write_bytes(b"hello")
    with pytest.raises(InputError, match=r"was not written by torch.save.*torch\.save\(module\.state_dict\(\), path\)"):
        load_state(tmp_path / "junk.pt")


@pytest.mark.parametrize("content", [[1, 2], {"0.weight": 3}, {1: torch.ones(2)}, torch.ones(3)], ids=str)
def test_a_file_without_a_state_dict_is_refused(content, tmp_path):
    torch.save(content, tmp_path / "other.pt")
    with pytest.raises(InputError, match=r"not a state_dict|not a tensor"):
        load_network(tmp_path / "other.pt")


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"ends in '\.h5'"):
        load_network(tmp_path / "a.h5")
    with pytest.raises(InputError, match="There is no file"):
        load_network(tmp_path / "a.pt")
