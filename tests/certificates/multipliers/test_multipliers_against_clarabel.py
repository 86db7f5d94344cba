"""The least-squares problem solved by an interior-point method that knows nothing of kinks or neurons."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from marginflow.certificates import kkt
from marginflow.certificates.multipliers.best import best_multipliers
from marginflow.certificates.pattern import recognise
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

clarabel = pytest.importorskip("clarabel", reason="the outside conic solver comes with the extra 'test'")


def reference(problem) -> float:
    """The relative minimum, columns assembled one by one."""
    n, k = problem.active.shape
    rows, columns = np.nonzero(problem.kink)
    b = np.r_[problem.U.ravel(), problem.target, -problem.omega0]
    A = np.zeros((b.size, n + rows.size))
    for i in range(n):
        hidden = np.outer(problem.active[i] * problem.v, problem.y[i] * problem.T[i])
        A[:, i] = np.r_[hidden.ravel(), problem.y[i] * problem.rho[i], problem.omega[i]]
    for e, (i, j) in enumerate(zip(rows, columns, strict=True)):
        hidden = np.zeros((k, problem.T.shape[1]))
        hidden[j] = problem.v[j] * problem.y[i] * problem.T[i]
        A[: hidden.size, n + e] = hidden.ravel()
    order = np.zeros((rows.size, A.shape[1]))
    order[np.arange(rows.size), n + np.arange(rows.size)] = 1.0
    order[np.arange(rows.size), rows] = -1.0
    G, h = [-np.eye(A.shape[1]), order], [np.zeros(A.shape[1]), np.zeros(rows.size)]
    if np.isfinite(problem.cap):
        G.append(np.eye(n, A.shape[1]))
        h.append(np.full(n, problem.cap))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(sum(part.size for part in h))]
    quadratic, linear = scipy.sparse.csc_matrix(np.triu(A.T @ A)), -A.T @ b
    bounds = scipy.sparse.csc_matrix(np.vstack(G)), np.concatenate(h)
    x = np.array(clarabel.DefaultSolver(quadratic, linear, *bounds, cones, settings).solve().x)
    return float(np.linalg.norm(b - A @ x)) / problem.norm()


@pytest.mark.parametrize("seed", range(60))
def test_minimum_is_that_of_an_interior_point_method(seed):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(2, 25), rng.integers(1, 8), rng.integers(1, 10)
    X, W, b = rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.normal(size=k)
    if seed % 3 == 0:  # small integers: exact kinks, equal samples, dependent samples
        X, W, b = np.round(X), np.round(W), np.round(b)
    W[0, 0] = 2.0
    bias = b if seed % 4 else None
    network = TwoLayer(W=W, b=bias, v=rng.normal(size=k), outputs="trained" if seed % 2 else "frozen")
    values = network(X)
    keep = np.abs(values) > 1e-2
    if not keep.any():
        keep[:] = True
    data = Dataset(X=X[keep], y=np.where(values[keep] >= 0, 1.0, -1.0))
    cap = np.inf if seed % 5 else 10.0 ** rng.uniform(-1, 1)
    if np.isinf(cap) and network.margins(data.X, data.y).min() > 0:
        network = network.at_margin_one(data.X, data.y)
    pattern, Z = recognise(network, data.X, float(rng.choice([1e-8, 0.05, 0.2])))
    problem = kkt.stationarity_problem(network, data, pattern, Z, cap=cap, weight=float(seed % 2))
    found = best_multipliers(problem)
    expected = reference(problem)
    assert found.size / problem.norm() <= expected + 1e-8
    assert found.bound / problem.norm() <= expected + 1e-8
    if np.isinf(cap) and pattern.tolerance < 1e-3 and network.margins(data.X, data.y).min() > 0:
        assert found.bound == pytest.approx(found.size, rel=1e-5)
