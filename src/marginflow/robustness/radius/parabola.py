r"""The best parabola above relu on an interval, for a given curvature, as a function of the multipliers.

For l < 0 < u and curvature kappa the least parabola kappa z^2 + pi z + gamma >= relu(z) on [l, u] is, with m = min(-l, u),

* both ends   (kappa <= m / (u - l)^2):  the chord plus kappa (z - l)(z - u); kappa = 0 is the chord itself;
* tangent     (kappa > 1 / (4 m)):  (z + t)^2 / (4 t) with t = 1 / (4 kappa), touching at -t and t;
* in between:  through the nearer end, tangent to the other branch of relu.

The relaxation needs omega(A, s; z) = -s |c| times that parabola with A = s |c| kappa, which is jointly concave in
(A, s) and smooth enough for Newton: the pieces join with equal first derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marginflow.arrays import BoolArray, FloatArray


class Omega(NamedTuple):
    """omega and its derivatives by z, A and s; omega_zz = -2 A throughout."""

    value: FloatArray
    z: FloatArray
    A: FloatArray
    AA: FloatArray
    s: FloatArray
    ss: FloatArray
    As: FloatArray
    zA: FloatArray
    zs: FloatArray


def omega(s: float, c: FloatArray, A: FloatArray, low: FloatArray, high: FloatArray, z: FloatArray) -> Omega:
    """omega(A, s; z) with c = |c_j|; where c = 0 it is A (z - low)(high - z), the product of the two bounds."""
    sc = s * c
    width, e, f = high - low, z - low, high - z
    nearer = np.minimum(-low, high)
    ends = (c == 0) | (A * width**2 <= sc * nearer)
    tangent = ~ends & (4.0 * nearer * A > sc)
    through_low = ~ends & ~tangent & (-low <= high)
    At = np.where(ends, 1.0, A)

    # Through the nearer end: with e the distance to that end, omega = -(.. + A e^2 - 2 e root), root = sqrt(end s c A).
    end = np.where(through_low, -low, high)
    root = np.sqrt(np.maximum(end * sc * At, 0.0))
    x = np.where(through_low, e, f)
    bent = np.maximum(x, 1e-3 * width)  # keeps the second derivatives negative where z has left the interval
    side = np.where(through_low, 1.0, -1.0)
    share = np.where(through_low, e, high)

    def choose(at_ends: FloatArray, at_tangent: FloatArray, between: FloatArray) -> FloatArray:
        return np.where(ends, at_ends, np.where(tangent, at_tangent, between))

    zero = np.zeros_like(A)
    chord = high / width
    return Omega(
        value=choose(
            A * e * f - sc * chord * e,
            -(A * z * z + 0.5 * sc * z + sc**2 / (16.0 * At)),
            -(sc * share + A * x * x - 2.0 * x * root),
        ),
        z=choose(
            A * (f - e) - sc * chord,
            -(2.0 * A * z + 0.5 * sc),
            -np.where(through_low, sc, 0.0) - side * (2.0 * A * x - 2.0 * root),
        ),
        A=choose(e * f, (sc / (4.0 * At)) ** 2 - z * z, x * root / At - x * x),
        AA=choose(zero, -(sc**2) / (8.0 * At**3), -bent * root / (2.0 * At**2)),
        s=choose(-c * chord * e, -c * (0.5 * z + sc / (8.0 * At)), x * root / s - c * share),
        ss=choose(zero, -(c**2) / (8.0 * At), -bent * root / (2.0 * s**2)),
        As=choose(zero, c * sc / (8.0 * At**2), bent * root / (2.0 * s * At)),
        zA=choose(f - e, -2.0 * z, -side * (2.0 * x - root / At)),
        zs=choose(-c * chord, -0.5 * c, -np.where(through_low, c, 0.0) + side * root / s),
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
