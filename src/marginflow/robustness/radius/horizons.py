"""How far the search looks: up to the nearest witness, up to a nearer rival, or ever farther if there is neither."""

import time
from dataclasses import dataclass, replace

import numpy as np

from marginflow.robustness.radius.cuts import Cuts
from marginflow.robustness.radius.options import RadiusOptions
from marginflow.robustness.radius.problems import Problems
from marginflow.robustness.radius.reduction import RadiusProblem, farthest
from marginflow.robustness.radius.screening import Screened, screen
from marginflow.robustness.radius.search import CrossedBoundsError, Search, SearchOutcome, TreeNode
from marginflow.robustness.radius.witness import Witness

# Multiples of the distance to the farthest neuron within which the absence of a witness is proved, one after the other.
HORIZONS = (4.0, 1e3, 1e6)


@dataclass(frozen=True, eq=False)
class Look:
    """A witness of the first of some problems, and what is known of the balls of radius `horizon` of all of them."""

    witness: Witness
    horizon: float
    starts: list[Screened | None]


def first_look(problems: Problems, tolerance: float) -> Look:
    """A witness of the first problem, and bounds for all within its distance.

    The witness nearest by one descent is the nearest of all more often than not, and then the bounds show it; a better
    witness is looked for only where they leave a gap.
    """
    witness, cuts = Witness(problems[0]), Cuts.none(problems[0])
    witness.begin(cuts)
    starts: list[Screened | None] = [None] * len(problems)
    horizon = witness.upper
    if witness.delta is not None:
        starts[:] = screen(problems, horizon, tolerance, witness.tangents)
    if not _closed(starts[0], witness.upper, tolerance):
        witness.improve(cuts)
        if witness.upper < horizon * (1.0 - tolerance):
            horizon = witness.upper
            # The first comes along although it may be closed by now: the tangents are its own.
            again = [t for t, start in enumerate(starts) if t == 0 or not _closed(start, horizon, tolerance)]
            rest = screen(problems.chosen(np.array(again)), horizon, tolerance, witness.tangents)
            for t, start in zip(again, rest, strict=True):
                starts[t] = start
    return Look(witness, horizon, starts)


def _closed(start: Screened | None, radius: float, tolerance: float) -> bool:
    return start is not None and start.lower >= radius * (1.0 - tolerance)


def solve(problem: RadiusProblem, options: RadiusOptions, look: Look | None = None) -> SearchOutcome:
    """The least ||delta|| with g(delta) <= 0; g(0) > 0 is assumed.

    As long as no witness is known, absence is proved within one horizon after the other. `look` is a first look that
    has been taken already.
    """
    begin = time.monotonic()
    look = first_look(Problems.of(problem), options.tolerance) if look is None else look
    witness, start = look.witness, look.starts[0]
    if start is not None and _closed(start, witness.upper, options.tolerance):
        return _screened_out(start, begin, witness)
    try:
        return _within_horizons(problem, witness, options, begin, start)
    except CrossedBoundsError:
        # The witness is zero up to rounding only, and g was proved to be positive there.
        witness = Witness(problem, touching=False)
        witness.explore(Cuts.none(problem))
        return _within_horizons(problem, witness, options, begin, None)


def _within_horizons(
    problem: RadiusProblem, witness: Witness, options: RadiusOptions, begin: float, start: Screened | None
) -> SearchOutcome:
    scale = farthest(problem)
    best: SearchOutcome | None = None
    for horizon in (*HORIZONS, float("inf")):
        if witness.delta is None or horizon == np.inf:
            search = Search(
                problem=problem, witness=witness, options=options, horizon=horizon * scale, begin=begin, start=start
            )
            outcome = search.run()
            if best is None or outcome.lower > best.lower:
                best = outcome
            if not search.complete or outcome.finished:
                break
            if horizon == HORIZONS[-1] and witness.delta is None:
                return replace(outcome, finished=True)
    assert best is not None
    return best


def solve_within(problem: RadiusProblem, options: RadiusOptions, horizon: float, start: Screened) -> SearchOutcome:
    """The same for witnesses nearer than `horizon` only: `lower` nearly reaches it if there are none.

    No attack is made. `start` is what is known of the ball of this radius, or of a larger one.
    """
    begin = time.monotonic()
    if _closed(start, horizon, options.tolerance):
        return _screened_out(start, begin, None)

    def search(witness: Witness) -> SearchOutcome:
        return Search(
            problem=problem, witness=witness, options=options, horizon=horizon, begin=begin, attacks=False, start=start
        ).run()

    try:
        return search(Witness(problem))
    except CrossedBoundsError:
        return search(Witness(problem, touching=False))


def _screened_out(start: Screened, begin: float, witness: Witness | None) -> SearchOutcome:
    """The outcome where nothing has to be searched any more."""
    upper = np.inf if witness is None else witness.upper
    return SearchOutcome(
        lower=start.lower,
        upper=upper,
        delta=None if witness is None else witness.delta,
        finished=witness is not None,
        tree=[TreeNode(steps=start.steps)],
        trace=[(time.monotonic() - begin, start.lower, upper)],
    )
