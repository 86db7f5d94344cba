r"""First-layer training in the plane by sorting angles: a step costs O((n + k) log n) instead of O(n k).

For d = 2 without bias and with frozen outputs, neuron j is active on the samples whose angle lies within a quarter turn
of its own: a contiguous arc of the samples in order of angle. So [FCB22, Setting.GD (iii)]

- N(x_i) = x_i . S_i, where S_i sums v_j w_j over the arcs that contain i: a difference array, then a running sum;
- the gradient of w_j is v_j times a sum of p_i y_i x_i over its arc: a difference of two running sums.

It is the same step as the dense one, in exact arithmetic. Arc ends are found by angle and then corrected by the sign of
w_j . x_i, so that samples exactly at right angles to a neuron are inactive here too.
"""

import math
from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.errors import InputError
from marginflow.flow.parameters import ParameterVector
from marginflow.flow.trainable import AbstractTrainable
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer


class PlanarTwoLayer(AbstractTrainable):
    """A two-layer network in the plane, without bias and with frozen outputs; the coordinates are W."""

    def __init__(self, network: TwoLayer, X: FloatArray, y: FloatArray) -> None:
        if network.outputs == "trained" or network.b is not None or network.dimension != 2:
            raise InputError(f"The planar engine needs d = 2, no bias and frozen outputs; the network is {network!r}.")
        self._network = network
        self._v = network.v
        n = y.size
        angles = np.arctan2(X[:, 1], X[:, 0])
        self._order = np.argsort(angles, kind="stable")
        sorted_angles = angles[self._order]
        self._angles = np.concatenate([sorted_angles, sorted_angles + 2.0 * np.pi])  # two turns: no arc wraps
        self._n = n
        self._x = np.ascontiguousarray(X[self._order, 0])
        self._z = np.ascontiguousarray(X[self._order, 1])
        self._y = y[self._order]
        self._sorted_margins = np.empty(n)
        self.shapes = [network.W.shape]
        self.margins = np.empty(n)
        self._px = np.zeros(2 * n + 1)
        self._pz = np.zeros(2 * n + 1)

    def start(self) -> ParameterVector:
        """W."""
        return self.vector().fill([self._network.W])

    def _arcs(self, wx: FloatArray, wz: FloatArray) -> tuple[IntArray, IntArray]:
        """First and one-past-last sample of each neuron's arc, as positions in two turns of the sorted samples."""
        n, x, z = self._n, self._x, self._z
        turn = np.arctan2(wz, wx)
        turn[turn < -0.5 * np.pi] += 2.0 * np.pi
        low = np.searchsorted(self._angles, turn - 0.5 * np.pi, side="right")
        high = np.searchsorted(self._angles, turn + 0.5 * np.pi, side="left")
        shift = n * (low == 0)  # room to move down; such an arc ends within the first turn
        low += shift
        high += shift
        dead = (wx == 0.0) & (wz == 0.0)
        high[dead] = low[dead]

        def positive(position: IntArray) -> np.ndarray:
            index = position % n
            return np.asarray(wx * x[index] + wz * z[index] > 0.0)

        # Rounding of the angles can misplace an end by the samples within an ulp of a right angle: ask the signs.
        while (move := (low < high) & ~positive(low)).any():
            low += move
        while (move := (low < high) & ~positive(high - 1)).any():
            high -= move
        while (move := (high - low < n) & (low > 0) & positive(low - 1)).any():
            low -= move
        while (move := (high - low < n) & (high < 2 * n) & positive(high)).any():
            high += move
        return low, high

    def _values(self, wx: FloatArray, wz: FloatArray, low: IntArray, high: IntArray) -> FloatArray:
        """Margins in order of angle; in `margins` they have the user's order."""
        n = self._n
        ends = np.concatenate([low, high])
        ax, az = self._v * wx, self._v * wz
        sx = np.cumsum(np.bincount(ends, weights=np.concatenate([ax, -ax]), minlength=2 * n + 1))
        sz = np.cumsum(np.bincount(ends, weights=np.concatenate([az, -az]), minlength=2 * n + 1))
        q = self._sorted_margins
        np.multiply(sx[:n] + sx[n : 2 * n], self._x, out=q)
        q += (sz[:n] + sz[n : 2 * n]) * self._z
        q *= self._y
        self.margins[self._order] = q
        return q

    def forward(self, theta: ParameterVector) -> FloatArray:
        """Margins in the user's order."""
        W = theta.parts[0]
        wx, wz = W[:, 0], W[:, 1]
        self._values(wx, wz, *self._arcs(wx, wz))
        return self.margins

    def evaluate(
        self, theta: ParameterVector, loss: AbstractLoss, out: ParameterVector, rows: IntArray | None = None
    ) -> float:
        """Sums over arcs as differences of running sums."""
        assert rows is None, "only engines with mini-batches are asked for one"
        W = theta.parts[0]
        if not np.isfinite(W).all():
            return math.nan
        wx, wz = np.ascontiguousarray(W[:, 0]), np.ascontiguousarray(W[:, 1])
        low, high = self._arcs(wx, wz)
        q = self._values(wx, wz, low, high)
        log_sum, g = loss.log_sum_and_weights(q)
        g *= self._y
        n, px, pz = self._n, self._px, self._pz
        for running, coordinate in ((px, self._x), (pz, self._z)):
            np.cumsum(g * coordinate, out=running[1 : n + 1])
            np.add(running[1 : n + 1], running[n], out=running[n + 1 :])
        G = out.parts[0]
        np.multiply(px[high] - px[low], self._v, out=G[:, 0])
        np.multiply(pz[high] - pz[low], self._v, out=G[:, 1])
        return log_sum

    def network(self, theta: ParameterVector) -> TwoLayer:
        """The network with these rows."""
        return replace(self._network, W=theta.parts[0])
