"""KKT points on the line that are not local minima: one neuron stands on a sample of its own label."""

from collections.abc import Iterator

import numpy as np

from marginflow.arrays import BoolArray, IntArray, whole_number
from marginflow.certificates import EXACT_TOLERANCE, certify, minimality
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.line.master import UnboundedError
from marginflow.limit.line.neurons import Position
from marginflow.limit.line.planar import NotSettledError, PlanarProgram, PlanarSolution
from marginflow.limit.line.result import LineLimit, line_samples, result, unsettled
from marginflow.limit.line.settings import SAME
from marginflow.limit.line.walk import Walk


def saddle_point(data: Dataset, *, seed: int = 0, starts: int = 4) -> LineLimit | None:
    r"""A KKT point of the max-margin problem that is certainly no local minimum: the first of `saddle_points`.

    Parameters
    ----------
    data : Dataset
        Samples on a line (dimension 1).
    seed, starts : int
        As for `saddle_points`.

    Returns
    -------
    LineLimit or None
        None if none was found, which does not prove that there is none.

    Examples
    --------
    >>> from marginflow.certificates import minimality
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import line
    >>> data = Dataset(X=[[0.1], [0.2], [0.3], [0.4], [0.9]], y=[1, -1, 1, -1, 1])
    >>> point = line.saddle_point(data)
    >>> minimality(point.network, data).verdict
    'not a local minimum'
    """
    return next(saddle_points(data, seed=seed, starts=starts), None)


def saddle_points(data: Dataset, *, seed: int = 0, starts: int = 4) -> Iterator[LineLimit]:
    r"""KKT points of the max-margin problem that are certainly no local minima, as they are found.

    By [KYS23, Def.LocMin] as decided here, a KKT point without zero neurons is a local minimum unless a neuron of
    sign s has its kink on a sample of its own label that carries a multiplier. There :math:`s F_\lambda` bends
    upwards, and stationarity with a Clarke weight strictly inside (0, 1) says that the neuron stands in a valley:
    :math:`s F_\lambda = 1` at it and larger on both sides. Such points are mountain passes between two territories.

    A neuron of a local minimum is taken away, together with the territories on both sides of one border of its own,
    and a neuron is pinned to that border; neurons with about the same kink that face the other way may stand in for
    the rest. With its direction fixed the problem stays convex; it is solved exactly, and the other neurons walk down
    as they do for `local_minimum`. What settles with the pinned neuron in a valley is a KKT point. It is handed out
    only if its certificate is at most 1e-9 and `certificates.minimality`, which uses none of this, exhibits feasible
    networks of smaller norm, ever closer by until rounding hides them.

    Parameters
    ----------
    data : Dataset
        Samples on a line (dimension 1).
    seed : int
        Decides the order in which borders are tried, and the local minima.
    starts : int
        How many minima are started from: the global optimum, then random local minima.

    Returns
    -------
    iterator of LineLimit
        Different points, each with `gap` > 0. Its end does not prove that there are no others.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import line
    >>> data = Dataset(X=[[0.1], [0.2], [0.3], [0.4], [0.9]], y=[1, -1, 1, -1, 1])
    >>> sorted(round(point.objective, 3) for point in line.saddle_points(data, starts=1))
    [110.644, 115.021, 118.6, 119.173, 133.917]
    """
    seed, starts = whole_number("seed", seed, minimum=0), whole_number("starts", starts)
    rows, y, owner = line_samples(data)
    return _search(data, Walk(PlanarProgram(rows, y)), owner, seed, starts)


def _search(data: Dataset, walk: Walk, owner: IntArray, seed: int, starts: int) -> Iterator[LineLimit]:
    program, rng = walk.program, np.random.default_rng(seed)
    tried: set[tuple[Position, bytes]] = set()
    found: list[PlanarSolution] = []
    for start in range(starts):
        try:
            minimum = walk.from_random(int(rng.integers(2**32)), None) if start else program.optimum()
        except NotSettledError:
            if start:
                continue
            raise InputError(unsettled("The global optimum", program.rows)) from None
        occupied = walk.around(minimum.positions)
        pins = _borders(walk, occupied)
        for pin in (pins[index] for index in rng.permutation(len(pins))):
            # What the neuron did for the sample at the border is left to neurons that face the other way.
            allowed = (occupied | walk.beside(walk.opposite(pin))) & ~walk.beside(pin)
            if (pin, allowed.tobytes()) in tried:
                continue
            tried.add((pin, allowed.tobytes()))
            try:
                solution = walk.down(allowed, (pin,))
            except (NotSettledError, UnboundedError):
                continue
            if any(_same(solution, other) for other in found):
                continue
            found.append(solution)
            point = result(solution, data, owner)
            if certainly_no_minimum(point):
                yield point


def _borders(walk: Walk, occupied: BoolArray) -> list[Position]:
    """Pins at both ends of every occupied territory, each once; none where a sign has the circle to itself."""
    ends = {
        Position(sign, True, int(border), pinned=True): None
        for sign, row in ((1, 0), (-1, 1))
        for run in walk.runs[sign]
        for border in (run[0], (run[-1] + 1) % occupied.shape[1])
        if len(walk.runs[sign]) > 1 and occupied[row, run[0]]
    }
    return list(ends)


def _same(first: PlanarSolution, second: PlanarSolution) -> bool:
    return bool(np.abs(first.multipliers - second.multipliers).max() <= SAME * first.multipliers.max())


def certainly_no_minimum(point: LineLimit) -> bool:
    """Judged by the certificates alone: a KKT point, and a feasible descent from it."""
    weights = point.multipliers[:, None] * point.clarke
    certificate = certify(point.network, point.data, multipliers=(point.multipliers, weights))
    if not certificate.holds(EXACT_TOLERANCE):
        return False
    return minimality(point.network, point.data, certificate=certificate).descent is not None
