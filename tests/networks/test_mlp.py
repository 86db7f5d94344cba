"""Networks of any depth, judged by exact arithmetic, calculus, conservation laws and the two-layer network."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer, evaluation
from marginflow.networks.initialisation import GaussianStart

EPS = float(np.finfo(np.float64).eps)

SHAPES = [  # (n, d, hidden widths)
    (1, 1, []),
    (3, 7, []),
    (2, 1, [1]),
    (3, 2, [17]),
    (3, 3, [1, 1]),
    (2, 7, [5, 3]),
    (3, 1, [2, 7]),
    (2, 3, [3, 2, 5]),
    (2, 2, [1, 3, 1, 2]),
]
BIASES = ["all", "first", "none"]


def draw(n, d, widths, *, bias="all", outputs="trained", seed=0):
    rng = np.random.default_rng([n, d, seed])
    net = MLP.initialise(widths, d, law=GaussianStart(), bias=bias, outputs=outputs, seed=seed)
    return net, rng.standard_normal((n, d)), rng.standard_normal(n)


def integer_network(seed):
    """Small whole numbers: float arithmetic is exact, and many pre-activations are exactly 0."""
    rng = np.random.default_rng(seed)
    sizes = [*rng.integers(1, 5, rng.integers(2, 5)), 1]
    weights = [rng.integers(-2, 3, (rows, columns)) for rows, columns in zip(sizes[1:], sizes[:-1], strict=True)]
    biases = [rng.integers(-2, 3, rows) if rng.integers(2) else None for rows in sizes[1:]]
    return MLP(weights=weights, biases=biases), rng.integers(-2, 3, (3, sizes[0])), rng.integers(-3, 4, 3)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("n", "d", "widths"), [*SHAPES, (2, 33, [17, 7])])
def test_values_are_exact_up_to_the_bound_of_rounding_analysis(exact, n, d, widths, bias):
    net, X, _ = draw(n, d, widths, bias=bias)
    layers = exact.exact_layers(net.layers)
    operations = sum(W.shape[1] + 2 for W in net.weights)
    for value, x in zip(net(X), X, strict=True):
        assert abs(Fraction(value) - exact.value(layers, x)) <= operations * exact.absolute_value(layers, x) / 2**53


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("n", "d", "widths"), SHAPES)
def test_gradients_agree_with_exact_dual_numbers(exact, n, d, widths, bias):
    net, X, g = draw(n, d, widths, bias=bias)
    layers = exact.exact_layers(net.layers)
    found = net.gradient(X, g)
    for dW, db, (eW, eb) in zip(found.weights, found.biases, exact.gradient(layers, X, g), strict=True):
        np.testing.assert_allclose(dW, np.array(eW, dtype=float), rtol=1e-12, atol=1e-12)
        assert (db is None) == (eb is None)
        if eb is not None:
            np.testing.assert_allclose(db, np.array(eb, dtype=float), rtol=1e-12, atol=1e-12)
    slopes = [exact.input_gradient(layers, x) for x in X]
    np.testing.assert_allclose(net.input_gradient(X), np.array(slopes, dtype=float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kink", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_on_whole_numbers_everything_is_exact_kinks_included(exact, seed, kink):
    net, X, g = integer_network(seed)
    layers = exact.exact_layers(net.layers)
    assert net(X).tolist() == [exact.value(layers, x) for x in X]
    found = net.gradient(X, g, kink=kink)
    for dW, db, (eW, eb) in zip(found.weights, found.biases, exact.gradient(layers, X, g, kink), strict=True):
        assert dW.tolist() == eW
        assert (db is None) == (eb is None)
        if eb is not None:
            assert db.tolist() == eb
    assert net.input_gradient(X, kink=kink).tolist() == [exact.input_gradient(layers, x, kink) for x in X]


def test_the_whole_number_networks_do_sit_on_kinks():
    on_kink = [any((Z == 0).any() for Z in net.preactivations(X)) for net, X, _ in map(integer_network, range(8))]
    assert sum(on_kink) >= 5


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("n", "d", "widths"), SHAPES)
def test_gradient_agrees_with_central_differences(n, d, widths, bias):
    net, X, g = draw(n, d, widths, bias=bias, seed=2)
    rng = np.random.default_rng(1)
    step = [(rng.standard_normal(W.shape), None if b is None else rng.standard_normal(b.shape)) for W, b in net.layers]

    def along(t):
        moved = [
            (W + t * dW, None if b is None else b + t * db) for (W, b), (dW, db) in zip(net.layers, step, strict=True)
        ]
        changed = MLP.from_layers(moved)
        same = zip(changed.patterns(X), net.patterns(X), strict=True)
        assert all((new == old).all() for new, old in same), "the step crosses a kink"
        return g @ changed(X)

    found = net.gradient(X, g)
    slope = sum(np.vdot(dW, eW) for dW, (eW, _) in zip(found.weights, step, strict=True))
    slope += sum(db @ eb for db, (_, eb) in zip(found.biases, step, strict=True) if db is not None)
    h = 1e-5
    assert slope == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-6, abs=1e-8)


@given(
    seed=st.integers(0, 10**6),
    factor=st.floats(0.01, 100.0),
    widths=st.lists(st.integers(1, 6), max_size=3),
    bias=st.sampled_from(["first", "none"]),
    outputs=st.sampled_from(["trained", "frozen"]),
)
@settings(max_examples=60)
def test_homogeneous_networks_scale_with_their_degree_and_obey_euler(seed, factor, widths, bias, outputs):
    outputs = outputs if widths else "trained"
    net, X, g = draw(5, 3, widths, bias=bias, outputs=outputs, seed=seed)
    assert net.homogeneous
    assert net.degree == len(widths) + (1 if outputs == "trained" else 0)
    grown = net.scaled(factor)
    np.testing.assert_allclose(grown(X), factor**net.degree * net(X), rtol=1e-10, atol=1e-11 * factor**net.degree)
    assert grown.norm_squared() == pytest.approx(factor**2 * net.norm_squared(), rel=1e-13)
    slope = net.gradient(X, g)
    trained = net.depth if outputs == "trained" else net.depth - 1
    inner = sum(np.vdot(dW, W) for dW, W in zip(slope.weights[:trained], net.weights[:trained], strict=True))
    inner += 0.0 if bias == "none" else slope.biases[0] @ net.biases[0]
    # Each trained layer alone is linear, so the inner product counts the values once for each layer.
    assert inner == pytest.approx(net.degree * (g @ net(X)), rel=1e-10, abs=1e-9)


@given(
    seed=st.integers(0, 10**6), widths=st.lists(st.integers(1, 6), min_size=1, max_size=3), bias=st.sampled_from(BIASES)
)
@settings(max_examples=60)
def test_gradients_conserve_the_balance_of_every_hidden_neuron(seed, widths, bias):
    # Noether: incoming row times c, outgoing column over c is a symmetry, at every depth and with any biases.
    net, X, g = draw(5, 3, widths, bias=bias, seed=seed)
    slope = net.gradient(X, g)
    for index in range(net.depth - 1):
        coming = (net.weights[index] * slope.weights[index]).sum(axis=1)
        if net.biases[index] is not None:
            coming = coming + net.biases[index] * slope.biases[index]
        going = (net.weights[index + 1] * slope.weights[index + 1]).sum(axis=0)
        np.testing.assert_allclose(coming, going, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_depth_two_is_the_two_layer_network_bit_for_bit(bias, outputs):
    rng = np.random.default_rng(0)
    two = TwoLayer.initialise(17, 7, bias=bias, outputs=outputs, scale=0.3, seed=5)
    deep = MLP.initialise([17], 7, bias="first" if bias else "none", outputs=outputs, scale=0.3, seed=5)
    for net in (deep, MLP.from_two_layer(two)):
        back = net.to_two_layer()
        np.testing.assert_array_equal(back.W, two.W)
        np.testing.assert_array_equal(back.v, two.v)
        assert (back.b is None) == (not bias)
        if bias:
            np.testing.assert_array_equal(back.b, two.b)
        assert back.outputs == net.outputs == outputs
        assert net.degree == two.degree
        assert net.norm_squared() == pytest.approx(two.norm_squared(), rel=50 * EPS)
        X, g = rng.standard_normal((9, 7)), rng.standard_normal(9)
        np.testing.assert_allclose(net(X), two(X), rtol=1e-13, atol=1e-14)
        first, second = net.gradient(X, g), two.gradient(X, g)
        np.testing.assert_allclose(first.weights[0], second.W, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(first.weights[1][0], second.v, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(net.input_gradient(X), two.input_gradient(X), rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(net.patterns(X)[0], two.patterns(X))


def test_depth_one_is_linear_and_homogeneous_even_with_bias():
    net = MLP(weights=[[[1.0, -2.0]]], biases=[[3.0]])
    assert net([[1.0, 1.0], [0.0, 4.0]]).tolist() == [2.0, -5.0]
    assert (net.depth, net.degree, net.widths, net.homogeneous) == (1, 1, (), True)
    assert net.scaled(2.0)([[0.0, 4.0]]).tolist() == [-10.0]


@pytest.mark.parametrize("widths", [[3], [3, 2]])
def test_a_bias_after_the_first_layer_ends_homogeneity(widths):
    net = MLP.initialise(widths, 2, bias="all", seed=0)
    assert not net.homogeneous
    assert net.degree is None
    assert "not homogeneous" in repr(net)
    X = [[1.0, 2.0]]
    doubled = MLP.from_layers([(2 * W, 2 * b) for W, b in net.layers])
    assert doubled(X)[0] != pytest.approx(2**net.depth * net(X)[0], rel=1e-3)
    with pytest.raises(InputError, match="not homogeneous"):
        net.scaled(2.0)
    with pytest.raises(InputError, match="not homogeneous"):
        net.at_margin_one(X, [1])


@given(seed=st.integers(0, 10**6), widths=st.lists(st.integers(1, 6), max_size=3))
@settings(max_examples=40)
def test_at_margin_one_the_least_margin_is_one(seed, widths):
    net, X, _ = draw(6, 3, widths, bias="first", seed=seed)
    keep = np.abs(net(X)) > 1e-6
    if keep.any():
        y = np.sign(net(X)[keep])
        assert net.at_margin_one(X[keep], y).margins(X[keep], y).min() == pytest.approx(1.0, rel=1e-12)


def test_a_sample_on_the_wrong_side_cannot_be_brought_to_margin_one():
    with pytest.raises(InputError, match="smallest margin is -2"):
        MLP(weights=[[[1.0]], [[1.0]]]).at_margin_one([[1.0], [2.0]], [1, -1])


def test_blocks_of_samples_do_not_change_the_answers(monkeypatch):
    net, X, g = draw(23, 5, [7, 3])
    whole, slope, inputs = net(X), net.gradient(X, g), net.input_gradient(X)
    monkeypatch.setattr(evaluation, "BLOCK_NUMBERS", 60)
    np.testing.assert_allclose(net(X), whole, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(net.input_gradient(X), inputs, rtol=1e-13, atol=1e-13)
    again = net.gradient(X, g)
    for new, old in zip([*again.weights, *again.biases], [*slope.weights, *slope.biases], strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-12, atol=1e-12)


def test_frozen_outputs_leave_the_norm_and_the_scaling():
    net = MLP(weights=[[[2.0]], [[3.0]], [[5.0]]], biases=[[1.0], None, None], outputs="frozen")
    assert net.norm_squared() == 4.0 + 9.0 + 1.0
    assert net.degree == 2
    assert net.scaled(2.0).weights[2].tolist() == [[5.0]]
    assert net.scaled(2.0)([[1.0]])[0] == 4 * net([[1.0]])[0]
    assert net.gradient([[1.0]], [1.0]).norm_squared("frozen") == 15.0**2 + 15.0**2 + 15.0**2


def test_words_tell_where_the_biases_are():
    assert "without bias" in repr(MLP.initialise([2], 2, bias="none"))
    assert "bias in the first layer" in repr(MLP.initialise([2], 2, bias="first"))
    assert "bias in layers [1, 2]" in repr(MLP.initialise([2], 2, bias="all"))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"weights": []}, "weights is empty"),
        ({"weights": [[[1.0]]], "biases": [None, None]}, "biases has 2 entries; 1 are expected"),
        ({"weights": [[[1.0], [2.0]], [[1.0]]]}, "Layer 2: weight has 1 columns, but the layer before it has 2"),
        ({"weights": [[[1.0], [2.0]]]}, "Layer 1: weight has 2 rows; a network with one output"),
        ({"weights": [[[1.0]], [[np.nan]]]}, "Layer 2: weight has the value nan"),
        ({"weights": [[[1.0]]], "biases": [[1.0, 2.0]]}, "Layer 1: bias has 2 entries; 1 are expected"),
        ({"weights": [[[1.0]], [[1.0]]], "outputs": "fixed"}, "outputs is 'fixed'"),
        ({"weights": [[[1.0]]], "outputs": "frozen"}, "nothing would be trained"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(fields, sentence):
    with pytest.raises(InputError, match=sentence):
        MLP(**fields)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"widths": 3, "dimension": 2}, "widths is 3; a list"),
        ({"widths": [0], "dimension": 2}, "a width is 0"),
        ({"widths": [2], "dimension": 0}, "dimension is 0"),
        ({"widths": [2], "dimension": 2, "bias": True}, "bias is True; one of 'all', 'first', 'none'"),
        (
            {"widths": [2], "dimension": 2, "bias": "all", "outputs": "frozen"},
            "a hidden layer and bias='first' or 'none'",
        ),
        ({"widths": [], "dimension": 2, "outputs": "frozen"}, "a hidden layer and"),
        ({"widths": [2], "dimension": 2, "scale": -1.0}, "scale is -1"),
    ],
)
def test_bad_starts_are_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        MLP.initialise(**arguments)


@pytest.mark.parametrize(("widths", "bias"), [([], "first"), ([3, 2], "first"), ([3], "all")])
def test_only_depth_two_without_output_bias_is_a_two_layer_network(widths, bias):
    with pytest.raises(InputError, match="depth 2 without output bias is expected"):
        MLP.initialise(widths, 2, bias=bias).to_two_layer()
