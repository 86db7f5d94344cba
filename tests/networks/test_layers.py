"""Networks on disk: bit for bit there and back, and a sentence for everything that is not a network."""

import json
import struct

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


def same_bits(first, second):
    return (
        first.dtype == second.dtype == np.float64
        and first.shape == second.shape
        and first.tobytes() == second.tobytes()
    )


@given(
    data=st.data(),
    width=st.integers(1, 4),
    dimension=st.integers(1, 4),
    bias=st.booleans(),
    outputs=st.sampled_from(["trained", "frozen"]),
)
@settings(max_examples=40)
def test_a_two_layer_network_survives_the_disk_bit_for_bit(tmp_path_factory, data, width, dimension, bias, outputs):
    net = TwoLayer(
        W=data.draw(hnp.arrays(np.float64, (width, dimension), elements=FLOATS)),
        b=data.draw(hnp.arrays(np.float64, width, elements=FLOATS)) if bias else None,
        v=data.draw(hnp.arrays(np.float64, width, elements=FLOATS)),
        outputs=outputs,
    )
    path = tmp_path_factory.mktemp("nets") / "net.safetensors"
    assert net.save(path) == path
    back = TwoLayer.load(path)
    assert same_bits(back.W, net.W)
    assert same_bits(back.v, net.v)
    assert (back.b is None) == (net.b is None)
    assert net.b is None or same_bits(back.b, net.b)
    assert back.outputs == outputs
    as_deep = MLP.load(path)
    assert as_deep.outputs == outputs
    assert same_bits(as_deep.weights[0], net.W)


@pytest.mark.parametrize("bias", ["all", "first", "none"])
@pytest.mark.parametrize("widths", [[], [1], [3, 7], [2, 1, 5]])
def test_a_deep_network_survives_the_disk_bit_for_bit(tmp_path, widths, bias):
    net = MLP.initialise(widths, 3, bias=bias, seed=1)
    back = MLP.load(net.save(tmp_path / "net.safetensors"))
    for (W, b), (W2, b2) in zip(net.layers, back.layers, strict=True):
        assert same_bits(W, W2)
        assert (b is None) == (b2 is None)
        assert b is None or same_bits(b, b2)
    assert (back.degree, back.outputs) == (net.degree, net.outputs)


def test_names_and_shapes_are_those_of_a_torch_sequential():
    state = TwoLayer.initialise(3, 2, seed=0).state_dict()
    assert [(name, array.shape) for name, array in state.items()] == [
        ("0.weight", (3, 2)),
        ("0.bias", (3,)),
        ("2.weight", (1, 3)),
    ]
    deep = MLP.initialise([3, 4], 2, bias="all", seed=0).state_dict()
    assert list(deep) == ["0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"]


@pytest.mark.parametrize("network", [TwoLayer.initialise(3, 2, bias=False), MLP.initialise([3, 2], 2, bias="all")])
def test_state_dicts_go_there_and_back(network):
    back = type(network).from_state_dict(network.state_dict(), outputs=network.outputs)
    assert all(same_bits(back.state_dict()[name], array) for name, array in network.state_dict().items())


def test_a_file_of_single_precision_is_read_without_further_rounding(tmp_path):
    state = {"0.weight": np.float32([[0.1, 0.2]]), "2.weight": np.float32([[0.3]])}
    safetensors.numpy.save_file(state, tmp_path / "net.safetensors")
    net = TwoLayer.load(tmp_path / "net.safetensors")
    assert net.W.tolist() == [[float(np.float32(0.1)), float(np.float32(0.2))]]
    assert net.outputs == "trained"


