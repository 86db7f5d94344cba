"""Each law has the distribution that it states, at every depth where it makes sense."""

import numpy as np
import pytest
from scipy import stats

from marginflow.errors import InputError
from marginflow.networks import MLP, TwoLayer
from marginflow.networks.initialisation import (
    AbstractInitialisation,
    Balanced,
    FCB22Start,
    GaussianStart,
    InSpan,
    KYS23Start,
    TorchDefault,
    VYS22Start,
)

EPS = float(np.finfo(np.float64).eps)

POINTS = np.random.default_rng(7).standard_normal((3, 5))
LAWS = [
    TorchDefault(),
    GaussianStart(),
    GaussianStart(deviation=0.1, fan_in=True),
    Balanced(),
    Balanced(base=GaussianStart()),
]
LAWS += [
    InSpan(X=POINTS),
    InSpan(X=POINTS, base=GaussianStart()),
    Balanced(base=InSpan(X=POINTS)),
    VYS22Start(),
    KYS23Start(),
]


def names(law):
    return type(law).__name__


@pytest.mark.parametrize("law", [*LAWS, FCB22Start(), FCB22Start(omega=0.3)], ids=names)
def test_every_law_serves_two_layers_and_any_depth_and_repeats_its_bits(law):
    bias = not isinstance(law, FCB22Start)
    first, again, other = (TwoLayer.initialise(6, 5, law=law, bias=bias, seed=seed) for seed in (1, 1, 2))
    assert first.W.shape == (6, 5)
    assert (first.b is not None) == bias
    np.testing.assert_array_equal(first.W, again.W)
    np.testing.assert_array_equal(first.v, again.v)
    assert not np.array_equal(first.W, other.W)
    for widths in ([], [1], [4, 1], [1, 3, 2]):
        deep = MLP.initialise(widths, 5, law=law, bias="first" if bias else "none", seed=3)
        assert deep.widths == tuple(widths)
        assert deep.dimension == 5


def test_all_laws_are_tried():
    tried = {type(law) for law in [*LAWS, FCB22Start()]}
    assert tried == set(AbstractInitialisation.__subclasses__())


@pytest.mark.parametrize("law", [TorchDefault(), VYS22Start(), KYS23Start()], ids=names)
def test_the_torch_law_is_uniform_with_the_fan_in_of_each_layer(law):
    net = MLP.initialise([60, 40], 9, law=law, bias="all", seed=0)
    for (W, b), fan_in in zip(net.layers, (9, 60, 40), strict=True):
        edge = fan_in**-0.5
        drawn = np.concatenate([W.ravel(), b])
        assert np.abs(drawn).max() <= edge
        assert stats.kstest(drawn, stats.uniform(-edge, 2 * edge).cdf).pvalue > 0.01


@pytest.mark.parametrize("fan_in", [False, True])
def test_the_gaussian_law_has_its_deviation(fan_in):
    net = MLP.initialise([60, 50], 9, law=GaussianStart(deviation=0.2, fan_in=fan_in), bias="all", seed=0)
    for (W, b), columns in zip(net.layers, (9, 60, 50), strict=True):
        deviation = 0.2 / np.sqrt(columns if fan_in else 1.0)
        assert stats.kstest(np.concatenate([W.ravel(), b]), stats.norm(0.0, deviation).cdf).pvalue > 0.01


@pytest.mark.parametrize("scale", [0.01, 3.0])
def test_scale_multiplies_what_is_trained_and_nothing_else(scale):
    whole, small = (TwoLayer.initialise(5, 3, scale=s, seed=4) for s in (1.0, scale))
    np.testing.assert_array_equal(small.W, scale * whole.W)
    np.testing.assert_array_equal(small.b, scale * whole.b)
    np.testing.assert_array_equal(small.v, scale * whole.v)
    frozen = TwoLayer.initialise(5, 3, scale=scale, outputs="frozen", seed=4)
    np.testing.assert_array_equal(frozen.W, scale * whole.W)
    np.testing.assert_allclose(frozen.v * np.sqrt(5), [1, -1, 1, -1, 1], rtol=50 * EPS)


@pytest.mark.parametrize("base", [TorchDefault(), GaussianStart(deviation=3.0), InSpan(X=POINTS)], ids=names)
@pytest.mark.parametrize("bias", [True, False])
def test_balanced_two_layer_networks_have_outputs_as_long_as_their_inputs(base, bias):
    net = TwoLayer.initialise(50, 5, law=Balanced(base=base), bias=bias, scale=0.01, seed=1)
    np.testing.assert_allclose(np.abs(net.v), np.linalg.norm(net.augmented, axis=1), rtol=1e-13)
    plain = TwoLayer.initialise(50, 5, law=base, bias=bias, scale=0.01, seed=1)
    np.testing.assert_array_equal(net.W, plain.W)
    np.testing.assert_array_equal(net.signs, plain.signs)


@pytest.mark.parametrize("bias", ["all", "first", "none"])
def test_balanced_deep_networks_balance_every_hidden_neuron(bias):
    net = MLP.initialise([7, 3, 5], 4, law=Balanced(), bias=bias, seed=1)
    for index in range(net.depth - 1):
        coming = (net.weights[index] ** 2).sum(axis=1)
        if net.biases[index] is not None:
            coming = coming + net.biases[index] ** 2
        np.testing.assert_allclose((net.weights[index + 1] ** 2).sum(axis=0), coming, rtol=1e-13)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n", [1, 3, 9])
