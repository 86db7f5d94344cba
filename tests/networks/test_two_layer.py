"""Values, margins, gradients and scales of two-layer networks, judged by exact arithmetic and by calculus."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.networks import TwoLayer, evaluation
from marginflow.networks.initialisation import GaussianStart

EPS = float(np.finfo(np.float64).eps)

SIZES = [(1, 1, 1), (2, 1, 3), (3, 2, 1), (7, 3, 5), (5, 17, 7), (3, 7, 33), (2, 33, 17)]  # (n, d, k)


def draw(n, d, k, *, bias=True, outputs="trained", seed=0):
    rng = np.random.default_rng([n, d, k, seed])
    net = TwoLayer.initialise(k, d, law=GaussianStart(), bias=bias, outputs=outputs, seed=seed)
    return net, rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n), rng.standard_normal(n)


def integer_network(seed, bias=True):
    """Small whole numbers: float arithmetic is exact, and many pre-activations are exactly 0."""
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(2, 8, 3)
    W, b, v = rng.integers(-2, 3, (k, d)), rng.integers(-2, 3, k), rng.integers(-3, 4, k)
    return TwoLayer(W=W, b=b if bias else None, v=v), rng.integers(-2, 3, (n, d)), rng.integers(-3, 4, n)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_values_are_exact_up_to_the_bound_of_rounding_analysis(exact, n, d, k, bias):
    net, X, _, _ = draw(n, d, k, bias=bias)
    layers = exact.exact_layers(net.layers)
    operations = (d + 2) + (k + 2)
    for value, x in zip(net(X), X, strict=True):
        scale = exact.absolute_value(layers, x)
        assert abs(Fraction(value) - exact.value(layers, x)) <= operations * scale / 2**53


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (2, 1, 3), (3, 2, 1), (5, 3, 7), (3, 7, 11)])
def test_gradients_agree_with_exact_dual_numbers(exact, n, d, k, bias):
    net, X, _, g = draw(n, d, k, bias=bias)
    (dW, db), (dv, _) = exact.gradient(exact.exact_layers(net.layers), X, g)
    found = net.gradient(X, g)
    np.testing.assert_allclose(found.W, np.array(dW, dtype=float), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.v, np.array(dv[0], dtype=float), rtol=1e-12, atol=1e-13)
    if bias:
        np.testing.assert_allclose(found.b, np.array(db, dtype=float), rtol=1e-12, atol=1e-13)
    else:
        assert found.b is None
    slopes = [exact.input_gradient(exact.exact_layers(net.layers), x) for x in X]
    np.testing.assert_allclose(net.input_gradient(X), np.array(slopes, dtype=float), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kink", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_on_whole_numbers_everything_is_exact_kinks_included(exact, seed, kink):
    net, X, g = integer_network(seed, bias=seed % 2 == 0)
    layers = exact.exact_layers(net.layers)
    assert net(X).tolist() == [exact.value(layers, x) for x in X]
    (dW, db), (dv, _) = exact.gradient(layers, X, g, kink)
    found = net.gradient(X, g, kink=kink)
    assert found.W.tolist() == dW
    assert found.v.tolist() == dv[0]
    assert (found.b is None) == (db is None)
    if db is not None:
        assert found.b.tolist() == db
    assert net.input_gradient(X, kink=kink).tolist() == [exact.input_gradient(layers, x, kink) for x in X]


def test_the_whole_number_networks_do_sit_on_kinks():
    on_kink = [(net.preactivations(X) == 0).any() for net, X, _ in map(integer_network, range(6))]
    assert sum(on_kink) >= 5


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_gradient_agrees_with_central_differences(n, d, k, outputs):
    net, X, _, g = draw(n, d, k, outputs=outputs)
    rng = np.random.default_rng(1)
    dW, db, dv = rng.standard_normal((k, d)), rng.standard_normal(k), rng.standard_normal(k)
    h = 1e-3 * np.abs(net.preactivations(X)).min() / (1 + np.abs(X).sum())  # no pattern changes within h

    def along(t):
        return g @ TwoLayer(W=net.W + t * dW, b=net.b + t * db, v=net.v + t * dv)(X)

    # At a fixed pattern N is quadratic in theta, and central differences of a quadratic are exact.
    found = net.gradient(X, g)
    slope = np.vdot(found.W, dW) + found.b @ db + found.v @ dv
    rounding = 1e-14 * (np.abs(g) @ np.abs(net(X)) + np.abs(g).sum()) / h
    assert slope == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-7, abs=rounding)


@given(
    seed=st.integers(0, 10**6),
    factor=st.floats(1e-3, 1e3),
    bias=st.booleans(),
    outputs=st.sampled_from(["trained", "frozen"]),
)
@settings(max_examples=60)
def test_values_scale_with_the_degree_and_euler_identity_holds(seed, factor, bias, outputs):
    net, X, y, g = draw(5, 3, 7, bias=bias, outputs=outputs, seed=seed)
    assert net.degree == (2 if outputs == "trained" else 1)
    grown = net.scaled(factor)
    np.testing.assert_allclose(grown(X), factor**net.degree * net(X), rtol=1e-11, atol=1e-12 * factor**net.degree)
    assert grown.norm_squared() == pytest.approx(factor**2 * net.norm_squared(), rel=1e-13)
    np.testing.assert_array_equal(grown.patterns(X), net.patterns(X))
    np.testing.assert_array_equal(net.margins(X, y), y * net(X))
    slope = net.gradient(X, g)
    inner = np.vdot(slope.W, net.W) + (0.0 if not bias else slope.b @ net.b)
    inner += slope.v @ net.v if outputs == "trained" else 0.0
    assert inner == pytest.approx(net.degree * (g @ net(X)), rel=1e-11, abs=1e-11)


@given(seed=st.integers(0, 10**6), outputs=st.sampled_from(["trained", "frozen"]))
@settings(max_examples=40)
def test_at_margin_one_the_least_margin_is_one(seed, outputs):
    net, X, _, _ = draw(9, 4, 6, outputs=outputs, seed=seed)
    y = np.where(net(X) >= 0, 1.0, -1.0)
    keep = np.abs(net(X)) > 1e-9
    if keep.any():
        unit = net.at_margin_one(X[keep], y[keep])
        assert unit.margins(X[keep], y[keep]).min() == pytest.approx(1.0, rel=1e-13)
        assert unit.outputs == outputs
        if outputs == "frozen":
            np.testing.assert_array_equal(unit.v, net.v)


def test_a_sample_on_the_wrong_side_cannot_be_brought_to_margin_one():
    net = TwoLayer(W=[[1.0]], v=[1.0])
    with pytest.raises(InputError, match="smallest margin is -2"):
        net.at_margin_one([[1.0], [2.0]], [1, -1])


@pytest.mark.parametrize("numbers", [1, 40, 100])
def test_blocks_of_samples_do_not_change_the_answers(monkeypatch, numbers):
    net, X, _, g = draw(23, 5, 17)
    whole, slope, inputs = net(X), net.gradient(X, g), net.input_gradient(X)
    monkeypatch.setattr(evaluation, "BLOCK_NUMBERS", numbers)
    assert len(evaluation.row_blocks(23, 17)) > 1
    np.testing.assert_allclose(net(X), whole, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(net.input_gradient(X), inputs, rtol=1e-13, atol=1e-13)
    for name in ("W", "b", "v"):
        np.testing.assert_allclose(getattr(net.gradient(X, g), name), getattr(slope, name), rtol=1e-12, atol=1e-12)


def test_the_gradient_makes_no_array_of_all_samples_neurons_and_coordinates():
    n = d = k = 160
    net, X, _, g = draw(n, d, k)
    tracemalloc.start()
    try:
        net.gradient(X, g)
        net.input_gradient(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 8 * (n * k + k * d + n * d)  # n k d doubles would be 27 times as much as n k + k d + n d / 2


def test_a_frozen_output_is_no_part_of_the_norm_but_its_derivative_is_known():
    net = TwoLayer(W=[[3.0, 4.0]], b=[12.0], v=[7.0], outputs="frozen")
    assert net.norm_squared() == 169.0
    slope = net.gradient([[1.0, 1.0]], [1.0])
    assert slope.v.tolist() == [19.0]
    assert slope.norm_squared("frozen") == 3 * 49.0
    assert slope.norm_squared("trained") == 3 * 49.0 + 19.0**2


def test_patterns_are_strict_and_zero_outputs_count_as_positive():
    net = TwoLayer(W=[[1.0], [-1.0], [0.0]], v=[0.0, -1.0, 2.0])
    assert net.patterns([[0.0], [1.0]]).tolist() == [[False, False, False], [True, False, False]]
    assert net.signs.tolist() == [1.0, -1.0, 1.0]


def test_parameters_are_copies_that_cannot_be_written():
    W = np.ones((2, 3))
    net = TwoLayer(W=W, v=[1.0, 2.0])
    W[0, 0] = 5.0
    assert net.W[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        net.W[0, 0] = 5.0


@given(seed=st.integers(0, 10**6), bias=st.booleans())
@settings(max_examples=40)
def test_directions_and_signs_determine_the_function_and_give_the_least_norm(seed, bias):
    net, X, _, _ = draw(6, 3, 5, bias=bias, seed=seed)
    least = TwoLayer.from_directions(net.directions, net.signs, bias=bias)
    np.testing.assert_allclose(least(X), net(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(np.abs(least.v), np.linalg.norm(least.augmented, axis=1), rtol=50 * EPS)
    assert least.norm_squared() <= net.norm_squared() * (1 + 50 * EPS)
    assert least.norm_squared() == pytest.approx(2 * np.linalg.norm(net.directions, axis=1).sum(), rel=1e-13)


def test_directions_far_below_the_square_root_of_the_smallest_number_survive():
    tiny = TwoLayer.from_directions([[3e-200, 4e-200]], [1.0], bias=False)
    assert tiny([[1.0, 0.0]])[0] == pytest.approx(3e-200, rel=50 * EPS)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"W": [[1.0, np.nan]], "v": [1.0]}, r"W has the value nan at \(0, 1\)"),
        ({"W": [[1.0]], "v": [np.inf]}, r"v has the value inf"),
        ({"W": [[1.0]], "v": [1.0, 2.0]}, "v has 2 entries; 1 are expected"),
        ({"W": [[1.0]], "v": [1.0], "b": [1.0, 2.0]}, "b has 2 entries; 1 are expected"),
        ({"W": [1.0], "v": [1.0]}, r"W has shape \(1,\); a matrix"),
        ({"W": np.zeros((0, 2)), "v": []}, "at least one row"),
        ({"W": [["a"]], "v": [1.0]}, "W is not an array of real numbers"),
        ({"W": [[1.0], [1.0, 2.0]], "v": [1.0]}, r"W is not an array of real numbers: .*[^.]\.$"),
        ({"W": [[1j]], "v": [1.0]}, "W is not an array of real numbers: its numbers are complex"),
        ({"W": [[1.0]], "v": [1.0], "outputs": "fixed"}, "outputs is 'fixed'; one of 'trained', 'frozen'"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(fields, sentence):
    with pytest.raises(InputError, match=sentence):
        TwoLayer(**fields)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda net: net([[1.0]]), "X has 1 columns, but the network has dimension 2"),
        (lambda net: net([1.0, 2.0]), "a matrix"),
        (lambda net: net([[1.0, np.nan]]), "X has the value nan"),
        (lambda net: net.margins([[1.0, 2.0]], [0.5]), "labels must be -1 or"),
        (lambda net: net.margins([[1.0, 2.0]], [1, 1]), "y has 2 entries; 1 are expected"),
        (lambda net: net.gradient([[1.0, 2.0]], [1.0, 2.0]), "weights has 2 entries"),
        (lambda net: net.gradient([[1.0, 2.0]], [1.0], kink=1.5), "kink is 1.5"),
        (lambda net: net.input_gradient([[1.0, 2.0]], kink=np.nan), "kink is nan"),
        (lambda net: net.scaled(0.0), "factor is 0"),
        (lambda net: net.scaled(-1.0), "factor is -1"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call(TwoLayer(W=[[1.0, 2.0]], v=[1.0]))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"width": 0, "dimension": 1}, "width is 0"),
        ({"width": 2.5, "dimension": 1}, "width is 2.5"),
        ({"width": 1, "dimension": -1}, "dimension is -1"),
        ({"width": 1, "dimension": 1, "scale": 0.0}, "scale is 0"),
        ({"width": 1, "dimension": 1, "seed": -1}, "seed is -1"),
        ({"width": 1, "dimension": 1, "bias": "none"}, "bias is 'none'; True or False"),
        ({"width": 1, "dimension": 1, "outputs": "fixed"}, "outputs is 'fixed'"),
        ({"width": 1, "dimension": 1, "law": "torch"}, "law is 'torch'"),
    ],
)
def test_bad_starts_are_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        TwoLayer.initialise(**arguments)


def test_directions_with_bias_need_a_column_for_it():
    with pytest.raises(InputError, match="at least 2 are expected"):
        TwoLayer.from_directions([[1.0]], [1.0], bias=True)


def test_copies_of_neurons_are_evaluated_as_the_neurons_that_they_are_copies_of(monkeypatch):
    rng = np.random.default_rng(5)
    few = TwoLayer(W=rng.standard_normal((7, 30)), b=rng.standard_normal(7), v=rng.standard_normal(7))
    kinds = rng.integers(0, 7, 40)
    many, X = few.neurons(kinds), rng.standard_normal((50, 30))
    other = TwoLayer(W=many.W, b=np.r_[many.b[:-1], 5.0], v=many.v)  # the same weights and another bias: no copy
    plain = many.preactivations(X), many(X), other.preactivations(X)
    monkeypatch.setattr(evaluation, "LARGE_PRODUCT", 0.0)
    once = many.preactivations(X), many(X), other.preactivations(X)
    for expected, value in zip(plain, once, strict=True):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-13)
    first = np.array([np.argmax(kinds == kind) for kind in kinds])
    np.testing.assert_array_equal(once[0], once[0][:, first])
    assert few._copies is None
    assert many._copies is not None
    assert len(many._copies[0]) == len(np.unique(kinds))
    assert other._copies is not None
    assert len(other._copies[0]) == len(np.unique(kinds)) + 1
