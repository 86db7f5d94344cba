r"""The supremum of the dual function over all directions, bounded from both sides by branch and bound.

For rows z_i, labels y_i and multipliers :math:`\lambda_i \ge 0`, a neuron of sign s sees

.. math:: s F_\lambda(u) = \sum_{y_i = s} \lambda_i \,\mathrm{relu}(z_i \cdot u)
                         - \sum_{y_i \ne s} \lambda_i \,\mathrm{relu}(z_i \cdot u), \qquad \|u\| \le 1.

Only the samples with the neuron's own label make it non-concave, so only they are branched on: a node says for some of
them whether they are active. The relu of an undecided one, whose pre-activation is known to lie in [l, h], is at most
its chord. What is left is concave, and its maximum over the unit ball is the distance of a point from a zonotope
widened by the cone of the decided samples:

.. math:: \mathrm{const} + \min_{0 \le \mu_i \le \lambda_i, \, \nu \ge 0}
          \Big\| c - \sum_{y_i \ne s} \mu_i z_i + \sum_{\text{on}} \nu_i z_i - \sum_{\text{off}} \nu_i z_i \Big\| .

Any coefficients give a valid bound; none is read off a solver. The residual vector also says where the function can
exceed a given level at all: in a cap of the sphere, which narrows [l, h].
"""

import heapq
import time
from dataclasses import dataclass
from itertools import count

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates.multipliers.box_quadratic import least_squares_in_box
from marginflow.limit.bracket.quadratic_majorant import quadratic_bound
from marginflow.limit.bracket.settings import QUADRATIC_FROM, ROUNDING, TIGHTENINGS


@dataclass(frozen=True, eq=False)
class Supremum:
    """sup s F over the unit ball lies in [lower, upper]; `direction` is a unit vector that attains lower."""

    lower: float
    upper: float
    direction: FloatArray
    nodes: int


@dataclass(frozen=True, eq=False)
class _Node:
    """Bounds on the pre-activations of the own-label samples over the part of the sphere that this node covers."""

    low: FloatArray
    high: FloatArray


