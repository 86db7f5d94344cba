"""Networks of other libraries: what is folded in computes the same, what does not fit is refused with advice."""

from __future__ import annotations

import warnings
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

from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler  # noqa: E402
from torch import nn  # noqa: E402

X = np.random.default_rng(0).standard_normal((20, 4))


def norm() -> nn.BatchNorm1d:
    layer = nn.BatchNorm1d(6)
    with torch.no_grad():
        layer.running_mean.uniform_(-1, 1)
        layer.running_var.uniform_(0.5, 2)
        layer.weight.uniform_(-2, 2)
        layer.bias.uniform_(-1, 1)
    return layer


class Custom(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.drop = nn.Linear(4, 6), nn.Linear(6, 1), nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.drop(torch.relu(self.first(torch.flatten(x, 1)))))


class Skip(Custom):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x))) + x[:, :1]


MODULES = {
    "plain": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1, bias=False)),
    "output bias": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)),
    "no bias": lambda: nn.Sequential(nn.Linear(4, 6, bias=False), nn.ReLU(), nn.Linear(6, 1)),
    "two logits": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)),
    "leaky": lambda: nn.Sequential(nn.Linear(4, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1)),
    "BatchNorm before": lambda: nn.Sequential(nn.Linear(4, 6), norm(), nn.ReLU(), nn.Linear(6, 1)),
    "BatchNorm after": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), norm(), nn.Linear(6, 1)),
    "nested": lambda: nn.Sequential(
        nn.Flatten(), nn.Sequential(nn.Linear(4, 6), nn.Identity(), nn.ReLU()), nn.Dropout(), nn.Linear(6, 1)
    ),
    "two linear maps": lambda: nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 1)),
    "own forward": Custom,
}  # fmt: skip


def values(module: nn.Module) -> np.ndarray:
    with torch.no_grad():
        out = module.double().eval()(torch.tensor(X)).numpy()
    return out[:, 0] if out.shape[1] == 1 else out[:, 1] - out[:, 0]


@pytest.mark.parametrize("name", MODULES)
def test_a_torch_module_computes_the_same_after_folding(name: str) -> None:
    torch.manual_seed(0)
    module = MODULES[name]()
    network = read_model(module).two_classes()
    np.testing.assert_allclose(network(X), values(module), rtol=1e-6, atol=1e-6)  # the module was float32 when read
    np.testing.assert_allclose(read_model(module).two_classes()(X), values(module), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("how", ["script", "trace"])
def test_torchscript_is_read_from_its_graph(name: str, how: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = MODULES[name]().double().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch announces that TorchScript will go
        scripted = torch.jit.script(module) if how == "script" else torch.jit.trace(module, torch.tensor(X))
        scripted.save(str(tmp_path / "model.pt"))
        network = read_model(tmp_path / "model.pt").two_classes()
    np.testing.assert_allclose(network(X), values(module), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MODULES)
def test_what_torch_exports_to_onnx_computes_the_same(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    module = MODULES[name]().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (torch.ones(2, 4),), str(tmp_path / "net.onnx"), dynamo=False)
    network = read_model(tmp_path / "net.onnx").two_classes()
    np.testing.assert_allclose(network(X), values(module), rtol=1e-4, atol=1e-5)  # the exporter folds in float32


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
@pytest.mark.parametrize("scaled", [False, True])
def test_scikit_learn_classifiers_are_read_with_their_scalers(labels: list, scaled: bool) -> None:
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    classifier = MLPClassifier((6,), max_iter=2000, random_state=0)
    model = make_pipeline(StandardScaler(), classifier) if scaled else classifier
    model.fit(3.0 + 2.0 * X, y)
    read = read_model(model)
    network = read.two_classes()
    p = model.predict_proba(3.0 + 2.0 * X)[:, 1]
    np.testing.assert_allclose(network(3.0 + 2.0 * X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)
    assert any("StandardScaler" in remark for remark in read.remarks) == scaled


def test_ten_logits_are_a_classifier_and_two_class_doors_say_so() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 10)).double()
    model = read_model(module)
    assert isinstance(model.network, Classifier)
    with torch.no_grad():
        np.testing.assert_allclose(model.network(X), module(torch.tensor(X)).numpy(), rtol=1e-12, atol=1e-12)
    with pytest.raises(InputError, match=r"10 outputs; one, or two logits, are expected here.*exact_radius"):
        model.two_classes()


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1)), "layer Tanh.*audit.head"),
        (nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Linear(3, 1)), "layer Conv2d"),
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1)), "2 hidden layers"),
        (nn.Linear(4, 1), "no hidden layer"),
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU()), "ends in its activation"),
        (nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(4, 1)), "takes 4 numbers"),
        (nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3, track_running_stats=False), nn.ReLU()), "running statistics"),
        (Skip(), "takes more than what is before it"),
        (MLPClassifier((6,)), "not fitted"),
        (StandardScaler, "a TwoLayer, a torch module or its state_dict, an ONNX model"),
        (3, "a TwoLayer, a torch module or its state_dict, an ONNX model"),
    ],
)
def test_misfits_are_told_what_could_be_done(model: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_model(model)


def test_other_scikit_learn_models_are_refused_by_name() -> None:
    y = X[:, 0] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few iterations
        tanh = MLPClassifier((6,), activation="tanh", max_iter=1).fit(X, y)
        scaled = make_pipeline(QuantileTransformer(n_quantiles=5), MLPClassifier((6,), max_iter=1)).fit(X, y)
        clipped = make_pipeline(MinMaxScaler(clip=True), MLPClassifier((6,), max_iter=1)).fit(X, y)
        deep = MLPClassifier((6, 6), max_iter=1).fit(X, y)
    for model, sentence in (
        (tanh, "activation 'tanh'"),
        (scaled, "step QuantileTransformer"),
        (deep, "2 hidden layers"),
        (clipped, "clips"),
    ):
        with pytest.raises(InputError, match=sentence):
            read_model(model)


@pytest.mark.parametrize("scaler", [MinMaxScaler(), MaxAbsScaler(), RobustScaler(), RobustScaler(with_centering=False)])
def test_every_linear_scaler_is_folded(scaler: object) -> None:
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(scaler, MLPClassifier((6,), max_iter=2000, tol=0.01, random_state=0)).fit(3.0 + 2.0 * X, y)
    p = model.predict_proba(3.0 + 2.0 * X)[:, 1]
    found = read_model(model)
    np.testing.assert_allclose(found.two_classes()(3.0 + 2.0 * X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)
    assert any(type(scaler).__name__ in remark for remark in found.remarks)


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


def test_pickles_are_refused_with_the_ways_that_are_open(tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(b"")
    with pytest.raises(InputError, match=r"can run code: call mf\.audit\(model, X, y\) in Python"):
        read_model(tmp_path / "model.pkl")


def test_a_state_dict_is_read_as_its_file_is() -> None:
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1, bias=False)).double()
    found = read_model(module.state_dict())
    np.testing.assert_array_equal(found.network.W, module[0].weight.detach().numpy())
    assert found.assumed
    with pytest.raises(InputError, match="a torch module or its state_dict"):
        read_model({"weights": 3})
