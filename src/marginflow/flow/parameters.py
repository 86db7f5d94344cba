"""All trained parameters of a network as one flat vector, with a shaped view of each array inside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

from marginflow.arrays import FloatArray


class ParameterVector:
    """One contiguous vector theta and its parts: a step, a norm or an inner product is a single call on `flat`."""

    __slots__ = ("flat", "parts")

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtype: DTypeLike = np.float64) -> None:
        sizes = [int(np.prod(shape)) for shape in shapes]
        self.flat: FloatArray = np.zeros(sum(sizes), dtype)
        ends = np.cumsum(sizes)
        self.parts: tuple[FloatArray, ...] = tuple(
            self.flat[end - size : end].reshape(shape) for shape, size, end in zip(shapes, sizes, ends, strict=True)
        )

    def fill(self, arrays: Sequence[FloatArray]) -> ParameterVector:
        """Copy arrays of the same shapes into the parts."""
        for part, array in zip(self.parts, arrays, strict=True):
            part[...] = array
        return self
