r"""The point without some samples, followed from the point with them, and the other way round.

Let the multiplier of a sample be capped at c: at c = lambda_i nothing changes, at c = 0 the sample is gone. With the
other conditions unchanged the point is a function of c, piecewise smooth as long as its structure can be followed, and

.. math:: V(c) = \tfrac12 \|\theta\|^2 + c\,(1 - m_i)_+ + \dots, \qquad \frac{dV}{dc} = 1 - m_i(c)

along it. So the drop of V from lambda_i to 0 must be the integral of the missing margin: where it is not, the path has
jumped to another branch.

For a new sample the cap rises from 0, where the sample is not there, until it reaches its margin (or, with a soft
margin, until the cap is the penalty). A sample that has margin 1 already changes nothing: with lambda = 0 the
conditions with it are those without it.
"""

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.influences.base import Base, solved_again
from marginflow.influences.store import Found
from marginflow.limit.budget import Budget
from marginflow.limit.problem import Problem
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE

# Shares by which the drop of V may differ from the integral: by the trapezoidal rule along the path, and from a single
# panel, where a factor of two means that the pattern has changed on the way.
_OFF_THE_PATH, _OFF_DIRECTLY = 0.1, 0.5
# How often a step that Newton's method cannot take is halved.
_HALVINGS = 4
_STEP_ITERATIONS = 25
# A sample that the path did not look at may fall short of margin 1 by this much.
_SHORT = 1e-12
# Relative error of the objective itself.
_ROUNDING = 1e-9
# How Newton's method holds multipliers and scales, one after the other.
_MANNERS = ((0.0, 0.0), (1e-2, 10.0), (1e-1, 100.0))
# Of a new sample: the first cap in units of the mean multiplier, its growth, the least step and the most steps.
_FIRST, _GROWTH, _LEAST, _MOST = 0.1, 1.3, 1e-4, 60


@dataclass(frozen=True, eq=False)
class Arrival:
    """The point without some samples, on the rows that are left, or with one more; whether the branch was left."""

    point: NewtonResult
    jumped: bool


def follow(base: Base, rows: IntArray, steps: int, budget: Budget) -> Arrival | None:
    """Lower the caps of the given rows to zero in this many steps; None where Newton's method does not arrive.

    With one step the samples are left out at once. The path is followed on the samples that are near the margin, and
    again with those that turn out to be violated at its end. Between two steps time may be over (`OutOfTimeError`).
    """
    if base.point is None:
        return None
    everyone = np.arange(base.problem.n_samples)
    left = np.setdiff1d(everyone, rows)
    part = np.union1d(base.near, rows)
    while True:
        arrival = _follow(base.on(part), np.searchsorted(part, rows), steps, budget)
        if arrival is None:
            return None
        beyond = np.setdiff1d(left, part)
        short = 1.0 - base.problem.margins(arrival.point.U, arrival.point.s)[beyond]
        if not (short > _SHORT).any():
            seen = np.searchsorted(left, np.setdiff1d(part, rows))
            lam, mu = np.zeros(len(left)), np.zeros((len(left), len(arrival.point.s)))
            lam[seen], mu[seen] = arrival.point.lam, arrival.point.mu
            return Arrival(replace(arrival.point, lam=lam, mu=mu, structure=None), arrival.jumped)
        part = np.union1d(part, beyond[short > _SHORT])


def _follow(base: Base, rows: IntArray, steps: int, budget: Budget) -> Arrival | None:
    """The same on all rows of the base."""
    assert base.point is not None
    if base.point.structure is None:
        return None
    first = base.point.lam[rows]
    chosen = np.zeros(base.problem.n_samples, dtype=bool)
    chosen[rows] = True
    caps = np.full(base.problem.n_samples, base.penalty)
    at, begun = base.point, objective(base.problem, base.point.U, base.point.s, rows, 1.0)
    missing = _missing(base, at, rows)
    integral, share, width, halvings, stuck = 0.0, 1.0, 1.0 / steps, 0, False
    while share > width * (1.0 + 1e-9):
        budget.check()
        caps[rows] = first * (share - width)
        structure = at.structure
        assert structure is not None
        free, capped = structure.free & ~chosen, structure.capped | chosen
        guess = replace(structure, free=free, capped=capped, lam=np.minimum(structure.lam, caps))
        found = capped_point(base.problem, guess, caps, budget)
        if found is None and halvings == _HALVINGS:
            stuck = True
            break
        if found is None:
            width, halvings = 0.5 * width, halvings + 1
            continue
        now = _missing(base, found, rows)
        integral += 0.5 * width * float(first @ (missing + now))
        at, missing, share = found, now, share - width
    end = _end(base, at.structure, rows, budget)
    if end is None:
        return None
    integral += 0.5 * share * float(first @ (missing + _missing(base, end, rows)))
    fallen = begun - objective(base.problem, end.U, end.s, rows, 0.0)
    return Arrival(end, stuck or strayed(fallen, integral, begun, directly=steps == 1))


def strayed(change: float, integral: float, begun: float, *, directly: bool = False) -> bool:
    """Whether the change of the objective, `begun` at first, is not the integral of the missing margin over the cap."""
    share = _OFF_DIRECTLY if directly else _OFF_THE_PATH
    return abs(change - integral) > share * max(abs(integral), abs(change)) + _ROUNDING * begun


