r"""Which neuron is active on which sample, and which pairs sit on a kink."""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.evaluation import CACHED_NUMBERS, augmented_samples, row_blocks

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
    positive : bool array, shape (n, k)
        pre_ij > 0 in floating point: the hard pattern, kinks or not.
    tolerance : float
        The relative tolerance that was used.
    kink_offsets : array, shape (number of kinks,)
        Relative distance to the kink of the pairs on a kink, |pre_ij| / (||(w_j, b_j)|| ||(x_i, 1)||), sample by
        sample; 0 for a zero neuron or sample.
    smallest_outside : float
        The smallest relative distance among the other pairs (inf if there is none). Every tolerance from
        `largest_inside` to just below this value recognises the same kinks.
    """

    active: BoolArray
    kink: BoolArray
    positive: BoolArray
    tolerance: float
    kink_offsets: FloatArray
    smallest_outside: float

    @property
    def largest_inside(self) -> float:
        """The largest relative distance among the pairs that count as kinks (0 if there is none)."""
        return float(self.kink_offsets.max(initial=0.0))


def coordinates(network: TwoLayer | Classifier, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The samples (x_i, 1) and the rows (w_j, b_j) in coordinates of the span of the samples, an isometry.

    Thin QR of the samples; what the neurons have outside their span keeps one coordinate of its own.
    """
    T, U = augmented_samples(X, bias=network.b is not None), network.augmented
    if T.shape[1] <= T.shape[0]:
        return T, U
    Q, R = np.linalg.qr(T.T)
    inside = U @ Q
    outside = np.linalg.norm(U - inside @ Q.T, axis=1)
    return np.column_stack([R.T, np.zeros(T.shape[0])]), np.column_stack([inside, outside])


def recognise(network: TwoLayer, X: FloatArray, tolerance: float) -> tuple[Pattern, FloatArray]:
    """The pattern of `network` on the rows of X, and the pre-activations (n, k) it was read from."""
    Z = network.preactivations(X)
    samples = np.sqrt(np.einsum("ij,ij->i", X, X) + float(network.b is not None))  # ||(x_i, 1)||, without a copy of X
    neurons = np.linalg.norm(network.augmented, axis=1)
    kink, positive = np.empty(Z.shape, dtype=np.bool_), Z > 0
    inside: list[FloatArray] = []
    outside = np.inf
    for block in pair_blocks(Z):
        scale = samples[block, None] * neurons[None, :]
        offset = np.divide(np.abs(Z[block]), scale, out=np.zeros_like(scale), where=scale > 0)
        near = np.less_equal(offset, tolerance, out=kink[block])
        inside.append(offset[near])
        outside = min(outside, float(offset.min(where=~near, initial=np.inf)))
    return Pattern(
        active=positive & ~kink,
        kink=kink,
        positive=positive,
        tolerance=tolerance,
        kink_offsets=np.concatenate(inside),
        smallest_outside=outside,
    ), Z


def pair_blocks(pairs: FloatArray | BoolArray) -> list[slice]:
    """Slices of samples for work on an array over samples and neurons, which may be far larger than a cache."""
    return row_blocks(*pairs.shape, at_most=CACHED_NUMBERS)
