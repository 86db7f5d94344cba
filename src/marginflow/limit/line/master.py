r"""The dual linear program over the circle of directions, sparse because F is a chain of sinusoids.

With :math:`f_b = F(t_b)` at breakpoint b and :math:`d_b` the slope of F behind it, an arc of angle :math:`\Delta` maps

.. math:: f_{b+1} = f_b \cos \Delta + d_b \sin \Delta, \qquad
          d_{b+1} = -f_b \sin \Delta + d_b \cos \Delta + \sum_{i : z_i \perp t_{b+1}} \lambda_i y_i \|z_i\|,

since a row that enters or leaves adds :math:`\lambda_i y_i \|z_i\|` to the slope either way. So

.. math:: \max \sum_i \lambda_i \quad\text{s.t.}\quad \lambda \ge 0, \ |f_b| \le 1, \
          \pm (f_b \cos \varphi + d_b \sin \varphi) \le 1 \text{ for the peaks } \varphi \text{ found so far}

has a handful of nonzeros per row, and no cancellation between samples that are far apart. The sizes :math:`\|u_j\|` of
the neurons are the multipliers of the bounds and of the peaks.
"""

from collections.abc import Collection

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.line.circle import Arcs, Circle
from marginflow.limit.line.neurons import Neuron, Position
from marginflow.limit.line.settings import LONG_ARC, PROGRAM_TOLERANCE


class UnboundedError(Exception):
    """The dual program is unbounded: no network with the allowed neurons separates the samples."""


