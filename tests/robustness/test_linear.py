"""Linear classifiers: closed forms, KKT conditions, another solver, the ranges of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.attacks import fgm
from marginflow.robustness.linear import max_margin_classifier, mean_classifier


def separable(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 25)), int(rng.integers(1, 6))
    X, w, b = rng.normal(size=(n, d)), rng.normal(size=d), rng.normal()
    y = np.where(X @ w + b >= 0, 1.0, -1.0)
    X += 0.3 * y[:, None] * w / np.linalg.norm(w)
    if np.all(y == y[0]):
        X[0], y[0] = X[0] - (2 * (X[0] @ w + b) * w / (w @ w)), -y[0]
    return X, y


@given(st.integers(0, 10**9))
@settings(max_examples=100)
def test_max_margin_with_bias_satisfies_its_kkt_conditions(seed):
    X, y = separable(seed)
    found = max_margin_classifier(X, y, bias=True)
    alpha = found.multipliers
    margins = y * found(X)
    assert found.residual <= 1e-8
    assert margins.min() >= 1 - 1e-8
    assert (alpha >= -1e-12).all()
    np.testing.assert_allclose((alpha * y) @ X, found.w, rtol=1e-10, atol=1e-12)
    assert abs(alpha @ y) <= 1e-8 * alpha.sum()
    assert np.abs(alpha * (margins - 1)).max() <= 1e-8 * alpha.max()
    # Duality: ||w||^2 = sum alpha at the optimum.
    assert found.w @ found.w == pytest.approx(alpha.sum(), rel=1e-7)


def test_max_margin_agrees_with_an_interior_point_solver():
    clarabel = pytest.importorskip("clarabel", reason="the outside solver of this test is not installed")
    from scipy import sparse

    for seed in range(8):
        X, y = separable(seed)
        n, d = X.shape
        for bias in (True, False):
            if not bias:
                X = X + 2.0 * y[:, None] * np.ones(d)
            columns = np.column_stack([X, np.ones(n)]) if bias else X
            P = sparse.csc_matrix(np.diag(np.append(np.ones(d), 0.0)) if bias else np.eye(d))
            settings_ = clarabel.DefaultSettings()
            settings_.verbose = False
            solver = clarabel.DefaultSolver(
                P,
                np.zeros(columns.shape[1]),
                sparse.csc_matrix(-y[:, None] * columns),
                -np.ones(n),
                [clarabel.NonnegativeConeT(n)],
                settings_,
            )
            expected = np.array(solver.solve().x)
            found = max_margin_classifier(X, y, bias=bias)
            np.testing.assert_allclose(found.w, expected[:d], rtol=1e-5, atol=1e-6)
            if bias:
                assert found.b == pytest.approx(expected[d], rel=1e-4, abs=1e-5)


def test_two_points_are_split_halfway():
    found = max_margin_classifier([[1.0, 1.0], [4.0, 5.0]], [-1, 1], bias=True)
    np.testing.assert_allclose(found.w, np.array([3.0, 4.0]) * 2 / 25)
    np.testing.assert_allclose(found.radii([[1.0, 1.0], [4.0, 5.0]], [-1, 1]), 2.5)
    np.testing.assert_array_equal(found.radii([[1.0, 1.0]], [1]), 0.0)


def test_linear_radii_are_those_of_the_same_linear_network():
    X, y = separable(3)
    found = max_margin_classifier(X, y, bias=True)
    net = TwoLayer(W=[found.w, -found.w], b=[found.b, -found.b], v=[1.0, -1.0])
    np.testing.assert_allclose(fgm(net, X, y).sizes, found.radii(X, y), rtol=1e-9)


def test_the_classifier_of_cluster_means_lies_in_the_ranges_of_the_paper():
    """[FVBS23, Sec. 4]: y w . x in [(9d - 1) / (10 d), 1 + (d + 1) / (10 d)], ||w||^2 = k / d, flip at sqrt(d / k)."""
    d, k, sigma = 957, 10, 0.01
    rng = np.random.default_rng(1)
    M = np.sqrt(d) * np.linalg.qr(rng.normal(size=(d, k)))[0].T
    labels = np.resize([1.0, -1.0], k)
    found = mean_classifier(M, labels)
    q = rng.integers(k, size=200)
    X = M[q] + sigma * rng.normal(size=(200, d))
    value = labels[q] * found(X)
    assert (value >= (9 * d - 1) / (10 * d)).all()
    assert (value <= 1 + (d + 1) / (10 * d)).all()
    assert found.w @ found.w == pytest.approx(k / d, rel=1e-12)
    np.testing.assert_allclose(found.radii(X, labels[q]), np.sqrt(d / k), rtol=0.02)


def test_bad_input_is_told_in_a_sentence():
    with pytest.raises(InputError, match="not linearly separable"):
        max_margin_classifier([[0.0], [1.0], [2.0]], [1, -1, 1], bias=True)
    with pytest.raises(InputError, match="through the origin; bias=True may help"):
        max_margin_classifier([[1.0], [2.0]], [1, -1])
    with pytest.raises(InputError, match="both -1 and"):
        max_margin_classifier([[1.0], [2.0]], [1, 1])
    with pytest.raises(InputError, match="sum of the means is zero"):
        mean_classifier([[1.0, 0.0], [1.0, 0.0]], [1, -1])
    with pytest.raises(InputError, match="X has 1 columns, but w has 2 entries"):
        mean_classifier([[1.0, 0.0], [0.0, 1.0]], [1, -1])([[1.0]])
