"""Surgery on neurons: the function, and what the docstrings promise about norm and balance, stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.neurons import even_copies, parallel_groups, row_norms

EPS = float(np.finfo(np.float64).eps)


@st.composite
def networks(draw, max_width=9):
    """A network with some zero rows, zero outputs and repeated directions, and points to try it on."""
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    k, d = draw(st.integers(1, max_width)), draw(st.integers(1, 5))
    W, b, v = rng.standard_normal((k, d)), rng.standard_normal(k), rng.standard_normal(k)
    for j in range(k):
        fate = draw(st.sampled_from(["keep", "keep", "zero row", "zero output", "copy"]))
        if fate == "zero row":
            W[j], b[j] = 0.0, 0.0
        elif fate == "zero output":
            v[j] = 0.0
        elif fate == "copy" and j:
            factor = float(rng.uniform(0.1, 3.0))
            W[j], b[j] = factor * W[j - 1], factor * b[j - 1]
    net = TwoLayer(W=W, b=b if draw(st.booleans()) else None, v=v, outputs=draw(st.sampled_from(["trained", "frozen"])))
    return net, rng.standard_normal((7, d))


def assert_same_function(first, second, X):
    scale = np.maximum(first.preactivations(X), 0.0) @ np.abs(first.v)
    np.testing.assert_array_less(np.abs(first(X) - second(X)), 1e-11 * scale + 1e-300)


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_permuting_neurons_keeps_function_and_norm(drawn, random):
    net, X = drawn
    order = list(range(net.width))
    random.shuffle(order)
    moved = net.permuted(order)
    assert_same_function(net, moved, X)
    assert moved.norm_squared() == pytest.approx(net.norm_squared(), rel=50 * EPS)
    np.testing.assert_array_equal(moved.W, net.W[order])
    np.testing.assert_array_equal(moved.permuted(np.argsort(order)).v, net.v)


@given(networks(), st.lists(st.floats(0.01, 1.0), min_size=1, max_size=4), st.integers(0, 8))
@settings(max_examples=80)
def test_splitting_keeps_function_norm_and_stationarity(drawn, parts, number):
    net, X = drawn
    neuron = number % net.width
    shares = np.array(parts) / np.sum(parts)
    grown = net.split(neuron, shares)
    assert grown.width == net.width + shares.size - 1
    assert grown.outputs == net.outputs
    assert_same_function(net, grown, X)
    assert grown.norm_squared() == pytest.approx(net.norm_squared(), rel=1e-13)
    # Parameters and gradients of the copies are both sqrt(share) times the original's, so theta = gradient survives.
    g = np.linspace(-1.0, 1.0, X.shape[0])
    before, after = net.gradient(X, g), grown.gradient(X, g)
    copies = slice(neuron, neuron + shares.size)
    np.testing.assert_allclose(grown.W[copies], np.sqrt(shares)[:, None] * net.W[neuron], rtol=50 * EPS)
    np.testing.assert_allclose(after.W[copies], np.sqrt(shares)[:, None] * before.W[neuron], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(after.v[copies], np.sqrt(shares) * before.v[neuron], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(grown.v[neuron + shares.size :], net.v[neuron + 1 :])


@given(networks(), st.integers(0, 8), st.integers(1, 4))
@settings(max_examples=60)
def test_merging_undoes_splitting(drawn, number, copies):
    net, _ = drawn
    live = np.flatnonzero(net.directions.any(axis=1))
    if live.size == 0:
        return
    neuron = int(live[number % live.size])
    shares = np.arange(1, copies + 1) / (copies * (copies + 1) / 2)
    back = net.split(neuron, shares).merged(np.arange(neuron, neuron + copies))
    np.testing.assert_allclose(back.augmented, net.augmented, rtol=50 * EPS, atol=1e-300)
    np.testing.assert_allclose(back.v, net.v, rtol=50 * EPS, atol=1e-300)
    assert back.outputs == net.outputs


@given(networks())
@settings(max_examples=100)
def test_compacting_keeps_the_function_and_never_raises_the_norm(drawn):
    net, X = drawn
    small = net.compact()
    assert_same_function(net, small, X)
    assert small.norm_squared() <= net.norm_squared() * (1 + 1e-13)
    assert small.outputs == net.outputs
    again = small.compact()
    assert again.width == small.width
    # No two neurons of one sign are parallel any more, and none is zero unless the function is.
    U = small.directions
    if small.width > 1:
        units = U / np.linalg.norm(U, axis=1)[:, None]
        close = (units @ units.T > 1 - 1e-13) & (small.signs[:, None] == small.signs)
        assert close.sum() == small.width


@given(networks(), st.integers(0, 30))
@settings(max_examples=60)
def test_widening_meets_any_width_and_compacting_undoes_it(drawn, extra):
    net, X = drawn
    wide = net.widened(net.width + extra)
    assert wide.width == net.width + extra
    assert_same_function(net, wide, X)
    assert wide.norm_squared() == pytest.approx(net.norm_squared(), rel=1e-13)
    first, second = net.compact(), wide.compact()
    assert first.width == second.width
    np.testing.assert_allclose(second.directions, first.directions, rtol=1e-12, atol=1e-300)


@given(networks())
@settings(max_examples=60)
def test_balancing_keeps_the_function_and_gives_the_least_norm(drawn):
    net, X = drawn
    if net.outputs == "frozen":
        with pytest.raises(InputError, match="outputs are frozen"):
            net.balanced()
        return
    even = net.balanced()
    assert_same_function(net, even, X)
    np.testing.assert_allclose(np.abs(even.v), np.linalg.norm(even.augmented, axis=1), rtol=50 * EPS)
    assert even.norm_squared() <= net.norm_squared() * (1 + 50 * EPS)
    # Splitting, widening and merging keep balance.
    for changed in (even.split(0, [0.3, 0.7]), even.widened(12), even.compact(), even.widened(12).compact()):
        np.testing.assert_allclose(np.abs(changed.v), np.linalg.norm(changed.augmented, axis=1), rtol=1e-13)


def test_merging_unbalanced_parallel_neurons_lowers_the_norm_as_cauchy_and_schwarz_say():
    net = TwoLayer(W=[[1.0], [3.0]], v=[3.0, 1.0])  # u = 3 + 3 = 6, v^2 = 10
    merged = net.merged([0, 1])
    assert merged.width == 1
    assert merged.v[0] ** 2 == pytest.approx(10.0)
    assert merged.W[0, 0] ** 2 == pytest.approx(3.6)
    assert merged.norm_squared() == pytest.approx(13.6)
    assert net.norm_squared() == 20.0


def test_compacting_merges_one_sign_only_and_drops_zero_neurons():
    net = TwoLayer(
        W=[[1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [-1.0, 0.0]],
        b=[1.0, 2.0, 1.0, 0.0, 5.0, -1.0],
        v=[1.0, 1.0, -1.0, 3.0, 0.0, 1.0],
    )
    small = net.compact()
    assert small.width == 3  # two merged, one of the other sign, one that points the other way
    np.testing.assert_allclose(small.directions, [[3.0, 0.0, 3.0], [1.0, 0.0, 1.0], [-1.0, 0.0, -1.0]], rtol=50 * EPS)
    assert small.signs.tolist() == [1.0, -1.0, 1.0]


def test_compacting_leaves_lonely_neurons_bit_for_bit():
    net = TwoLayer.initialise(31, 3, seed=3)
    small = net.split(5, [0.5, 0.5]).compact()
    others = np.arange(31) != 5
    np.testing.assert_array_equal(small.W[others], net.W[others])
    np.testing.assert_array_equal(small.b[others], net.b[others])
    np.testing.assert_array_equal(small.v[others], net.v[others])


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_the_zero_function_keeps_one_zero_neuron(outputs):
    net = TwoLayer(W=[[1.0], [0.0]], v=[0.0, 2.0], outputs=outputs).compact()
    assert net.width == 1
    assert net.norm_squared() == 0.0
    assert net([[5.0]]).tolist() == [0.0]


def test_parallel_groups_agree_with_comparing_every_pair():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        A = rng.standard_normal((12, d))[rng.integers(0, 12, 60)] * rng.uniform(0.1, 10.0, 60)[:, None]
        v = rng.choice([-1.0, 0.0, 1.0], 60)
        groups = parallel_groups(A, v, 1e-12)
        units = A / np.linalg.norm(A, axis=1)[:, None]
        label = {int(j): number for number, group in enumerate(groups) for j in group}
        assert sorted(label) == np.flatnonzero(v).tolist()
        for i in label:
            for j in label:
                together = v[i] == v[j] and np.linalg.norm(units[i] - units[j]) < 1e-9
                assert (label[i] == label[j]) == together


@pytest.mark.parametrize("tolerance", [1e-12, 0.1, 0.5])
def test_sorting_by_one_projection_finds_the_groups_of_the_plain_greedy_search(tolerance):
    rng = np.random.default_rng(1)
    A, v = rng.standard_normal((80, 3)), rng.choice([-1.0, 1.0], 80)
    units = A / np.linalg.norm(A, axis=1)[:, None]
    remaining, plain = list(range(80)), []
    while remaining:
        first = remaining[0]
        plain.append(
            [j for j in remaining if v[j] == v[first] and np.linalg.norm(units[j] - units[first]) <= tolerance]
        )
        remaining = [j for j in remaining if j not in plain[-1]]
    assert [group.tolist() for group in parallel_groups(A, v, tolerance)] == plain
    assert (len(plain) < 80) == (tolerance >= 0.1)


def test_a_dead_neuron_is_merged_with_nothing():
    net = TwoLayer(W=[[0.0], [1.0], [2.0]], v=[-1.0, 1.0, 0.0])
    for pair in ([0, 1], [1, 2], [0, 2]):
        with pytest.raises(InputError, match="not positively parallel"):
            net.merged(pair)


def test_a_coarser_tolerance_merges_more():
    net = TwoLayer(W=[[1.0, 0.0], [1.0, 1e-6]], v=[1.0, 1.0])
    assert net.compact().width == 2
    assert net.compact(tolerance=1e-5).width == 1


@given(st.lists(st.just(0.0) | st.floats(1e-3, 100.0), min_size=1, max_size=8), st.integers(0, 20))
@settings(max_examples=60)
def test_copies_are_spread_so_that_the_largest_piece_is_least(sizes, extra):
    copies = even_copies(np.array(sizes), len(sizes) + extra)
    assert copies.sum() == len(sizes) + extra
    assert copies.min() >= 1
    largest = max(size / count for size, count in zip(sizes, copies, strict=True))
    # A smaller largest piece t would need sum ceil(size / t) copies, which is more than there are.
    smaller = largest * (1 - 1e-9)
    if smaller > 0:
        assert sum(max(1, np.ceil(size / smaller)) for size in sizes) > len(sizes) + extra


def test_row_norms_do_not_underflow_or_overflow():
    norms = row_norms(np.array([[3e-200, 4e-200], [3e200, 4e200], [0.0, 0.0]]))
    np.testing.assert_allclose(norms, [5e-200, 5e200, 0.0], rtol=50 * EPS)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda net: net.neurons([]), "No neuron is selected"),
        (lambda net: net.neurons([False, False, False]), "No neuron is selected"),
        (lambda net: net.neurons([True, False]), r"mask of neurons has shape \(2,\)"),
        (lambda net: net.neurons([3]), "Neuron 3 is selected, but the network has 3 neurons"),
        (lambda net: net.neurons([0.5]), "whole numbers or a mask"),
        (lambda net: net.neurons([[0, 1]]), "whole numbers or a mask"),
        (lambda net: net.permuted([0, 1]), "not a permutation"),
        (lambda net: net.permuted([0, 1, 1]), "not a permutation"),
        (lambda net: net.split(3, [1.0]), "Neuron 3 is selected"),
        (lambda net: net.split(0, [0.5, 0.6]), "sum to 1"),
        (lambda net: net.split(0, [1.5, -0.5]), "sum to 1"),
        (lambda net: net.split(0, []), "sum to 1"),
        (lambda net: net.merged([0, 1]), "not positively parallel"),
        (lambda net: net.merged([0, 2]), "not positively parallel"),
        (lambda net: net.widened(2), "width is 2; a whole number of at least 3"),
        (lambda net: net.compact(tolerance=-1.0), "tolerance is -1"),
    ],
)
def test_bad_surgery_is_refused_in_one_sentence(call, sentence):
    net = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], v=[1.0, 1.0, -1.0])
    with pytest.raises(InputError, match=sentence):
        call(net)


def test_neurons_are_selected_from_the_end_and_by_masks():
    net = TwoLayer(W=[[1.0], [2.0], [3.0]], v=[1.0, 2.0, 3.0])
    assert net.neurons([-1, 0]).v.tolist() == [3.0, 1.0]
    assert net.neurons([True, False, True]).v.tolist() == [1.0, 3.0]
    assert net.split(-1, [0.25, 0.75]).W[2:, 0].tolist() == pytest.approx([1.5, 3 * 0.75**0.5])
