r"""The dual function of the max-margin problem over all directions of the plane, in exact arithmetic.

For rows :math:`z_i` of the plane ((x_i, 1) on the line) and weights :math:`g_i = \lambda_i y_i`,

.. math:: F(t) = \sum_i g_i \,\mathrm{relu}(z_i \cdot t), \qquad \|t\| = 1,

is linear, :math:`F(t) = S_k \cdot t`, on each arc between two neighbouring directions that are orthogonal to a row.
So its supremum is a finite maximum. All sums and all comparisons are made with integers (floats are integers times
powers of two); the only rounding is in the last division and square root of each reported number.
"""

from dataclasses import dataclass
from functools import cmp_to_key
from itertools import groupby

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.errors import InputError
from marginflow.limit.line.integers import as_float, integers, root_as_float

Vector = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Arcs:
    """F on every arc. Arc k runs counter-clockwise from breakpoint k to breakpoint k + 1.

    The first axis of `maxima`, `positions` and `inside` is the sign: 0 for +F, 1 for -F.
    """

    at_breakpoints: FloatArray  # (K,) F at the breakpoints
    sums: FloatArray  # (K, 2) S_k
    maxima: FloatArray  # (2, K) the maximum of +-F over the closed arc
    positions: FloatArray  # (2, K, 2) the unit direction where it is attained
    inside: BoolArray  # (2, K) whether that is strictly inside the arc

    @property
    def supremum(self) -> float:
        """sup |F| over all unit directions (0 at least, the value where no row is active)."""
        return max(0.0, float(self.maxima.max()))


