import numpy as np
import pytest

from marginflow.data import hadamard
from marginflow.data.hadamard import _character, construction
from marginflow.errors import InputError

# Known orders up to 100 that Sylvester's and Paley's constructions reach: all multiples of 4 but 92.
REACHED = [1, 2, *(order for order in range(4, 101, 4) if order != 92)]


@pytest.mark.parametrize("order", [*REACHED, 128, 200, 300, 400, 488, 500])
def test_rows_are_orthogonal_in_exact_integers(order: int) -> None:
    H = hadamard(order)
    assert H.dtype == np.int64
    assert H.shape == (order, order)
    assert np.array_equal(np.abs(H), np.ones((order, order)))
    assert np.array_equal(H @ H.T, order * np.eye(order, dtype=np.int64))


@pytest.mark.parametrize(
    ("order", "plan"),
    [
        (64, ("sylvester", 64)),
        (12, ("paley 1", 11)),
        (28, ("paley 1", 27)),
        (36, ("paley 2", 17)),
        (52, ("paley 2", 25)),
        (100, ("paley 2", 49)),
        (92, None),
        (116, None),
        (6, None),
        (3, None),
    ],
)
def test_the_construction_is_named(order: int, plan: tuple | None) -> None:
    assert construction(order) == plan


@pytest.mark.parametrize("order", [3, 6, 92])
def test_other_orders_are_refused_with_the_nearest_ones(order: int) -> None:
    with pytest.raises(InputError, match="nearest orders are"):
        hadamard(order)


@pytest.mark.parametrize("order", [0, -4, 4.0])
def test_bad_orders_are_refused(order: object) -> None:
    with pytest.raises(InputError, match="order is"):
        hadamard(order)


@pytest.mark.parametrize("prime", [3, 5, 7, 11, 13, 101])
def test_the_character_of_a_prime_field_is_the_legendre_symbol(prime: int) -> None:
    euler = [pow(a, (prime - 1) // 2, prime) for a in range(prime)]  # Euler's criterion
    assert _character(prime, 1).tolist() == [value if value <= 1 else -1 for value in euler]


@pytest.mark.parametrize(("prime", "degree"), [(3, 2), (5, 2), (7, 2), (3, 3)])
def test_half_of_the_non_zero_elements_are_squares(prime: int, degree: int) -> None:
    chi = _character(prime, degree)
    assert chi[0] == 0
    assert chi.sum() == 0
    assert chi[1] == 1
    # In an extension of even degree every element of the prime field is a square.
    if degree == 2:
        assert (chi[1:prime] == 1).all()
