r"""One neuron at fixed multipliers, from whatever guess: the shortest vector that its opposite pairs can make of it.

The weights of the opposite pairs of a neuron solve

.. math:: \min_\mu \tfrac12 \| g - \sum_i \mu_i x_i \|^2 \quad\text{s.t.}\quad 0 \le \mu_i \le \lambda_i ,

g what its same pairs add up to. An active set method that moves every pair at once takes a few rounds and may also run
away: it has no objective to watch. This one does [Bertsekas 1982]: Newton's method in the weights that may move, along
the path that the bounds bend, as far as the length falls. Hundreds of weights move at once from a guess that is nearly
right; `least_squares_in_box` of the certificates is slower and as accurate as the rows allow.
"""

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray
from marginflow.limit.settings import BOX_RIDGE, BOX_STEPS, BOX_TOLERANCE


def box_projection(rows: FloatArray, g: FloatArray, high: FloatArray, weights: FloatArray) -> FloatArray:
    """The weights mu (p,) in [0, high] with the least ||g - mu @ rows||; entries at a bound are exactly there.

    The method begins at `weights`, which need not lie in the box; `high` is positive.
    """
    mu = np.clip(weights, 0.0, high)
    norms = np.linalg.norm(rows, axis=1)
    d = g - mu @ rows
    for _ in range(BOX_STEPS):
        pull = rows @ d
        held = ((mu <= 0.0) & (pull <= 0.0)) | ((mu >= high) & (pull >= 0.0))
        free = np.flatnonzero(~held)
        slack = BOX_TOLERANCE * norms[free] * float(np.linalg.norm(d))
        if (np.abs(pull[free]) <= slack).all():
            break
        step = _least_squares(rows[free], d)
        length, before = 1.0, float(d @ d)
        while length > BOX_TOLERANCE:
            moved = np.clip(mu[free] + length * step, 0.0, high[free])
            ahead = d - (moved - mu[free]) @ rows[free]
            if float(ahead @ ahead) < before - 1e-4 * float(pull[free] @ (moved - mu[free])):
                break
            length *= 0.5
        else:
            break  # rounding is all that is left
        mu[free], d = moved, ahead
    return mu


def _least_squares(rows: FloatArray, d: FloatArray) -> FloatArray:
    """The step p with the least ||d - p @ rows||, held by a tiny ridge; by the smaller of two Gram matrices."""
    wide = len(rows) <= rows.shape[1]
    gram = rows @ rows.T if wide else rows.T @ rows
    gram[np.diag_indices(len(gram))] += BOX_RIDGE * float(np.trace(gram)) / len(gram)
    factor = scipy.linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    step: FloatArray = (
        scipy.linalg.cho_solve(factor, rows @ d, check_finite=False)
        if wide
        else rows @ scipy.linalg.cho_solve(factor, d, check_finite=False)
    )
    return step
