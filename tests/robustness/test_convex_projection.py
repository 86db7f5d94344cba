"""Projection on piecewise linear convex constraints, and the convex-concave steps built on it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from marginflow.networks import TwoLayer
from marginflow.robustness.convex_concave import ConvexFunctions, common_step, descend, project_on_convex
from marginflow.robustness.neighbourhood import Neighbourhood, neighbourhood


def convex_case(seed):
    rng = np.random.default_rng(seed)
    n, k, r = int(rng.integers(1, 4)), int(rng.integers(2, 9)), int(rng.integers(1, 5))
    A, W = rng.normal(size=(n, k)), rng.normal(size=(k, r))
    C, slopes = rng.normal(size=(n, k)), rng.random((n, k))
    sigma = rng.choice([-1.0, 1.0], n)
    return {"A": A, "C": C, "W": W, "sigma": sigma, "slopes": slopes, "constant": rng.normal(size=n)}


def values(case, z):
    a = case["A"] + case["sigma"][:, None] * (case["W"] @ z)
    terms = np.where(case["C"] > 0, case["C"] * np.maximum(a, 0.0), case["C"] * case["slopes"] * a)
    return terms.sum(axis=1) + case["constant"]


def least_norm_in_the_maximum_norm(case):
    """Whether the constraints can be met at all: a linear program with one variable per relu (oracle)."""
    n, k = case["A"].shape
    r = case["W"].shape[1]
    rows, rhs = [], []
    for i in range(n):
        row, right = np.zeros(r + n * k), -case["constant"][i]
        for j in range(k):
            w = case["sigma"][i] * case["W"][j]
            if case["C"][i, j] > 0:
                row[r + i * k + j] = case["C"][i, j]
                above = np.zeros(r + n * k)
                above[:r], above[r + i * k + j] = w, -1.0
                rows.append(above)
                rhs.append(-case["A"][i, j])
            else:
                row[:r] += case["C"][i, j] * case["slopes"][i, j] * w
                right -= case["C"][i, j] * case["slopes"][i, j] * case["A"][i, j]
        rows.append(row)
        rhs.append(right)
    bounds = [(None, None)] * r + [(0, None)] * (n * k)
    return linprog(np.zeros(r + n * k), A_ub=np.array(rows), b_ub=rhs, bounds=bounds).status == 0


@given(st.integers(0, 10**9))
@settings(max_examples=80)
def test_the_projection_is_feasible_and_its_multipliers_prove_that_nothing_is_nearer(seed):
    case = convex_case(seed)
    seen = Neighbourhood(A=case["A"], C=case["C"], W=case["W"], basis=None, level=0.0)
    functions = ConvexFunctions(seen=seen, **{name: case[name] for name in ("sigma", "slopes", "constant")})
    found = project_on_convex(functions, max_rounds=200)
    if not found.converged:  # only where there is no point, and then the multipliers say so
        assert found.lower > 1e6
        assert not least_norm_in_the_maximum_norm(case)
        return
    scale = np.abs(case["C"]).sum() * (1 + np.abs(found.point).max())
    assert (values(case, found.point) <= 1e-9 * scale).all()
    # The minorants of the multipliers: sum_i Lambda_i h_i(z) <= 0 is a half-space at the distance of the point.
    slopes = case["C"] * np.where(case["C"] > 0, found.supporting, case["slopes"])
    height = found.weights @ ((slopes * case["A"]).sum(axis=1) + case["constant"])
    normal = (found.weights * case["sigma"]) @ (slopes @ case["W"])
    if found.point.any():
        assert ((found.supporting >= 0) & (found.supporting <= 1 + 1e-12)).all()
        assert height / np.linalg.norm(normal) == pytest.approx(np.linalg.norm(found.point), rel=1e-7)
    else:
        assert (values(case, np.zeros_like(found.point)) <= 1e-9 * scale).all()


@given(st.integers(0, 10**9))
@settings(max_examples=60)
def test_convex_concave_steps_never_lengthen_and_keep_every_sample_flipped(seed):
    rng = np.random.default_rng(seed)
    net = TwoLayer(W=rng.normal(size=(7, 3)), b=rng.normal(size=7), v=rng.normal(size=7))
    X = rng.normal(size=(2, 3))
    y = np.where(net(X) < 0, -1.0, 1.0)
    seen, sigma = neighbourhood(net, X, y), -y
    direction = rng.normal(size=3)
    step = common_step(seen, sigma, direction)
    if not np.isfinite(step):
        return
    start = step * direction
    z = descend(seen, sigma, start)
    assert np.linalg.norm(z) <= np.linalg.norm(start) * (1 + 1e-12)
    assert (y * net(X + sigma[:, None] * z) <= 1e-9).all()
