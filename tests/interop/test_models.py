"""Networks of other libraries: what is folded in computes the same, what does not fit is refused with advice."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from torch_values import X, values

from marginflow.errors import InputError
from marginflow.interop.models import read_model
from marginflow.networks import Classifier

torch = pytest.importorskip("torch", reason="reads models of torch, an optional extra")
onnx = pytest.importorskip("onnx", reason="reads ONNX, an optional extra")
pytest.importorskip("sklearn", reason="reads models of scikit-learn, an optional extra")

from sklearn.neural_network import MLPClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler  # noqa: E402
from torch import nn  # noqa: E402


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
        (Skip(), "takes something else than what is before it"),
        (MLPClassifier((6,)), "not fitted"),
        (StandardScaler, "a TwoLayer or Classifier of ours, a torch module or its state_dict, an ONNX model"),
        (3, "a TwoLayer or Classifier of ours, a torch module or its state_dict, an ONNX model"),
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


def test_a_scaler_in_front_is_said_once_and_a_norm_behind_the_activation_where_it_is() -> None:
    labels = np.where(X[:, 0] > 0, 1, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=5, random_state=0)).fit(X, labels)
    said = read_model(pipeline).remarks
    assert said[0] == "StandardScaler in front was folded into the first layer."
    assert not any("before it" in remark for remark in said)
    two = nn.Sequential(nn.BatchNorm1d(4), nn.BatchNorm1d(4), nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1, bias=False))
    assert read_model(two.eval()).remarks == ("BatchNorm1d, BatchNorm1d in front were folded into the first layer.",)
    assert read_model(MODULES["BatchNorm after"]().eval()).remarks[0] == (
        "BatchNorm1d was folded into the linear map after it."
    )
    assert read_model(MODULES["BatchNorm before"]().eval()).remarks[0] == (
        "BatchNorm1d was folded into the linear map before it."
    )


def test_our_own_classifier_is_taken_alone_as_in_a_pipeline() -> None:
    from marginflow.interop.sklearn import MaxMarginReLUClassifier

    labels = np.where(X[:, 0] > 0, "yes", "no")
    fitted = MaxMarginReLUClassifier(random_state=0).fit(X, labels)
    network = read_model(fitted).network
    np.testing.assert_allclose(network(X), fitted.decision_function(X), rtol=1e-9, atol=1e-12)
    many = MaxMarginReLUClassifier(random_state=0).fit(X, np.arange(20) % 3)
    classifier = read_model(many).network
    assert isinstance(classifier, Classifier)
    assert (classifier.predict(X) == many.predict(X)).all()


def test_what_is_not_fitted_is_said_to_be_so() -> None:
    from marginflow.interop.sklearn import MaxMarginReLUClassifier

    for model, kind in (
        (MaxMarginReLUClassifier(), "MaxMarginReLUClassifier"),
        (make_pipeline(RobustScaler(), MLPClassifier((5,))), "RobustScaler"),
        (make_pipeline(StandardScaler(), MLPClassifier((5,))), "StandardScaler"),
        (MLPClassifier((5,)), "MLPClassifier"),
    ):
        with pytest.raises(InputError, match=f"The {kind} is not fitted; call fit first"):
            read_model(model)


def test_a_module_in_training_is_audited_as_in_evaluation_and_said_to_be_in_training() -> None:
    module = MODULES["BatchNorm before"]()
    said = read_model(module.train()).remarks
    assert said[0] == "The module is in training mode (BatchNorm1d); audited is what it computes after module.eval()."
    assert module.training
    assert read_model(module.eval()).remarks == said[1:]
    assert not read_model(MODULES["plain"]().train()).remarks  # computes the same in both


def test_the_advice_for_misfits_can_be_followed() -> None:
    from marginflow.interop.auditing import audit_head
    from marginflow.networks import MLP
    from marginflow.robustness import radius_bracket

    labels = np.where(X[:, 0] > 0, 1, 0)
    line = nn.Sequential(nn.Linear(4, 1)).double()
    with pytest.raises(InputError, match=r"mf\.audit\.head\(module, X, y\)"):
        read_model(line)
    w, b = (value.detach().numpy() for value in line.parameters())
    found = audit_head(line, X, np.where(X @ w[0] + b > 0, 1, 0), points=2)
    assert "space of the inputs" in found.remarks[-1]
    for drawn in found.radii:
        assert drawn.radius.upper == pytest.approx(
            float(abs(X[drawn.sample] @ w[0] + b)[0] / np.linalg.norm(w)), rel=1e-6
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPClassifier((5, 5), max_iter=5, random_state=0).fit(X, labels)
    with pytest.raises(InputError, match=r"MLP\.from_layers\(\[\(W\.T, b\)"):
        read_model(model)
    network = MLP.from_layers([(W.T, b) for W, b in zip(model.coefs_, model.intercepts_, strict=True)])
    assert ((network(X) > 0) == (model.predict(X) == 1)).all()
    assert radius_bracket(network, X[0]).lower > 0
