"""Networks to ONNX and back: bit for bit in float64, one rounding in float32, values as onnxruntime computes them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer

onnx = pytest.importorskip("onnx", reason="converts to and from ONNX, an optional extra")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime judges the values")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from marginflow.interop import onnx as interop  # noqa: E402
from marginflow.interop.models import read_model  # noqa: E402

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
SMALL = st.floats(-1e30, 1e30)


@st.composite
def networks(draw, elements=FLOATS):
    k, d = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    return TwoLayer(
        W=draw(hnp.arrays(np.float64, (k, d), elements=elements)),
        b=draw(hnp.arrays(np.float64, k, elements=elements)) if draw(st.booleans()) else None,
        v=draw(hnp.arrays(np.float64, k, elements=elements)),
        outputs=draw(st.sampled_from(["trained", "frozen"])),
    )


def assert_same_bits(first, second):
    assert first.outputs == second.outputs
    assert list(first.state_dict()) == list(second.state_dict())
    for name, array in first.state_dict().items():
        assert array.tobytes() == second.state_dict()[name].tobytes()


def values(model, X):
    """What onnxruntime, which knows nothing of us, makes of the points."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    kind = np.float64 if given.type == "tensor(double)" else np.float32
    return session.run(None, {given.name: X.astype(kind)})[0]


@given(networks())
@settings(max_examples=50)
def test_double_precision_goes_there_and_back_bit_for_bit(net):
    model = interop.to_model(net)
    onnx.checker.check_model(model, full_check=True)
    assert_same_bits(interop.two_layer(model), net)
    assert_same_bits(interop.two_layer(onnx.load_model_from_string(model.SerializeToString())), net)


@given(networks(SMALL))
@settings(max_examples=50)
def test_single_precision_rounds_once(net):
    back = interop.two_layer(interop.to_model(net, dtype="float32"))
    for name, array in net.state_dict().items():
        assert back.state_dict()[name].tobytes() == array.astype(np.float32).astype(np.float64).tobytes()
    assert_same_bits(interop.two_layer(interop.to_model(back, dtype="float32")), back)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-13), ("float32", 2e-5)])
def test_onnxruntime_computes_the_same_values(dtype, rtol, bias):
    net = TwoLayer.initialise(width=40, dimension=7, bias=bias, seed=0)
    X = np.random.default_rng(0).standard_normal((50, 7))
    found = values(interop.to_model(net, dtype=dtype), X)
    assert found.shape == (50, 1)
    np.testing.assert_allclose(found[:, 0], net(X), rtol=0, atol=rtol * np.abs(net(X)).max())


@pytest.mark.parametrize("bias", ["all", "first", "none"])
@pytest.mark.parametrize("widths", [[], [3], [7, 3]], ids=str)
def test_deep_networks_go_there_and_back_with_their_values(widths, bias):
    net = MLP.initialise(widths, 3, bias=bias, seed=0)
    model = interop.to_model(net)
    onnx.checker.check_model(model, full_check=True)
    assert_same_bits(interop.mlp(model), net)
    X = np.random.default_rng(1).standard_normal((11, 3))
    np.testing.assert_allclose(values(model, X)[:, 0], net(X), rtol=1e-12, atol=1e-14)


