r"""The network in powers of two: numbers of every size become numbers near 1, and nothing is rounded.

With p_j such that 2^-p_j w_j has its largest entry in [1/2, 1), C such that the largest 2^(p_j - C) |v_j| lies there
too, and distances in units of 2^k,

.. math:: 2^{-(C + k)} N(x) = \sum_j v'_j \, \mathrm{relu}(w'_j \cdot x' + b'_j), \qquad
   w'_j = 2^{-p_j} w_j, \; b'_j = 2^{-p_j - k} b_j, \; v'_j = 2^{p_j - C} v_j, \; x' = 2^{-k} x .

Radii are the same for every C, and scale with 2^k. Only what falls below 2^-200 of the largest is set to zero.
"""

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import copysign, frexp, ldexp

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.networks import TwoLayer

# Numbers above LARGE are refused by whoever bounds their rounding errors, numbers below SMALL count as zero. Products
# of five of them neither overflow nor come near the numbers that float64 rounds by more than half a unit.
LARGE, SMALL = 2.0**200, 2.0**-200
_UNIT = 2.0**-53  # half a unit in the last place of 1
# A network touches a level when it comes this near, in multiples of the bound on its rounding error.
_TOUCHING = 128.0


def exponent(values: FloatArray) -> int:
    """The least e with |value| < 2^e for all values; 0 if all are zero."""
    return frexp(float(np.abs(values).max(initial=0.0)))[1]


def shifted(values: FloatArray, by: int | IntArray) -> FloatArray:
    """values 2^by, with zero for what is below SMALL and infinity for what overflows."""
    scaled = np.ldexp(values, by)
    return np.where(np.abs(scaled) < SMALL, 0.0, scaled)


def one_unflushed(value: float, by: int) -> float:
    """value 2^by, wrong by at most 2^-1075 where it is tiny, infinite where it overflows."""
    try:
        return ldexp(value, by)
    except OverflowError:
        return copysign(float("inf"), value)


def length(delta: FloatArray) -> float:
    """||delta||, also where squares would overflow or vanish."""
    e = exponent(delta)
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.linalg.norm(np.ldexp(delta, -e)), e))


@dataclass(frozen=True, eq=False, kw_only=True)
class InputForm:
    """W' (width, d), the biases as they are, the exponents p and the norms of the rows of W'."""

    W: FloatArray
    b: FloatArray
    rows: IntArray
    sizes: FloatArray

    def biases(self, unit: int) -> FloatArray:
        """b' for distances in units of 2^unit; infinite where it overflows.

        Where a neuron sees the input |v'| is at most 1, and what is below SMALL is nothing; |v'| of a neuron that does
        not may be as large as LARGE, so that its bias counts however small it is.
        """
        scaled = np.ldexp(self.b, -(self.rows + unit))
        return np.where((self.sizes > 0) & (np.abs(scaled) < SMALL), 0.0, scaled)


@dataclass(frozen=True, eq=False, kw_only=True)
class NormalForm:
    """The inputs, v' and the exponent C."""

    inputs: InputForm
    v: FloatArray
    outputs: int


@lru_cache(maxsize=128)
def normal_form(network: TwoLayer) -> NormalForm:
    """The powers of two of a network; remembered, since networks cannot change."""
    given = input_form(network)
    heights = np.frexp(network.v)[1] + given.rows
    counted = (network.v != 0) & (given.sizes > 0)
    if not counted.any():
        counted = network.v != 0
    outputs = int(heights[counted].max()) if counted.any() else 0
    with np.errstate(over="ignore"):
        return NormalForm(inputs=given, v=np.ldexp(network.v, given.rows - outputs), outputs=outputs)


# The last few forms, each with the arrays that it belongs to.
_forms: deque[tuple[FloatArray, FloatArray | None, InputForm]] = deque(maxlen=4)


