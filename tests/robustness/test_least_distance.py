"""Least-distance problems: KKT conditions, another solver, empty polyhedra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from marginflow.robustness.least_distance import distance_from_multipliers, least_distance


def feasible_case(seed):
    rng = np.random.default_rng(seed)
    c, r = int(rng.integers(1, 20)), int(rng.integers(1, 10))
    G = rng.normal(size=(c, r)) * np.exp(rng.normal(size=(c, 1)))
    h = G @ (3 * rng.normal(size=r)) - rng.exponential(size=c) * rng.integers(0, 2, size=c)
    if c > 3:
        G[1], h[1] = 2 * G[0], 2 * h[0]  # the same row twice
    return G, h


@given(st.integers(0, 10**9))
@settings(max_examples=150)
def test_kkt_conditions_hold_and_the_multipliers_prove_the_distance(seed):
    G, h = feasible_case(seed)
    found = least_distance(G, h)
    assert found.feasible
    assert (found.multipliers >= 0).all()
    np.testing.assert_allclose(found.multipliers @ G, found.point, rtol=1e-9, atol=1e-12)
    assert (h - G @ found.point <= 1e-11 * np.linalg.norm(G, axis=1) * np.linalg.norm(found.point)).all()
    assert found.lower == pytest.approx(np.linalg.norm(found.point), rel=1e-9)
    assert found.lower == distance_from_multipliers(G, h, found.multipliers)


@pytest.mark.parametrize("seed", range(15))
def test_another_solver_finds_the_same_point(seed):
    G, h = feasible_case(seed)
    other = minimize(
        lambda t: 0.5 * t @ t,
        np.linalg.lstsq(G, h + 1.0, rcond=None)[0],
        jac=lambda t: t,
        constraints={"type": "ineq", "fun": lambda t: G @ t - h, "jac": lambda t: G},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    np.testing.assert_allclose(least_distance(G, h).point, other.x, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 10**9))
@settings(max_examples=80)
def test_any_multipliers_bound_every_point_of_the_polyhedron(seed):
    G, h = feasible_case(seed)
    rng = np.random.default_rng(seed)
    lower = distance_from_multipliers(G, h, rng.random(h.size))
    assert lower <= np.linalg.norm(least_distance(G, h).point) * (1 + 1e-9)


def test_an_empty_polyhedron_is_recognised_and_its_multipliers_show_it():
    for gap in (1.5, 1e-3, 1e-6):
        G, h = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0 + gap])
        found = least_distance(G, h)
        assert not found.feasible
        assert found.lower > 1e6


def test_the_origin_is_nearest_when_it_is_inside():
    found = least_distance(np.array([[1.0, 2.0]]), np.array([-1.0]))
    np.testing.assert_array_equal(found.point, 0.0)
    assert found.lower == 0.0
