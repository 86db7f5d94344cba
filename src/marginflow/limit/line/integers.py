"""Floats as integers times a power of two, so that sums and products of them are exact."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer


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
    Xt = X if network.b is None else np.column_stack([X, np.ones(X.shape[0])])
    (e_A, rows), (e_X, points), (e_v, outputs) = integers(A), integers(Xt), integers(network.v)
    W = _objects(rows, A.shape)
    P = _objects(points, Xt.shape)
    Z = P @ W.T
    positive: NDArray[np.object_] = np.where(Z > 0, Z, 0) @ _objects(outputs, (network.width,))
    shift = e_A + e_X + e_v
    return np.array(
        [as_float(int(label) * value - (1 << shift), shift) for label, value in zip(y, positive, strict=True)]
    )


def _objects(values: list[int], shape: tuple[int, ...]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)
