"""Tails of the Beta law and of inner products on the sphere, as natural logarithms: right also far below 1e-308."""

import math

from scipy import special

from marginflow.arrays import real_number, whole_number


def log_beta_tail(t: float, a: float, b: float) -> float:
    """ln P(B > t) for B ~ Beta(a, b), 0 <= t <= 1."""
    if t <= 0:
        return 0.0
    if t >= 1:
        return -math.inf
    # Not 1 - t: rounding it would cost eps * b, five digits of a tail on the sphere of dimension 10^12.
    ordinary = float(special.betaincc(a, b, t))
    if ordinary > 1e-250:
        return math.log(ordinary)
    # P(B > t) = (1 - t)^b t^a / (b Beta(a, b)) times a continued fraction that converges fast where the tail is tiny.
    front = b * math.log1p(-t) + a * math.log(t) - math.log(b) - float(special.betaln(a, b))
    return front + math.log(_beta_fraction(b, a, 1 - t))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function I_x(a, b), x < (a + 1)/(a + b + 2), modified Lentz."""
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    f = d
    for n in range(1, 100_000):
        step = 1.0
        for term in (
            n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
            -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
        ):
            d = 1 / (1 + term * d or tiny)
            c = 1 + term / c or tiny
            step = c * d
            f *= step
        if abs(step - 1) < 1e-15:
            break
    return f


def log_sphere_correlation_tail(t: float, dimension: int) -> float:
    r"""ln P(|<x, x'>| > t) for independent uniform points on the unit sphere: <x, x'>^2 ~ Beta(1/2, (d - 1)/2).

    Examples
    --------
    >>> import math
    >>> from marginflow.generalisation.tails import log_sphere_correlation_tail
    >>> f"{math.exp(log_sphere_correlation_tail(0.5, 100)):.2e}"
    '1.02e-07'
    """
    d = whole_number("dimension", dimension, minimum=2)
    return log_beta_tail(real_number("t", t, at_least=0.0, at_most=1.0) ** 2, 0.5, (d - 1) / 2)
