"""Floats as the fractions that they are, in arrays that numpy adds, multiplies and compares without rounding."""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray


def fractions(numbers: ArrayLike) -> NDArray[np.object_]:
    """The same array with a `Fraction` in the place of every float.

    Examples
    --------
    >>> from marginflow.theory.kys23.rational import fractions
    >>> fractions([0.5, 0.25]) @ fractions([3.0, 1.0])
    Fraction(7, 4)
    """
    exact: NDArray[np.object_] = np.vectorize(Fraction, otypes=[object])(np.asarray(numbers, dtype=np.float64))
    return exact