class Circle:
    """The arcs cut out of the circle of directions by the rows; what does not depend on the weights.

    Breakpoint b is a direction orthogonal to one or several (parallel) rows. `entering[b]` are the rows that become
    active when the direction turns counter-clockwise through it, `leaving[b]` those that become inactive.
    """

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows
        self._exponent, flat = integers(rows)
        self._rows: list[Vector] = list(zip(flat[0::2], flat[1::2], strict=True))
        for i, z in enumerate(self._rows):
            if z == (0, 0):
                raise InputError(f"Row {i} is zero; without bias no network gives a zero sample a margin.")
        self._directions, self.entering, self.leaving = self._breakpoints()
        length = [root_as_float(x * x + y * y, 2 * self._exponent) for x, y in self._directions]
        self._length = np.array(length)
        exact = np.array([as_float(c, self._exponent) for p in self._directions for c in p]).reshape(-1, 2)
        self.directions: FloatArray = exact / self._length[:, None]
        self.active: BoolArray = self._patterns()
        # sin and cos of the angle of arc k; exact products keep their relative precision for close directions
        following = [*self._directions[1:], self._directions[0]]
        products = self._length * np.roll(self._length, -1)
        shift = 2 * self._exponent
        pairs = list(zip(self._directions, following, strict=True))
        self.sines: FloatArray = np.array([as_float(_cross(p, q), shift) for p, q in pairs]) / products
        self.cosines: FloatArray = np.array([as_float(_dot(p, q), shift) for p, q in pairs]) / products

    def __len__(self) -> int:
        return len(self._directions)

    def _breakpoints(self) -> tuple[list[Vector], list[IntArray], list[IntArray]]:
        # Turning counter-clockwise through (z_2, -z_1), the product with z goes from negative to positive.
        events: list[tuple[Vector, int, bool]] = []
        for i, (x, y) in enumerate(self._rows):
            events += [((y, -x), i, True), ((-y, x), i, False)]
        by_angle = cmp_to_key(_turn)
        events.sort(key=lambda event: by_angle(event[0]))
        directions: list[Vector] = []
        entering: list[IntArray] = []
        leaving: list[IntArray] = []
        for _, group in groupby(events, key=lambda event: by_angle(event[0])):
            together = list(group)
            directions.append(together[0][0])
            for rows, enter in ((entering, True), (leaving, False)):
                rows.append(np.array([i for _, i, enters in together if enters == enter], dtype=np.int64))
        return directions, entering, leaving

    def _patterns(self) -> BoolArray:
        """Which rows are active strictly inside each arc; shape (n, K)."""
        active = np.zeros((len(self._rows), len(self)), dtype=bool)
        first = self._directions[0]
        current = np.array([_dot(z, first) > 0 for z in self._rows])
        for k in range(len(self)):
            current[self.entering[k]] = True
            current[self.leaving[k]] = False
            active[:, k] = current
        return active

    def arc_of(self, direction: FloatArray) -> int:
        """The arc that contains a direction (the one behind it, for a breakpoint)."""
        angles = np.arctan2(self.directions[:, 1], self.directions[:, 0]) % (2 * np.pi)
        turn = np.arctan2(direction[1], direction[0]) % (2 * np.pi)
        near = (int(np.searchsorted(angles, turn, side="right")) - 1) % len(self)
        _, (x, y) = integers(direction)
        for k in (near, near - 1, near + 1):  # angles are rounded; products of integers decide
            p, q = self._directions[k % len(self)], self._directions[(k + 1) % len(self)]
            if _cross(p, (x, y)) >= 0 and _cross((x, y), q) > 0:
                return k % len(self)
        return near

    def arcs(self, weights: FloatArray) -> Arcs:
        """F for the weights g_i, evaluated exactly and rounded once."""
        exponent, g = integers(weights)
        n_arcs = len(self)
        pulls = [(weight * x, weight * y) for weight, (x, y) in zip(g, self._rows, strict=True)]
        behind = [pulls[i] for i in np.flatnonzero(self.active[:, -1])]
        S_x, S_y = sum(x for x, _ in behind), sum(y for _, y in behind)
        sums: list[Vector] = []
        for entering, leaving in zip(self.entering, self.leaving, strict=True):
            for i in entering:
                S_x, S_y = S_x + pulls[i][0], S_y + pulls[i][1]
            for i in leaving:
                S_x, S_y = S_x - pulls[i][0], S_y - pulls[i][1]
            sums.append((S_x, S_y))
        shift = exponent + self._exponent
        at = np.array(
            [as_float(_dot(s, p), shift + self._exponent) for s, p in zip(sums, self._directions, strict=True)]
        )
        at /= self._length
        rounded = np.array([as_float(c, shift) for s in sums for c in s]).reshape(-1, 2)
        maxima, positions = np.zeros((2, n_arcs)), np.zeros((2, n_arcs, 2))
        inside = np.zeros((2, n_arcs), dtype=bool)
        for sign, row in ((1, 0), (-1, 1)):
            for k, s in enumerate(sums):
                following = (k + 1) % n_arcs
                peak = (sign * s[0], sign * s[1])
                if _cross(self._directions[k], peak) > 0 and _cross(peak, self._directions[following]) > 0:
                    inside[row, k] = True
                    size = root_as_float(s[0] * s[0] + s[1] * s[1], 2 * shift)
                    maxima[row, k] = size
                    positions[row, k] = sign * rounded[k] / size
                else:
                    end = k if sign * at[k] >= sign * at[following] else following
                    maxima[row, k] = sign * at[end]
                    positions[row, k] = self.directions[end]
        return Arcs(at_breakpoints=at, sums=rounded, maxima=maxima, positions=positions, inside=inside)


def _dot(a: Vector, b: Vector) -> int:
    return a[0] * b[0] + a[1] * b[1]


def _cross(a: Vector, b: Vector) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _turn(a: Vector, b: Vector) -> int:
    """Order of two directions by angle, counted counter-clockwise from (1, 0); 0 for the same direction."""
    half_a = (a[1], a[0]) < (0, 0)
    half_b = (b[1], b[0]) < (0, 0)
    if half_a != half_b:
        return 1 if half_a else -1
    cross = _cross(a, b)
    return (cross < 0) - (cross > 0)
