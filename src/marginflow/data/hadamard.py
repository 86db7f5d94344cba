r"""Hadamard matrices in exact integers: H in {-1, +1}^{h x h} with H H^T = h I.

Constructions: Sylvester's doubling, Paley's two from the quadratic character of a finite field GF(q), and Kronecker
products of these. They give 195 of the 250 multiples of 4 up to 1000; the first orders that need other constructions,
and are refused here, are 92, 116, 156, 172, 184 and 188.
"""

from functools import cache

import numpy as np

from marginflow.arrays import IntArray, whole_number
from marginflow.errors import InputError

_LARGEST_ORDER = 1 << 14


def hadamard(order: int) -> IntArray:
    """A Hadamard matrix of the given order in 64-bit integers, or an `InputError` that names the nearest orders.

    Examples
    --------
    >>> from marginflow.data import hadamard
    >>> H = hadamard(12)
    >>> bool((H @ H.T == 12 * __import__("numpy").eye(12)).all())
    True
    """
    h = whole_number("order", order)
    if h > _LARGEST_ORDER:
        raise InputError(f"order is {h}; at most {_LARGEST_ORDER} is built, which takes two gibibytes.")
    plan = construction(h)
    if plan is None:
        below = next(smaller for smaller in range(h, 0, -1) if construction(smaller) is not None)
        above = next(larger for larger in range(h, 2 * h + 1) if construction(larger) is not None)
        raise InputError(
            f"No Hadamard matrix of order {h} is built here (Sylvester, Paley and their products); the nearest orders "
            f"are {below} and {above}."
        )
    return _build(plan)


Plan = tuple[str, int] | tuple[str, "Plan", "Plan"]


@cache
def construction(order: int) -> Plan | None:
    """How a matrix of this order is built, or None.

    ("sylvester", h) for powers of two; ("paley 1", q), h = q + 1, q = 3 mod 4; ("paley 2", q), h = 2 (q + 1),
    q = 1 mod 4, q a prime power; ("product", plan, plan) for a Kronecker product.
    """
    if order & (order - 1) == 0:
        return ("sylvester", order)
    if order % 4:
        return None
    if (order - 1) % 4 == 3 and _prime_power(order - 1) is not None:
        return ("paley 1", order - 1)
    q = order // 2 - 1
    if q % 4 == 1 and _prime_power(q) is not None:
        return ("paley 2", q)
    for factor in range(2, int(np.sqrt(order)) + 1):
        if order % factor == 0:
            left, right = construction(factor), construction(order // factor)
            if left is not None and right is not None:
                return ("product", left, right)
    return None


def _build(plan: Plan) -> IntArray:
    if len(plan) == 3:
        return np.kron(_build(plan[1]), _build(plan[2]))
    kind, size = plan
    if kind == "sylvester":
        H = np.ones((1, 1), dtype=np.int64)
        while H.shape[0] < size:
            H = np.block([[H, H], [H, -H]])
        return H
    # The Jacobsthal matrix Q_ab = chi(a - b) has Q Q^T = q I - J and zero row sums; it is skew for q = 3 mod 4 and
    # symmetric for q = 1 mod 4, so that the bordered matrix S has S S^T = q I and the same symmetry.
    q = size
    S = np.zeros((q + 1, q + 1), dtype=np.int64)
    S[0, 1:] = 1
    S[1:, 0] = -1 if kind == "paley 1" else 1
    S[1:, 1:] = _jacobsthal(q)
    identity = np.eye(q + 1, dtype=np.int64)
    if kind == "paley 1":
        return S + identity
    return np.kron(S, np.array([[1, 1], [1, -1]])) + np.kron(identity, np.array([[1, -1], [-1, -1]]))


def _jacobsthal(q: int) -> IntArray:
    """Q_ab = chi(a - b) over GF(q), chi the quadratic character: 0 at 0, +1 at squares, -1 elsewhere."""
    power = _prime_power(q)
    assert power is not None, "the plan of a matrix names prime powers"
    prime, degree = power
    weight = prime ** np.arange(degree)
    digits = np.arange(q)[:, None] // weight % prime  # the polynomial that number a stands for, constant term first
    character = _character(prime, degree)
    difference = np.zeros((q, q), dtype=np.int64)
    for position in range(degree):
        column = digits[:, position]
        difference += (column[:, None] - column[None, :]) % prime * weight[position]
    return character[difference]


def _character(prime: int, degree: int) -> IntArray:
    """chi of every element: the even powers of a generator of the multiplicative group are the squares."""
    q = prime**degree
    generated = (_powers_of_x(prime, degree, tail) for tail in range(1, q))
    powers = next(elements for elements in generated if len(elements) == q - 1)  # every finite field has a generator
    chi = np.zeros(q, dtype=np.int64)
    chi[powers[0::2]] = 1
    chi[powers[1::2]] = -1
    return chi


def _powers_of_x(prime: int, degree: int, tail: int) -> list[int]:
    """1, x, x^2, ... modulo x^degree + tail until 1 returns; shorter than q - 1 unless the polynomial is primitive."""
    reduction = [-(tail // prime**position) % prime for position in range(degree)]
    if reduction[0] == 0:
        return []  # x divides the modulus
    element = [1] + [0] * (degree - 1)
    powers: list[int] = []
    while True:
        powers.append(sum(digit * prime**position for position, digit in enumerate(element)))
        top = element[-1]
        shifted = [0, *element[:-1]]
        element = [(digit + top * back) % prime for digit, back in zip(shifted, reduction, strict=True)]
        if element == [1] + [0] * (degree - 1):
            return powers


@cache
def _prime_power(q: int) -> tuple[int, int] | None:
    """(prime, degree) with q = prime^degree, or None."""
    prime = next((factor for factor in range(2, int(np.sqrt(q)) + 1) if q % factor == 0), q)
    degree = 0
    while q % prime == 0:
        q //= prime
        degree += 1
    return (prime, degree) if q == 1 else None
