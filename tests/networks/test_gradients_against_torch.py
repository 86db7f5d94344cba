"""Values and gradients against torch's automatic differentiation, to 1e-12, over odd sizes."""

import numpy as np
import pytest

from marginflow.networks import MLP, TwoLayer
from marginflow.networks.initialisation import GaussianStart

torch = pytest.importorskip("torch", reason="torch's automatic differentiation is the judge here")

SIZES = [1, 2, 3, 7, 17, 33]
WIDTHS = [[], [1], [33], [1, 1], [17, 7], [3, 33, 2], [7, 1, 17, 3]]


def relative_error(found, truth):
    truth = truth.detach().numpy()
    assert found.shape == truth.shape
    return np.abs(found - truth).max() / max(np.abs(truth).max(), np.finfo(float).tiny)


def torch_layers(layers):
    return [
        (torch.tensor(W, requires_grad=True), None if b is None else torch.tensor(b, requires_grad=True))
        for W, b in layers
    ]


def torch_values(layers, X):
    signal = X
    for index, (W, b) in enumerate(layers):
        signal = torch.nn.functional.linear(torch.relu(signal) if index else signal, W, b)
    return signal[:, 0]


def assert_agrees(network, layers_of_gradient, X, g):
    parameters = torch_layers(network.layers)
    inputs = torch.tensor(X, requires_grad=True)
    values = torch_values(parameters, inputs)
    assert relative_error(network(X), values) <= 1e-12
    (values @ torch.tensor(g)).backward(retain_graph=True)
    for (dW, db), (W, b) in zip(layers_of_gradient, parameters, strict=True):
        assert relative_error(dW, W.grad) <= 1e-12
        assert (db is None) == (b is None)
        if b is not None:
            assert relative_error(db, b.grad) <= 1e-12
    (slopes,) = torch.autograd.grad(values.sum(), inputs)
    assert relative_error(network.input_gradient(X), slopes) <= 1e-12


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("d", SIZES)
def test_two_layer_gradients_agree_with_torch(d, k, bias, outputs):
    for n in (1, 2, 7, 33):
        rng = np.random.default_rng([n, d, k])
        net = TwoLayer.initialise(k, d, law=GaussianStart(), bias=bias, outputs=outputs, seed=n)
        X, g = rng.standard_normal((n, d)), rng.standard_normal(n)
        found = net.gradient(X, g)
        assert_agrees(net, [(found.W, found.b), (found.v[None, :], None)], X, g)


@pytest.mark.parametrize("bias", ["all", "first", "none"])
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("d", [1, 3, 17])
def test_deep_gradients_agree_with_torch(d, widths, bias):
    for n in (1, 3, 33):
        rng = np.random.default_rng([n, d])
        net = MLP.initialise(widths, d, law=GaussianStart(), bias=bias, seed=n)
        X, g = rng.standard_normal((n, d)), rng.standard_normal(n)
        found = net.gradient(X, g)
        assert_agrees(net, list(zip(found.weights, found.biases, strict=True)), X, g)


def test_at_exact_kinks_torch_takes_zero_and_so_do_we():
    net = TwoLayer(W=[[1.0, -1.0], [2.0, 1.0]], b=[0.0, -3.0], v=[1.0, -2.0])
    X, g = np.ones((1, 2)), np.ones(1)
    assert (net.preactivations(X) == 0).all()
    found = net.gradient(X, g)
    assert_agrees(net, [(found.W, found.b), (found.v[None, :], None)], X, g)
    assert not found.W.any()
    assert net.gradient(X, g, kink=1.0).W.all()


def test_the_default_law_is_the_law_of_torch_linear():
    from scipy import stats

    torch.manual_seed(0)
    linears = [torch.nn.Linear(9, 300), torch.nn.Linear(300, 1)]
    drawn = [linears[0].weight, linears[0].bias, linears[1].weight]
    net = TwoLayer.initialise(300, 9, seed=0)
    for theirs, ours in zip(drawn, (net.W, net.b, net.v), strict=True):
        sample = theirs.detach().numpy().ravel().astype(float)
        assert stats.ks_2samp(sample, ours.ravel()).pvalue > 0.01
        assert np.abs(sample).max() == pytest.approx(np.abs(ours).max(), rel=0.05)