def graph(nodes, tensors, *, dimension=3, kind=TensorProto.DOUBLE):
    made = helper.make_graph(
        nodes,
        "foreign",
        [helper.make_tensor_value_info("input", kind, [None, dimension])],
        [helper.make_tensor_value_info("output", kind, [None, 1])],
        initializer=[numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    return model


rng = np.random.default_rng(5)
W, B, V = rng.standard_normal((4, 3)), rng.standard_normal(4), rng.standard_normal(4)
NET, NO_BIAS = TwoLayer(W=W, b=B, v=V), TwoLayer(W=W, v=V)
node = helper.make_node
RELU, OUT = node("Relu", ["a"], ["h"], name="act"), node("Gemm", ["h", "V"], ["output"], name="out")
COLUMN = {"V": V[:, None].copy()}
CONSTANT = node("Constant", [], ["W"], value=numpy_helper.from_array(W.T.copy()))
SPELLINGS = {
    "Gemm without transB": (NET, [node("Gemm", ["input", "W", "B"], ["a"]), RELU, OUT], {"W": W.T.copy(), "B": B}),
    "Gemm with transB": (NET, [node("Gemm", ["input", "W", "B"], ["a"], transB=1), RELU, OUT], {"W": W, "B": B}),
    "Gemm with a row as bias": (
        NET,
        [node("Gemm", ["input", "W", "B"], ["a"], transB=1), RELU, OUT],
        {"W": W, "B": B[None]},
    ),
    "Gemm without bias": (NO_BIAS, [node("Gemm", ["input", "W"], ["a"], transB=1), RELU, OUT], {"W": W}),
    "Gemm with an empty bias name": (NO_BIAS, [node("Gemm", ["input", "W", ""], ["a"], transB=1), RELU, OUT], {"W": W}),
    "Gemm with factors": (
        NET,
        [node("Gemm", ["input", "W", "B"], ["a"], transB=1, alpha=2.0, beta=0.25), RELU, OUT],
        {"W": W / 2.0, "B": 4.0 * B},
    ),
    "MatMul and Add": (
        NET,
        [
            node("MatMul", ["input", "W"], ["m"]),
            node("Add", ["m", "B"], ["a"]),
            RELU,
            node("MatMul", ["h", "V"], ["output"]),
        ],
        {"W": W.T.copy(), "B": B},
    ),
    "Add from the left": (
        NET,
        [node("MatMul", ["input", "W"], ["m"]), node("Add", ["B", "m"], ["a"]), RELU, OUT],
        {"W": W.T.copy(), "B": B},
    ),
    "MatMul alone": (NO_BIAS, [node("MatMul", ["input", "W"], ["a"]), RELU, OUT], {"W": W.T.copy()}),
    "transposed initializer": (
        NO_BIAS,
        [node("Transpose", ["T"], ["W"], perm=[1, 0]), node("MatMul", ["input", "W"], ["a"]), RELU, OUT],
        {"T": W},
    ),
    "constant node": (NO_BIAS, [CONSTANT, node("MatMul", ["input", "W"], ["a"]), RELU, OUT], {}),
    "identities": (
        NO_BIAS,
        [
            node("Identity", ["input"], ["i"]),
            node("Identity", ["T"], ["W"]),
            node("MatMul", ["i", "W"], ["a"]),
            RELU,
            OUT,
        ],
        {"T": W.T.copy()},
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_of_a_linear_map_is_read_as_onnxruntime_computes_it(name):
    net, nodes, tensors = SPELLINGS[name]
    model = graph(nodes, tensors | COLUMN)
    onnx.checker.check_model(model, full_check=True)
    assert_same_bits(interop.two_layer(model), net)
    X = np.random.default_rng(2).standard_normal((9, 3))
    np.testing.assert_allclose(values(model, X)[:, 0], net(X), rtol=1e-13, atol=1e-14)


FIRST = node("Gemm", ["input", "W", "B"], ["a"], name="first", transB=1)
WRONG = {
    "another activation": ([FIRST, node("Tanh", ["a"], ["h"], name="act"), OUT], r"'Tanh', named 'act'"),
    "no activation": ([FIRST, node("Identity", ["a"], ["h"]), OUT], r"'Gemm', named 'out'.*without a Relu"),
    "two activations": ([FIRST, RELU, node("Relu", ["h"], ["g"], name="again")], r"named 'again'.*does not follow"),
    "residual": ([FIRST, RELU, node("Add", ["h", "a"], ["output"], name="skip")], r"named 'skip'.*not a constant"),
    "two biases": ([FIRST, node("Add", ["a", "B"], ["c"], name="more")], r"named 'more'.*without bias"),
    "weights from the left": ([node("MatMul", ["W", "input"], ["a"], name="left")], r"named 'left'.*order"),
    "foreign domain": ([node("Gemm", ["input", "W"], ["a"], name="own", domain="my.ops")], r"named 'own'.*my\.ops"),
    "ends in Relu": ([FIRST, node("Relu", ["a"], ["output"])], "ends in Relu"),
    "nothing": ([], "not what its last node computes"),
    "several outputs": ([FIRST, RELU, node("Gemm", ["h", "W2"], ["output"])], "3 rows; a network with one output"),
    "axes": ([node("Transpose", ["B"], ["c"], name="turn")], r"named 'turn'.*shape \(4,\)"),
    "output bias": ([FIRST, RELU, node("Gemm", ["h", "V", "one"], ["output"])], "output bias"),
}


@pytest.mark.parametrize("name", WRONG)
def test_any_other_graph_is_one_sentence_that_names_the_node(name):
    nodes, sentence = WRONG[name]
    tensors = {"W": W, "B": B, "W2": W.copy(), "one": np.ones(1)} | COLUMN
    with pytest.raises(InputError, match=sentence) as caught:
        interop.two_layer(graph(nodes, tensors))
    assert "\n" not in str(caught.value)


def test_weights_in_another_file_are_not_opened(tmp_path):
    model = interop.to_model(NET)
    tensor = model.graph.initializer[0]
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="in another file"):
        interop.load(tmp_path / "net.onnx")


def test_integer_weights_and_shapes_that_do_not_fit_are_refused():
    model = interop.to_model(NET)
    model.graph.initializer[0].dims[0] = 10**12
    with pytest.raises(InputError, match="does not fit"):
        interop.two_layer(model)
    with pytest.raises(InputError, match="INT64"):
        interop.two_layer(graph([FIRST, RELU, OUT], {"W": np.ones((4, 3), dtype=np.int64), "B": B} | COLUMN))


def test_files_are_written_whole_and_read_back(tmp_path):
    path = interop.save(NET, tmp_path / "net.onnx")
    assert_same_bits(interop.load(path), NET)
    assert [file.name for file in tmp_path.iterdir()] == ["net.onnx"]
    with pytest.raises(InputError, match=r"ends in '\.pb'"):
        interop.save(NET, tmp_path / "net.pb")
    with pytest.raises(InputError, match="There is no file"):
        interop.load(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 40)
    with pytest.raises(InputError, match=r"not a readable \.onnx"):
        interop.load(tmp_path / "bad.onnx")


def test_numbers_too_large_for_single_precision_are_refused():
    with pytest.raises(InputError, match=r"1e\+300, which is too large for float32"):
        interop.to_model(TwoLayer(W=[[1e300]], v=[1.0]), dtype="float32")
    with pytest.raises(InputError, match="'float16'"):
        interop.to_model(NET, dtype="float16")


def classifier_graph(model: object, *, classes: object, scaled: bool, spoilt: str = ""):
    """What skl2onnx makes of an MLPClassifier, alone or behind a StandardScaler, node by node."""
    mlp = model[-1] if scaled else model
    two = mlp.coefs_[1].shape[1] == 1
    constants = {
        "W1": mlp.coefs_[0],
        "b1": mlp.intercepts_[0][None, :],
        "W2": mlp.coefs_[1],
        "b2": mlp.intercepts_[1][None, :],
        "unity": np.array(2.0 if spoilt == "unity" else 1.0),
        "classes": np.array(classes, dtype=np.int32),
        "shape": np.array([-1]),
    }
    nodes, x = [], "X"
    if scaled:
        constants |= {"mean": model[0].mean_, "scale": model[0].scale_}
        nodes += [helper.make_node("Sub", ["X", "mean"], ["s"]), helper.make_node("Div", ["s", "scale"], ["x"])]
        x = "x"
    nodes += [
        helper.make_node("Cast", [x], ["c"], to=TensorProto.DOUBLE),
        helper.make_node("MatMul", ["c", "W1"], ["m1"]),
        helper.make_node("Add", ["m1", "b1"], ["a1"]),
        helper.make_node("Relu", ["a1"], ["h"]),
        helper.make_node("MatMul", ["h", "W2"], ["m2"]),
        helper.make_node("Add", ["m2", "b2"], ["a2"]),
        helper.make_node("Sigmoid" if two else "Softmax", ["a2"], ["r"]),
    ]
    if two:
        order = ["r", "n"] if spoilt == "order" else ["n", "r"]
        nodes += [helper.make_node("Sub", ["unity", "r"], ["n"]), helper.make_node("Concat", order, ["p"], axis=1)]
    else:
        nodes.append(helper.make_node("Identity", ["r"], ["p"]))
    nodes += [
        helper.make_node("ArgMax", ["p"], ["first"], axis=1),
        helper.make_node("ArrayFeatureExtractor", ["classes", "first"], ["named"], domain="ai.onnx.ml"),
        helper.make_node("Reshape", ["named", "shape"], ["flat"]),
        helper.make_node("Cast", ["flat"], ["cast"], to=TensorProto.INT64),
        helper.make_node("Identity", ["cast"], ["label"]),  # skl2onnx writes it behind the labels of a Pipeline
    ]
    d = mlp.coefs_[0].shape[0]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, d])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("p", TensorProto.DOUBLE, None),
        ],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=imports)


