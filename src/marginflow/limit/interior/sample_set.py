"""The interior point on the samples that decide: a step costs m^2, and samples beyond the margin have no multiplier.

A point of some samples is a point of all as soon as no other sample falls short of margin 1. The first set has the
samples of smallest margin and others at random; those that come out short join it, the worst first. Where much of what
is outside the set falls short, nearly every sample decides, and the whole problem is solved at once.
"""

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget
from marginflow.limit.interior.finish import finish
from marginflow.limit.interior.point import InteriorPoint, interior_point
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.settings import (
    COPIES,
    FEW_SHORT,
    FIRST_SHARE,
    JOIN_AT_LEAST,
    LARGEST_SHARE,
    MANY_SHORT,
    NEAR_MARGIN,
    SET_CROWD,
    SET_FROM,
    SET_ROUNDS,
    SHORT,
    TO_A_DIMENSION,
)
from marginflow.limit.interior.structure import Guess
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK


def interior_point_of_few(
    problem: Problem, neurons: Neurons, budget: Budget, *, multipliers: FloatArray | None = None
) -> InteriorPoint | None:
    """As `interior_point`, from a set of samples that grows, or from all of them where that is given up."""
    m, r = problem.X.shape
    separated = multipliers is not None or bool(problem.margins(neurons.U, neurons.s).min() > 0.0)
    if m >= SET_FROM and m >= SET_CROWD * r:
        found = _of_few(problem, neurons, budget, multipliers)
        if found.point is not None:
            return found.point
        if budget.over or not (separated or found.solved_once):
            return None  # neurons that cannot separate some of the samples cannot separate all
    return interior_point(problem, neurons, budget, multipliers=multipliers)


@dataclass(frozen=True, eq=False)
class _Found:
    point: InteriorPoint | None
    solved_once: bool


def _of_few(problem: Problem, neurons: Neurons, budget: Budget, multipliers: FloatArray | None) -> _Found:
    m = problem.n_samples
    rows = _first_rows(problem, neurons)
    last: InteriorPoint | None = None
    points: list[InteriorPoint] = []
    for _ in range(SET_ROUNDS):
        part = replace(problem, X=problem.X[rows], y=problem.y[rows], order=np.arange(len(rows)))
        point = None if last is None else _from_last(part, last, neurons, budget)
        if point is None:
            point = interior_point(
                part, neurons, budget, multipliers=None if multipliers is None else multipliers[rows]
            )
        if point is None:
            break
        points.append(point)
        margins = problem.margins(point.U, point.s)
        outside = np.ones(m, dtype=bool)
        outside[rows] = False
        short = np.flatnonzero(outside & (margins < 1.0 - SHORT))
        if not short.size:
            return _Found(_on_all(points, rows, m), True)
        if short.size > MANY_SHORT * m or rows.size > LARGEST_SHARE * m:
            break
        trained = neurons.outputs_squared is None
        ended = _newton_on_all(problem, _on_all(points, rows, m)) if trained and short.size <= FEW_SHORT else None
        if ended is not None:
            return _Found(ended, True)
        worst = short[np.argsort(margins[short], kind="stable")[: max(JOIN_AT_LEAST, rows.size // 2)]]
        near = np.flatnonzero(outside & (margins < NEAR_MARGIN))
        rows, last = np.union1d(rows, np.union1d(worst, near)), point
    return _Found(None, bool(points))


def _from_last(part: Problem, last: InteriorPoint, neurons: Neurons, budget: Budget) -> InteriorPoint | None:
    """From the neurons of the last set; where they are too few, joined by short copies of those of the start."""
    if neurons.outputs_squared is not None:
        return None
    point = interior_point(part, Neurons(last.U, last.s), budget)
    if point is not None:
        return replace(point, members=np.where(last.members >= 0, point.members[last.members], -1))
    U, s = np.concatenate([last.U, COPIES * neurons.U]), np.concatenate([last.s, neurons.s])
    order = np.argsort(-s, kind="stable")
    point = interior_point(part, Neurons(U[order], s[order]), budget)
    if point is None:
        return None
    row = np.empty(len(s), dtype=np.int64)
    row[order] = point.members
    came = np.where(last.members >= 0, row[last.members], -1)
    return replace(point, members=np.where(came >= 0, came, row[len(last.s) :]))


def _newton_on_all(problem: Problem, point: InteriorPoint) -> InteriorPoint | None:
    """The exact point of all samples whose structure is that of the set and what follows from it; None where that does
    not settle."""
    program = InteriorProgram.of(problem)
    lam = point.lam[:, None]
    held = np.where(point.mu == 0.0, INACTIVE, np.where(point.mu == lam, ACTIVE, KINK))
    state = np.where(lam > 0.0, held, np.where(problem.X @ point.U.T > 0, ACTIVE, INACTIVE))
    capped = point.lam >= problem.penalty
    scale, price = program.units.scale, program.units.price
    guess = Guess(
        point.U * scale, point.s, point.lam * price, state, (point.lam > 0) & ~capped, capped, np.arange(len(point.s))
    )
    found = finish(program, guess)
    if found is None:
        return None
    steps = point.newton_steps + found.steps
    return replace(point, U=found.U / scale, lam=found.lam / price, mu=found.mu / price, newton_steps=steps)


def _on_all(points: list[InteriorPoint], rows: IntArray, m: int) -> InteriorPoint:
    """The last point, with multipliers of all samples and the effort of all sets."""
    point = points[-1]
    lam, mu = np.zeros(m), np.zeros((m, len(point.s)))
    lam[rows], mu[rows] = point.lam, point.mu
    return replace(
        point,
        lam=lam,
        mu=mu,
        iterations=sum(each.iterations for each in points),
        rounds=sum(each.rounds for each in points),
        newton_steps=sum(each.newton_steps for each in points),
        history=tuple(entry for each in points for entry in each.history),
    )


def _first_rows(problem: Problem, neurons: Neurons) -> IntArray:
    """The samples of smallest margin of each label, and as many at random; ascending."""
    m, r = problem.X.shape
    count = max(int(FIRST_SHARE * m), TO_A_DIMENSION * r)
    margins = problem.margins(neurons.U, neurons.s)
    chosen = [np.random.default_rng(0).choice(m, min(m, count // 2), replace=False)]
    for label in (1.0, -1.0):
        own = np.flatnonzero(problem.y == label)
        chosen.append(own[np.argsort(margins[own], kind="stable")[: count // 4]])
    return np.unique(np.concatenate(chosen))
