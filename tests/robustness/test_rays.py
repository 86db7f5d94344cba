"""Steps along rays, judged by rational arithmetic, by closed forms and by dense scans."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step
from marginflow.robustness.rays import steps_along

SETTINGS = settings(max_examples=100)


def rational_flip_slots(net, x, y, e, zero_counts):
    """[(step, flipped at it, flipped just after it)] at every possible change, in exact arithmetic (oracle)."""
    b = net.b if net.b is not None else np.zeros(net.width)
    a = [
        sum(Fraction(w) * Fraction(t) for w, t in zip(row, x, strict=True)) + Fraction(bj)
        for row, bj in zip(net.W, b, strict=True)
    ]
    g = [sum(Fraction(w) * Fraction(t) for w, t in zip(row, e, strict=True)) for row in net.W]

    def f(t):
        return Fraction(y) * sum(
            Fraction(vj) * max(aj + t * gj, Fraction(0)) for vj, aj, gj in zip(net.v, a, g, strict=True)
        )

    knots = sorted({Fraction(0)} | {-aj / gj for aj, gj in zip(a, g, strict=True) if gj != 0 and -aj / gj > 0})
    pieces = [*pairwise(knots), (knots[-1], knots[-1] + 1)]
    times = set(knots)
    for left, right in pieces:
        fl, fr = f(left), f(right)
        if fl != fr:
            root = left + (right - left) * fl / (fl - fr)
            if left < root < right or (right == knots[-1] + 1 and root > left):
                times.add(root)
    times = sorted(times)

    def flipped(t):
        return f(t) < 0 or (f(t) == 0 and zero_counts)

    between = [(s + t) / 2 for s, t in pairwise(times)] + [times[-1] + 1]
    return [(t, flipped(t), flipped(mid)) for t, mid in zip(times, between, strict=True)]


def rational_first(slots):
    return next((float(t) for t, at, after in slots if at or after), np.inf)


def rational_all_at_once(all_slots):
    times = sorted({t for slots in all_slots for t, _, _ in slots})

    def state(slots, t, slot):
        at_or_before = [s for s in slots if s[0] <= t]
        time, at, after = at_or_before[-1]
        return at if (time == t and slot == 0) else after

    for t in times:
        for slot in (0, 1):
            if all(state(slots, t, slot) for slots in all_slots):
                return float(t)
    return np.inf


def small_networks(draw):
    d, k, n = draw(st.integers(1, 3)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    small = st.integers(-3, 3)

    def ints(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(small, min_size=size, max_size=size)), dtype=float).reshape(shape)

    net = TwoLayer(W=ints(k, d), b=ints(k), v=ints(k))
    X, z = ints(n, d), ints(d)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    if not z.any():
        z[0] = 1.0
    return net, X, y, z


@given(st.data())
@SETTINGS
def test_every_step_equals_rational_arithmetic_on_integer_networks(data):
    net, X, y, z = small_networks(data.draw)
    at_zero = data.draw(st.sampled_from(["flips", "keeps", "positive", "negative"]))
    signed = data.draw(st.booleans())
    found = minimal_step(net, X, y, z, signed=signed, at_zero=at_zero)
    counts = {"flips": (1, -1), "keeps": (), "positive": (-1,), "negative": (1,)}[at_zero]
    E = [-yi * z if signed else z for yi in y]
    slots = [rational_flip_slots(net, x, yi, e, yi in counts) for x, yi, e in zip(X, y, E, strict=True)]
    np.testing.assert_allclose(found.first, [rational_first(s) for s in slots], rtol=1e-12)
    np.testing.assert_array_equal(found.already, [s[0][1] for s in slots])
    np.testing.assert_allclose(found.all_at_once, rational_all_at_once(slots), rtol=1e-12)
    for i, s in enumerate(slots):
        states = [state for _, at, after in s for state in (at, after)]
        crossings = [t for t, _, _ in s for _ in (0, 1)]
        changes = [float(crossings[j]) for j in range(1, len(states)) if states[j] != states[j - 1]]
        np.testing.assert_allclose(found.changes(i), changes, rtol=1e-12)
    by_hand = steps_along(net, X, y, np.array(E), at_zero=at_zero)
    np.testing.assert_allclose(by_hand.first, found.first, rtol=1e-12)
    np.testing.assert_allclose(by_hand.lasting, found.lasting, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_flip_curve_equals_a_dense_scan(seed):
    rng = np.random.default_rng(seed)
    net = TwoLayer(W=rng.normal(size=(40, 5)), b=rng.normal(size=40), v=rng.normal(size=40))
    X, y, z = rng.normal(size=(30, 5)), rng.choice([-1.0, 1.0], 30), rng.normal(size=5)
    found = minimal_step(net, X, y, z)
    grid = np.linspace(0.0, 8.0, 4001)
    scanned = np.array([[yi * net([x - yi * t * z])[0] < 0 for t in grid[::40]] for x, yi in zip(X, y, strict=True)])
    np.testing.assert_array_equal(found.flipped_share(grid[::40]), scanned.mean(axis=0))
    for i in np.flatnonzero(np.isfinite(found.first) & ~found.already):
        t = found.first[i]
        value = lambda s, i=i: y[i] * net([X[i] - y[i] * s * z])[0]  # noqa: E731
        assert abs(value(t)) < 1e-12
        assert (np.array([value(s) for s in np.linspace(0, t * (1 - 1e-9), 200)]) > 0).all()
        assert value(t * (1 + 1e-9)) < 0


def test_all_at_once_differs_from_the_largest_first_flip_when_flips_are_not_monotone():
    # y N = 1 - relu(t) + 2 relu(t - 2): flipped on [1, 3], then from 13.5 on; the second sample flips at 4 for ever.
    net = TwoLayer(
        W=[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], b=[1.0, 0.0, -2.0, 0.0], v=[1.0, -1.0, 2.0, -3.0]
    )
    X, y = np.array([[0.0, -10.0], [-10.0, -11.0 / 3.0]]), np.array([1.0, 1.0])
    found = minimal_step(net, X, y, [1.0, 1.0], signed=False)
    np.testing.assert_allclose(found.first, [1.0, 4.0])
    np.testing.assert_array_equal(found.monotone, [False, True])
    assert found.largest_first == pytest.approx(4.0)
    assert found.all_at_once == pytest.approx(13.5)
    np.testing.assert_allclose(found.changes(0), [1.0, 3.0, 13.5])
    assert found.step_for_share(0.5) == pytest.approx(1.0)


@pytest.mark.parametrize(("plus", "minus", "d"), [(8, 8, 48), (1, 1, 4), (16, 16, 32), (3, 9, 40)])
@pytest.mark.parametrize("width", [2, 11])
def test_orthogonal_kkt_network_flips_where_the_closed_form_says(plus, minus, d, width):
    """[VYS22/X.orthKKT]: y_i N(x_i - y_i t u) = 1 - kappa t; balanced classes flip at exactly sqrt(d / m)."""
    net, X, y = orthogonal_kkt(plus, minus, d)
    np.testing.assert_allclose(net.margins(X, y), 1.0, rtol=1e-12)
    lam_p, lam_m, s = multipliers(plus, minus, d)
    v2p, v2m = lam_p * plus, lam_m * minus
    kappa = d * (v2p * (lam_p * plus + lam_m * s * minus) + v2m * (lam_m * minus + lam_p * s * plus))
    found = minimal_step(net.widened(width), X, y, y @ X)
    np.testing.assert_allclose(found.first, 1.0 / kappa, rtol=1e-10)
    np.testing.assert_allclose(found.all_at_once, 1.0 / kappa, rtol=1e-10)
    if plus == minus:
        assert found.size_for_share(1.0) == pytest.approx(np.sqrt(d / (plus + minus)), rel=1e-10)


def multipliers(plus, minus, d):
    m = plus + minus
    lam_p = np.sqrt((minus + d) / (plus * d * (m + d)))
    lam_m = np.sqrt((plus + d) / (minus * d * (m + d)))
    return lam_p, lam_m, np.sqrt(plus * minus / ((plus + d) * (minus + d)))


def orthogonal_kkt(plus, minus, d):
    """The closed-form KKT network of width 2 on sqrt(d) e_1, ..., sqrt(d) e_m."""
    m = plus + minus
    X = np.sqrt(d) * np.eye(m, d)
    y = np.concatenate([np.ones(plus), -np.ones(minus)])
    lam_p, lam_m, s = multipliers(plus, minus, d)
    v = np.array([np.sqrt(lam_p * plus), -np.sqrt(lam_m * minus)])
    Xt = np.column_stack([X, np.ones(m)])
    up, um = Xt[:plus].sum(axis=0), Xt[plus:].sum(axis=0)
    W = np.array([v[0] * (lam_p * up - lam_m * s * um), v[1] * (lam_p * s * up - lam_m * um)])
    return TwoLayer(W=W[:, :-1], b=W[:, -1], v=v), X, y


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_steps_are_invariant_under_rotation_splitting_permutation_and_rescaling(seed):
    rng = np.random.default_rng(seed)
    d, k, n = 4, 7, 6
    net = TwoLayer(W=rng.normal(size=(k, d)), b=rng.normal(size=k), v=rng.normal(size=k))
    X, z = rng.normal(size=(n, d)), rng.normal(size=d)
    y = np.where(net(X) < 0, -1.0, 1.0)
    base = minimal_step(net, X, y, z)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    rotated = TwoLayer(W=net.W @ Q.T, b=net.b, v=net.v)
    c = np.exp(rng.normal(size=k))
    rescaled = TwoLayer(W=c[:, None] * net.W, b=c * net.b, v=net.v / c)
    for other, points, along, factor in [
        (rotated, X @ Q.T, Q @ z, 1.0),
        (rescaled, X, z, 1.0),
        (net.split(2, [0.3, 0.7]), X, z, 1.0),
        (net.neurons(rng.permutation(k)), X, z, 1.0),
        (net.scaled(7.0), X, z, 1.0),
        (net, X, 3.0 * z, 3.0),
    ]:
        found = minimal_step(other, points, y, along)
        np.testing.assert_allclose(found.first * factor, base.first, rtol=1e-8)
        np.testing.assert_allclose(found.all_at_once * factor, base.all_at_once, rtol=1e-8)
        np.testing.assert_allclose(found.sizes, base.sizes, rtol=1e-8)


def test_the_conventions_for_sign_of_zero_differ_on_a_flat_zero_region():
    # Value +1 at x = 3, dead on [1, 2], negative below: flips at 1 if zero counts, at 2 if it does not.
    net = TwoLayer(W=[[1.0], [-1.0]], b=[-2.0, 1.0], v=[1.0, -1.0])
    steps = {
        word: minimal_step(net, [[3.0]], [1], [1.0], at_zero=word).first[0]
        for word in ("flips", "keeps", "positive", "negative")
    }
    assert steps == {"flips": 1.0, "keeps": 2.0, "positive": 2.0, "negative": 1.0}
    assert minimal_step(net, [[3.0]], [1], [1.0], level=-0.5).first[0] == 2.5
    mirrored = TwoLayer(W=net.W, b=net.b, v=-net.v)
    assert minimal_step(mirrored, [[3.0]], [-1], [-1.0], at_zero="positive").first[0] == 1.0
    assert minimal_step(mirrored, [[3.0]], [-1], [1.0], at_zero="positive").first[0] == np.inf
    assert minimal_step(mirrored, [[3.0]], [-1], [-1.0], signed=False, at_zero="positive").first[0] == 1.0
    assert minimal_step(mirrored, [[3.0]], [-1], [-1.0], signed=False, at_zero="negative").first[0] == 2.0


def test_a_misclassified_point_has_step_zero_and_is_reported():
    net = TwoLayer(W=[[1.0], [-1.0]], v=[1.0, -1.0])
    found = minimal_step(net, [[1.0], [2.0]], [-1, 1], [1.0])
    np.testing.assert_array_equal(found.already, [True, False])
    np.testing.assert_array_equal(found.first, [0.0, 2.0])
    assert "1 already" in repr(found)


def test_signed_and_unsigned_steps_agree_on_positive_samples_only_after_reflection():
    rng = np.random.default_rng(3)
    net = TwoLayer(W=rng.normal(size=(9, 3)), b=rng.normal(size=9), v=rng.normal(size=9))
    X, z = rng.normal(size=(20, 3)), rng.normal(size=3)
    y = np.where(net(X) < 0, -1.0, 1.0)
    signed = minimal_step(net, X, y, z).first
    np.testing.assert_array_equal(signed[y > 0], minimal_step(net, X, y, -z, signed=False).first[y > 0])
    np.testing.assert_array_equal(signed[y < 0], minimal_step(net, X, y, z, signed=False).first[y < 0])


def test_a_neuron_that_wakes_very_far_away_does_not_flip_a_constant():
    # Beyond t = 1 only the constant 1 is left, until a neuron wakes at t = 1e14: prefix sums alone cannot tell.
    net = TwoLayer(W=[[0.0], [-1.0], [1e-14]], b=[1.0, 1.0, -1.0], v=[1.0, 3.0, 1.0])
    assert minimal_step(net, [[0.0]], [1], [1.0], signed=False).first[0] == np.inf
    falling = TwoLayer(W=net.W, b=net.b, v=[1.0, 3.0, -1.0])
    assert minimal_step(falling, [[0.0]], [1], [1.0], signed=False).first[0] == pytest.approx(2e14, rel=1e-9)


def test_blocks_of_rows_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(8)
    net = TwoLayer(W=rng.normal(size=(12, 3)), b=rng.normal(size=12), v=rng.normal(size=12))
    X, y, z = rng.normal(size=(25, 3)), rng.choice([-1.0, 1.0], 25), rng.normal(size=3)
    whole = minimal_step(net, X, y, z)
    monkeypatch.setattr("marginflow.robustness.rays.BLOCK_NUMBERS", 40)
    pieces = minimal_step(net, X, y, z)
    np.testing.assert_allclose(pieces.first, whole.first, rtol=1e-13)
    np.testing.assert_allclose(pieces.shares, whole.shares)


def test_bad_input_is_told_in_a_sentence():
    net = TwoLayer(W=np.eye(2), v=[1.0, -1.0])
    X, y = [[1.0, 0.0]], [1]
    with pytest.raises(InputError, match="network is 3; a TwoLayer is expected"):
        minimal_step(3, X, y, [1.0, 0.0])
    with pytest.raises(InputError, match="direction is zero"):
        minimal_step(net, X, y, [0.0, 0.0])
    with pytest.raises(InputError, match="3 entries, but the network has dimension 2"):
        minimal_step(net, X, y, [1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="3 columns, but the network has dimension 2"):
        minimal_step(net, [[1.0, 0.0, 0.0]], y, [1.0, 0.0])
    with pytest.raises(InputError, match="labels must be"):
        minimal_step(net, X, [0], [1.0, 0.0])
    with pytest.raises(InputError, match="at_zero is 'odd'"):
        minimal_step(net, X, y, [1.0, 0.0], at_zero="odd")
    with pytest.raises(InputError, match="one direction per sample"):
        steps_along(net, X, y, [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(InputError, match="Direction 0 is zero"):
        steps_along(net, X, y, [[0.0, 0.0]])
    with pytest.raises(InputError, match=r"share is 1\.5"):
        minimal_step(net, X, y, [1.0, 0.0]).step_for_share(1.5)
    two = steps_along(net, [[1.0, 0.0], [2.0, 0.0]], [1, 1], [[-1.0, 0.0], [-2.0, 0.0]])
    with pytest.raises(InputError, match="norms from 1 to 2; one common norm"):
        two.size_for_share(0.5)
    with pytest.raises(InputError, match="negative or not a number"):
        two.flipped_share([0.5, -1.0])
    with pytest.raises(InputError, match="sample is 2, but there are 2 samples"):
        two.changes(2)
