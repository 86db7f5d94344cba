"""A KKT point of (P) by the interior point: separation, pattern, rounds, structure, Newton's method."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.interior import settings
from marginflow.limit.interior.finish import InteriorOptimum, finish
from marginflow.limit.interior.iterate import Iterate
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.rounds import (
    Effort,
    converge,
    hard_rounds,
    separate,
    soft_pattern,
    started,
    total_multiplier,
)
from marginflow.limit.interior.structure import Snapshot, read_structures
from marginflow.limit.neurons import Neurons, survivors
from marginflow.limit.problem import Problem
from marginflow.limit.settings import BEFORE_INTERIOR, BEFORE_INTERIOR_IN_A_CROWD, CROWDED
from marginflow.threads import one_thread

Manner = Literal["hard", "soft"]


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """An exact point in the coordinates of the problem, and how it was found.

    `U` (k, r) with signs `s`, `lam` (m,), `mu` (m, k). `members` says which row each neuron of the start belongs to, -1
    for none. `manner` says whether the pattern was soft on the way.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray
    members: IntArray
    manner: Manner
    iterations: int
    rounds: int
    newton_steps: int
    history: tuple[Progress, ...]


def affordable(problem: Problem, neurons: int) -> bool:
    """Whether an iteration with this many neurons is cheap enough."""
    return _work(problem, neurons) <= settings.AFFORDABLE


def before_interior(problem: Problem, neurons: int) -> int | None:
    """Iterations of ADMM before an interior point takes over, where it is affordable.

    They are very few where samples are so many to a dimension that they lead nowhere.
    """
    m, r = problem.X.shape
    if not affordable(problem, neurons):
        return None
    return BEFORE_INTERIOR if m <= CROWDED * r else BEFORE_INTERIOR_IN_A_CROWD


def _work(problem: Problem, neurons: int) -> float:
    m, r = problem.X.shape
    return float(m * m) * float(r * neurons)


def interior_point(
    problem: Problem,
    neurons: Neurons,
    budget: Budget,
    *,
    multipliers: FloatArray | None = None,
    manner: Manner | None = None,
) -> InteriorPoint | None:
    """An exact point of (P) near the given neurons; None where none was found.

    Parameters
    ----------
    problem : Problem
        Hard or soft margin.
    neurons : Neurons
        Rows at a typical margin of 1, positive signs first; they need not separate the samples. With `outputs_squared`
        the outputs are frozen.
    budget : Budget
    multipliers : array, shape (m,), optional
        Where known. Neurons that come with multipliers are taken to separate the samples.
    manner : "hard" or "soft", optional
        Whether the pattern is hard in all rounds, or soft at first; by default soft where rounds are dear.
    """
    program = InteriorProgram.of(problem, neurons.outputs_squared)
    effort = Effort(budget)
    # One BLAS thread: between the many small factors of an iteration several wait for each other (sphere 10 x 400, two
    # threads: 17.0 s by the clock, and 2.3 with one).
    with budget.interruptible(), one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if manner is None:
            manner = "hard" if _work(problem, len(neurons.s)) <= settings.CHEAP else "soft"
        at = _first(program, neurons, multipliers, effort)
        if at is None:
            return None
        at, trail = _settled(at, manner, effort)
        if trail is None and manner == "hard":
            manner = "soft"
            at, trail = _settled(at, manner, effort)
        if trail is None:
            return None
        exact = _exact(at, trail, effort)
        if exact is None:
            return None
        found, kept = exact
        of_rows = survivors(at.members, kept)
        members = np.full(len(neurons.s), -1, dtype=np.int64)
        members[neurons.U.any(axis=1)] = of_rows
        units = program.units
        return InteriorPoint(
            found.U / units.scale, found.s, found.lam / units.price, found.mu / units.price, members, manner,
            effort.iterations, effort.rounds, found.steps, tuple(effort.history),
        )  # fmt: skip
    return None


def _first(
    program: InteriorProgram, neurons: Neurons, multipliers: FloatArray | None, effort: Effort
) -> Iterate | None:
    """A point in the interior whose margins are positive, as far as they have to be."""
    live = np.flatnonzero(neurons.U.any(axis=1))
    if not live.size:
        return None
    scaled = program.units.neurons(neurons.take(live))
    even = np.full(len(program.y), total_multiplier(scaled) / len(program.y))
    lam = even if multipliers is None else multipliers * program.units.price
    separated = multipliers is not None or bool(program.margins(scaled.U, scaled.s).min() > 0.0)
    at = started(program, scaled, lam, settings.COLD)
    return at if separated or program.soft else separate(at, effort)


def _settled(at: Iterate, manner: Manner, effort: Effort) -> tuple[Iterate, list[Snapshot] | None]:
    """The solution of (C) at its own pattern, and the iterates that led to it; None in their place if there is none."""
    if manner == "hard":
        return hard_rounds(at, effort, cold=True, most=settings.FIRST_ROUNDS)
    if not converge(at, settings.CENTRED, effort, shortfall=settings.ROUGHLY):
        return at, None
    softened = started(at.program, at.neurons, at.lam, settings.SOFT_START, members=at.members)
    return hard_rounds(softened if soft_pattern(softened, effort) else at, effort)


def _exact(at: Iterate, trail: list[Snapshot], effort: Effort) -> tuple[InteriorOptimum, IntArray] | None:
    """Newton's method on the structure that the iterates show, read again and again as they come closer."""
    for gap in settings.READ_AT:
        converge(at, gap, effort, most=settings.READ_ITERATIONS, trail=trail)
        for guess in read_structures(at, trail):
            found = finish(at.program, guess)
            if found is not None:
                return found, guess.kept
    return None
