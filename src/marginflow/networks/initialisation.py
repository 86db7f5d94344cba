"""How random networks begin: each law draws (W, b, v) and documents itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginflow.arrays import FloatArray

Parameters = tuple[FloatArray, FloatArray | None, FloatArray]


class AbstractInitialisation(ABC):
    """A law of (W, b, v) given width k and dimension d."""

    @abstractmethod
    def draw(
        self,
        width: int,
        dimension: int,
        *,
        bias: bool,
        outputs: Literal["trained", "frozen"],
        rng: np.random.Generator,
    ) -> Parameters:
        """Draw W (k, d), b (k,) or None, and v (k,)."""


@dataclass(frozen=True)
class TorchDefault(AbstractInitialisation):
    """`torch.nn.Linear`: W, b uniform on +-1/sqrt(d), v uniform on +-1/sqrt(k); frozen v are +-1/sqrt(k), half each."""

    def draw(
        self,
        width: int,
        dimension: int,
        *,
        bias: bool,
        outputs: Literal["trained", "frozen"],
        rng: np.random.Generator,
    ) -> Parameters:
        """Draw W, then b, then v."""
        edge = 1.0 / np.sqrt(dimension)
        W = rng.uniform(-edge, edge, (width, dimension))
        b = rng.uniform(-edge, edge, width) if bias else None
        out = 1.0 / np.sqrt(width)
        v = rng.uniform(-out, out, width) if outputs == "trained" else out * half_signs(width)
        return W, b, v


def half_signs(width: int) -> FloatArray:
    """Alternating +1, -1: half of each, one more +1 when the width is odd."""
    signs = np.ones(width)
    signs[1::2] = -1.0
    return signs