class SignedDual:
    """s F for one sign s, with the samples whose multiplier is positive."""

    def __init__(self, rows: FloatArray, y: FloatArray, multipliers: FloatArray, sign: float) -> None:
        live = multipliers > 0
        own, other = live & (y == sign), live & (y != sign)
        self.own, self.lam_own = rows[own], multipliers[own]
        self.other, self.lam_other = rows[other], multipliers[other]
        self.norms = np.linalg.norm(self.own, axis=1)
        self.dimension = rows.shape[1]
        total = float(self.lam_own @ self.norms) + float(self.lam_other @ np.linalg.norm(self.other, axis=1))
        self.rounding = ROUNDING * total

    def value(self, u: FloatArray) -> float:
        """s F(u)."""
        gain = self.lam_own @ np.maximum(self.own @ u, 0.0)
        return float(gain - self.lam_other @ np.maximum(self.other @ u, 0.0))

    def ascend(self, u: FloatArray, *, deadline: float = np.inf) -> tuple[float, FloatArray]:
        """A local maximum: freeze which own samples are active, maximise the concave rest, repeat.

        At the deadline (a value of `time.monotonic`) the highest point so far.
        """
        size = float(np.linalg.norm(u))
        if size == 0:
            return 0.0, np.eye(self.dimension)[0]
        u = u / size
        value, mu = self.value(u), np.zeros(self.lam_other.size)
        for _ in range(50):
            active = self.own @ u > 0
            target = (self.lam_own * active) @ self.own
            mu = least_squares_in_box(self.other.T, target, self.lam_other, mu, deadline=deadline)
            residual = target - mu @ self.other
            size = float(np.linalg.norm(residual))
            if size == 0:
                break
            candidate = residual / size
            risen = self.value(candidate)
            if risen <= value * (1 + 1e-13):
                break
            value, u = risen, candidate
            if time.monotonic() > deadline:
                break
        return value, u

    # Branch and bound -----------------------------------------------------------------------------------

    def _bound(self, node: _Node) -> tuple[float, float, FloatArray]:
        """Upper bound const + ||residual|| over the node, as const, and the residual vector."""
        on, off = node.low >= 0, node.high <= 0
        free = ~on & ~off
        low, high = node.low[free], node.high[free]
        slope = high / (high - low)
        const = float(-(self.lam_own[free] * slope * low).sum())
        target = (self.lam_own[free] * slope) @ self.own[free] + self.lam_own[on] @ self.own[on]
        rows = np.vstack([self.other, -self.own[on], self.own[off]])
        decided = int(on.sum() + off.sum())
        upper = np.append(self.lam_other, np.full(decided, np.inf))
        residual = target - least_squares_in_box(rows.T, target, upper, np.zeros(upper.size)) @ rows
        return const + float(np.linalg.norm(residual)) + self.rounding, const, residual

    def _tightened(self, node: _Node, level: float) -> tuple[_Node | None, float, FloatArray]:
        """The node with its ranges narrowed to where s F can reach the level; None where it cannot."""
        bound, residual = np.inf, np.zeros(self.dimension)
        for _ in range(TIGHTENINGS):
            fresh, const, residual = self._bound(node)
            bound = min(bound, fresh)
            size = float(np.linalg.norm(residual))
            if bound <= level:
                return None, bound, residual
            if size == 0:
                break
            low, high = self._cap_ranges(residual / size, (level - const - self.rounding) / size)
            on, off = node.low >= 0, node.high <= 0
            undecided = ~on & ~off
            if self.dimension >= QUADRATIC_FROM and undecided.any():
                own, weights, fixed = self.own[undecided], self.lam_own[undecided], self.lam_own[on] @ self.own[on]
                decided = np.vstack([self.own[on], -self.own[off]])
                quadratic = quadratic_bound(fixed, own, weights, self.other, self.lam_other, decided, residual / size)
                if quadratic.bound + self.rounding < bound:
                    bound = quadratic.bound + self.rounding
                    residual = quadratic.maximiser
                    if bound <= level:
                        return None, bound, residual
                reach = quadratic.half_widths(self.own, level - self.rounding) + 1e-12 * self.norms
                centre = self.own @ quadratic.maximiser
                low, high = np.maximum(low, centre - reach), np.minimum(high, centre + reach)
            low, high = np.maximum(low, node.low), np.minimum(high, node.high)
            if (low > high).any():
                return None, level, residual
            width, old = (high - low)[undecided], (node.high - node.low)[undecided]
            settled = ((low >= 0) | (high <= 0))[undecided]
            node = _Node(low, high)
            if not (settled.any() or (width < 0.7 * old).any()):
                break
        return node, bound, residual

    def _cap_ranges(self, normal: FloatArray, height: float) -> tuple[FloatArray, FloatArray]:
        """Least and greatest z_i . u over the cap {||u|| = 1, normal . u >= height}, rounded outwards."""
        if height <= -1.0:
            return -self.norms, self.norms
        height = min(height, 1.0)
        along = self.own @ normal
        across = np.sqrt(np.maximum(self.norms**2 - along**2, 0.0))
        rim = np.sqrt(max(0.0, 1.0 - height**2))
        high = np.where(along >= height * self.norms, self.norms, along * height + across * rim)
        low = np.where(-along >= height * self.norms, -self.norms, along * height - across * rim)
        slack = 1e-12 * self.norms
        return low - slack, high + slack

    def supremum(self, *, level: float, max_nodes: int, starts: FloatArray, stop_above: float = np.inf) -> Supremum:
        """Bounds on sup s F; values up to `level` are not told apart, so that it is enough to prove s F <= level.

        Parameters
        ----------
        level : float
            The search ends once s F is proved to be at most the larger of this and the best value found.
        max_nodes : int
            After this many nodes the largest bound that is left is reported.
        starts : array, shape (k, r)
            Directions from which local maxima are sought first.
        stop_above : float
            Once a value above this is found there is no need to know more: the search ends with a crude bound.
        """
        best, direction = 0.0, np.eye(self.dimension)[0]
        for start in starts:
            value, ascended = self.ascend(start)
            if value > best:
                best, direction = value, ascended
        if self.lam_own.size == 0:
            return Supremum(0.0, 0.0, direction, 0)
        if best > stop_above:
            return Supremum(best, self.crude_bound(), direction, 0)
        order = count()
        cutoff = max(level, best * (1 + 1e-12))
        root, bound, residual = self._tightened(_Node(-self.norms, self.norms), cutoff)
        heap: list[tuple[float, int, _Node, FloatArray]] = []
        if root is not None:
            heap.append((-bound, next(order), root, residual))
        nodes = 1
        while heap and nodes < max_nodes:
            negative, _, node, residual = heapq.heappop(heap)
            if -negative <= cutoff:
                continue
            value, ascended = self.ascend(residual / max(float(np.linalg.norm(residual)), 1e-300))
            if value > best:
                best, direction = value, ascended
                cutoff = max(level, best * (1 + 1e-12))
                if best > stop_above:
                    return Supremum(best, self.crude_bound(), direction, nodes)
            for child in self._children(node):
                nodes += 1
                kept, bound, residual = self._tightened(child, cutoff)
                if kept is not None:
                    heapq.heappush(heap, (-bound, next(order), kept, residual))
        upper = max([cutoff, *(-item[0] for item in heap)])
        return Supremum(best, min(upper, self.crude_bound()), direction, nodes)

    def _children(self, node: _Node) -> list[_Node]:
        """The sample with the widest gap between relu and chord, active and inactive."""
        undecided = (node.low < 0) & (node.high > 0)
        if not undecided.any():
            return []
        gap = np.where(undecided, -self.lam_own * node.low * node.high / np.maximum(node.high - node.low, 1e-300), -1.0)
        i = int(np.argmax(gap))
        low, high = node.low.copy(), node.high.copy()
        low[i] = 0.0
        high[i] = 0.0
        return [_Node(low, node.high), _Node(node.low, high)]

    def crude_bound(self) -> float:
        r"""sup s F <= sup over t in [0, lambda] of ||sum t_i z_i|| <= (lambda^T max(G, 0) lambda)^(1/2)."""
        gram = np.maximum(self.own @ self.own.T, 0.0)
        return float(np.sqrt(max(self.lam_own @ gram @ self.lam_own, 0.0))) + self.rounding
