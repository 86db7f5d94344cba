r"""Max-margin networks whose neurons live in the plane: the linear program, Newton's method, and the exact judgement.

The rows z_i of the plane are (x_i, 1) for samples on a line with a bias, or x_i for samples of the plane without one.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.line.circle import Arcs, Circle
from marginflow.limit.line.integers import exact_excess
from marginflow.limit.line.master import Master
from marginflow.limit.line.neurons import Neuron, Position, breakpoint_columns, owners, peak, territories, value_at
from marginflow.limit.line.polish import PolishedLine, Polisher
from marginflow.limit.line.settings import COLUMN_ROUNDS, COLUMN_STEP, DENSE_STEP, NEAR, PATIENT, PROVED, STATIONARY
from marginflow.networks import TwoLayer


@dataclass(frozen=True, eq=False)
class PlanarSolution:
    """Directions u_j, signs, multipliers and Clarke weights, for rows of the plane."""

    U: FloatArray  # (k, 2)
    signs: FloatArray  # (k,)
    multipliers: FloatArray  # (n,)
    clarke: FloatArray  # (n, k)
    supremum: float  # sup |F| over all directions
    positions: list[Position]
    rounds: int


class NotSettledError(Exception):
    """No structure was found on which Newton's method satisfies all conditions."""


