r"""The best parabola above relu on an interval, for a given curvature, as a function of the multipliers.

For l < 0 < u and m = min(-l, u), the least parabola kappa z^2 + pi z + gamma >= relu(z) on [l, u] of curvature kappa is

* both ends   (kappa <= m / (u - l)^2):  the chord plus kappa (z - l)(z - u); kappa = 0 is the chord itself;
* tangent     (kappa > 1 / (4 m)):  (z + t)^2 / (4 t) with t = 1 / (4 kappa), touching at -t and t;
* in between:  through the nearer end, tangent to the other branch of relu.

The relaxation needs omega(A, s; z) = -s |c| times that parabola with A = s |c| kappa, which is jointly concave in
(A, s) and smooth enough for Newton: the pieces join with equal first derivatives.
"""

from typing import NamedTuple

import numpy as np

from marginflow.arrays import BoolArray, FloatArray


class Derivatives(NamedTuple):
    """The derivatives of omega by A and s, and the mixed ones by z; omega_zz = -2 A throughout."""

    A: FloatArray
    AA: FloatArray
    s: FloatArray
    ss: FloatArray
    As: FloatArray
    Az: FloatArray
    zs: FloatArray


class _Pieces(NamedTuple):
    """Which parabola each neuron has, and what its formulas share."""

    ends: BoolArray
    tangent: BoolArray
    At: FloatArray
    e: FloatArray
    f: FloatArray
    sc: FloatArray
    chord: FloatArray
    low_side: FloatArray  # 1 where the parabola passes through (low, 0), 0 where through (high, high)
    x: FloatArray  # distance to that end
    root: FloatArray  # sqrt(|end| s c A), so that in between omega = -(s c share + A x^2 - 2 x root)
    width: FloatArray

    def choose(self, at_ends: FloatArray, at_tangent: FloatArray, between: FloatArray) -> FloatArray:
        return np.where(self.ends, at_ends, np.where(self.tangent, at_tangent, between))


def _pieces(s: float, c: FloatArray, A: FloatArray, low: FloatArray, high: FloatArray, z: FloatArray) -> _Pieces:
    sc = s * c
    width, e, f = high - low, z - low, high - z
    nearer = np.minimum(-low, high)
    ends = (c == 0) | (A * width**2 <= sc * nearer)
    tangent = ~ends & (4.0 * nearer * A > sc)
    through_low = -low <= high
    At = np.where(ends, 1.0, A)
    root = np.sqrt(np.maximum(np.where(through_low, -low, high) * sc * At, 0.0))
    return _Pieces(
        ends,
        tangent,
        At,
        e,
        f,
        sc,
        high / width,
        through_low.astype(np.float64),
        np.where(through_low, e, f),
        root,
        width,
    )


def omega_and_slope(
    s: float, c: FloatArray, A: FloatArray, low: FloatArray, high: FloatArray, z: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """omega(A, s; z) and its derivative by z, with c = |c_j|; where c = 0 it is A (z - low)(high - z)."""
    p = _pieces(s, c, A, low, high, z)
    share = np.where(p.low_side > 0, p.e, high)
    value = p.choose(
        A * p.e * p.f - p.sc * p.chord * p.e,
        -(A * z * z + 0.5 * p.sc * z + p.sc**2 / (16.0 * p.At)),
        -(p.sc * share + A * p.x * p.x - 2.0 * p.x * p.root),
    )
    slope = p.choose(
        A * (p.f - p.e) - p.sc * p.chord,
        -(2.0 * A * z + 0.5 * p.sc),
        -p.low_side * p.sc - (2.0 * p.low_side - 1.0) * (2.0 * A * p.x - 2.0 * p.root),
    )
    return value, slope


def derivatives(
    s: float, c: FloatArray, A: FloatArray, low: FloatArray, high: FloatArray, z: FloatArray
) -> Derivatives:
    """The others, for Newton's method."""
    p = _pieces(s, c, A, low, high, z)
    sc, At, x, root = p.sc, p.At, p.x, p.root
    share = np.where(p.low_side > 0, p.e, high)
    side = 2.0 * p.low_side - 1.0
    kept_away = np.maximum(x, 1e-3 * p.width)  # keeps the second derivatives negative where z has left the interval
    zero = np.zeros_like(A)
    return Derivatives(
        A=p.choose(p.e * p.f, (sc / (4.0 * At)) ** 2 - z * z, x * root / At - x * x),
        AA=p.choose(zero, -(sc**2) / (8.0 * At**3), -kept_away * root / (2.0 * At**2)),
        s=p.choose(-c * p.chord * p.e, -c * (0.5 * z + sc / (8.0 * At)), x * root / s - c * share),
        ss=p.choose(zero, -(c**2) / (8.0 * At), -kept_away * root / (2.0 * s**2)),
        As=p.choose(zero, c * sc / (8.0 * At**2), kept_away * root / (2.0 * s * At)),
        Az=p.choose(p.f - p.e, -2.0 * z, -side * (2.0 * x - root / At)),
        zs=p.choose(-c * p.chord, -0.5 * c, -p.low_side * c + side * root / s),
    )


def best_curvature(z: FloatArray, Z: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The kappa whose parabola is least at a mean z and mean square Z >= z^2; low < 0 < high."""
    t = np.sqrt(Z)
    width = high - low
    tiny = 1e-9 * width
    from_low = np.minimum((Z - 2 * low * z + low**2) / np.maximum(z - low, tiny), width)
    from_high = np.minimum((Z - 2 * high * z + high**2) / np.maximum(high - z, tiny), width)
    near_low: BoolArray = -low <= high
    beyond = np.where(near_low, -low, high) < t
    between = np.where(near_low, -low / np.maximum(from_low, tiny) ** 2, high / np.maximum(from_high, tiny) ** 2)
    return np.where(beyond, between, 0.25 / np.maximum(t, tiny))
