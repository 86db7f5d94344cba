"""Lower bounds: closed forms, never above any attack, recomputed from multipliers, invariant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rival_attacks import ATTACKS

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.chord import Relaxation, bound_from_multipliers, cap_intervals
from marginflow.robustness.lower_bounds import (
    chord_bound,
    interval_bound,
    lipschitz_bound,
    local_lipschitz_bound,
    parabola_bound,
)
from marginflow.robustness.neighbourhood import Neighbourhood

BOUNDS = [lipschitz_bound, local_lipschitz_bound, interval_bound, chord_bound, parabola_bound]


def random_case(seed, *, n=4):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 7)), int(rng.integers(1, 14))
    bias = bool(rng.integers(2))
    net = TwoLayer(W=rng.normal(size=(k, d)), b=rng.normal(size=k) if bias else None, v=rng.normal(size=k))
    X = rng.normal(size=(n, d)) * np.exp(rng.normal())
    y = np.where(net(X) < 0, -1.0, 1.0)
    return net, X, y


@given(st.integers(0, 10**9))
@settings(max_examples=25)
def test_no_lower_bound_exceeds_any_attack(seed):
    net, X, y = random_case(seed, n=2)
    cheap = {
        "pgd": {"n_steps": 4, "n_bisections": 2, "n_restarts": 2},
        "ddn": {"n_steps": 20},
        "fmn": {"n_steps": 20},
        "convex_concave": {"n_starts": 1},
    }
    upper = np.min([attack(net, X, y, **cheap.get(name, {})).sizes for name, attack in ATTACKS.items()], axis=0)
    # The quadratic bound is the slow one: every third network.
    for bound in BOUNDS if seed % 3 == 0 else BOUNDS[:-1]:
        # A ball that is a flip already proves more; where no flip is known, or every second time, none is given.
        known = np.isfinite(upper).all() and (upper > 0).all() and seed % 2
        balls = {"balls": upper} if known and bound in (chord_bound, parabola_bound) else {}
        found = bound(net, X, y, **balls)
        assert (found.radii <= upper * (1 + 1e-11)).all(), bound.__name__
        assert (found.radii >= 0).all()


@pytest.mark.parametrize("bound", BOUNDS)
def test_linear_network_has_its_exact_distance(bound):
    """N(x) = w . x as relu(w . x) - relu(-w . x): the radius is |w . x| / ||w||."""
    w = np.array([3.0, 4.0])
    net = TwoLayer(W=[w, -w], v=[1.0, -1.0])
    X, y = np.array([[1.0, 1.0], [-2.0, 0.5], [5.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    exact = np.abs(X @ w) / 5.0
    found = bound(net, X, y).radii
    assert (found <= exact).all()
    if bound is lipschitz_bound:  # one constant cannot know that the two neurons are never active together
        np.testing.assert_allclose(found, exact / 2, rtol=1e-9)
    else:
        np.testing.assert_allclose(found, exact, rtol=1e-8)


@pytest.mark.parametrize("bound", BOUNDS)
def test_one_neuron_dies_at_its_distance(bound):
    net = TwoLayer(W=[[0.0, 2.0]], b=[-1.0], v=[3.0])
    found = bound(net, [[7.0, 4.0]], [1]).radii
    np.testing.assert_allclose(found, 3.5, rtol=1e-8)


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_point_that_cannot_flip_is_never_given_a_finite_flip(bound):
    net = TwoLayer(W=[[1.0, 0.0], [0.0, 0.0]], b=[0.0, 2.0], v=[1.0, 1.0])  # at least 2 everywhere
    radii = bound(net, [[1.0, 1.0]], [1]).radii
    assert radii[0] > 2.9  # margin 3, slope 1
    if bound in (interval_bound, chord_bound):
        assert radii[0] > 1e6


def test_the_parabola_bound_is_close_to_the_best_attack_where_chords_are_not():
    rng = np.random.default_rng(1)
    net = TwoLayer(W=rng.normal(size=(120, 8)), b=rng.normal(size=120), v=rng.normal(size=120))
    X = rng.normal(size=(6, 8))
    y = np.where(net(X) < 0, -1.0, 1.0)
    upper = ATTACKS["convex_concave"](net, X, y).sizes
    quadratic, chord = (bound(net, X, y, balls=upper).radii / upper for bound in (parabola_bound, chord_bound))
    assert (quadratic <= 1).all()
    assert np.median(quadratic) > 0.9
    assert np.median(quadratic) > np.median(chord)


@given(st.integers(0, 10**9))
@settings(max_examples=30)
def test_any_multipliers_prove_a_bound_below_every_flip(seed):
    """Soundness without the solver: random slopes and weights against random flipping points."""
    net, X, y = random_case(seed, n=1)
    rng = np.random.default_rng(seed + 1)
    delta = rng.normal(size=(4000, net.dimension)) * 2
    flips = delta[y[0] * net(X[0] + delta) <= 0]
    ball = 3.0
    flips = flips[np.linalg.norm(flips, axis=1) <= ball]
    A, C = net.preactivations(X), y[:, None] * net.v
    seen = Neighbourhood(A=A, C=C, W=net.W, basis=None, level=0.0)
    relaxation = Relaxation.on_ball(seen, np.ones(1), ball)
    lower, normal = bound_from_multipliers(relaxation, np.ones(1), rng.random(A.shape))
    if flips.size:
        assert np.linalg.norm(flips, axis=1).min() >= min(lower, ball) * (1 - 1e-12)
        assert (flips @ normal >= lower * (1 - 1e-12)).all() or lower == 0.0


@given(st.integers(0, 10**9))
@settings(max_examples=30)
def test_cap_intervals_hold_on_the_cap_and_are_attained(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    W, normal = rng.normal(size=(3, d)), rng.normal(size=d)
    normal /= np.linalg.norm(normal)
    radius = 1.0 + rng.random()
    lower = radius * rng.random()
    low, high = cap_intervals(W, radius, normal, lower)
    z = rng.normal(size=(20000, d))
    z *= (radius * rng.random((20000, 1)) ** 0.2) / np.linalg.norm(z, axis=1, keepdims=True)
    z = z[z @ normal >= lower]
    if z.size:
        p = z @ W.T
        assert (p <= high + 1e-12).all()
        assert (p >= low - 1e-12).all()
    for w, top in zip(W, high, strict=True):  # the maximiser itself: w direction, or the rim of the cap
        best = radius * w / np.linalg.norm(w)
        if best @ normal < lower:
            rest = w - (w @ normal) * normal
            length = np.linalg.norm(rest)
            rest = rest / length if length > 1e-12 else np.zeros(d)
            best = lower * normal + np.sqrt(radius**2 - lower**2) * rest
        assert w @ best == pytest.approx(top, abs=1e-9)


@given(st.integers(0, 10**9))
@example(183)  # a local Lipschitz constant that falls with the ball
@settings(max_examples=10)
def test_bounds_are_invariant_under_rotation_splitting_and_rescaling(seed):
    net, X, y = random_case(seed)
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(net.dimension, net.dimension)))[0]
    c = np.exp(rng.normal(size=net.width))
    others = [
        (TwoLayer(W=net.W @ Q.T, b=net.b, v=net.v), X @ Q.T),
        (TwoLayer(W=c[:, None] * net.W, b=None if net.b is None else c * net.b, v=net.v / c), X),
        (net.split(0, [0.25, 0.75]), X),
        (net.scaled(3.0), X),
    ]
    for bound, tolerance in [(lipschitz_bound, 1e-8), (local_lipschitz_bound, 1e-8), (interval_bound, 1e-8)]:
        base = bound(net, X, y).radii
        for other, points in others:
            np.testing.assert_allclose(bound(other, points, y).radii, base, rtol=tolerance, atol=1e-10)
    upper = ATTACKS["fmn"](net, X, y, n_steps=30).sizes
    balls = np.where(np.isfinite(upper) & (upper > 0), upper, 1.0)
    base = chord_bound(net, X, y, balls=balls).radii
    for other, points in others:
        np.testing.assert_allclose(chord_bound(other, points, y, balls=balls).radii, base, rtol=1e-5, atol=1e-8)


def test_a_misclassified_point_has_radius_zero_and_is_reported():
    net, X, y = random_case(5)
    for bound in BOUNDS:
        found = bound(net, X, -y)
        assert found.already.all()
        np.testing.assert_array_equal(found.radii, 0.0)


def test_a_level_below_zero_gives_a_larger_radius():
    net = TwoLayer(W=[[3.0, 4.0], [-3.0, -4.0]], v=[1.0, -1.0])
    for bound in (local_lipschitz_bound, chord_bound, parabola_bound):
        radii = bound(net, [[1.0, 1.0]], [1], level=-1.0).radii
        assert 7.0 / 5.0 * (1 - 1e-9) <= radii[0] <= 8.0 / 5.0
    np.testing.assert_allclose(chord_bound(net, [[1.0, 1.0]], [1], level=-1.0, balls=[1.6]).radii, 1.6, rtol=1e-8)


def test_bad_input_is_answered_in_a_sentence():
    net = TwoLayer(W=np.eye(2), v=[1.0, -1.0])
    with pytest.raises(InputError, match="3 columns, but the network has dimension 2"):
        chord_bound(net, [[1.0, 0.0, 0.0]], [1])
    with pytest.raises(InputError, match="a ball must be positive"):
        parabola_bound(net, [[1.0, 0.0]], [1], balls=[-1.0])
    with pytest.raises(InputError, match="balls has 2 entries; 1 are expected"):
        chord_bound(net, [[1.0, 0.0]], [1], balls=[1.0, 2.0])
