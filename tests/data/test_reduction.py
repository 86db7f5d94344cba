import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from marginflow.data import from_gram, in_span, random_frame
from marginflow.errors import InputError

EPS = float(np.finfo(np.float64).eps)


@settings(max_examples=50)
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
    # Householder QR: backward error c n d eps ||X||, orthogonality to c n d eps, with a small c [Higham, Thm. 19.4].
    rounding = 4 * X.size * np.finfo(float).eps
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=rounding)
    np.testing.assert_allclose(Z @ Q, X, atol=rounding * np.linalg.norm(X))
    np.testing.assert_allclose(Z[:, 1:], 0.0, atol=rounding * np.linalg.norm(X))


def test_triangular_coordinates_of_a_known_pair() -> None:
    # Gram matrix [[4, 2], [2, 5]] has the Cholesky factor [[2, 0], [1, 2]]; the coordinates are that factor.
    Z, _ = in_span([[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]])
    np.testing.assert_allclose(Z, [[2.0, 0.0], [1.0, 2.0]], atol=50 * EPS)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite_samples_are_refused(bad: float) -> None:
    with pytest.raises(InputError, match="finite"):
        in_span([[1.0, bad]])


def test_a_gram_matrix_is_realised() -> None:
    G = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, -1.0], [0.0, -1.0, 4.0]])
    Z = from_gram(G)
    np.testing.assert_allclose(Z @ Z.T, G, atol=50 * EPS)


@pytest.mark.parametrize(
    ("G", "sentence"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue of G is -1"),
        ([[1.0, 0.5], [0.4, 1.0]], "symmetric"),
        ([[1.0, 0.5]], "symmetric"),
        ([[np.nan]], "finite"),
    ],
)
def test_matrices_that_are_not_gram_matrices_are_refused(G: list, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        from_gram(G)


@pytest.mark.parametrize(("rows", "d"), [(1, 1), (3, 3), (2, 9)])
def test_a_random_frame_is_orthonormal(rows: int, d: int) -> None:
    frame = random_frame(rows, d, np.random.default_rng(0))
    assert frame.shape == (rows, d)
    np.testing.assert_allclose(frame @ frame.T, np.eye(rows), atol=50 * EPS)


def test_a_random_frame_is_uniform() -> None:
    # A Haar orthogonal 2 x 2 matrix: the first row has a uniform angle, the determinant is a fair coin.
    rng = np.random.default_rng(1)
    frames = np.array([random_frame(2, 2, rng) for _ in range(2000)])
    angle = np.arctan2(frames[:, 0, 1], frames[:, 0, 0]) / (2 * np.pi) % 1.0
    assert stats.kstest(angle, stats.uniform().cdf).pvalue > 1e-3
    assert stats.binomtest(int((np.linalg.det(frames) > 0).sum()), 2000).pvalue > 1e-3


def test_more_orthonormal_rows_than_dimensions_are_refused() -> None:
    with pytest.raises(InputError, match="do not fit"):
        random_frame(3, 2, np.random.default_rng(0))
