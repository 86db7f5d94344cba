r"""A bracket on the least ||theta||^2 for hundreds of nearly orthogonal samples: where does a network stand?

From above: the exact pair of neurons, and the construction of Lemma B.3 at margin 1. From below: any multipliers give

.. math:: \|\theta^*\|^2 \ge \frac{2 \sum_i \lambda_i}{\sup_{\|u\| = 1} |F_\lambda(u)|}, \qquad
          F_\lambda(u) = \sum_i \lambda_i y_i \, \mathrm{relu}(u \cdot \tilde x_i) .

For a sign s the active own samples contribute c_i lambda_i u . x~_i with c in [0, 1]; the others may be weakened by any
shares of their multipliers, so they are weakened by those of the pair, in proportion to how much of the own class is
active. What is left is || sum_i c_i lambda_i (x~_i - z) ||, a quadratic form in c, at most the sum of its positive
entries. On orthonormal samples no entry is negative and the bound is 1: there the pair is the global optimum.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.theory.kys23.thm_4_1.lem_b3 import biased_pair

# Bounds are moved outwards by this share, far more than the rounding of the sums in them.
_OUTWARDS = 1e-12


@dataclass(frozen=True, eq=False)
class MaxMargin:
    """lower <= ||theta*||^2 <= upper over all widths; `pair` is a KKT point, and the optimum where the two agree."""

    lower: float
    upper: float
    pair: TwoLayer


def dual_supremum_bound(data: Dataset, multipliers: FloatArray, shares: FloatArray) -> float:
    """A number that |F_lambda| exceeds nowhere on the unit sphere of (w, b), lambda >= 0.

    The shares, in [0, 1], say how much of the multiplier of a sample is used against neurons of the other sign: any
    give a bound.
    """
    T = augmented_samples(data.X, bias=True)
    highest = 0.0
    for sign in (1.0, -1.0):
        own = (data.y == sign) & (multipliers > 0)
        total = float(multipliers[own].sum())
        if total == 0.0:
            continue
        against = np.where(data.y == sign, 0.0, multipliers * np.clip(shares, 0.0, 1.0))
        D = multipliers[own, None] * (T[own] - (against @ T) / total)
        H = D @ D.T
        highest = max(highest, float(np.maximum(H, 0.0).sum()))
    return math.sqrt(highest)


def linearly_separable(data: Dataset) -> bool:
    """Whether a hyperplane separates the samples, so that there is a pair."""
    try:
        max_margin(data)
    except InputError:
        return False
    return True


@lru_cache(maxsize=16)
def max_margin(data: Dataset) -> MaxMargin:
    """The bracket for linearly separable data; kept, because several statements ask for it."""
    point = convex_pair(data)
    lam = point.multipliers
    # In the pair every sample has one neuron of the other sign: its Clarke weight there is the share.
    other = data.y[:, None] * point.network.v[None, :] < 0
    shares = (point.clarke * other).sum(axis=1)
    supremum = dual_supremum_bound(data, lam, shares)
    lower = 2 * math.fsum(lam) / supremum * (1 - _OUTWARDS)
    sizes = [point.network.at_margin_one(data.X, data.y).norm_squared()]
    if (data.y < 0).any() and (data.y > 0).any():
        made = biased_pair(data, 2)
        if float(made.margins(data.X, data.y).min()) > 0:
            sizes.append(made.at_margin_one(data.X, data.y).norm_squared())
    return MaxMargin(lower, min(sizes) * (1 + _OUTWARDS), point.network)
