"""Floats as integers times a power of two, so that sums and products of them are exact."""

from bisect import bisect_left, bisect_right
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


def integers(values: FloatArray) -> tuple[int, list[int]]:
    """Exponent e and integers m_i with values_i = m_i 2^-e, exactly."""
    ratios = [float(value).as_integer_ratio() for value in values.ravel()]
    exponent = max((denominator.bit_length() - 1 for _, denominator in ratios), default=0)
    return exponent, [numerator << (exponent - denominator.bit_length() + 1) for numerator, denominator in ratios]


def as_float(value: int, exponent: int) -> float:
    """value 2^-exponent, rounded once."""
    return value / (1 << exponent)


def root_as_float(square: int, exponent: int) -> float:
    """The root of square 2^-exponent (an even exponent), to about one unit in the last place."""
    shift = max(0, 128 - square.bit_length())
    shift += shift % 2
    return isqrt(square << shift) / (1 << ((exponent + shift) // 2))


def exact_excess(network: TwoLayer, X: FloatArray, y: FloatArray) -> FloatArray:
    """y_i N(x_i) - 1 of the numbers as stored, computed exactly and rounded once; shape (n,)."""
    A = network.augmented
    Xt = augmented_samples(X, bias=network.b is not None)
    (e_A, rows), (e_X, points), (e_v, outputs) = integers(A), integers(Xt), integers(network.v)
    on_a_line = Xt.shape[1] == 2 and bool((Xt[:, 1] == 1.0).all())
    if on_a_line:
        values = _values_on_a_line(rows[::2], rows[1::2], outputs, points[::2], points[1])
    else:
        Z = _objects(points, Xt.shape) @ _objects(rows, A.shape).T
        values = (np.where(Z > 0, Z, 0) @ _objects(outputs, (network.width,))).tolist()
    shift = e_A + e_X + e_v
    return np.array(
        [as_float(int(label) * value - (1 << shift), shift) for label, value in zip(y, values, strict=True)]
    )


def _values_on_a_line(
    slopes: list[int], offsets: list[int], outputs: list[int], positions: list[int], one: int
) -> list[int]:
    """The values of a network at positions on a line, all in integers, in which 1 is `one`.

    Every neuron is active from some position on, or up to one: it is added where it begins and taken away where it
    ends, so that the work grows with the number of neurons plus that of positions, and not with their product.
    """
    order = sorted(range(len(positions)), key=positions.__getitem__)
    x = [positions[i] for i in order]
    changes: list[list[int]] = [[0, 0] for _ in range(len(x) + 1)]
    for w, b, v in zip(slopes, offsets, outputs, strict=True):
        first, last = 0, len(x)
        if w > 0:
            first = bisect_right(x, -b * one // w)  # w x + b > 0 exactly where x > floor(-b / w), a whole number
        elif w < 0:
            last = bisect_left(x, -(b * one // w))  # and here where x < ceil(b / -w)
        elif b <= 0:
            continue
        for index, sign in ((first, 1), (last, -1)):
            changes[index][0] += sign * v * w
            changes[index][1] += sign * v * b * one
    values = [0] * len(x)
    slope = offset = 0
    for index, (more_slope, more_offset), at in zip(order, changes, x, strict=False):
        slope, offset = slope + more_slope, offset + more_offset
        values[index] = slope * at + offset
    return values


def _objects(values: list[int], shape: tuple[int, ...]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)