def capped_point(problem: Problem, guess: Structure, caps: FloatArray, budget: Budget) -> NewtonResult | None:
    """The point under these caps of the multipliers, near the guess; None where Newton's method does not get there."""
    found = newton(
        problem, guess, frozen=False, damping=0.0, inertia=0.0, caps=caps,
        max_iterations=_STEP_ITERATIONS, deadline=budget.deadline,
    )  # fmt: skip
    if found.converged:
        return found
    budget.check()
    return None


def _end(base: Base, structure: Structure | None, rows: IntArray, budget: Budget) -> NewtonResult | None:
    """The point of the samples that are left, from the structure of the last step."""
    assert structure is not None
    smaller, kept = base.without(rows)
    guess = structure.on(kept)
    for damping, inertia in _MANNERS:
        found = newton(smaller, guess, frozen=False, damping=damping, inertia=inertia, deadline=budget.deadline)
        if found.converged:
            return found
        budget.check()
    return None


def _missing(base: Base, at: NewtonResult, rows: IntArray) -> FloatArray:
    """(1 - m_i)_+ of the given rows."""
    return np.maximum(1.0 - base.problem.margins(at.U, at.s)[rows], 0.0)


def objective(problem: Problem, U: FloatArray, s: FloatArray, rows: IntArray | int, share: float) -> float:
    """||theta||^2 / 2, and with a soft margin the price of the samples, of these rows only a share."""
    value = float(np.linalg.norm(U, axis=1).sum())
    if np.isinf(problem.penalty):
        return value
    missing = np.maximum(1.0 - problem.margins(U, s), 0.0)
    missing[rows] *= share
    return value + problem.penalty * float(missing.sum())


def with_sample(base: Base, x: FloatArray, y: float, tolerance: float, budget: Budget) -> tuple[Found, float]:
    """The point with a sample more, and the multiplier of the sample."""
    margin = float(base.network.margins(x[None], np.array([y]))[0])
    if margin >= 1.0:
        return (base.network, "unchanged", base.residual, False), 0.0
    data = Dataset(X=np.vstack([base.data.X, x]), y=np.append(base.data.y, y))
    problem = Problem.of(data.X, data.y, bias=base.network.b is not None, penalty=base.penalty)
    arrival = _rise(base, problem, budget)
    if arrival is not None:
        judged = base.judged(arrival.point, problem, data)
        if judged.holds(tolerance):
            found: Found = (judged.network, "continuation", judged.residuals.largest, arrival.jumped)
            return found, float(arrival.point.lam[problem.order == base.data.n_samples][0])
    near = solved_again(base, data, budget)
    judged = near.certificate
    return (near.compact, "solved again", judged.residuals.largest, True), float(judged.multipliers[-1])


def _rise(base: Base, problem: Problem, budget: Budget) -> Arrival | None:
    """Raise the cap of the last sample until it has its margin; None where Newton's method does not arrive."""
    if base.point is None or base.point.structure is None:
        return None
    new = int(np.flatnonzero(problem.order == base.data.n_samples)[0])
    U = problem.reduced(base.problem.ambient(base.point.U))
    structure = _extended(base, problem, base.point.structure, problem.X[new] @ U.T)
    missing = 1.0 - float(problem.margins(U, structure.s)[new])
    begun = objective(problem, U, structure.s, new, 0.0)
    unit = float(structure.lam[structure.lam > 0].mean())
    caps = np.full(problem.n_samples, base.penalty)
    cap, width, integral = 0.0, _FIRST * unit, 0.0
    for _ in range(_MOST):
        budget.check()
        caps[new] = min(cap + width, base.penalty)
        capped, free, lam = structure.capped.copy(), structure.free.copy(), structure.lam.copy()
        capped[new], free[new], lam[new] = True, False, caps[new]
        found = capped_point(problem, replace(structure, free=free, capped=capped, lam=lam), caps, budget)
        if found is None or found.structure is None:
            width *= 0.5
            if width < _LEAST * unit:
                return None
            continue
        now = max(0.0, 1.0 - float(problem.margins(found.U, found.s)[new]))
        arrived = bool(found.structure.free[new])
        reached = float(found.lam[new]) if arrived else float(caps[new])
        integral += 0.5 * (reached - cap) * (missing + now)
        if arrived or reached == base.penalty:
            risen = objective(problem, found.U, found.s, new, 1.0) - begun
            return Arrival(found, strayed(risen, integral, begun))
        structure, missing, cap, width = found.structure, now, reached, _GROWTH * width
    return None


def _extended(base: Base, problem: Problem, structure: Structure, z: FloatArray) -> Structure:
    """The structure of the point with the last sample, whose pre-activations are z and which has no multiplier yet."""
    known = structure.on(np.argsort(base.problem.order))
    state = np.vstack([known.state, np.where(z > 0, ACTIVE, INACTIVE).astype(known.state.dtype)])
    free, capped, lam = np.append(known.free, False), np.append(known.capped, False), np.append(known.lam, 0.0)
    return replace(structure, state=state, free=free, capped=capped, lam=lam).on(problem.order)
