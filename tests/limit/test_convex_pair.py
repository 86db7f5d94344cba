"""The convex pair against its own optimality conditions, a conic solver, and the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.closed_forms import closed_form
from marginflow.limit.closed_forms.closed_form import ClosedForm
from marginflow.limit.closed_forms.convex_pair import convex_pair


def kkt_residuals(point: ClosedForm) -> dict[str, float]:
    """Plain formulas for trained outputs; nothing is taken from the network but W, b, v."""
    net, X, y, lam, phi = point.network, point.data.X, point.data.y, point.multipliers, point.clarke
    A = net.W if net.b is None else np.column_stack([net.W, net.b])
    Xt = X if net.b is None else np.column_stack([X, np.ones(len(y))])
    pre, v = Xt @ A.T, net.v
    theta2 = (A**2).sum() + (v**2).sum()
    r_w = A - v[:, None] * ((lam * y)[:, None] * phi).T @ Xt
    r_v = v - (lam * y) @ np.maximum(pre, 0)
    q = y * (np.maximum(pre, 0) @ v)
    settled = np.abs(pre) > 1e-12 * np.linalg.norm(A, axis=1) * np.linalg.norm(Xt, axis=1)[:, None]
    return {
        "stationarity": float(np.sqrt(((r_w**2).sum() + (r_v**2).sum()) / theta2)),
        "infeasibility": float(max(0.0, 1 - q.min())),
        "complementarity": float(np.abs(lam * (q - 1)).max() / lam.max()),
        "negative multiplier": float(max(0.0, -lam.min())),
        "pattern": float(np.abs(phi - (pre > 0))[settled & (lam > 0)[:, None]].max(initial=0.0)),
        "weight outside [0, 1]": float(max(0.0, -phi.min(), phi.max() - 1)),
        "sum of multipliers": float(abs(lam.sum() - theta2 / 2) / lam.sum()),
        "balance": float(np.abs(v**2 - (A**2).sum(axis=1)).max() / theta2),
    }


def assert_kkt(point: ClosedForm, tolerance: float = 1e-12) -> None:
    assert {name: value for name, value in kkt_residuals(point).items() if value > tolerance} == {}


def conic_optimum(data: Dataset, bias: bool) -> float:
    """min t_+ + t_- over the same constraints, by Clarabel."""
    clarabel = pytest.importorskip("clarabel", reason="the conic solver is the second route")
    Xt = np.column_stack([data.X, np.ones(data.n_samples)]) if bias else data.X
    n, r = Xt.shape
    rows, cones = [], [clarabel.NonnegativeConeT(2 * n)]
    for x, label in zip(Xt, data.y, strict=True):
        own = 0 if label > 0 else 1
        alpha = np.zeros(2 * r + 2)
        alpha[own * r : (own + 1) * r] = -x
        beta = alpha.copy()
        beta[(1 - own) * r : (2 - own) * r] = x
        rows += [alpha, beta]
    for neuron in range(2):
        block = np.zeros((r + 1, 2 * r + 2))
        block[0, 2 * r + neuron] = -1
        block[1:, neuron * r : (neuron + 1) * r] = -np.eye(r)
        rows += list(block)
        cones.append(clarabel.SecondOrderConeT(r + 1))
    cost = np.append(np.zeros(2 * r), [1.0, 1.0])
    bound = np.concatenate([-np.ones(2 * n), np.zeros(2 * r + 2)])
    options = clarabel.DefaultSettings()
    options.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((cost.size, cost.size)), cost, sparse.csc_matrix(np.array(rows)), bound, cones, options
    )
    solution = solver.solve()
    assert str(solution.status) == "Solved"
    return float(solution.obj_val)


def clusters(d: int, k: int, sigma: float, n: int, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    q = rng.integers(0, k, n)
    X = np.sqrt(d) * np.eye(k, d)[q] + sigma * rng.standard_normal((n, d))
    return Dataset(X=X, y=np.where(q % 2 == 0, 1.0, -1.0))


def reduced_clusters(d: int, k: int, sigma: float, n: int, seed: int) -> Dataset:
    """The same law in the n + k coordinates that matter, for d of any size [FVBS23, 7.1]."""
    rng = np.random.default_rng(seed)
    q = rng.integers(0, k, n)
    triangle = np.tril(rng.standard_normal((n, n)), -1)
    triangle[np.diag_indices(n)] = np.sqrt(rng.chisquare(d - k - np.arange(n)))
    X = np.column_stack([np.sqrt(d) * np.eye(k)[q] + sigma * rng.standard_normal((n, k)), sigma * triangle])
    return Dataset(X=X, y=np.where(q % 2 == 0, 1.0, -1.0))


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (clusters, (549, 2, 549**-0.5, 80)),
        (clusters, (957, 10, 0.01, 472)),
        (clusters, (3382, 10, 3382**-0.5, 661)),
        (clusters, (289, 10, 1e-3, 322)),  # more samples than dimensions: a singular Gram matrix
        (reduced_clusters, (1_415_388, 2, 1.0, 402)),
    ],
)
def test_the_presets_of_the_paper_are_solved_to_rounding(make, size):
    assert_kkt(convex_pair(make(*size, seed=0)), tolerance=1e-13)


@settings(max_examples=40)
@given(
    n=st.integers(2, 24),
    d=st.integers(1, 10),
    bias=st.booleans(),
    repeats=st.integers(0, 3),
    seed=st.integers(0, 10**6),
)
def test_separable_samples_reach_the_conic_optimum(n, d, bias, repeats, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    y = np.where(X @ direction >= 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    # A visible distance between the classes: the conic solver, not ours, needs it.
    X += (y * 0.05 + np.where(y * (X @ direction) < 0, -(X @ direction), 0.0))[:, None] * direction
    data = Dataset(X=np.vstack([X, X[:repeats]]), y=np.append(y, y[:repeats]))
    point = convex_pair(data, bias=bias)
    assert_kkt(point, tolerance=1e-13 * max(10.0, point.objective))
    assert_kkt(point.widened(7), tolerance=1e-13 * max(10.0, point.objective))
    assert point.objective == pytest.approx(conic_optimum(data, bias), rel=1e-7)


@pytest.mark.parametrize(("positive", "negative", "d"), [(3, 5, 9), (10, 10, 100)])
def test_orthogonal_samples_give_back_the_closed_form(positive, negative, d):
    known = closed_form.pair_kink(positive, negative, d)
    found = convex_pair(known.data)
    assert found.network.directions == pytest.approx(known.network.directions, abs=1e-13)
    assert found.multipliers == pytest.approx(known.multipliers, rel=1e-11)
    assert found.clarke == pytest.approx(known.clarke, abs=1e-11)


def test_two_points_on_a_line_by_hand():
    """x = +-1: U_+ = (1, 1)/2 is 1 on its own point and 0 on the other; the kink has weight 1/2 or less."""
    point = convex_pair(Dataset(X=[[1.0], [-1.0]], y=[1, -1]))
    assert point.network.directions == pytest.approx(np.array([[0.5, 0.5], [-0.5, 0.5]]), abs=1e-14)
    assert point.objective == pytest.approx(np.sqrt(2.0), rel=1e-14)


def test_one_class_needs_one_neuron():
    point = convex_pair(Dataset(X=[[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]], y=[-1, -1, -1]))
    assert point.network.width == 1
    assert point.network.v[0] < 0
    assert_kkt(point)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_a_rotation_rotates_the_pair(seed):
    rng = np.random.default_rng(seed)
    data = clusters(12, 4, 0.3, 15, seed)
    Q = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    if np.unique(data.y).size < 2:
        return
    first, second = convex_pair(data), convex_pair(Dataset(X=data.X @ Q, y=data.y))
    assert np.allclose(second.network.W, first.network.W @ Q, rtol=0, atol=1e-11)
    assert second.multipliers == pytest.approx(first.multipliers, rel=1e-9, abs=1e-12)


@settings(max_examples=30)
@given(n=st.integers(4, 20), d=st.integers(1, 3), seed=st.integers(0, 10**6), bias=st.booleans())
def test_samples_that_no_hyperplane_separates_are_refused_with_a_reason(n, d, seed, bias):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    # A point strictly inside the hull of the opposite class makes separation impossible.
    data = Dataset(X=np.vstack([X, X[y > 0].mean(axis=0)]), y=np.append(y, -1.0))
    with pytest.raises(InputError, match=r"not linearly separable.*same point up to"):
        convex_pair(data, bias=bias)


def test_a_zero_sample_without_bias_is_refused():
    with pytest.raises(InputError, match="Sample 1 is zero"):
        convex_pair(Dataset(X=[[1.0, 0.0], [0.0, 0.0]], y=[1, -1]), bias=False)


def test_a_margin_too_small_for_floating_point_is_refused_and_not_returned():
    rng = np.random.default_rng(1)
    X = 1e-4 * rng.standard_normal((1000, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    with pytest.raises(InputError, match="further apart"):
        convex_pair(Dataset(X=X, y=y))
