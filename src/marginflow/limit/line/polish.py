r"""Newton's method on the equations that an optimal planar network satisfies once its structure is known.

Unknowns are the multipliers on the margin set, the sizes of the neurons at breakpoints (their direction is fixed), and
the vectors :math:`u_j` of the neurons inside arcs. Equations: :math:`y_i N(x_i) = 1` on the margin set, which is linear
in the neurons; :math:`s_j F(t_j) = 1` at breakpoints; :math:`s_j S_j = u_j / \|u_j\|` inside arcs, where :math:`S_j` is
the slope of the dual function. The matrix is symmetric; convergence is quadratic, down to rounding.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.budget import Budget
from marginflow.limit.line.circle import Arcs, Circle
from marginflow.limit.line.neurons import Neuron, Position, value_at
from marginflow.limit.line.settings import DENSE_STEP, MAX_REPAIRS, MAX_STEPS, PROXIMAL, ROUNDING


@dataclass(frozen=True, eq=False)
class PolishedLine:
    """Neurons with sizes and directions, multipliers, the dual function that belongs to them, and by how much the two
    groups of equations are missed."""

    positions: list[Position]
    sizes: FloatArray  # (k,) ||u_j||
    directions: FloatArray  # (k, 2) unit
    multipliers: FloatArray  # (n,)
    arcs: Arcs
    margin_miss: float = np.inf
    slope_miss: float = np.inf

    @property
    def miss(self) -> float:
        """The larger of both."""
        return max(self.margin_miss, self.slope_miss)


class Polisher:
    """Solves on a given structure and repairs it where the solution contradicts it, before the budget is over."""

    def __init__(self, circle: Circle, columns: FloatArray, y: FloatArray, budget: Budget) -> None:
        self.circle, self.columns, self.y, self.budget = circle, columns, y, budget
        self._largest_row = float(np.linalg.norm(circle.rows, axis=1).max())

    def column(self, position: Position, direction: FloatArray) -> FloatArray:
        """y_i s_j relu(z_i . t_j) for all samples."""
        if position.at_breakpoint:
            values = self.columns[:, position.index]
        else:
            values = np.where(self.circle.active[:, position.index], self.circle.rows @ direction, 0.0)
        return position.sign * self.y * values

    def newton(self, point: PolishedLine, margin: BoolArray) -> PolishedLine:
        """Newton's method on a fixed structure; the best point seen."""
        positions = point.positions
        y, rows, active = self.y, self.circle.rows, self.circle.active
        on = np.flatnonzero(margin)
        inside = np.array([j for j, p in enumerate(positions) if not p.at_breakpoint], dtype=np.int64)
        k, best, idle = len(positions), point, 0
        for _ in range(MAX_STEPS):
            self.budget.check(DENSE_STEP * (on.size + k + inside.size) ** 3 / 3)
            a, T, lam, arcs = point.sizes, point.directions, point.multipliers, point.arcs
            turned = np.column_stack([-T[:, 1], T[:, 0]])
            along = np.column_stack([self.column(p, t) for p, t in zip(positions, T, strict=True)])
            across = np.column_stack(
                [np.zeros((y.size, 0))]
                + [
                    np.where(active[:, positions[j].index], positions[j].sign * y * (rows @ turned[j]), 0.0)[:, None]
                    for j in inside
                ]
            )
            height = np.array([value_at(arcs, p, t) for p, t in zip(positions, T, strict=True)])
            tilt = np.array([positions[j].sign * float(arcs.sums[positions[j].index] @ turned[j]) for j in inside])
            right = np.concatenate([1.0 - (along @ a)[on], 1.0 - height, -tilt])
            if not np.isfinite(right).all():
                break
            margin_miss = float(np.abs(right[: on.size]).max(initial=0.0))
            slope_miss = float(np.abs(right[on.size :]).max(initial=0.0))
            first, point = best is point, replace(point, margin_miss=margin_miss, slope_miss=slope_miss)
            idle = 0 if not first and point.miss < best.miss / 2 else idle + 1
            if point.miss < best.miss or first:
                best = point
            if idle >= 3:
                break
            step = _solve(np.hstack([along[on], across[on]]), k, 1.0 / a[inside], right)
            lam = lam.copy()
            lam[on] += step[: on.size]
            sizes = a + step[on.size : on.size + k]
            if (sizes[inside] <= 0).any():
                # a vector through zero would turn around; the repair drops the neuron
                return PolishedLine(positions, sizes, T, lam, arcs)
            U = sizes[:, None] * T
            U[inside] += step[on.size + k :, None] * turned[inside]
            fixed = np.array([p.at_breakpoint for p in positions])
            sizes = np.where(fixed, sizes, np.linalg.norm(U, axis=1))
            T = np.where(fixed[:, None], T, U / np.where(sizes == 0, 1.0, sizes)[:, None])
            point = PolishedLine(positions, sizes, T, lam, self.circle.arcs(lam * y))
        return best

    def polish(
        self, neurons: list[Neuron], multipliers: FloatArray, tight: BoolArray, *, one_by_one: bool
    ) -> PolishedLine | None:
        """Newton, then repair, until nothing is left to repair; or None.

        Negative multipliers and neurons are dropped, violated samples added, neurons moved to where they belong: all
        at once, or the worst one at a time.
        """
        neurons = _together(neurons)
        margin = tight
        lam = np.where(margin, multipliers, 0.0)
        rounding = ROUNDING * self._largest_row
        seen: set[tuple[object, ...]] = set()
        for _ in range(MAX_REPAIRS):
            positions = [neuron.position for neuron in neurons]
            key = (tuple(positions), margin.tobytes())
            if key in seen or not positions or not margin.any():
                return None
            seen.add(key)
            U = np.array([neuron.u for neuron in neurons])
            a = np.linalg.norm(U, axis=1)
            point = PolishedLine(positions, a, U / a[:, None], lam, self.circle.arcs(lam * self.y))
            point = self.newton(point, margin)
            a, T, lam = point.sizes, point.directions, point.multipliers
            drop = a <= 0
            if np.isinf(point.miss):
                if not drop.any():
                    return None
                if one_by_one:
                    drop = np.arange(a.size) == np.argmin(a)
                neurons = [neuron for neuron, gone in zip(neurons, drop, strict=True) if not gone]
                lam = np.maximum(lam, 0.0)
                continue
            if point.margin_miss > 1e-10 + rounding * a.sum() or point.slope_miss > 1e-10 + rounding * lam.sum():
                return None
            moved = [self._settled(p, t, point.arcs) for p, t in zip(positions, T, strict=True)]
            values = np.column_stack([self.column(p, t) for p, t in zip(positions, T, strict=True)]) @ a
            # A sample may be on the margin with the multiplier 0; rounding must not throw it out.
            negative = margin & (lam < -1e-12 * lam.max() - rounding * lam.sum())
            violated = ~margin & (values < 1.0 - 1e-10 - rounding * a.sum())
            if moved == positions and not drop.any() and not negative.any() and not violated.any():
                return replace(point, multipliers=np.maximum(lam, 0.0))
            if one_by_one:
                wrong = [(drop, a), (negative, lam), (violated, values)]
                moved, (drop, negative, violated) = _worst(positions, moved, wrong)
            margin = (margin & ~negative) | violated
            lam = np.where(margin, lam, 0.0)
            ends = [self.circle.directions[p.index] if p.at_breakpoint else t for p, t in zip(moved, T, strict=True)]
            kept = np.flatnonzero(~drop)
            neurons = _together([Neuron(moved[j], a[j] * ends[j]) for j in kept])
        return None

    def _settled(self, position: Position, direction: FloatArray, arcs: Arcs) -> Position:
        """Where the neuron belongs: one that left its arc stops at the breakpoint, one that slides off moves on."""
        n_arcs, row = len(self.circle), 0 if position.sign > 0 else 1
        if position.pinned:
            return position
        if not position.at_breakpoint:
            following = (position.index + 1) % n_arcs
            first, last = self.circle.directions[position.index], self.circle.directions[following]
            if first[0] * direction[1] - first[1] * direction[0] <= 0:
                return Position(position.sign, True, position.index)
            if direction[0] * last[1] - direction[1] * last[0] <= 0:
                return Position(position.sign, True, following)
            return position
        for k in ((position.index - 1) % n_arcs, position.index):
            if arcs.inside[row, k] and arcs.maxima[row, k] > position.sign * arcs.at_breakpoints[position.index]:
                return Position(position.sign, False, k)
        return position


