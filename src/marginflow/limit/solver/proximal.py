"""The two proximal steps of ADMM on raw arrays: rows of samples are projected, neurons shrink.

Both work in place, on parts of the samples and of the neurons that several threads may take at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.products import pieces
from marginflow.limit.settings import RELAXATION, SWEEPS


@dataclass(eq=False)
class Part:
    """Some samples, in blocks of one label (rows, same neurons, opposite neurons), and the buffers to work in.

    `A_same` and `active` have, for every block, the pattern as shares of the margin and its sums; `apart` is
    ||H - Z||^2 where it was asked for.
    """

    rows: slice
    blocks: list[tuple[slice, slice, slice]]
    buffers: FloatArray
    A_same: list[FloatArray] = field(default_factory=list)
    active: list[FloatArray] = field(default_factory=list)
    apart: float = 0.0

    @classmethod
    def of(cls, rows: slice, n_positive: int, k_positive: int, k: int, most: int, dtype: DTypeLike) -> Part:
        """Rows in blocks of at most `most`; positive samples come first, and so do positive neurons."""
        middle = min(max(n_positive, rows.start), rows.stop)
        positive, negative = slice(0, k_positive), slice(k_positive, k)
        blocks = [(block, positive, negative) for block in pieces(rows.start, middle, most)]
        blocks += [(block, negative, positive) for block in pieces(middle, rows.stop, most)]
        return cls(rows, blocks, np.empty((2, min(most, rows.stop - rows.start), k), dtype=dtype))


def project(
    part: Part,
    H: FloatArray,
    Z: FloatArray,
    Y: FloatArray,
    tau: FloatArray,
    A: BoolArray,
    shares: FloatArray,
    cap: float,
    *,
    measure: bool,
) -> None:
    """The rows of a part: H to Z, Y and the multipliers tau, at most `cap`, and then to Z - Y in place.

    Block by block: what is between H and Z - Y stays in the cache.
    """
    part.apart = 0.0
    # A row of zeros: with a number in its place NumPy's maximum takes three to five times as long.
    zeros = np.zeros(H.shape[1], dtype=H.dtype)
    for (rows, same, opposite), A_same, active in zip(part.blocks, part.A_same, part.active, strict=True):
        h, y, z, t = H[rows], Y[rows], Z[rows], tau[rows]
        z0, spare = part.buffers[:, : len(h)]
        np.subtract(h, z, out=z0)
        z0 *= RELAXATION
        z0 += z
        z0 += y
        zs, zo = z0[:, same], z0[:, opposite]
        base = np.vecdot(A_same, zs)
        # Newton on the concave increasing phi(t) = base + active t - sum relu(zo - t) / scale = 1
        beyond, of_one = spare[:, opposite], shares[opposite]
        for _ in range(SWEEPS):
            np.copyto(beyond, zo > t[:, None])
            slope = active + beyond @ of_one
            beyond *= zo
            missing = 1.0 - base + beyond @ of_one
            t = np.maximum(np.where(slope > 0.0, missing / np.where(slope > 0.0, slope, 1.0), t + missing), 0.0)
        np.minimum(t, cap, out=t)
        tau[rows] = t
        np.multiply(A[rows, same], -t[:, None], out=y[:, same])
        np.minimum(zo, t[:, None], out=y[:, opposite])
        np.maximum(y[:, opposite], zeros[opposite], out=y[:, opposite])
        np.subtract(z0, y, out=z)
        if measure:
            np.subtract(h, z, out=spare)
            part.apart += float(np.vdot(spare, spare))
        np.subtract(z, y, out=h)


@dataclass(eq=False)
class FewPairs:
    """Which pairs are active same pairs and which are opposite, as 0 and 1 and as shares of the margin, all (m, k).

    For a few thousand pairs a call of NumPy costs more than its arithmetic: with masks in place of blocks, all samples
    at once, there are a third of the calls of `project`, and pairs that have no part in a step are multiplied by zero.
    """

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


def shrink(
    R: FloatArray, t: FloatArray, s2: FloatArray, rho: FloatArray, anchor_weight: float, out: FloatArray
) -> IntArray:
    """Rows t R / (1 + (rho s^2 + anchor) t) of norm t into `out`, the new norms into t; which rows are not zero.

    t solves the secular equation sum_l R_l^2 / (1 + (rho s_l^2 + anchor) t)^2 = 1, from the given t.
    """
    live = np.flatnonzero(np.vecdot(R, R) > 1.0)
    rs = np.multiply.outer(rho[live], s2)
    if anchor_weight > 0.0:
        rs += anchor_weight
    shrink_live(R, t, live, rs, out)
    return live


def shrink_live(R: FloatArray, t: FloatArray, live: IntArray, rs: FloatArray, out: FloatArray) -> None:
    """The same where it is known which rows are not zero, and for each of them what t is multiplied by."""
    some = R if len(live) == len(R) else R[live]
    # A neuron that comes back from zero begins at almost nothing, in any units: rs t has none.
    size = np.maximum(t[live], 1e-12 / rs.max(axis=1))
    factors, scaled = np.empty_like(rs), np.empty_like(rs)
    for _ in range(SWEEPS):
        np.multiply(rs, size[:, None], out=factors)
        factors += 1.0
        np.divide(1.0, factors, out=factors)
        np.multiply(some, factors, out=scaled)
        q = np.vecdot(scaled, scaled)
        np.multiply(scaled, scaled, out=scaled)
        scaled *= factors
        slope = np.vecdot(scaled, rs)  # -dq/dt / 2
        # Newton on 1/sqrt(q(t)) - 1, which is nearly linear in t
        size = np.maximum(size + (np.sqrt(q) - 1.0) * q / slope, 0.1 * size)
    np.multiply(rs, size[:, None], out=factors)
    factors += 1.0
    np.divide(size[:, None], factors, out=factors)
    np.multiply(some, factors, out=scaled)
    out[...], t[...] = 0.0, 0.0
    out[live], t[live] = scaled, np.linalg.norm(scaled, axis=1)
