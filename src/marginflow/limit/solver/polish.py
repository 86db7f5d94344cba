"""From a network that the flow has brought close to a KKT point of (P) to one that is exact.

ADMM finds out which samples are on the margin, which pairs sit on kinks and which neurons live; Newton's method on
that structure then takes a handful of steps to rounding error. If the structure was not right yet, Newton says so
and ADMM goes on for twice as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.solver.admm import Admm, Precision
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK
from marginflow.threads import available_threads, threads_for

_FIRST_ROUND = 60
_LONGEST_ROUND = 2000
# Shares of flipping pairs at which Newton's method is tried first, and then always; in between after each halving.
_FEW_FLIPS, _VERY_FEW_FLIPS = 0.025, 1e-3
# (C) of a pattern that cannot satisfy the margins has an unbounded dual: multipliers at their cap show it.
_HOPELESS_AFTER = 600
_DIVERGED = 1e3
# Multiplications for Newton's method allowed for each one of ADMM (they are larger products, hence faster).
_NEWTON_SHARE = 3.0
# How strongly attempts at Newton's method hold multipliers and scales, in turn: weak is quick, strong is steady.
_MANNERS = ((1e-2, 10.0), (1e-1, 100.0))
# ADMM that has come this far by itself needs no Newton step.
_ROUNDING = 1e-13


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

    `exact` says that Newton's method ended on a consistent structure; otherwise U and lam are the best ADMM iterate
    and `mu` its estimate of lambda times Clarke derivative. `outputs_squared` are the v_j^2 of frozen outputs, of
    merged neurons their sum (with trained outputs it is ||u_j||). `members` maps the given neurons to rows of U,
    -1 where they vanished. `interrupted`: the user pressed Ctrl-C. `generated`: by columns, not from the given neurons.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray
    outputs_squared: FloatArray
    members: IntArray
    exact: bool
    iterations: int = 0
    newton_steps: int = 0
    history: tuple[Progress, ...] = ()
    interrupted: bool = False
    generated: bool = False


@np.errstate(over="ignore", invalid="ignore")
def identify(admm: Admm) -> Structure:
    """Read the structure off an ADMM iterate: the proximal maps put pairs and samples exactly where they belong."""
    problem, frozen = admm.problem, admm.a2 is not None
    live = np.flatnonzero(admm.t > 0)
    s = admm.s[live]
    same = problem.y[:, None] * s > 0
    z0, tau = (admm.Z + admm.Y)[:, live], admm.tau[:, None]
    held = np.where(z0 > tau, ACTIVE, np.where((z0 >= 0) & (tau > 0), KINK, INACTIVE))
    _at_most_rank_kinks(held, z0 / np.where(tau > 0, tau, 1.0), problem.X.shape[1] - 1)
    state = np.where(same, np.where(problem.X @ admm.U[live].T > 0, ACTIVE, INACTIVE), held)
    capped = admm.capped
    return Structure(
        s=s,
        state=state,
        free=(admm.tau > 0) & ~capped,
        capped=capped,
        lam=admm.multipliers,
        t=admm.a2[live] if frozen and admm.a2 is not None else admm.t[live].astype(np.float64),
    )


def _at_most_rank_kinks(state: IntArray, clarke: FloatArray, most: int) -> None:
    """A neuron orthogonal to as many samples as there are dimensions is zero: release the least certain kinks.

    `clarke` (m, k) estimates the weights; those nearest to 0 or 1 are likely to end there.
    """
    kinks = state == KINK
    for j in np.flatnonzero(kinks.sum(axis=0) > most):
        rows = np.flatnonzero(kinks[:, j])
        inside = np.minimum(clarke[rows, j], 1.0 - clarke[rows, j])
        released = rows[np.argsort(-inside)[most:]]
        state[released, j] = np.where(clarke[released, j] > 0.5, ACTIVE, INACTIVE)


def polish(
    problem: Problem,
    neurons: Neurons,
    *,
    multipliers: FloatArray | None = None,
    anchor_weight: float = 0.0,
    deadline: float = np.inf,
    max_iterations: int = 20_000,
    precision: Precision = "single",
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
    precision : "single" or "double"
        In which ADMM begins; it sharpens by itself when single precision has nothing more to give.
    """
    started, threads = time.monotonic(), available_threads()
    lam = problem.warm_multipliers(neurons.U, neurons.s) if multipliers is None else multipliers
    frozen = neurons.outputs_squared is not None
    admm = Admm(problem, neurons, lam, anchor_weight=anchor_weight, precision=precision)
    began_at = admm.objective
    history: list[Progress] = []
    best, best_value = _iterate(admm), _value(problem, admm)
    length, steps, attempts, few = _FIRST_ROUND, 0, 0, _FEW_FLIPS
    # Newton attempts get no more than ADMM has had. Work is counted, not timed: same seed, same bits on a busy machine.
    work_of_admm, work_of_newton = 0.0, 0.0
    try:
        while True:
            for _ in range(max(1, length // 10)):
                work_of_admm += 10.0 * 4.0 * problem.X.size * len(admm.s)
                with threads_for(problem.X.size * len(admm.s), threads):
                    if admm.exhausted:
                        admm.sharpen()
                    admm.run(10)
                diverged = not admm.objective <= _DIVERGED * began_at
                if diverged or time.monotonic() > deadline:
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
            value = _value(problem, admm)
            if value <= best_value and (np.isfinite(problem.penalty) or (admm.t > 0).any()):
                best, best_value = _iterate(admm), value
            if (
                admm.anchor_weight == 0.0
                and admm.share_flipped <= few
                and work_of_newton <= _NEWTON_SHARE * work_of_admm
            ):
                guess = identify(admm)
                damping, inertia = _MANNERS[attempts % len(_MANNERS)]
                attempts, few = attempts + 1, max(0.5 * admm.share_flipped, _VERY_FEW_FLIPS)
                result = newton(
                    problem, guess, frozen=frozen, deadline=deadline,
                    damping=damping, inertia=inertia, threads=threads,
                )  # fmt: skip
                work_of_newton += result.iterations * _work_of_newton_step(problem, guess)
                steps += result.iterations
                if result.converged:
                    best = _exact(admm, result)
            hopeless = admm.iterations > _HOPELESS_AFTER and float(admm.multipliers.max()) >= admm.cap < problem.penalty
            late = time.monotonic() > deadline or admm.iterations >= max_iterations
            if best.exact or late or hopeless or diverged or _converged(admm):
                return replace(best, iterations=admm.iterations, newton_steps=steps, history=tuple(history))
            admm.anchor_weight = 0.5 * admm.anchor_weight if admm.anchor_weight > 1e-3 * anchor_weight else 0.0
            length = min(int(1.25 * length), _LONGEST_ROUND) if admm.anchor_weight == 0.0 else length
    except KeyboardInterrupt:  # what is done is kept
        return replace(best, iterations=admm.iterations, newton_steps=steps, history=tuple(history), interrupted=True)


@np.errstate(over="ignore", invalid="ignore")
def _value(problem: Problem, admm: Admm) -> float:
    """What an iterate is worth: its objective at margin 1 (hard margin), or with the slack paid (soft margin)."""
    margins = problem.margins(admm.U, admm.s)
    if np.isfinite(problem.penalty):
        return admm.objective + problem.penalty * float(np.maximum(1.0 - margins, 0.0).sum())
    least = float(margins.min())
    return admm.objective / least if least > 0.0 else np.inf


def _converged(admm: Admm) -> bool:
    return admm.flips == 0 and max(admm.primal_residual, admm.dual_residual) < _ROUNDING


def _work_of_newton_step(problem: Problem, structure: Structure) -> float:
    """Multiplications for the Jacobian and its factor."""
    kinks = (structure.state == KINK).sum(axis=0)
    columns = np.minimum(kinks, np.maximum(problem.X.shape[1] - kinks, 0)).sum()
    n_free = float(structure.free.sum())
    return n_free**2 * (float(columns) + n_free / 3)


def _exact(admm: Admm, result: NewtonResult) -> Polished:
    live = np.flatnonzero(admm.t > 0)[result.keep]
    place = np.full(len(admm.s), -1, dtype=np.int64)
    place[live] = np.arange(len(live))
    members = np.where(admm.members >= 0, place[admm.members], -1)
    return Polished(result.U, result.s, result.lam, result.mu, _outputs_squared(admm, live), members, True)


def _iterate(admm: Admm) -> Polished:
    live = admm.t > 0
    place = np.where(live, np.cumsum(live) - 1, -1)
    same = admm.problem.y[:, None] * admm.s[live] > 0
    mu = np.where(same, -1.0, 1.0) * (admm.rho * admm.Y[:, live].astype(np.float64))
    members = np.where(admm.members >= 0, place[admm.members], -1)
    outputs_squared = _outputs_squared(admm, np.flatnonzero(live))
    U = admm.U[live].astype(np.float64)
    return Polished(U, admm.s[live], admm.multipliers, mu, outputs_squared, members, False)


def _outputs_squared(admm: Admm, live: IntArray) -> FloatArray:
    return admm.t[live].astype(np.float64) if admm.a2 is None else admm.a2[live]
