"""The share of the circle on which a network with whole weights is not positive, enclosed.

Between two neighbouring kinks N is linear, N(x) = c . x with a whole c, so that every border of the set N <= 0 points
along a whole vector. Borders are found and sorted by signs of determinants; only their angles are numbers, and these
are enclosed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

Vector = tuple[int, int]

# A float angle of a whole vector is within a few units of the last place; this is far more.
_ANGLE = Fraction(1, 10**12)


def _cross(a: Vector, b: Vector) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _half(a: Vector) -> int:
    """0 for angles in [0, pi), 1 for [pi, 2 pi)."""
    return 0 if a[1] > 0 or (a[1] == 0 and a[0] > 0) else 1


def _before(a: Vector, b: Vector) -> bool:
    """Whether the angle of a in [0, 2 pi) is smaller than that of b."""
    return _half(a) < _half(b) if _half(a) != _half(b) else _cross(a, b) > 0


def _sorted(vectors: list[Vector]) -> list[Vector]:
    """By angle, each direction once."""
    out: list[Vector] = []
    for vector in vectors:
        index = sum(_before(other, vector) for other in out)
        same = index < len(out) and not _before(vector, out[index]) and not _before(out[index], vector)
        if not same:
            out.insert(index, vector)
    return out


def _linear_part(W: Sequence[Sequence[int]], v: Sequence[int], inside: Vector) -> Vector:
    """c with N(x) = c . x around a point that is on no kink."""
    active = [(w, a) for w, a in zip(W, v, strict=True) if w[0] * inside[0] + w[1] * inside[1] > 0]
    return sum(a * w[0] for w, a in active), sum(a * w[1] for w, a in active)


def enclosed_error(W: Sequence[Sequence[int]], v: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Bounds of P(N(x) <= 0) for x uniform on the circle.

    Examples
    --------
    >>> from marginflow.theory.kys23.exact_error import enclosed_error
    >>> enclosed_error([[1, 0], [-1, 0]], [1, 1])
    (Fraction(0, 1), Fraction(0, 1))
    """
    kinks = [vector for w in W for vector in ((-w[1], w[0]), (w[1], -w[0]))]
    borders = _sorted([*kinks, (1, 0), (0, 1), (-1, 0), (0, -1)])
    zeros = []
    for a, b in zip(borders, [*borders[1:], borders[0]], strict=True):
        c = _linear_part(W, v, (a[0] + b[0], a[1] + b[1]))
        for zero in ((-c[1], c[0]), (c[1], -c[0])):
            if zero != (0, 0) and _cross(a, zero) > 0 and _cross(zero, b) > 0:
                zeros.append(zero)
    cones = _sorted([*borders, *zeros])
    low = high = Fraction(0)
    for a, b in zip(cones, [*cones[1:], cones[0]], strict=True):
        middle = (a[0] + b[0], a[1] + b[1])  # inside, for no cone is wider than a quarter
        c = _linear_part(W, v, middle)
        if c[0] * middle[0] + c[1] * middle[1] <= 0:
            angle = math.atan2(_cross(a, b), a[0] * b[0] + a[1] * b[1])
            share = Fraction(angle) / Fraction(2 * math.pi)
            low, high = low + share - _ANGLE, high + share + _ANGLE
    return max(low, Fraction(0)), high
