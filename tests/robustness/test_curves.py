"""Robustness curves: counted by hand, and ordered bound >= exact >= attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rival_attacks import convex_concave

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import exact_radii, label_sum, minimal_step, one_neuron_per_sample
from marginflow.robustness.attacks import fgm
from marginflow.robustness.curves import curves_of, curves_of_radii, robustness_curve
from marginflow.robustness.lower_bounds import interval_bound, parabola_bound


def test_shares_are_counted_and_infinite_radii_never_enter():
    curve = robustness_curve([2.0, 0.0, 2.0, np.inf, 1.0], 9, name="x", kind="exact")
    np.testing.assert_array_equal(curve.sizes, [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(curve.shares, [0.2, 0.4, 0.8])
    np.testing.assert_allclose(curve.relative_sizes, [0.0, 1 / 3, 2 / 3])
    np.testing.assert_array_equal(curve.share_at([0.5, 1.0, 99.0]), [0.2, 0.4, 0.8])
    assert curve.rows()[1] == {"curve": "x", "kind": "exact", "size": 1.0, "relative_size": 1 / 3, "share": 0.4}
    np.testing.assert_array_equal(curve.share_at([0.0, 1.5, 3.0]), [0.2, 0.4, 0.8])


def test_what_bounds_leave_open_is_never_less_than_what_attacks_flip():
    rng = np.random.default_rng(0)
    net = TwoLayer(W=rng.normal(size=(20, 4)), b=rng.normal(size=20), v=rng.normal(size=20))
    X = rng.normal(size=(12, 4))
    y = np.where(net(X) < 0, -1.0, 1.0)
    results = [
        convex_concave(net, X, y),
        fgm(net, X, y),
        interval_bound(net, X, y),
        parabola_bound(net, X, y),
    ]
    grid = np.linspace(0, 3, 31)
    curves = curves_of(results, 4)
    assert [curve.kind for curve in curves] == ["attack", "attack", "bound", "bound"]
    assert [curve.name for curve in curves] == ["convex-concave", "FGM", "interval", "parabola"]
    ray = robustness_curve(minimal_step(net, X, y, label_sum(X, y)).sizes, 4, name="ray", kind="attack")
    attacks, bounds = [*curves[:2], ray], curves[2:]
    for attack in attacks:
        for bound in bounds:
            assert (attack.share_at(grid) <= bound.share_at(grid)).all()
    assert curves[0].share_at(grid)[10] > 0
    (exact,) = curves_of_radii(exact_radii(net, X, y=y))
    assert exact.kind == "exact"
    for attack in attacks:
        assert (attack.share_at(grid) <= exact.share_at(grid)).all()
    for bound in bounds:
        assert (exact.share_at(grid) <= bound.share_at(grid)).all()


def test_radii_that_are_only_bounded_give_two_curves():
    rng = np.random.default_rng(1)
    net = TwoLayer(W=rng.normal(size=(8, 2)), b=rng.normal(size=8), v=rng.normal(size=8))
    (radius,) = exact_radii(net, [[0.3, -0.2]])
    open_ = replace(radius, status="bounded", lower=0.5 * radius.upper)
    attack, bound = curves_of_radii([radius, open_])
    assert (attack.kind, bound.kind) == ("attack", "bound")
    budgets = [0.0, 0.75 * radius.upper, 2 * radius.upper]
    np.testing.assert_array_equal(attack.share_at(budgets), [0.0, 0.0, 1.0])
    np.testing.assert_array_equal(bound.share_at(budgets), [0.0, 0.5, 1.0])


def test_the_robust_network_has_a_curve_that_jumps_once_at_half_of_root_d():
    d = 25
    X, y = np.sqrt(d) * np.eye(6, d), np.resize([1.0, -1.0], 6)
    net = one_neuron_per_sample(X, y).network
    attack, bound = curves_of([convex_concave(net, X, y), interval_bound(net, X, y)], d)
    budgets = [0.0, 2.4, 2.499, 2.501, 3.0]
    np.testing.assert_array_equal(attack.share_at(budgets), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(bound.share_at(budgets), [0, 0, 0, 1, 1])


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(InputError, match="kind is 'guess'"):
        robustness_curve([1.0], 2, name="x", kind="guess")
    with pytest.raises(InputError, match="radii has shape"):
        robustness_curve([-1.0], 2, name="x", kind="exact")
    with pytest.raises(InputError, match="There are no radii"):
        curves_of_radii([])
    with pytest.raises(InputError, match="A budget is negative"):
        robustness_curve([1.0], 2, name="x", kind="exact").share_at([-0.5])
