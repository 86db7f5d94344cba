r"""The five-point counterexample to [KYS23, Prop. A.4], proved in exact arithmetic: a KKT point and a local minimum.

For rational x_1, h, x_5 everything is rational but :math:`s_l = \sqrt{1 + x_l^2}`, and the multipliers are rational
combinations of :math:`s_1, \dots, s_4`. Identities are compared coefficient by coefficient, which is stronger than
equality of numbers; inequalities use rational enclosures of the roots. Nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from marginflow.errors import InputError

Combination = tuple[Fraction, Fraction, Fraction, Fraction]
"""a_1 s_1 + ... + a_4 s_4."""

_DIGITS = 10**30
"""Roots are enclosed to 30 digits."""


@dataclass(frozen=True, kw_only=True)
class FivePointProof:
    """What has been proved; each field is the outcome of exact comparisons.

    Parameters
    ----------
    values : tuple of Fraction
        N(x_1), ..., N(x_5).
    feasible, complementary, multipliers_positive : bool
        y_l N(x_l) >= 1; lambda_l = 0 where it is larger; lambda_1 .. lambda_4 > 0 = lambda_5.
    dual_is_one : bool
        sign(v_j) F(u_j) = 1 at all four neurons, as an identity between combinations of roots: stationarity in v_j and
        along u_j.
    clarke_inside : bool
        The weight that stationarity across u_j asks for at the kink lies strictly between 0 and 1. It is also what
        makes sign(v_j) F fall on both sides of the neuron: a strict local maximum.
    kinks_attract : bool
        Every kink sits on a sample of the other label, and no neuron is zero.
    norm_squared : (float, float)
        2 sum lambda, enclosed.
    """

    values: tuple[Fraction, ...]
    feasible: bool
    complementary: bool
    multipliers_positive: bool
    dual_is_one: bool
    clarke_inside: bool
    kinks_attract: bool
    norm_squared: tuple[float, float]

    @property
    def kkt(self) -> bool:
        """Whether the point is proved to satisfy (2)-(5)."""
        return (
            self.feasible
            and self.complementary
            and self.multipliers_positive
            and self.dual_is_one
            and self.clarke_inside
        )

    @property
    def local_minimum(self) -> bool:
        """Whether it is proved to be a local minimum: a KKT point whose kinks attract, without zero neurons."""
        return self.kkt and self.kinks_attract

    @property
    def contradicts(self) -> bool:
        """Whether Prop. A.4 would ask for N(x_5) = 1 and does not get it."""
        return self.local_minimum and self.values[4] != 1


def _root_enclosure(square: Fraction) -> tuple[Fraction, Fraction]:
    low = isqrt(square.numerator * _DIGITS**2 // square.denominator)
    return Fraction(low, _DIGITS), Fraction(low + 1, _DIGITS)


def _enclosure(a: Combination, roots: list[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    low = sum((c * (r[0] if c >= 0 else r[1]) for c, r in zip(a, roots, strict=True)), Fraction(0))
    high = sum((c * (r[1] if c >= 0 else r[0]) for c, r in zip(a, roots, strict=True)), Fraction(0))
    return low, high


def _sum(*terms: tuple[Fraction, Combination]) -> Combination:
    a, b, c, d = (sum((factor * term[i] for factor, term in terms), Fraction(0)) for i in range(4))
    return a, b, c, d


def prove_five_points(
    first: Fraction = Fraction(1, 10), spacing: Fraction = Fraction(1, 10), last: Fraction = Fraction(9, 10)
) -> FivePointProof:
    """Check the closed form of `limit.five_points` without rounding.

    Parameters
    ----------
    first, spacing, last : Fraction
        x_1, h > 0 and x_5 >= x_1 + 5 h.
    """
    h, one = Fraction(spacing), Fraction(1)
    x = [Fraction(first) + h * i for i in range(4)] + [Fraction(last)]
    if h <= 0 or x[4] < x[3] + 2 * h:
        raise InputError(
            f"spacing is {h} and last is {last}; a positive spacing and last >= first + 5 spacing are expected."
        )
    y = (1, -1, 1, -1, 1)
    facing, signs = (1, 1, -1, -1), (-1, 1, -1, 1)
    slopes = [c / h for c in (Fraction(3), Fraction(4), Fraction(4), Fraction(3))]
    s: list[Combination] = [tuple(one * (i == j) for j in range(4)) for i in range(4)]
    # The multipliers of the catalogue.
    lam4 = _sum((2 / (3 * h), _sum((one, s[3]), (one / 2, s[0]), (3 * one / 2, s[2]))))
    lam3 = _sum((1 / h, s[1]), (2 * one, lam4))
    lam2 = _sum((2 / h, s[1]), (1 / h, s[0]), (one, lam4))
    lam1 = _sum((one / 2, lam2), (-1 / (2 * h), s[2]))
    lam = [lam1, lam2, lam3, lam4, _sum()]
    roots = [_root_enclosure(1 + value**2) for value in x[:4]]

    def relu(j: int, point: Fraction) -> Fraction:
        return max((point - x[j]) * facing[j], Fraction(0))

    values = tuple(sum((signs[j] * slopes[j] * relu(j, point) for j in range(4)), Fraction(0)) for point in x)
    margins = [label * value for label, value in zip(y, values, strict=True)]
    dual_is_one = clarke_inside = True
    for j in range(4):
        # signed F at the unit direction u_j = facing (1, -x_j) / s_j is this sum over s_j; it must be 1
        height = _sum(*((Fraction(signs[j] * y[i]) * relu(j, x[i]), lam[i]) for i in range(5)))
        dual_is_one &= height == s[j]
        # across u_j, along (x_j, 1): sum over active samples + clarke * own sample = 0
        across = _sum(*((Fraction(y[i]) * (x[i] * x[j] + 1), lam[i]) for i in range(5) if relu(j, x[i]) > 0))
        own = _sum((Fraction(-y[j]) * (1 + x[j] ** 2), lam[j]))  # clarke = across / own
        sign = -y[j]
        inside_low = _enclosure(_sum((Fraction(sign), across)), roots)[0] > 0
        inside_high = _enclosure(_sum((Fraction(sign), own), (Fraction(-sign), across)), roots)[0] > 0
        clarke_inside &= inside_low and inside_high
    total = _enclosure(_sum(*((Fraction(2), one_lam) for one_lam in lam)), roots)
    return FivePointProof(
        values=values,
        feasible=all(margin >= 1 for margin in margins),
        complementary=all(margin == 1 or lam[i] == _sum() for i, margin in enumerate(margins)),
        multipliers_positive=all(_enclosure(lam[i], roots)[0] > 0 for i in range(4)),
        dual_is_one=dual_is_one,
        clarke_inside=clarke_inside,
        kinks_attract=all(signs[j] == -y[j] for j in range(4)) and all(slope > 0 for slope in slopes),
        norm_squared=(float(total[0]), float(total[1])),
    )