def test_a_start_in_the_span_has_no_part_outside_and_the_values_of_its_base(n, bias):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 7))
    X = np.vstack([X, X[:1], np.zeros(7)]) if n > 1 else X  # repeated and zero samples do not disturb the rank
    inside = TwoLayer.initialise(11, 7, law=InSpan(X=X), bias=bias, seed=2)
    plain = TwoLayer.initialise(11, 7, bias=bias, seed=2)
    Xt = np.column_stack([X, np.ones(len(X))]) if bias else X
    coefficients = np.linalg.lstsq(Xt.T, inside.augmented.T, rcond=None)[0]
    np.testing.assert_allclose(Xt.T @ coefficients, inside.augmented.T, atol=1e-13)
    np.testing.assert_allclose(inside.preactivations(X), plain.preactivations(X), atol=1e-13)
    np.testing.assert_array_equal(inside.v, plain.v)
    # The part that was removed is orthogonal to the data, and a gradient step keeps the rest inside.
    np.testing.assert_allclose(Xt @ (plain.augmented - inside.augmented).T, 0.0, atol=1e-13)
    slope = inside.gradient(X, rng.standard_normal(len(X)))
    rows = slope.W if slope.b is None else np.column_stack([slope.W, slope.b])
    np.testing.assert_allclose(Xt.T @ np.linalg.lstsq(Xt.T, rows.T, rcond=None)[0], rows.T, atol=1e-12)


def test_a_deep_start_in_the_span_projects_the_first_layer_only():
    inside = MLP.initialise([4, 3], 5, law=InSpan(X=POINTS), bias="none", seed=0)
    plain = MLP.initialise([4, 3], 5, bias="none", seed=0)
    assert np.linalg.matrix_rank(np.vstack([POINTS, inside.weights[0]])) == 3
    np.testing.assert_array_equal(inside.weights[1], plain.weights[1])
    np.testing.assert_allclose(inside(POINTS), plain(POINTS), atol=50 * EPS)


@pytest.mark.parametrize("width", [1, 2, 7, 500])
def test_fcb22_has_half_of_each_sign_and_an_idle_last_neuron_when_odd(width):
    net = TwoLayer.initialise(width, 2, law=FCB22Start(), bias=False, outputs="frozen", seed=0)
    half = width // 2
    assert (net.v > 0).sum() == (net.v < 0).sum() == half
    assert (net.v[-1] == 0) == (width % 2 == 1)
    np.testing.assert_allclose(np.abs(net.v[: 2 * half]), width**-0.5, rtol=50 * EPS)
    trained = TwoLayer.initialise(width, 2, law=FCB22Start(), bias=False, outputs="trained", seed=0)
    np.testing.assert_array_equal(trained.v, net.v)


def test_fcb22_draws_with_the_variance_of_its_figure():
    net = TwoLayer.initialise(500, 20, law=FCB22Start(), bias=False, outputs="frozen", seed=0)
    assert stats.kstest(net.W.ravel(), stats.norm(0.0, (16 * 500 * 20) ** -0.5).cdf).pvalue > 0.01
    given = TwoLayer.initialise(500, 20, law=FCB22Start(omega=0.3), bias=False, outputs="frozen", seed=0)
    assert stats.kstest(given.W.ravel(), stats.norm(0.0, 0.3).cdf).pvalue > 0.01


def test_kys23_freezes_outputs_at_plus_and_minus_one_in_equal_number():
    net = TwoLayer.initialise(6, 3, law=KYS23Start(), outputs="frozen")
    assert sorted(net.v.tolist()) == [-1.0] * 3 + [1.0] * 3
    deep = MLP.initialise([3, 4], 3, law=KYS23Start(), outputs="frozen")
    assert sorted(deep.weights[-1][0].tolist()) == [-1.0, -1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: TwoLayer.initialise(5, 3, law=KYS23Start(), outputs="frozen"), "width is 5; .* even width"),
        (lambda: TwoLayer.initialise(4, 3, law=VYS22Start(), outputs="frozen"), "VYS22 trains them"),
        (lambda: TwoLayer.initialise(4, 3, law=Balanced(), outputs="frozen"), "balanced start"),
        (lambda: TwoLayer.initialise(4, 3, law=FCB22Start()), "FCB22 has no bias"),
        (lambda: TwoLayer.initialise(5, 3, law=Balanced(base=FCB22Start()), bias=False), "no outgoing weight"),
        (lambda: TwoLayer.initialise(4, 3, law=InSpan(X=POINTS)), "X has 5 columns, but the network has dimension 3"),
        (lambda: InSpan(X=[1.0, 2.0]), "a matrix"),
        (lambda: InSpan(X=POINTS, base=Balanced()), r"use Balanced\(base=InSpan\(X=X\)\)"),
        (lambda: GaussianStart(deviation=0.0), "deviation is 0"),
        (lambda: FCB22Start(omega=-1.0), "omega is -1"),
    ],
)
def test_what_a_law_cannot_give_is_refused_in_one_sentence(draw, sentence):
    with pytest.raises(InputError, match=sentence):
        draw()