def fitted_classifier(n_classes: int, *, scaled: bool):
    neural = pytest.importorskip("sklearn.neural_network")
    pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    rng = np.random.default_rng(0)
    X = 3.0 + 2.0 * rng.standard_normal((60, 4))
    y = np.digitize(X[:, 0] + X[:, 1], [6.0, 9.0][: n_classes - 1])
    model = neural.MLPClassifier((6,), max_iter=5000, tol=0.01, random_state=0)
    model = pipeline.make_pipeline(preprocessing.StandardScaler(), model) if scaled else model
    return model.fit(X, y), X


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_with_labels_and_probabilities_is_read_up_to_the_values_that_decide(n_classes, scaled):
    model, X = fitted_classifier(n_classes, scaled=scaled)
    network = read_model(classifier_graph(model, classes=range(n_classes), scaled=scaled)).network
    predicted = network.predict(X) if n_classes > 2 else (network(X) > 0).astype(int)
    np.testing.assert_array_equal(predicted, model.predict(X))


@pytest.mark.parametrize(
    ("classes", "spoilt", "named"),
    [((1, 0), "", "ArrayFeatureExtractor"), ((0, 1), "unity", "Sub"), ((0, 1), "order", "Concat")],
)
def test_an_end_that_could_name_other_classes_is_refused(classes, spoilt, named):
    model, _ = fitted_classifier(2, scaled=False)
    with pytest.raises(InputError, match=f"'{named}'.* stands behind Sigmoid; there only the label"):
        read_model(classifier_graph(model, classes=classes, scaled=False, spoilt=spoilt))
