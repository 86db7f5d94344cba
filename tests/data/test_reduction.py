import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.data import in_span
from marginflow.errors import InputError


@settings(max_examples=50, deadline=None)
@given(n=st.integers(1, 12), d=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_span_coordinates_are_an_isometry(n: int, d: int, seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((n, d))
    Z, Q = in_span(X)
    assert Z.shape == (n, min(n, d))
    np.testing.assert_allclose(Q @ Q.T, np.eye(min(n, d)), atol=1e-13)
    np.testing.assert_allclose(Z @ Q, X, atol=1e-12)
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-11)


def test_nothing_changes_when_there_is_nothing_to_gain() -> None:
    X = np.random.default_rng(0).standard_normal((5, 3))
    Z, Q = in_span(X)
    assert np.array_equal(Z, X)
    assert np.array_equal(Q, np.eye(3))


def test_dependent_rows_keep_an_orthonormal_basis() -> None:
    X = np.outer([1.0, 2.0, -3.0], np.arange(10.0))
    Z, Q = in_span(X)
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(Z @ Q, X, atol=1e-13)
    np.testing.assert_allclose(Z[:, 1:], 0.0, atol=1e-14)


def test_triangular_coordinates_of_a_known_pair() -> None:
    # Gram matrix [[4, 2], [2, 5]] has the Cholesky factor [[2, 0], [1, 2]]; the coordinates are that factor.
    Z, _ = in_span([[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]])
    np.testing.assert_allclose(Z, [[2.0, 0.0], [1.0, 2.0]], atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite_samples_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="finite"):
        in_span([[1.0, bad]])