class PlanarProgram:
    """The samples, the circle that they cut into arcs, and what is solved on it before the budget is over."""

    def __init__(self, rows: FloatArray, y: FloatArray, budget: Budget | None = None) -> None:
        self.rows, self.y = rows, y
        self.budget = Budget() if budget is None else budget
        self.circle = Circle(rows)
        self.budget.check(COLUMN_STEP * len(rows) * len(self.circle))
        self.columns = breakpoint_columns(self.circle)
        self.polisher = Polisher(self.circle, self.columns, y, self.budget)

    @property
    def everywhere(self) -> BoolArray:
        """Both signs in every arc: the program without restriction."""
        return np.ones((2, len(self.circle)), dtype=bool)

    def proved(self, multipliers: FloatArray) -> float:
        """By how much the dual function of a finished solution may exceed 1: what rounding of lambda can do."""
        return PROVED + 1e-14 * float(np.linalg.norm(self.rows, axis=1) @ multipliers)

    def runs(self, sign: int, relevant: BoolArray) -> list[IntArray]:
        """The territories of a sign: runs of arcs on which sign * F is concave."""
        return territories(self.circle, self.y, sign, relevant)

    def refine(self, multipliers: FloatArray, found: list[Neuron]) -> tuple[FloatArray, list[Neuron], BoolArray]:
        """Multipliers and neurons of the linear program to full precision, and the samples on the margin.

        The program is accurate to its tolerance times the largest slope, which is not enough to see the peaks of F. On
        its active set it is a linear system; the residuals 1 - s_j F(t_j) are evaluated exactly.
        """
        if not found:  # the program stopped at a point that presses against no bound
            raise NotSettledError
        sizes = np.array([float(np.hypot(*n.u)) for n in found])
        directions = np.array([n.u for n in found]) / sizes[:, None]
        B = np.column_stack([self.polisher.column(n.position, t) for n, t in zip(found, directions, strict=True)])
        support = multipliers > 1e-9 * multipliers.max()
        rows = int(support.sum())
        for _ in range(3):
            self.budget.check(DENSE_STEP * rows * len(found) * min(rows, len(found)))
            miss = 1.0 - (B @ sizes)[support]
            sizes = sizes + sizes * linalg.lstsq(B[support] * sizes, miss, lapack_driver="gelsy", cond=1e-14)[0]
        values = B @ sizes
        tight = support | (values < 1.0 + 10 * float(np.abs(values[support] - 1.0).max()) + 1e-8)
        lam = np.where(tight, multipliers, 0.0)
        unit = 1.0 / np.maximum(B[tight].max(axis=0), B[tight].max() * 1e-300)
        weight = np.maximum(lam[tight], 1e-6 * lam.max())
        system = (weight[:, None] * B[tight] * unit).T
        best, least = lam, np.inf
        for _ in range(8):
            self.budget.check(DENSE_STEP * system.size * min(system.shape))
            arcs = self.circle.arcs(lam * self.y)
            miss = np.array([1.0 - value_at(arcs, n.position, t) for n, t in zip(found, directions, strict=True)])
            if float(np.abs(miss).max()) >= least / 2:
                break
            best, least = lam, float(np.abs(miss).max())
            lam = lam.copy()
            lam[tight] += weight * linalg.lstsq(system, unit * miss, lapack_driver="gelsy", cond=1e-14)[0]
        if best.min() < -1e-6 * best.max():
            best = multipliers
        kept = [Neuron(n.position, a * t) for n, a, t in zip(found, sizes, directions, strict=True) if a > 0]
        return np.maximum(best, 0.0), kept, tight

    def group(
        self, found: list[Neuron], arcs: Arcs, runs: dict[int, list[IntArray]], allowed: BoolArray
    ) -> list[tuple[Neuron, IntArray]]:
        """One neuron per territory, the sum of those found there (which costs no more), and its territory.

        Neurons at one breakpoint stay there; the sum of several stands inside the arc that it points into. A pinned
        neuron is a group of its own, without a territory.
        """
        grouped = [(neuron, np.zeros(0, dtype=np.int64)) for neuron in found if neuron.position.pinned]
        for sign, row in ((1, 0), (-1, 1)):
            owner = owners(runs[sign], len(self.circle))
            homes: dict[int, list[Neuron]] = {}
            for neuron in found:
                position = neuron.position
                if position.sign != sign or position.pinned:
                    continue
                home = int(owner[position.index])
                if position.at_breakpoint:  # on a fence, the side where the dual function is higher
                    sides = [int(owner[k]) for k in (position.index, position.index - 1) if allowed[row, k]]
                    home = max(sides, key=lambda side: float(arcs.maxima[row, runs[sign][side]].max()))
                homes.setdefault(home, []).append(neuron)
            for home, together in homes.items():
                u = np.sum([neuron.u for neuron in together], axis=0)
                positions = {neuron.position for neuron in together}
                position = positions.pop()
                if positions or not position.at_breakpoint:
                    position = Position(sign, False, self.circle.arc_of(u))
                grouped.append((Neuron(position, u), runs[sign][home]))
        return grouped

    def polish(
        self,
        grouped: list[tuple[Neuron, IntArray]],
        arcs: Arcs,
        multipliers: FloatArray,
        tight: BoolArray,
        patient: bool,
    ) -> PolishedLine | None:
        """Newton's method from the peaks of the dual function in the territories, then from the sums found there.

        The first is right when the multipliers are accurate, the second when peaks are flat. Where neither settles and
        patience is asked for, the structures are repaired one contradiction at a time.
        """
        peaks = []
        for neuron, run in grouped:
            if neuron.position.pinned:
                peaks.append(neuron)
                continue
            position, direction = peak(self.circle, arcs, neuron.position.sign, run)
            peaks.append(Neuron(position, float(np.hypot(*neuron.u)) * direction))
        sums = [neuron for neuron, _ in grouped]
        for one_by_one in (False, True) if patient else (False,):
            for neurons in (peaks, sums):
                polished = self.polisher.polish(neurons, multipliers, tight, one_by_one=one_by_one)
                if polished is not None:
                    return polished
        return None

    def optimum(self) -> PlanarSolution:
        """The global optimum; when time runs out that of the last linear program, and an error before the first."""
        self.budget.check()
        master = Master(self.circle, self.y, self.everywhere, budget=self.budget)
        try:
            return self.finish(*self._polished(master))
        except OutOfTimeError:
            if master.last is None:
                raise
            return self._as_found(*master.last, rounds=master.rounds)

    def _polished(self, master: Master) -> tuple[PolishedLine, int]:
        """The structure of the global optimum solved to rounding, and the number of linear programs that it took."""
        for rounds in range(1, COLUMN_ROUNDS + 1):
            multipliers, found, tight = self.refine(*master.solve())
            arcs = self.circle.arcs(multipliers * self.y)
            if arcs.supremum < 1.0 + NEAR:
                runs = {sign: self.runs(sign, tight) for sign in (1, -1)}
                grouped = self.group(found, arcs, runs, self.everywhere)
                polished = self.polish(grouped, arcs, multipliers, tight, patient=rounds >= PATIENT)
                if polished is not None:
                    if polished.arcs.supremum <= 1.0 + self.proved(polished.multipliers):
                        return polished, rounds
                    master.add_peaks(polished.arcs, PROVED)
            if not master.add_peaks(arcs, PROVED):
                break
        raise NotSettledError

    def _as_found(self, multipliers: FloatArray, found: list[Neuron], *, rounds: int) -> PlanarSolution:
        """What a linear program has found, as it is: every neuron with the pattern of its arc."""
        positions = [neuron.position for neuron in found]
        return PlanarSolution(
            U=np.array([neuron.u for neuron in found]),
            signs=np.array([float(position.sign) for position in positions]),
            multipliers=multipliers,
            clarke=self.circle.active[:, [position.index for position in positions]].astype(np.float64),
            supremum=self.circle.arcs(multipliers * self.y).supremum,
            positions=positions,
            rounds=rounds,
        )

    # From a polished structure to numbers that are exact when stored -----------------------------------

    def finish(self, polished: PolishedLine, rounds: int) -> PlanarSolution:
        """Margins corrected against their exact values, and the Clarke weights."""
        signs = np.array([float(position.sign) for position in polished.positions])
        U = self._exact_margins(polished, signs)
        clarke = self._clarke(polished)
        sums = signs[:, None] * (((polished.multipliers * self.y)[:, None] * clarke).T @ self.rows)
        if float(np.abs(U / np.linalg.norm(U, axis=1)[:, None] - sums).max()) > STATIONARY:
            raise NotSettledError
        return PlanarSolution(
            U=U,
            signs=signs,
            multipliers=polished.multipliers,
            clarke=clarke,
            supremum=polished.arcs.supremum,
            positions=polished.positions,
            rounds=rounds,
        )

    def _exact_margins(self, polished: PolishedLine, signs: FloatArray) -> FloatArray:
        """The smallest relative change of the neurons that puts the margin set on the margin.

        lambda in floating point fixes the directions inside arcs to about 1e-16 sum(lambda) only; the margins ask
        for more. Neurons at breakpoints keep their direction.
        """
        U = polished.sizes[:, None] * polished.directions
        on = np.flatnonzero(polished.multipliers > 0)
        blocks, owners = [], []
        for j, position in enumerate(polished.positions):
            signed = position.sign * self.y[on]
            if position.at_breakpoint:
                blocks.append((signed * self.columns[on, position.index])[:, None] * polished.sizes[j])
            else:
                rows = np.where(self.circle.active[on, position.index, None], self.rows[on], 0.0)
                blocks.append(signed[:, None] * rows * polished.sizes[j])
            owners.append(blocks[-1].shape[1])
        matrix = np.hstack(blocks)
        best, least = U, np.inf
        for _ in range(6):
            network = TwoLayer.from_directions(U, signs, bias=False)
            excess = exact_excess(network, self.rows, self.y)[on]
            size = float(np.abs(excess).max(initial=0.0))
            if size >= least:
                break
            best, least = U, size
            if not self.budget.affords(DENSE_STEP * matrix.size * min(matrix.shape)):
                break
            change = linalg.lstsq(matrix, -excess, lapack_driver="gelsy", cond=1e-15)[0]
            steps = np.split(change, np.cumsum(owners)[:-1])
            U = U.copy()
            for j, (position, step) in enumerate(zip(polished.positions, steps, strict=True)):
                along = self.circle.directions[position.index] * step[0] if position.at_breakpoint else step
                U[j] += polished.sizes[j] * along
        return best

    def _clarke(self, polished: PolishedLine) -> FloatArray:
        """relu' for every sample and neuron; on a kink, what stationarity asks for."""
        y, lam, arcs = self.y, polished.multipliers, polished.arcs
        norms = np.linalg.norm(self.rows, axis=1)
        clarke = np.zeros((y.size, len(polished.positions)))
        for j, position in enumerate(polished.positions):
            clarke[:, j] = self.circle.active[:, position.index]
            if not position.at_breakpoint:
                continue
            entering, leaving = self.circle.entering[position.index], self.circle.leaving[position.index]
            t = self.circle.directions[position.index]
            normal = np.array([-t[1], t[0]])
            members = np.concatenate([entering, leaving])
            # Behind the breakpoint the entering rows are active; without all members the slope is S_off . normal.
            pull = y[members] * norms[members] * np.repeat([1.0, -1.0], [entering.size, leaving.size])
            needed = -float(arcs.sums[position.index] @ normal) + float((lam[entering] * y[entering]) @ norms[entering])
            clarke[members, j] = 0.0
            for i, c in zip(members, pull, strict=True):  # fill up member by member
                if lam[i] > 0 and needed * c > 0:
                    share = min(lam[i], needed / c)
                    clarke[i, j] = share / lam[i]
                    needed -= share * c
        return clarke
