"""Robust networks: margins, stated and sharp radii, and that the sharp radius is attained."""

from __future__ import annotations

import numpy as np
import pytest
from rival_attacks import convex_concave

from marginflow.errors import InputError
from marginflow.robustness import minimal_step, one_neuron_per_sample
from marginflow.robustness.constructions import one_neuron_per_cluster, one_neuron_per_sample_without_bias
from marginflow.robustness.directions import one_sided_direction
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.robustness.rays import steps_along


def sphere(m, d, seed):
    X = np.random.default_rng(seed).normal(size=(m, d))
    return X * np.sqrt(d) / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize(("m", "d"), [(5, 40), (30, 60), (80, 50)])
def test_one_neuron_per_sample_has_margin_one_and_the_sharp_radius_exactly(m, d):
    """[VYS22, Thm 3.1]: q_i = 1; own pre-activation 1, others at most -1; radius exactly (1 - c) sqrt(d) / 2."""
    X, y = sphere(m, d, m), np.random.default_rng(m).choice([-1.0, 1.0], m)
    made = one_neuron_per_sample(X, y)
    gram = X @ X.T - d * np.eye(m)
    assert made.correlation == pytest.approx(np.abs(gram).max() / d)
    np.testing.assert_allclose(made.network.margins(X, y), 1.0, rtol=1e-12)
    pre = made.network.preactivations(X)
    np.testing.assert_allclose(np.diag(pre), 1.0, rtol=1e-12)
    assert (pre[~np.eye(m, dtype=bool)] <= -1.0 + 1e-12).all()
    expected = (1 - made.correlation) / 2 * np.sqrt(d)
    assert made.sharp_radius == pytest.approx(expected, rel=1e-14)
    assert made.stated_radius == pytest.approx(expected / 2, rel=1e-14)
    np.testing.assert_allclose(interval_bound(made.network, X, y).radii, expected, rtol=1e-10)
    np.testing.assert_allclose(steps_along(made.network, X, y, -X).sizes, expected, rtol=1e-12)


def test_attacks_reach_the_sharp_radius_and_nothing_smaller():
    X, y = sphere(12, 30, 4), np.resize([1.0, -1.0], 12)
    made = one_neuron_per_sample(X, y)
    found = convex_concave(made.network, X, y)
    np.testing.assert_allclose(found.sizes, made.sharp_radius, rtol=1e-9)


def test_a_one_sided_correlation_gives_a_larger_radius_and_too_small_a_one_is_refused():
    X = np.sqrt(3.0) * np.array([[1.0, 0, 0], [-0.6, 0.8, 0], [-0.6, -0.8, 0.0]])
    y = [1, -1, 1]
    literal, one_sided = one_neuron_per_sample(X, y), one_neuron_per_sample(X, y, correlation=-0.28)
    assert literal.correlation == pytest.approx(0.6)
    assert one_sided.sharp_radius > literal.sharp_radius
    np.testing.assert_allclose(interval_bound(one_sided.network, X, y).radii, one_sided.sharp_radius, rtol=1e-10)
    with pytest.raises(InputError, match="but two samples have correlation"):
        one_neuron_per_sample(X, y, correlation=-0.5)


def test_one_neuron_per_cluster_keeps_samples_of_the_clusters_beyond_the_stated_radius():
    """[FVBS23, Thm 4.1]: w = 4 mu / d, b = -2, ||w|| = 4 / sqrt(d); yN >= 1 and radius at least sqrt(d) / 8."""
    d, k = 957, 10
    rng = np.random.default_rng(0)
    means = np.sqrt(d) * np.linalg.qr(rng.normal(size=(d, k)))[0].T
    labels = np.resize([1.0, -1.0], k)
    made = one_neuron_per_cluster(means, labels, width=17)
    assert made.network.width == 17
    np.testing.assert_allclose(made.network.W[:k], 4 * means / d)
    assert not made.network.W[k:].any()
    q = rng.integers(k, size=60)
    X = means[q] + 0.01 * rng.normal(size=(60, d))
    assert (made.network.margins(X, labels[q]) >= 41 / 21).all()
    radii = interval_bound(made.network, X, labels[q]).radii
    assert (radii >= made.sharp_radius).all()
    assert (radii >= made.stated_radius * 3.5).all()
    pre = made.network.preactivations(X)[:, :k]
    own = pre[np.arange(60), q]
    opposing = np.where(labels[None, :] != labels[q][:, None], pre, -np.inf).max(axis=1)
    certified = np.sqrt(d) / 4 * np.minimum(own, -opposing)  # no opposing neuron wakes before the own one dies
    assert (radii >= certified * (1 - 1e-10)).all()
    assert (radii <= np.sqrt(d) / 4 * own * (1 + 1e-10)).all()
    np.testing.assert_allclose(radii, certified, rtol=2e-3)


def test_the_worked_example_of_vys22_is_flipped_by_a_vector_of_length_two_root_two():
    """[VYS22, Sec. 5.1]: x_i = sqrt(d) e_i; N'(x_i + z) = -1 with ||z|| = 2 sqrt(2), while N keeps sqrt(d) / 2."""
    d = 16
    X, y = np.sqrt(d) * np.eye(d), np.repeat([1.0, -1.0], d // 2)
    fragile = one_neuron_per_sample_without_bias(X, y)
    np.testing.assert_array_equal(fragile.margins(X, y), 1.0)
    z = one_sided_direction(X, y, -1)
    assert np.linalg.norm(z) == pytest.approx(2 * np.sqrt(2), rel=1e-14)
    np.testing.assert_allclose(fragile(X[: d // 2] + z), -1.0, rtol=1e-12)
    mirror = one_sided_direction(X, y, 1)
    np.testing.assert_allclose(fragile(X[d // 2 :] + mirror), 1.0, rtol=1e-12)
    assert minimal_step(fragile, X[: d // 2], y[: d // 2], z, signed=False).all_at_once == pytest.approx(0.5)
    robust = one_neuron_per_sample(X, y)
    assert robust.sharp_radius == pytest.approx(np.sqrt(d) / 2)
    np.testing.assert_array_equal(robust.network.b, -1.0)


def test_reduced_coordinates_use_the_ambient_dimension():
    X = np.sqrt(1000.0) * np.eye(3)
    made = one_neuron_per_sample(X, [1, -1, 1], ambient_dimension=1000)
    assert made.sharp_radius == pytest.approx(np.sqrt(1000.0) / 2)
    assert one_neuron_per_cluster(X, [1, -1, 1], ambient_dimension=1000).stated_radius == pytest.approx(
        np.sqrt(1000.0) / 8
    )


def test_points_off_the_sphere_and_repeated_points_are_refused():
    with pytest.raises(InputError, match="Sample 1 has norm 3; sqrt"):
        one_neuron_per_sample([[np.sqrt(2.0), 0.0], [3.0, 0.0]], [1, -1])
    with pytest.raises(InputError, match="correlation 1; the construction needs less"):
        one_neuron_per_sample([[1.0, 1.0], [1.0, 1.0]], [1, 1])
    with pytest.raises(InputError, match="width is 1"):
        one_neuron_per_cluster(np.sqrt(2.0) * np.eye(2), [1, -1], width=1)
    with pytest.raises(InputError, match="Mean 0 has norm 1"):
        one_neuron_per_cluster(np.eye(2), [1, -1])
