"""The projection of ADMM for few pairs: masks in place of blocks, all samples at once.

For a few thousand pairs a call of NumPy costs more than its arithmetic. `proximal.project` goes through the samples of
each label in blocks and leaves out the pairs that have no part in a step; this one makes a third of the calls and
multiplies those pairs by zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.settings import RELAXATION, SWEEPS


@dataclass(eq=False)
class FewPairs:
    """Which pairs are active same pairs and which are opposite, as 0 and 1 and as shares of the margin, all (m, k)."""

    active: FloatArray
    opposite: FloatArray
    active_shares: FloatArray
    opposite_shares: FloatArray
    slope: FloatArray

    @classmethod
    def of(cls, A: BoolArray, same: BoolArray, shares: FloatArray) -> FewPairs:
        """From the pattern A, the mask of same pairs, and the share (k,) of the margin in a scaled pre-activation."""
        active, opposite = (A & same).astype(shares.dtype), (~same).astype(shares.dtype)
        active_shares = active * shares
        return cls(active, opposite, active_shares, opposite * shares, active_shares.sum(axis=1))

    def project(
        self, H: FloatArray, Z: FloatArray, Y: FloatArray, tau: FloatArray, cap: float | FloatArray, *, measure: bool
    ) -> float:
        """H to Z, Y and the multipliers tau, at most `cap` (one, or one for each sample), and then to Z - Y in place;
        ||H - Z||^2 if it is wanted."""
        z0 = H - Z
        z0 *= RELAXATION
        z0 += Z
        z0 += Y
        lacking, opposite = 1.0 - np.vecdot(self.active_shares, z0), z0 * self.opposite_shares
        # Newton on the concave increasing phi(t) = base + active t - sum relu(zo - t) / scale = 1
        t = tau
        for _ in range(SWEEPS):
            beyond = z0 > t[:, None]
            slope = self.slope + np.vecdot(beyond, self.opposite_shares)
            missing = lacking + np.vecdot(beyond, opposite)
            t = t + missing
            np.divide(missing, slope, out=t, where=slope > 0.0)
            np.maximum(t, 0.0, out=t)
        np.minimum(t, cap, out=tau)
        np.clip(z0, 0.0, tau[:, None], out=Y)
        Y *= self.opposite
        Y -= self.active * tau[:, None]
        np.subtract(z0, Y, out=Z)
        apart = float(np.linalg.norm(H - Z)) ** 2 if measure else 0.0
        np.subtract(Z, Y, out=H)
        return apart
