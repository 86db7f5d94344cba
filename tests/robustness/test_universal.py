"""Universal perturbations: closed forms, bounds that meet, certificates that are checked without a solver."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rival_attacks import convex_concave

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import label_sum, minimal_step, one_neuron_per_sample, universal_perturbation
from marginflow.robustness.universal import check_universal


def orthogonal_kkt(plus, minus, d):
    """[VYS22/X.orthKKT], written out."""
    m = plus + minus
    X, y = np.sqrt(d) * np.eye(m, d), np.repeat([1.0, -1.0], [plus, minus])
    lam_p = np.sqrt((minus + d) / (plus * d * (m + d)))
    lam_m = np.sqrt((plus + d) / (minus * d * (m + d)))
    s = np.sqrt(plus * minus / ((plus + d) * (minus + d)))
    v = np.array([np.sqrt(lam_p * plus), -np.sqrt(lam_m * minus)])
    Xt = np.column_stack([X, np.ones(m)])
    up, um = Xt[:plus].sum(axis=0), Xt[plus:].sum(axis=0)
    W = np.array([v[0] * (lam_p * up - lam_m * s * um), v[1] * (lam_p * s * up - lam_m * um)])
    return TwoLayer(W=W[:, :-1], b=W[:, -1], v=v), X, y


def random_case(seed, n=3):
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 5)), int(rng.integers(2, 10))
    net = TwoLayer(W=rng.normal(size=(k, d)), b=rng.normal(size=k), v=rng.normal(size=k))
    X = rng.normal(size=(n, d))
    return net, X, np.where(net(X) < 0, -1.0, 1.0)


def test_on_orthogonal_data_the_sum_is_the_best_direction_and_it_is_proved():
    """Balanced classes: the shortest signed universal perturbation is u scaled to sqrt(d / m), proved from below."""
    for half, d in ((4, 24), (8, 16)):
        net, X, y = orthogonal_kkt(half, half, d)
        found = universal_perturbation(net, X, y, n_random=1)
        assert found.upper == pytest.approx(np.sqrt(d / (2 * half)), rel=1e-9)
        assert found.lower == pytest.approx(found.upper, rel=1e-6)
        assert found.gap < 1e-6
        u = label_sum(X, y)
        assert abs(found.vector @ u) == pytest.approx(np.linalg.norm(found.vector) * np.linalg.norm(u), rel=1e-6)
        assert found.upper == pytest.approx(minimal_step(net, X, y, u).size_for_share(1.0), rel=1e-9)


def test_linear_network_needs_the_largest_distance_signed_and_cannot_be_flipped_unsigned():
    w = np.array([3.0, 4.0])
    net = TwoLayer(W=[w, -w], v=[1.0, -1.0])
    X = np.array([[1.0, 1.0], [2.0, 0.0], [-1.0, -0.5]])
    y = np.sign(X @ w)
    signed, unsigned = universal_perturbation(net, X, y), universal_perturbation(net, X, y, signed=False)
    assert signed.upper == pytest.approx(7.0 / 5.0, rel=1e-9)
    assert signed.lower == pytest.approx(7.0 / 5.0, rel=1e-9)
    assert unsigned.vector is None
    assert unsigned.upper == np.inf
    assert unsigned.lower == pytest.approx(7.0 / 5.0, rel=1e-9)
    two_of_three = universal_perturbation(net, X, y, signed=False, share=0.5)  # the two positive samples
    assert two_of_three.upper == pytest.approx(7.0 / 5.0, rel=1e-9)
    np.testing.assert_array_equal(two_of_three.flipped, [True, True, False])
    assert two_of_three.lower == pytest.approx(6.0 / 5.0, rel=1e-9)  # the second smallest of 7/5, 6/5, 1


def test_an_unsigned_perturbation_is_found_where_one_exists():
    # N is +1 near 0, -1 near 1, and -1 near 5, +1 near 6 (a zigzag): z = 5 flips both samples.
    net = TwoLayer(W=np.ones((5, 1)), b=[10.0, 0.0, -1.0, -5.0, -6.0], v=[0.1, -2.1, 2.0, 2.0, -2.0])
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, -1.0])
    np.testing.assert_allclose(net([[0.0], [1.0], [5.0], [6.0]]), [1.0, -1.0, -1.0, 1.0])
    exact = min(minimal_step(net, X, y, [s], signed=False).all_at_once for s in (1.0, -1.0))
    found = universal_perturbation(net, X, y, signed=False)
    assert found.upper == pytest.approx(exact, rel=1e-9)
    assert found.lower <= found.upper


@given(st.integers(0, 10**9))
@settings(max_examples=8)
def test_witness_bounds_and_certificate_agree_on_random_networks(seed):
    net, X, y = random_case(seed)
    for signed, sign in ((True, -y), (False, np.ones(y.size))):
        found = universal_perturbation(net, X, y, signed=signed, n_random=4)
        assert found.lower <= found.upper
        lower, upper = check_universal(net, X, y, found)
        assert upper == found.upper
        assert lower <= found.lower * (1 + 1e-12)
        assert max(lower, found.single_bounds.max()) == pytest.approx(found.lower, rel=1e-9) or found.lower == upper
        if found.vector is not None:
            assert (y * net(X + sign[:, None] * found.vector) <= 0).all()
            # z flips every sample by itself, so it is no shorter than what is proved for any of them.
            assert (found.single_bounds <= found.upper * (1 + 1e-12)).all()
            # No random vector below the lower bound flips all samples.
            z = np.random.default_rng(seed).normal(size=(300, net.dimension))
            z *= 0.999 * found.lower / np.linalg.norm(z, axis=1, keepdims=True)
            values = np.array([y * net(X + sign[:, None] * step) for step in z])
            assert not (values <= 0).all(axis=1).any() or found.lower == 0


@pytest.mark.parametrize("seed", range(3))
def test_signed_bounds_enclose_a_brute_force_search_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    net = TwoLayer(W=rng.normal(size=(6, 2)), b=rng.normal(size=6), v=rng.normal(size=6))
    X = rng.normal(size=(3, 2))
    y = np.where(net(X) < 0, -1.0, 1.0)
    found = universal_perturbation(net, X, y, n_random=20)
    angles = np.linspace(0, 2 * np.pi, 361)[:-1]
    scanned = min(minimal_step(net, X, y, [np.cos(a), np.sin(a)]).all_at_once for a in angles)
    assert found.lower <= scanned * (1 + 1e-9)
    if np.isfinite(scanned):
        assert found.upper <= scanned * (1 + 1e-9)
        assert found.upper >= scanned * 0.9  # the scan is a degree off at most


def test_the_joint_bound_proves_more_than_any_single_sample_and_its_certificate_can_fail():
    """Two orthogonal samples, one neuron each: alone each flips at sqrt(d) / 2, both together only at sqrt(d / 2)."""
    d = 8
    X, y = np.sqrt(d) * np.eye(2, d), np.array([1.0, -1.0])
    net = one_neuron_per_sample(X, y).network
    found = universal_perturbation(net, X, y)
    np.testing.assert_allclose(convex_concave(net, X, y).sizes, np.sqrt(d) / 2, rtol=1e-9)
    assert found.single_bounds.max() <= np.sqrt(d) / 2
    assert found.upper == pytest.approx(np.sqrt(d / 2), rel=1e-9)
    assert found.lower > 1.1 * np.sqrt(d) / 2  # the chords leave a gap here, but prove more than one sample could
    lower, upper = check_universal(net, X, y, found)
    assert lower == pytest.approx(found.lower, rel=1e-9)
    assert upper == found.upper
    flat = tuple(replace(step, weights=np.zeros(2)) for step in found.rounds)
    assert check_universal(net, X, y, replace(found, rounds=flat))[0] == 0.0
    assert check_universal(net, X, y, replace(found, vector=0.9 * found.vector))[1] == np.inf


def test_samples_that_are_flipped_already_cost_nothing():
    net, X, y = random_case(3)
    found = universal_perturbation(net, X, -y)
    assert found.upper == 0.0
    assert found.lower == 0.0
    assert found.gap == 0.0


@pytest.mark.parametrize("looks", [0.5, 3, 10, 30, 100, 300])
@pytest.mark.parametrize("signed", [True, False])
def test_a_time_limit_leaves_bounds_that_enclose_the_full_ones(monkeypatch, looks, signed):
    """A clock that moves by one whenever somebody looks at it ends the work at every stage in turn."""
    net, X, y = random_case(0, n=4)
    whole = universal_perturbation(net, X, y, signed=signed)
    now = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    found = universal_perturbation(net, X, y, signed=signed, time_limit=looks)
    spent = next(now)
    assert whole.stopped_by is None
    assert found.stopped_by == "time limit"
    assert "stopped by the time limit" in repr(found)
    assert spent <= looks + 60  # every stage notices within a few looks of its own
    assert found.lower <= whole.upper
    assert found.upper >= whole.lower
    if found.vector is not None:
        assert check_universal(net, X, y, found)[1] == found.upper


def test_a_generous_time_limit_changes_nothing():
    net, X, y = random_case(0, n=4)
    one, two = universal_perturbation(net, X, y), universal_perturbation(net, X, y, time_limit=1e6)
    assert two.stopped_by is None
    assert (one.lower, one.upper) == (two.lower, two.upper)
    np.testing.assert_array_equal(one.single_bounds, two.single_bounds)


def test_bad_input_is_told_in_a_sentence():
    net, X, y = random_case(4)
    with pytest.raises(InputError, match="share is 0"):
        universal_perturbation(net, X, y, share=0.0)
    with pytest.raises(InputError, match="time_limit is 0"):
        universal_perturbation(net, X, y, time_limit=0.0)
    with pytest.raises(InputError, match=r"directions\[0\] has 9 entries"):
        universal_perturbation(net, X, y, directions=[np.ones(9)])
    with pytest.raises(InputError, match="columns, but the network has dimension"):
        universal_perturbation(net, np.ones((3, 9)), y)
