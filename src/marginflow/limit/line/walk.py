"""Walking down on the line: every neuron keeps to its own territory until it gains by leaving it."""

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, whole_number
from marginflow.limit.line.master import Master, UnboundedError
from marginflow.limit.line.neurons import Position, owners, peak
from marginflow.limit.line.planar import NotSettledError, PlanarProgram, PlanarSolution
from marginflow.limit.line.polish import PolishedLine
from marginflow.limit.line.settings import COARSE, MAX_MOVES, PROVED, STEEP, WALK_ROUNDS


class Walk:
    """Territories of the two signs, and the walk from one set of them to the next."""

    def __init__(self, program: PlanarProgram) -> None:
        self.program = program
        everything = np.ones(program.y.size, dtype=bool)
        self.runs = {sign: program.runs(sign, everything) for sign in (1, -1)}
        self.owner = {sign: owners(runs, len(program.circle)) for sign, runs in self.runs.items()}

    def from_random(self, seed: int, neurons: int | None) -> PlanarSolution:
        """Down from random neurons, of which there are more and more until they can separate the samples."""
        rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
        n = self.program.y.size
        count = max(n if neurons is None else whole_number("neurons", neurons), 2)
        directions, outputs = np.zeros((0, 2)), np.zeros(0)
        while True:
            more = _random_neurons(self.program.rows[:, 0], count, rng)
            directions, outputs = np.vstack([directions, more[0]]), np.append(outputs, more[1])
            try:
                return self.down(self.territories_of(directions, outputs))
            except UnboundedError:
                count = directions.shape[0]

    def territories_of(self, directions: FloatArray, outputs: FloatArray) -> BoolArray:
        """The arcs of the territories in which the given neurons stand; shape (2, K)."""
        live = np.flatnonzero((outputs != 0) & directions.any(axis=1))
        arc_of = self.program.circle.arc_of
        return self.around([Position(1 if outputs[j] > 0 else -1, False, arc_of(directions[j])) for j in live])

    def around(self, positions: Collection[Position]) -> BoolArray:
        """The arcs of the territories of neurons at these positions; shape (2, K)."""
        return self._arcs((position.sign, self._home(position)) for position in positions)

    def _home(self, position: Position) -> int:
        """The territory of a neuron; behind it, where it stands on a border."""
        return int(self.owner[position.sign][position.index])

    def _arcs(self, territories: Iterable[tuple[int, int]]) -> BoolArray:
        """The arcs of territories given by sign and number; shape (2, K)."""
        allowed = np.zeros((2, len(self.program.circle)), dtype=bool)
        for sign, number in territories:
            allowed[0 if sign > 0 else 1, self.runs[sign][number]] = True
        return allowed

    def beside(self, pin: Position) -> BoolArray:
        """The arcs of the territories on both sides of a border; shape (2, K)."""
        return self.around([pin, replace(pin, index=pin.index - 1)])

    def opposite(self, position: Position) -> Position:
        """The same kink, facing the other way."""
        n_arcs = len(self.program.circle)
        return replace(position, index=(position.index + n_arcs // 2) % n_arcs)

    def down(self, allowed: BoolArray, pins: Collection[Position] = ()) -> PlanarSolution:
        """Solve, move neurons across the borders at which they stand, and repeat until there are none.

        Pinned neurons stay at the borders where they are put. NotSettledError if one of them vanishes or does not
        stand in a valley of the dual function, or if another neuron would have to move beside it.
        """
        program, rounds = self.program, 0
        for _ in range(MAX_MOVES):
            if any((allowed & self.beside(pin)).any() for pin in pins):
                raise NotSettledError
            master = Master(program.circle, program.y, allowed, pins, budget=program.budget)
            following = None
            for attempt in range(WALK_ROUNDS):
                multipliers, found, tight = program.refine(*master.solve())
                rounds += 1
                if not set(pins) <= {neuron.position for neuron in found}:
                    raise NotSettledError  # the others do better without it, before all their peaks are cut off
                arcs = program.circle.arcs(multipliers * program.y)
                grouped = program.group(found, arcs, self.runs, allowed)
                free = [(n, run) for n, run in grouped if not n.position.pinned]
                following = self._crossing([peak(program.circle, arcs, n.position.sign, run)[0] for n, run in free])
                if following is None:
                    polished = program.polish(grouped, arcs, multipliers, tight, patient=attempt > 4)
                    if polished is not None and self._settled(polished):
                        if not all(pin in polished.positions and self._in_valley(pin, polished) for pin in pins):
                            raise NotSettledError
                        return program.finish(polished, rounds)
                if not master.add_peaks(arcs, PROVED if following is None else COARSE):
                    break
            if following is None:
                raise NotSettledError
            allowed = following
        raise NotSettledError

    def _borders(self, position: Position) -> tuple[int, int] | None:
        """The territories on both sides of a neuron that stands on a border; None for one inside a territory."""
        if not position.at_breakpoint:
            return None
        before, behind = self._home(replace(position, index=position.index - 1)), self._home(position)
        fenced = self.runs[position.sign][behind][0] == position.index and len(self.runs[position.sign]) > 1
        return (before, behind) if fenced else None

    def _crossing(self, positions: list[Position]) -> BoolArray | None:
        """The arcs allowed next, both sides of every border at which a neuron stands; None if there is none."""
        borders = [self._borders(position) for position in positions]
        if not any(borders):
            return None
        sides = [both or (self._home(position),) for position, both in zip(positions, borders, strict=True)]
        return self._arcs((p.sign, number) for p, numbers in zip(positions, sides, strict=True) for number in numbers)

    def _settled(self, polished: PolishedLine) -> bool:
        """Whether every neuron is inside its territory and at the peak of the dual function there."""
        for position in polished.positions:
            if position.pinned:
                continue
            if self._borders(position) is not None:
                return False
            run, row = self.runs[position.sign][self._home(position)], 0 if position.sign > 0 else 1
            if float(polished.arcs.maxima[row, run].max()) > 1.0 + self.program.proved(polished.multipliers):
                return False
        return True

    def _in_valley(self, pin: Position, polished: PolishedLine) -> bool:
        """Whether sign * F falls towards the pin from both sides; then a weight in (0, 1) makes it stationary there."""
        t = self.program.circle.directions[pin.index]
        before, behind = (
            pin.sign * float(polished.arcs.sums[k] @ np.array([-t[1], t[0]])) for k in (pin.index - 1, pin.index)
        )
        least = STEEP * (behind - before)
        return behind > before and before < -least and behind > least


def _random_neurons(x: FloatArray, count: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    width = float(x[-1] - x[0]) or 1.0
    kinks = rng.uniform(x[0] - 0.05 * width, x[-1] + 0.05 * width, count)
    facing = rng.choice([-1.0, 1.0], count)
    return np.column_stack([facing, -facing * kinks]), rng.choice([-1.0, 1.0], count)