def input_form(network: TwoLayer) -> InputForm:
    """The form of W and b; remembered for the arrays themselves, which several networks may share."""
    for W, b, known in tuple(_forms):
        if W is network.W and b is network.b:
            return known
    b = np.zeros(network.width) if network.b is None else network.b
    largest = np.abs(network.W).max(axis=1)
    sees = largest > 0
    # A neuron that does not see the input is measured by its bias.
    rows = np.frexp(np.where(sees, largest, np.abs(b)))[1].astype(np.int64)
    scaled = shifted(network.W, -rows[:, None])
    form = InputForm(W=scaled, b=b, rows=rows, sizes=np.linalg.norm(scaled, axis=1))
    _forms.append((network.W, network.b, form))
    return form


def margins(network: TwoLayer, X: FloatArray, label: float, level: float) -> tuple[FloatArray, FloatArray]:
    """label N(x_i) - level in units of 2^(C + k), and a bound on the error of each; infinite where there is none.

    A sum of n products errs by less than (n + 2) 2^-53 times the sum of their magnitudes.
    """
    form = normal_form(network)
    k = exponent(X)
    inputs = form.inputs
    height = one_unflushed(level, -(form.outputs + k))
    with np.errstate(all="ignore"):
        b, points = inputs.biases(k), shifted(X, -k)
        values = label * (np.maximum(points @ inputs.W.T + b, 0.0) @ form.v) - height
        lengths = np.linalg.norm(points, axis=1)
        sizes = lengths * (np.abs(form.v) @ inputs.sizes) + np.abs(form.v) @ np.abs(b) + abs(height)
        errors = 2.0 * (network.width + network.dimension + 8) * _UNIT * sizes
        errors += 8.0 * SMALL * network.width * network.dimension  # what was set to zero
    fits = np.abs(b).max() <= LARGE and np.abs(form.v).max() <= LARGE and abs(height) <= LARGE
    return np.where(fits, values, 0.0), np.where(fits, errors, np.inf)


def exact_margin(network: TwoLayer, x: FloatArray, label: float, level: float) -> Fraction:
    """label N(x) - level in rational arithmetic."""
    point = [(i, *_integer(t)) for i, t in enumerate(x.tolist()) if t != 0]
    b = [0.0] * network.width if network.b is None else network.b.tolist()
    total = -Fraction(level)
    for row, offset, weight in zip(network.W.tolist(), b, network.v.tolist(), strict=True):
        if weight == 0:
            continue
        terms = [(m * n, e + f) for (m, e), n, f in ((_integer(row[i]), n, f) for i, n, f in point) if m]
        terms.append(_integer(offset))
        least = min(e for _, e in terms)
        z = sum(m << (e - least) for m, e in terms)
        if z > 0:
            m, e = _integer(label * weight)
            total += Fraction(m * z) * Fraction(2) ** (e + least)
    return total


def _integer(value: float) -> tuple[int, int]:
    """(m, e) with value = m 2^e."""
    mantissa, e = frexp(value)
    return int(mantissa * 2.0**53), e - 53


def margin_sign(network: TwoLayer, x: FloatArray, label: float, level: float) -> int:
    """The sign of label N(x) - level, in rational arithmetic where float64 cannot tell."""
    values, errors = margins(network, x[None, :], label, level)
    if abs(values[0]) > errors[0]:
        return 1 if values[0] > 0 else -1
    exact = exact_margin(network, x, label, level)
    return (exact > 0) - (exact < 0)


def crosses(network: TwoLayer, x: FloatArray, witness: FloatArray, label: float, level: float) -> bool:
    """Whether label N(witness) <= level, or touches it: exceeds it by rounding and by a billionth of what x does."""
    values, errors = margins(network, np.stack([witness, x]), label, level)
    if values[0] < -errors[0] or values[0] > _TOUCHING * errors.max():
        return bool(values[0] < 0)
    left = exact_margin(network, witness, label, level)
    return left <= 0 or left * 10**9 <= exact_margin(network, x, label, level)
