"""Nearest-neighbour rules: closed forms, brute force over all cells with another solver, witnesses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from marginflow.errors import InputError
from marginflow.robustness.baselines import nearest_neighbour_radius, nearest_opposite_distance


def random_case(seed):
    rng = np.random.default_rng(seed)
    m, d, n = int(rng.integers(3, 12)), int(rng.integers(1, 5)), 4
    X, y = rng.normal(size=(m, d)), rng.choice([-1.0, 1.0], m)
    y[:2] = [1.0, -1.0]
    return X, y, rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n)


def one_nearest(X, y, points):
    D = ((points[:, None] - X[None]) ** 2).sum(axis=2)
    return y[np.argmin(D, axis=1)]


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_radius_equals_the_least_projection_over_all_cells_by_another_solver(seed):
    X, y, points, wanted = random_case(seed)
    found = nearest_neighbour_radius(X, y, points, wanted)
    np.testing.assert_array_equal(found.already, one_nearest(X, y, points) != wanted)
    for i in np.flatnonzero(~found.already):
        own, best = X[y == wanted[i]], np.inf
        for o in X[y != wanted[i]]:
            G = o - own
            h = 0.5 * (((points[i] - o) ** 2).sum() - ((points[i] - own) ** 2).sum(axis=1))
            solved = minimize(
                lambda t: 0.5 * t @ t,
                o - points[i],
                jac=lambda t: t,
                constraints={"type": "ineq", "fun": lambda t, G=G, h=h: G @ t - h, "jac": lambda t, G=G: G},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            )
            best = min(best, np.linalg.norm(solved.x))
        assert found.radii[i] == pytest.approx(best, rel=1e-5, abs=1e-7)
        assert found.lower[i] == pytest.approx(found.radii[i], rel=1e-9)


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_the_perturbed_point_is_as_near_to_the_other_label_and_no_random_point_flips_earlier(seed):
    X, y, points, wanted = random_case(seed)
    found = nearest_neighbour_radius(X, y, points, wanted)
    np.testing.assert_allclose(np.linalg.norm(found.perturbations, axis=1), found.radii, rtol=1e-12)
    moved = points + found.perturbations
    D = np.sqrt(((moved[:, None] - X[None]) ** 2).sum(axis=2))
    rng = np.random.default_rng(seed)
    for i in np.flatnonzero(~found.already):
        own, other = D[i, y == wanted[i]].min(), D[i, y != wanted[i]].min()
        assert other == pytest.approx(own, rel=1e-9)
        assert D[i, found.opposite[i]] == pytest.approx(other, rel=1e-9)
        ball = rng.normal(size=(500, X.shape[1]))
        ball *= 0.999 * found.radii[i] / np.linalg.norm(ball, axis=1, keepdims=True)
        assert (one_nearest(X, y, points[i] + ball) == wanted[i]).all()
    distance = nearest_opposite_distance(X, y, points, wanted)
    assert (found.radii <= distance * (1 + 1e-12)).all()


def test_a_sample_itself_flips_halfway_when_two_samples_are_alone():
    X, y = np.array([[0.0, 0.0], [6.0, 8.0]]), [1, -1]
    np.testing.assert_allclose(nearest_neighbour_radius(X, y, X, y).radii, 5.0)
    np.testing.assert_allclose(nearest_opposite_distance(X, y, X, y), 10.0)


def test_clusters_flip_at_the_scale_of_the_root_of_d():
    """[FVBS23, Sec. 4]: sigma = 1 / sqrt(d): 1-NN needs about sqrt(d / 2), whatever the number of clusters."""
    d, k = 400, 6
    rng = np.random.default_rng(0)
    M, labels = np.sqrt(d) * np.eye(k, d), np.resize([1.0, -1.0], k)
    q = np.resize(np.arange(k), 30)
    X = M[q] + rng.normal(size=(30, d)) / np.sqrt(d)
    fresh = M[:3] + rng.normal(size=(3, d)) / np.sqrt(d)
    found = nearest_neighbour_radius(X, labels[q], fresh, labels[:3])
    # min over opposite o of max over own s of (|x-o|^2 - |x-s|^2) / (2 |o-s|) is a lower bound (one row each).
    for i in range(3):
        own, other = X[labels[q] == labels[i]], X[labels[q] != labels[i]]
        gap = ((fresh[i] - other) ** 2).sum(axis=1)[:, None] - ((fresh[i] - own) ** 2).sum(axis=1)[None]
        single = (gap / (2 * np.linalg.norm(other[:, None] - own[None], axis=2))).max(axis=1).min()
        assert single <= found.radii[i] * (1 + 1e-12)
        assert found.radii[i] == pytest.approx(np.sqrt(d / 2), rel=0.1)


def test_a_misclassified_point_has_radius_zero_and_is_reported():
    found = nearest_neighbour_radius([[0.0], [4.0]], [1, -1], [[1.0], [2.0]], [-1, 1])
    np.testing.assert_array_equal(found.already, [True, True])  # the second is a tie
    np.testing.assert_array_equal(found.radii, 0.0)


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(InputError, match=r"All training labels are \+1"):
        nearest_neighbour_radius([[0.0], [1.0]], [1, 1], [[0.0]], [1])
    with pytest.raises(InputError, match="X has 2 columns, but X_train has 1"):
        nearest_opposite_distance([[0.0], [1.0]], [1, -1], [[0.0, 1.0]], [1])