GOOD = {"0.weight": np.ones((2, 3)), "0.bias": np.ones(2), "2.weight": np.ones((1, 2))}
FOREIGN = [
    ({}, "The state holds"),
    ({"weight": np.ones((1, 1))}, r"The state holds \['weight'\]"),
    ({"fc1.weight": np.ones((2, 3)), "fc2.weight": np.ones((1, 2))}, "torch's Sequential of Linear and ReLU"),
    ({**GOOD, "extra": np.ones(1)}, "The state holds"),
    ({"0.bias": np.ones(2), "2.weight": np.ones((1, 2))}, "The state holds"),
    ({**GOOD, "2.bias": np.ones(1)}, "depth 2 with output bias; depth 2 without output bias is expected"),
    ({**GOOD, "2.weight": np.ones((4, 2))}, "2.weight has 4 rows; a network with one output"),
    ({**GOOD, "2.weight": np.ones((1, 5))}, "2.weight has 5 columns, but the layer before it has 2 outputs"),
    ({**GOOD, "2.weight": np.ones(2)}, r"2.weight has shape \(2,\); a matrix"),
    ({**GOOD, "0.bias": np.ones(3)}, "0.bias has 3 entries; 2 are expected"),
    ({**GOOD, "0.weight": np.full((2, 3), np.nan)}, "0.weight has the value nan"),
    ({**GOOD, "0.weight": np.zeros((0, 3))}, "0.weight has shape"),
    ({"0.weight": np.ones((1, 3))}, "depth 1 without output bias"),
    ({"0.weight": np.ones((2, 3)), "2.weight": np.ones((2, 2)), "4.weight": np.ones((1, 2))}, "depth 3"),
]


@pytest.mark.parametrize(("state", "sentence"), FOREIGN)
def test_foreign_states_are_refused_with_the_file_in_the_sentence(tmp_path, state, sentence):
    with pytest.raises(InputError, match=sentence):
        TwoLayer.from_state_dict(state)
    path = tmp_path / "foreign.safetensors"
    safetensors.numpy.save_file(state, path)
    with pytest.raises(InputError, match=sentence) as caught:
        TwoLayer.load(path)
    assert str(caught.value).startswith(str(path))


def test_a_deep_network_reads_what_a_two_layer_network_refuses(tmp_path):
    path = tmp_path / "net.safetensors"
    safetensors.numpy.save_file({**GOOD, "2.bias": np.ones(1)}, path)
    assert not MLP.load(path).homogeneous
    safetensors.numpy.save_file({"0.weight": np.ones((2, 3))}, path)
    with pytest.raises(InputError, match="one output"):
        MLP.load(path)


def test_corrupted_files_are_refused_in_one_sentence(tmp_path):
    good = TwoLayer.initialise(3, 2).save(tmp_path / "good.safetensors").read_bytes()
    header = json.dumps({"0.weight": {"dtype": "F64", "shape": [9, 9], "data_offsets": [0, 8]}}).encode()
    broken = {
        "empty": b"",
        "text": b"no network at all, only words",
        "cut": good[:-5],
        "header cut": good[:20],
        "wrong length": struct.pack("<Q", 10**12) + good[8:],
        "wrong shape": struct.pack("<Q", len(header)) + header + bytes(8),
        "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94.",
    }
    for name, content in broken.items():
        path = tmp_path / f"{name}.safetensors"
        path.write_bytes(content)
        for kind in (TwoLayer, MLP):
            with pytest.raises(InputError, match=r"is not a readable \.safetensors file"):
                kind.load(path)


def test_missing_files_folders_and_unknown_words_are_refused(tmp_path):
    net = TwoLayer.initialise(3, 2)
    with pytest.raises(InputError, match="There is no file"):
        TwoLayer.load(tmp_path / "none.safetensors")
    with pytest.raises(InputError, match="does not exist"):
        net.save(tmp_path / "nowhere" / "net.safetensors")
    path = tmp_path / "word.safetensors"
    safetensors.numpy.save_file(GOOD, path, metadata={"outputs": "sometimes"})
    with pytest.raises(InputError, match="outputs is 'sometimes'"):
        TwoLayer.load(path)
    safetensors.numpy.save_file({**GOOD, "0.weight": np.ones((2, 3), dtype=np.complex64)}, path)
    with pytest.raises(InputError, match=r"0\.weight holds complex numbers"):
        TwoLayer.load(path)


def test_a_refused_network_leaves_the_old_file_as_it_was(tmp_path):
    path = TwoLayer.initialise(3, 2).save(tmp_path / "net.safetensors")
    before = path.read_bytes()
    with pytest.raises(InputError):
        TwoLayer.load(path).scaled(-1.0).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.safetensors"]
