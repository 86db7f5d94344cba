"""From a network that the flow has brought close to a KKT point of (P) to one that is exact.

ADMM finds out which samples are on the margin, which pairs sit on kinks and which neurons live; Newton's method on
that structure then takes a handful of steps to rounding error. If the structure was not right yet, Newton says so
and ADMM goes on for twice as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.admm import Admm
from marginflow.limit.neurons import Neurons
from marginflow.limit.newton import ACTIVE, INACTIVE, KINK, NewtonResult, Structure, newton
from marginflow.limit.problem import Problem

_FIRST_ROUND = 60
_LONGEST_ROUND = 2000
_FEW_FLIPS = 0.05
# (C) of a pattern that cannot satisfy the margins has an unbounded dual: after this many iterations it shows.
_HOPELESS_AFTER = 600


@dataclass(frozen=True, eq=False)
class Progress:
    """What a live display shows after every round."""

    stage: str
    iteration: int
    flips: int
    live_neurons: int
    objective: float
    gap: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Polished:
    """A point of problem (P) in reduced coordinates.

    `exact` says that Newton's method ended on a consistent structure; otherwise U and lam are the last ADMM iterate
    and `mu` its estimate of lambda times Clarke derivative. `outputs_squared` are the v_j^2 of frozen outputs, of
    merged neurons their sum (with trained outputs it is ||u_j||). `members` maps the given neurons to rows of U (-1: zero).
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray
    outputs_squared: FloatArray
    members: IntArray
    exact: bool
    iterations: int
    newton_steps: int
    history: tuple[Progress, ...]


def identify(admm: Admm) -> Structure:
    """Read the structure off an ADMM iterate: the proximal maps put pairs and samples exactly where they belong."""
    problem, frozen = admm.problem, admm.a2 is not None
    live = np.flatnonzero(admm.t > 0)
    s = admm.s[live]
    same = problem.y[:, None] * s > 0
    z0, tau = (admm.Z + admm.Y)[:, live], admm.tau[:, None]
    held = np.where(z0 > tau, ACTIVE, np.where((z0 >= 0) & (tau > 0), KINK, INACTIVE))
    state = np.where(same, np.where(problem.X @ admm.U[live].T > 0, ACTIVE, INACTIVE), held)
    capped = admm.tau >= problem.penalty / admm.rho
    return Structure(
        s=s,
        state=state,
        free=(admm.tau > 0) & ~capped,
        capped=capped,
        lam=admm.multipliers,
        t=admm.a2[live] if frozen and admm.a2 is not None else admm.t[live],
    )


def polish(
    problem: Problem,
    neurons: Neurons,
    *,
    multipliers: FloatArray | None = None,
    anchor_weight: float = 0.0,
    deadline: float = np.inf,
    max_iterations: int = 20_000,
    progress: Callable[[Progress], None] | None = None,
) -> Polished:
    """Find a KKT point of (P) near the given neurons.

    Parameters
    ----------
    problem, neurons : Problem, Neurons
        Samples and the start, in the same reduced coordinates.
    multipliers : array, shape (m,), optional
        Warm multipliers; by default those that best explain the start.
    anchor_weight : float
        Weight of a proximal term that holds the neurons near the start; halved every round and removed at the end.
    deadline : float
        `time.monotonic()` value after which the best point so far is returned.
    """
    started = time.monotonic()
    lam = problem.warm_multipliers(neurons.U, neurons.s) if multipliers is None else multipliers
    frozen = neurons.outputs_squared is not None
    admm = Admm(problem, neurons, lam, anchor_weight=anchor_weight)
    history: list[Progress] = []
    length, steps = _FIRST_ROUND, 0
    while True:
        for _ in range(max(1, length // 10)):
            admm.run(10)
            if time.monotonic() > deadline:
                break
        report = Progress(
            "ADMM",
            admm.iterations,
            admm.flips,
            int((admm.t > 0).sum()),
            admm.objective,
            admm.objective - float(admm.multipliers.sum()),
            time.monotonic() - started,
        )
        history.append(report)
        if progress is not None:
            progress(report)
        late = time.monotonic() > deadline or admm.iterations >= max_iterations
        if late or (admm.anchor_weight == 0.0 and _settled(admm)):
            result = newton(problem, identify(admm), frozen=frozen, rho=admm.rho)
            steps += result.iterations
            if result.converged:
                return _exact(problem, admm, result, steps, tuple(history))
        hopeless = admm.iterations > _HOPELESS_AFTER and float(admm.multipliers.sum()) > 10.0 * admm.objective
        if late or hopeless:
            return _last_iterate(admm, steps, tuple(history))
        admm.anchor_weight = 0.5 * admm.anchor_weight if admm.anchor_weight > 1e-3 * anchor_weight else 0.0
        length = min(int(1.25 * length), _LONGEST_ROUND) if admm.anchor_weight == 0.0 else length


def _settled(admm: Admm) -> bool:
    """Whether so few same pairs flipped at the last refresh that the structure is worth a try."""
    same_pairs = 0.5 * admm.A.size
    return 0 <= admm.flips <= _FEW_FLIPS * same_pairs


def _exact(problem: Problem, admm: Admm, result: NewtonResult, steps: int, history: tuple[Progress, ...]) -> Polished:
    live = np.flatnonzero(admm.t > 0)[result.keep]
    place = np.full(len(admm.s), -1, dtype=np.int64)
    place[live] = np.arange(len(live))
    members = np.where(admm.members >= 0, place[admm.members], -1)
    return Polished(
        result.U,
        result.s,
        result.lam,
        result.mu,
        _outputs_squared(admm, live),
        members,
        True,
        admm.iterations,
        steps,
        history,
    )


def _last_iterate(admm: Admm, steps: int, history: tuple[Progress, ...]) -> Polished:
    live = admm.t > 0
    place = np.where(live, np.cumsum(live) - 1, -1)
    same = admm.problem.y[:, None] * admm.s[live] > 0
    mu = np.where(same, -1.0, 1.0) * (admm.rho * admm.Y[:, live])
    members = np.where(admm.members >= 0, place[admm.members], -1)
    return Polished(
        admm.U[live],
        admm.s[live],
        admm.multipliers,
        mu,
        _outputs_squared(admm, np.flatnonzero(live)),
        members,
        False,
        admm.iterations,
        steps,
        history,
    )


def _outputs_squared(admm: Admm, live: IntArray) -> FloatArray:
    return admm.t[live] if admm.a2 is None else admm.a2[live]