class Master:
    """The program for the arcs that are allowed to each sign; peaks are added as they are found.

    Parameters
    ----------
    circle : Circle of K arcs
    y : array, shape (n,)
    allowed : bool array, shape (2, K)
        Whether a positive (row 0) or negative (row 1) neuron may stand in the closed arc.
    pins : collection of Position
        Breakpoints outside the allowed arcs at which, and only at which, one more neuron may stand.
    budget : Budget
        What `solve` may take.

    Attributes
    ----------
    last : (multipliers, neurons) or None
        What the last `solve` returned.
    rounds : int
        How many have returned something.
    """

    def __init__(
        self, circle: Circle, y: FloatArray, allowed: BoolArray, pins: Collection[Position] = (), *, budget: Budget
    ) -> None:
        self.circle, self.y, self.allowed, self.budget = circle, y, allowed, budget
        self.last: tuple[FloatArray, list[Neuron]] | None = None
        self.rounds = 0
        self._pins = {(pin.sign, pin.index): pin for pin in pins}
        n, K = y.size, len(circle)
        norms = np.linalg.norm(circle.rows, axis=1)
        # Slopes are of the order of one over the angle of an arc, and the multipliers that change them likewise: in
        # units of that, all coefficients are of order one however close the samples are.
        self._slope_unit = 1.0 / np.where(circle.cosines > 0.5, circle.sines, 1.0)
        self._multiplier_unit = np.zeros(n)
        for b in range(K):
            members = np.append(circle.entering[b], circle.leaving[b])
            unit = (self._slope_unit[b] + self._slope_unit[b - 1]) / norms[members]
            self._multiplier_unit[members] = np.maximum(self._multiplier_unit[members], unit)
        entries: list[tuple[int, int, float]] = []
        f, d, s = n, n + K, self._slope_unit
        first = int(np.argmin(circle.active.sum(axis=0)))
        for step in range(K - 1):  # the last arc closes the circle by itself
            b, c = (first + step) % K, (first + step + 1) % K
            entries.append((step, f + b, circle.cosines[b]))
            entries.append((step, d + b, circle.sines[b] * s[b]))
            entries.append((step, f + c, -1.0))
            unit = 1.0 / max(s[b], s[c])
            entries.append((K - 1 + step, f + b, -circle.sines[b] * unit))
            entries.append((K - 1 + step, d + b, circle.cosines[b] * s[b] * unit))
            entries.append((K - 1 + step, d + c, -s[c] * unit))
            for i in (*circle.entering[c], *circle.leaving[c]):
                entries.append((K - 1 + step, int(i), y[i] * norms[i] * self._multiplier_unit[i] * unit))
        # S on the first arc is the sum over its active rows: on the line there are none.
        t = circle.directions[first]
        for i in np.flatnonzero(circle.active[:, first]):
            weight = y[i] * self._multiplier_unit[i]
            entries.append((2 * K - 2, int(i), weight * float(circle.rows[i] @ t)))
            entries.append((2 * K - 1, int(i), weight * float(circle.rows[i] @ np.array([-t[1], t[0]]))))
        entries.append((2 * K - 2, f + first, -1.0))
        entries.append((2 * K - 1, d + first, -s[first]))
        rows, columns, values = zip(*entries, strict=True)
        self._equations = sparse.csr_matrix((values, (rows, columns)), shape=(2 * K, n + 2 * K))
        touched = allowed | np.roll(allowed, 1, axis=1)  # breakpoint b ends arcs b - 1 and b
        for pin in pins:
            touched[0 if pin.sign > 0 else 1, pin.index] = True
        self._lower = np.where(touched[1], -1.0, -np.inf)
        self._upper = np.where(touched[0], 1.0, np.inf)
        self._peaks: list[tuple[Position, float, float]] = []
        self._add_middles()

    def _add_middles(self) -> None:
        """Bound F in the middle of long arcs to begin with; a single sample has its only good neuron there."""
        angles = np.arctan2(self.circle.sines, self.circle.cosines)
        for row, sign in ((0, 1), (1, -1)):
            for k in np.flatnonzero(self.allowed[row] & (angles > LONG_ARC)):
                half = float(angles[k]) / 2
                self._peaks.append((Position(sign, False, int(k)), float(np.cos(half)), float(np.sin(half))))

    def add_peaks(self, arcs: Arcs, excess: float) -> int:
        """Bound F at the peaks inside allowed arcs that exceed 1 by more than `excess`; how many there are."""
        found = 0
        for row, sign in ((0, 1), (1, -1)):
            high = self.allowed[row] & arcs.inside[row] & (arcs.maxima[row] > 1.0 + excess)
            for k in np.flatnonzero(high):
                t, p = self.circle.directions[k], arcs.positions[row, k]
                cosine, sine = float(t @ p), float(t[0] * p[1] - t[1] * p[0])
                self._peaks.append((Position(sign, False, int(k)), cosine, sine))
                found += 1
        return found

    def solve(self) -> tuple[FloatArray, list[Neuron]]:
        """Multipliers lambda, and the neurons whose bounds they press against; an `OutOfTimeError` without time."""
        n, K = self.y.size, len(self.circle)
        bounds = np.column_stack(
            [
                np.concatenate([np.zeros(n), self._lower, np.full(K, -np.inf)]),
                np.concatenate([np.full(n, np.inf), self._upper, np.full(K, np.inf)]),
            ]
        )
        count = len(self._peaks)
        cut = np.repeat(np.arange(count), 2)
        column = [index for position, _, _ in self._peaks for index in (n + position.index, n + K + position.index)]
        value = [
            position.sign * c
            for position, cosine, sine in self._peaks
            for c in (cosine, sine * self._slope_unit[position.index])
        ]
        inequalities = sparse.csr_matrix((value, (cut, column)), shape=(count, n + 2 * K), dtype=np.float64)
        scale = float(self._multiplier_unit.max())
        cost = np.concatenate([-self._multiplier_unit / scale, np.zeros(2 * K)])
        # The interior-point method ends in a vertex with as few neurons as samples on the margin; the simplex method,
        # where it is the one that works, may end with more.
        options = {"primal_feasibility_tolerance": PROGRAM_TOLERANCE, "dual_feasibility_tolerance": PROGRAM_TOLERANCE}
        for method in ("highs-ipm", "highs-ds"):
            self.budget.check()
            if self.budget.time_limit is not None:
                options["time_limit"] = self.budget.left
            result = linprog(
                cost,
                A_ub=inequalities,
                b_ub=np.ones(count),
                A_eq=self._equations,
                b_eq=np.zeros(2 * K),
                bounds=bounds,
                method=method,
                options=options,
            )
            if result.status == 0:
                break
        if result.status == 1 and "time_limit" in options:
            self.budget.spend()
            raise OutOfTimeError
        if result.status in (2, 3, 4):
            raise UnboundedError
        if result.x is None:
            raise RuntimeError(f"The linear program over {K} directions ended with: {result.message}")
        found: list[Neuron] = []
        for b in range(K):
            for sign, marginal in ((1, result.upper.marginals[n + b]), (-1, result.lower.marginals[n + b])):
                size = scale * abs(float(marginal))
                if size > 0:
                    position = self._pins.get((sign, b), Position(sign, True, b))
                    found.append(Neuron(position, size * self.circle.directions[b]))
        for (position, cosine, sine), marginal in zip(self._peaks, result.ineqlin.marginals, strict=True):
            size = scale * abs(float(marginal))
            if size > 0:
                t = self.circle.directions[position.index]
                found.append(Neuron(position, size * (cosine * t + sine * np.array([-t[1], t[0]]))))
        # Sizes below what the program's tolerance is in these units are rounding.
        found = [neuron for neuron in found if float(np.hypot(*neuron.u)) > 10 * PROGRAM_TOLERANCE * scale]
        self.last, self.rounds = (np.maximum(result.x[:n] * self._multiplier_unit, 0.0), found), self.rounds + 1
        return self.last
