import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.data import Orthogonal
from marginflow.errors import InputError


def off_diagonal(G: np.ndarray) -> np.ndarray:
    return np.abs(G[~np.eye(G.shape[0], dtype=bool)])


def test_basis_vectors_are_exactly_orthogonal() -> None:
    X = Orthogonal(dimension=10).sample(4).X
    assert np.array_equal(X, np.sqrt(10) * np.eye(4, 10))


@pytest.mark.parametrize("dimension", [1, 2, 12, 100, 512])
def test_hadamard_designs_have_exact_gram_matrices(dimension: int) -> None:
    n = max(1, dimension // 3)
    X = Orthogonal(dimension=dimension, design="hadamard", labels="random").sample(n).X
    assert np.array_equal(X @ X.T, dimension * np.eye(n))
    assert np.array_equal(np.abs(X), np.ones((n, dimension)))


@settings(max_examples=40)
@given(
    d=st.integers(20, 200),
    p=st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]),
    pattern=st.sampled_from(["equal", "signs", "uniform"]),
    rotated=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_a_designed_gram_matrix_has_the_prescribed_inner_product(
    d: int, p: float, pattern: str, rotated: bool, seed: int
) -> None:
    # The largest m that [VYS22, Thm 4.1] allows; diagonal dominance makes the design possible there.
    n = max(2, int((d + 1) // (3 * (p + 1))))
    law = Orthogonal(dimension=d, design="gram", p=p, pattern=pattern, rotated=rotated)
    X = law.sample(n, seed=seed).X
    assert X.shape == (n, d)
    G = X @ X.T
    np.testing.assert_allclose(np.diagonal(G), d, rtol=1e-13)
    np.testing.assert_allclose(off_diagonal(G).max(), p, atol=1e-12 * d)
    if pattern == "equal":
        np.testing.assert_allclose(G - np.diag(np.diagonal(G)), p * (1 - np.eye(n)), atol=1e-12 * d)
    if pattern == "signs":
        np.testing.assert_allclose(off_diagonal(G), p, atol=1e-12 * d)


def test_the_random_rotation_is_a_rotation_and_uniform() -> None:
    first = np.array([Orthogonal(dimension=4, rotated=True).sample(2, seed=seed).X[0, 0] for seed in range(800)])
    # Fourth moment of a coordinate on the unit sphere in R^4: 3/(d (d+2)) = 1/8; here the radius is 2.
    assert abs(np.mean(first**2) - 1.0) < 0.2
    assert abs(np.mean(first**4) - 16 / 8) < 0.5
    assert abs(np.mean(first)) < 0.15


def test_labels_of_the_worked_example() -> None:
    data = Orthogonal(dimension=6, labels="halves").sample(6)
    assert data.y.tolist() == [1, 1, 1, -1, -1, -1]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Orthogonal(dimension=5).sample(6), "at most 5 orthogonal samples fit"),
        (lambda: Orthogonal(dimension=6, design="hadamard").sample(2), "nearest orders are 4 and 8"),
        (lambda: Orthogonal(dimension=5, p=1.0), "needs 'gram'"),
        (lambda: Orthogonal(dimension=5, design="gram", p=5.0), "below 5"),
        (lambda: Orthogonal(dimension=5, design="gram", p=-1.0), "at least 0"),
        (lambda: Orthogonal(dimension=5, design="gram", p=float("nan")), "p is nan"),
        (lambda: Orthogonal(dimension=5, design="fourier"), "design is 'fourier'"),
        (lambda: Orthogonal(dimension=8, design="gram", p=7.9, pattern="signs").sample(8), "do not exist"),
        (lambda: Orthogonal(dimension=8).sample(1), "from 2 samples on"),
    ],
)
def test_designs_that_do_not_exist_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
