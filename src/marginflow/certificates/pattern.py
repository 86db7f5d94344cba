r"""Which neuron is active on which sample, and which pairs sit on a kink."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.networks import TwoLayer

KINK_TOLERANCE = 1e-8
r"""A pair is on a kink when \|w_j . x_i + b_j\| <= KINK_TOLERANCE * \|\|(w_j, b_j)\|\| * \|\|(x_i, 1)\|\|.

It equals the default tolerance of `Certificate.holds`: a pre-activation that is wrong by 1e-8 has the
same standing as a stationarity equation that is wrong by 1e-8.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Pattern:
    """The activation pattern of a network on its data, with the kinks set apart.

    Attributes
    ----------
    active, kink : bool arrays, shape (n, k)
        Strictly active pairs off the kinks, and pairs on a kink. The rest is inactive.
    offset : array, shape (n, k)
        Relative distance to the kink, |pre_ij| / (||(w_j, b_j)|| ||(x_i, 1)||); 0 for a zero neuron or sample.
    positive : bool array, shape (n, k)
        pre_ij > 0 in floating point: the hard pattern, kinks or not.
    tolerance : float
        The relative tolerance that was used.
    """

    active: BoolArray
    kink: BoolArray
    offset: FloatArray
    positive: BoolArray
    tolerance: float

    @property
    def largest_inside(self) -> float:
        """The largest relative distance among the pairs that count as kinks (0 if there is none)."""
        return float(self.offset[self.kink].max(initial=0.0))

    @property
    def smallest_outside(self) -> float:
        """The smallest relative distance among the other pairs (inf if there is none).

        Every tolerance from `largest_inside` to just below this value recognises the same kinks.
        """
        return float(self.offset[~self.kink].min(initial=np.inf))


def augmented_samples(X: FloatArray, *, bias: bool) -> FloatArray:
    """The rows (x_i, 1), or x_i for a network without bias."""
    return np.column_stack([X, np.ones(X.shape[0])]) if bias else X


def recognise(network: TwoLayer, X: FloatArray, tolerance: float) -> tuple[Pattern, FloatArray]:
    """The pattern of `network` on the rows of X, and the pre-activations (n, k) it was read from."""
    Z = network.preactivations(X)
    samples = np.linalg.norm(augmented_samples(X, bias=network.b is not None), axis=1)
    scale = samples[:, None] * np.linalg.norm(network.augmented, axis=1)[None, :]
    offset = np.divide(np.abs(Z), scale, out=np.zeros_like(Z), where=scale > 0)
    kink = offset <= tolerance
    positive = Z > 0
    return Pattern(active=positive & ~kink, kink=kink, offset=offset, positive=positive, tolerance=tolerance), Z