def _together(neurons: list[Neuron]) -> list[Neuron]:
    """One neuron at each position, the sum of those that stand there."""
    sums: dict[Position, FloatArray] = {}
    for neuron in neurons:
        sums[neuron.position] = sums.get(neuron.position, np.zeros(2)) + neuron.u
    return [Neuron(position, u) for position, u in sums.items()]


def _worst(
    positions: list[Position], moved: list[Position], wrong: list[tuple[BoolArray, FloatArray]]
) -> tuple[list[Position], list[BoolArray]]:
    """Of all contradictions only the first kind that occurs, moves at last, and of that kind only the worst."""
    masks = [np.zeros_like(mask) for mask, _ in wrong]
    for alone, (mask, values) in zip(masks, wrong, strict=True):
        if mask.any():
            alone[np.argmin(np.where(mask, values, np.inf))] = True
            return positions, masks
    first = next(j for j, (old, new) in enumerate(zip(positions, moved, strict=True)) if old != new)
    return [*positions[:first], moved[first], *positions[first + 1 :]], masks


def _solve(B: FloatArray, k: int, curvature: FloatArray, right: FloatArray) -> FloatArray:
    """The symmetric system [[0, B], [B^T, -D]] step = right, with proximal terms.

    The last columns of B turn neurons; D holds the curvature 1/||u_j|| of the norm there and is zero elsewhere.
    """
    n, total = B.shape
    matrix = np.zeros((n + total, n + total))
    matrix[:n, n:] = B
    matrix[n:, :n] = B.T
    turning = np.arange(n + k, n + total)
    matrix[turning, turning] = -curvature
    # Rows and columns are scaled alike: gaps between samples differ by orders of magnitude.
    scale = np.ones(n + total)
    for _ in range(5):
        largest = (np.abs(matrix) * scale).max(axis=1) * scale
        scale /= np.sqrt(np.where(largest > 0, largest, 1.0))
    scaled = scale[:, None] * matrix * scale
    # Left- and right-facing neurons with the same kink may be exchanged at no cost, and samples may be redundant: the
    # proximal terms make the matrix quasi-definite and choose the shortest step; they leave the solutions as they are.
    scaled[np.arange(n), np.arange(n)] += PROXIMAL
    scaled[np.arange(n, n + total), np.arange(n, n + total)] -= PROXIMAL
    step = linalg.solve(scaled, scale * right, assume_a="sym", check_finite=False)
    solution: FloatArray = scale * step
    return solution
