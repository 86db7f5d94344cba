"""Every engine makes the same step: dense, in the span of the data, Gram, planar, layer by layer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.data import Sphere
from marginflow.errors import InputError
from marginflow.flow.dense import DenseTwoLayer
from marginflow.flow.engines import trainable
from marginflow.flow.gram import GramTwoLayer
from marginflow.flow.planar import PlanarTwoLayer
from marginflow.flow.trainable import MLPTrainable
from marginflow.losses import Exponential, Logistic
from marginflow.networks import MLP, TwoLayer, initialisation


def after(model, loss, steps, eta):
    """The network and what the loop would know of it after some gradient steps on ln L."""
    theta, descent = model.start(), model.vector()
    for _ in range(steps):
        log_sum = model.evaluate(theta, loss, descent)
        theta.flat += eta * descent.flat
    known = np.array([log_sum, model.inner(theta, theta), model.squared_length(descent)])
    return model.network(theta), known, model.forward(theta).copy()


def assert_same(first, second, tolerance=1e-12):
    (net, known, margins), (other, known_too, margins_too) = first, second
    scale = np.abs(net.W).max()
    np.testing.assert_allclose(other.W, net.W, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(other.v, net.v, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(known_too, known, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(margins_too, margins, rtol=0, atol=tolerance * max(1.0, np.abs(margins).max()))


def plane(seed, n=80, k=14):
    rng = np.random.default_rng(seed)
    net = TwoLayer.initialise(k, 2, law=initialisation.FCB22Start(), bias=False, outputs="frozen", seed=seed)
    return net, rng.standard_normal((n, 2)), rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("loss", [Logistic("mean"), Exponential()], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_dense_gram_and_planar_steps_agree(seed, loss):
    net, X, y = plane(seed)
    dense = after(DenseTwoLayer(net, X, y, reduce=False), loss, 60, 0.1)
    assert_same(dense, after(GramTwoLayer(net, X, y), loss, 60, 0.1))
    assert_same(dense, after(PlanarTwoLayer(net, X, y), loss, 60, 0.1))


grid = st.integers(-2, 2).map(float)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(grid, grid), min_size=1, max_size=12),
    st.lists(st.tuples(grid, grid), min_size=1, max_size=9),
    st.data(),
)
def test_planar_step_is_the_dense_step_with_exact_right_angles_zero_samples_and_zero_neurons(points, rows, data):
    X, W = np.array(points), np.array(rows)
    y = np.array(data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(X), max_size=len(X))))
    v = np.array(data.draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5]), min_size=len(W), max_size=len(W))))
    net = TwoLayer(W=W, v=v, outputs="frozen")
    loss = Logistic()
    results = []
    for model in (DenseTwoLayer(net, X, y, reduce=False), PlanarTwoLayer(net, X, y)):
        theta, descent = model.start(), model.vector()
        results.append((model.evaluate(theta, loss, descent), model.margins.copy(), descent.parts[0].copy()))
    assert results[1][0] == pytest.approx(results[0][0], abs=1e-13)
    np.testing.assert_allclose(results[1][1], results[0][1], atol=1e-13)
    np.testing.assert_allclose(results[1][2], results[0][2], atol=1e-13)


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize("bias", [True, False])
def test_training_in_the_span_of_the_data_is_training(outputs, bias):
    data = Sphere(dimension=60).sample(12, seed=0)
    net = TwoLayer.initialise(15, 60, bias=bias, outputs=outputs, seed=1)
    ambient = after(DenseTwoLayer(net, data.X, data.y, reduce=False), Logistic(), 40, 0.01)
    span = after(DenseTwoLayer(net, data.X, data.y, reduce=True), Logistic(), 40, 0.01)
    assert_same(ambient, span)
    if outputs == "frozen":
        assert_same(ambient, after(GramTwoLayer(net, data.X, data.y), Logistic(), 40, 0.01))


def test_the_part_outside_the_span_is_put_back_and_counts_in_balance():
    data = Sphere(dimension=60).sample(12, seed=0)
    net = TwoLayer.initialise(15, 60, seed=1)
    model = DenseTwoLayer(net, data.X, data.y, reduce=True)
    trained, _, _ = after(model, Exponential(), 40, 0.01)
    moved = trained.W - net.W
    basis = np.linalg.qr(data.X.T)[0]
    assert np.abs(moved - (moved @ basis) @ basis.T).max() < 1e-14
    assert np.abs(moved).max() > 1e-3
    balance = model.balance(model.start().fill([model.start().parts[0], net.v]))
    np.testing.assert_allclose(balance, net.v**2 - (net.augmented**2).sum(axis=1), rtol=1e-12)


def test_linearly_dependent_samples_are_no_obstacle_to_the_span():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2)) @ rng.standard_normal((2, 30))
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    net = TwoLayer.initialise(8, 30, seed=0)
    dense = after(DenseTwoLayer(net, X, y, reduce=False), Logistic(), 30, 0.01)
    assert_same(dense, after(DenseTwoLayer(net, X, y, reduce=True), Logistic(), 30, 0.01))


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize("bias", [True, False])
def test_layer_by_layer_is_the_two_layer_step(outputs, bias):
    data = Sphere(dimension=6).sample(15, seed=0)
    net = TwoLayer.initialise(9, 6, bias=bias, outputs=outputs, seed=1)
    dense = DenseTwoLayer(net, data.X, data.y, reduce=False)
    layers = MLPTrainable(MLP.from_two_layer(net), data.X, data.y)
    trained, known, margins = after(dense, Logistic(), 30, 0.02)
    other, known_too, margins_too = after(layers, Logistic(), 30, 0.02)
    assert_same((trained, known, margins), (other.to_two_layer(), known_too, margins_too))
    first, second = dense.balance(dense.start()), layers.balance(layers.start())
    if outputs == "frozen":
        assert first is None
        assert second is None
    else:
        np.testing.assert_allclose(second, first, atol=1e-14)


def test_balance_of_a_deep_network_is_conserved_to_second_order_in_the_step():
    data = Sphere(dimension=5).sample(10, seed=0)
    net = MLP.initialise(widths=[8, 6], dimension=5, bias="first", seed=0)
    drifts = []
    for eta in (1e-3, 5e-4):
        model = MLPTrainable(net, data.X, data.y)
        theta, descent = model.start(), model.vector()
        before = model.balance(theta)
        model.evaluate(theta, Exponential(), descent)
        theta.flat += eta * descent.flat
        drifts.append(np.abs(model.balance(theta) - before).max())
    assert before.size == 14
    assert drifts[0] < 1e-4
    assert drifts[1] == pytest.approx(drifts[0] / 4, rel=1e-6)


@pytest.mark.parametrize(
    ("outputs", "bias", "shape", "batch", "expected"),
    [
        ("frozen", False, (30, 2), None, "planar"),
        ("frozen", True, (30, 2), None, "dense"),
        ("trained", False, (30, 2), None, "dense"),
        ("frozen", False, (30, 2), 10, "dense"),
        ("frozen", True, (10, 20), None, "gram"),
        ("frozen", True, (10, 20), 5, "span"),
        ("trained", True, (10, 20), None, "span"),
        ("trained", True, (20, 20), None, "dense"),
    ],
)
def test_the_cheapest_exact_engine_is_chosen(outputs, bias, shape, batch, expected):
    X = np.random.default_rng(0).standard_normal(shape)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    net = TwoLayer.initialise(4, shape[1], bias=bias, outputs=outputs)
    assert trainable(net, X, y, batch=batch)[0] == expected


@pytest.mark.parametrize(
    ("options", "engine", "batch", "sentence"),
    [
        ({}, "planar", None, "needs d = 2"),
        ({}, "gram", None, "outputs are trained"),
        ({"outputs": "frozen"}, "gram", 3, "no mini-batches"),
        ({}, "layers", None, "has two layers"),
        ({}, "magic", None, "engine is 'magic'"),
    ],
)
def test_an_engine_that_does_not_fit_is_refused(options, engine, batch, sentence):
    X = np.random.default_rng(0).standard_normal((6, 3))
    with pytest.raises(InputError, match=sentence):
        trainable(TwoLayer.initialise(4, 3, **options), X, np.sign(X[:, 0]), batch=batch, engine=engine)
