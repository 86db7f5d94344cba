"""How far the search looks: up to the nearest witness, up to a nearer rival, or ever farther if there is neither."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from marginflow.robustness.radius.cuts import Cuts
from marginflow.robustness.radius.reduction import RadiusProblem, farthest
from marginflow.robustness.radius.screening import Screened, screen
from marginflow.robustness.radius.search import CrossedBoundsError, Search, SearchOutcome, TreeNode
from marginflow.robustness.radius.witness import Witness

# Multiples of the distance to the farthest neuron within which the absence of a witness is proved, one after the other.
HORIZONS = (4.0, 1e3, 1e6)


def solve(
    problem: RadiusProblem,
    *,
    tolerance: float,
    time_limit: float,
    max_nodes: float,
    witness: Witness | None = None,
    start: Screened | None = None,
) -> SearchOutcome:
    """The least ||delta|| with g(delta) <= 0; g(0) > 0 is assumed.

    As long as no witness is known, absence is proved within one horizon after the other. `witness` has been looked for
    already, and `start` is what is known of the ball up to it.
    """
    begin = time.monotonic()
    if witness is None:
        witness = Witness(problem)
        witness.explore(Cuts.none(problem))
    if start is None and witness.delta is not None:
        (start,) = screen([problem], witness.upper, tolerance)
    if start is not None and start.lower >= witness.upper * (1.0 - tolerance):
        return _screened_out(start, begin, witness)
    try:
        return _within_horizons(problem, witness, begin, tolerance, time_limit, max_nodes, start)
    except CrossedBoundsError:
        # The witness is zero up to rounding only, and g was proved to be positive there.
        witness = Witness(problem, touching=False)
        witness.explore(Cuts.none(problem))
        return _within_horizons(problem, witness, begin, tolerance, time_limit, max_nodes, None)


def _within_horizons(
    problem: RadiusProblem,
    witness: Witness,
    begin: float,
    tolerance: float,
    time_limit: float,
    max_nodes: float,
    start: Screened | None,
) -> SearchOutcome:
    scale = farthest(problem)
    best: SearchOutcome | None = None
    for horizon in (*HORIZONS, float("inf")):
        if witness.delta is None or horizon == np.inf:
            search = Search(
                problem,
                witness,
                horizon=horizon * scale,
                tolerance=tolerance,
                begin=begin,
                time_limit=time_limit,
                max_nodes=max_nodes,
                start=start,
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


def solve_within(
    problem: RadiusProblem, horizon: float, start: Screened, *, tolerance: float, time_limit: float, max_nodes: float
) -> SearchOutcome:
    """The same for witnesses nearer than `horizon` only: `lower` nearly reaches it if there are none.

    No attack is made. `start` is what is known of the ball of this radius, or of a larger one.
    """
    begin = time.monotonic()
    if start.lower >= horizon * (1.0 - tolerance):
        return _screened_out(start, begin, None)
    options = {"horizon": horizon, "tolerance": tolerance, "begin": begin, "time_limit": time_limit}
    try:
        return Search(problem, Witness(problem), attacks=False, start=start, max_nodes=max_nodes, **options).run()
    except CrossedBoundsError:
        return Search(
            problem, Witness(problem, touching=False), attacks=False, start=start, max_nodes=max_nodes, **options
        ).run()


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
