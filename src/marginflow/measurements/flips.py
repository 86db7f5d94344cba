"""How long a multiple of one vector flips samples: the exact curve of one direction, and its numbers."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step
from marginflow.robustness.rays import RaySteps

# Shares of the curve that are said in words; the whole curve is in `Flip.curve`.
SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Flip(Brief):
    """One direction and every step along it at which a sample is flipped.

    A multiple z acts as x_i - y_i z (unsigned: x_i + z). Infinity: no multiple does it.
    """

    name: str
    vector: FloatArray
    steps: RaySteps

    def norm_for(self, share: float) -> float:
        """Norm of the smallest multiple that flips this share of the samples at once."""
        return self.steps.size_for_share(share)

    @property
    def all(self) -> float:
        """Norm of the smallest multiple that flips every sample at once."""
        return self.norm_for(1.0)

    def summary(self, *, dimension: int, share: float = 1.0) -> dict[str, object]:
        """Norms of first flips, of the share asked for and of all at once; some of them also by sqrt(d)."""
        sizes, root = self.steps.sizes, math.sqrt(dimension)
        norm, median = self.norm_for(share), float(np.median(sizes))
        return {
            "direction": self.name,
            "norm": norm,
            "norm_by_sqrt_dimension": norm / root,
            "smallest_first": float(sizes.min()),
            "median_first": median,
            "median_first_by_sqrt_dimension": median / root,
            "largest_first": float(sizes.max()),
            "all_at_once": self.all,
            **{f"share_{wanted:g}": self.norm_for(wanted) for wanted in SHARES},
            "already_flipped": int(self.steps.already.sum()),
            "never_flipped": int(np.isinf(self.steps.first).sum()),
            "flip_back": int((~self.steps.monotone).sum()),
        }

    def curve(self) -> dict[str, FloatArray]:
        """The share flipped at exactly each norm at which it changes, and between that norm and the next."""
        steps = self.steps
        return {"norm": steps.steps[::2] * steps.norms[0], "at": steps.shares[::2], "after": steps.shares[1::2]}


def flip(network: TwoLayer, data: Dataset, vector: FloatArray, *, name: str = "", signed: bool = True) -> Flip:
    """Walk along one vector: subtracted from the positive and added to the negative samples, or added to all."""
    return Flip(name=name, vector=vector, steps=minimal_step(network, data.X, data.y, vector, signed=signed))
