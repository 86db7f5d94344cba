"""Means, medians and quotients that are not a number where there is nothing to measure, instead of a warning."""

import math

import numpy as np
from numpy.typing import ArrayLike


def mean_of(values: ArrayLike) -> float:
    """The mean, nan of nothing."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()) if array.size else math.nan


def median_of(values: ArrayLike) -> float:
    """The median of those entries that are numbers, nan of nothing."""
    array = np.asarray(values, dtype=np.float64)
    array = array[~np.isnan(array)]
    return float(np.median(array)) if array.size else math.nan


def least_of(values: ArrayLike) -> float:
    """The smallest entry, nan of nothing."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.min()) if array.size else math.nan


def quotient(a: float, b: float) -> float:
    """a / b, with a signed infinity for b = 0 and nan for 0 / 0."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
