"""The interior point on the samples that decide: a step costs m^2, and samples beyond the margin have no multiplier.

A point of some samples is a point of all as soon as no other sample falls short of margin 1. The first set has the
samples of smallest margin and others at random; those that come out short join it, the worst first. Where much of what
is outside the set falls short, nearly every sample decides, and the whole problem is solved at once.
"""

from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget
from marginflow.limit.interior import settings
from marginflow.limit.interior.finish import finish
from marginflow.limit.interior.point import InteriorPoint, interior_point
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.structure import Guess
from marginflow.limit.neurons import Neurons, follow
from marginflow.limit.problem import Problem
from marginflow.limit.samples import nearest, spread
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK


def interior_point_of_few(
    problem: Problem, neurons: Neurons, budget: Budget, *, multipliers: FloatArray | None = None
) -> InteriorPoint | None:
    """As `interior_point`, from a set of samples that grows, or from all of them where that is given up."""
    m, r = problem.X.shape
    separated = multipliers is not None or bool(problem.margins(neurons.U, neurons.s).min() > 0.0)
    if m >= settings.SET_FROM and m >= settings.SET_CROWD * r:
        point, solved_once = _of_few(problem, neurons, budget, multipliers)
        if point is not None:
            return point
        if budget.over or not (separated or solved_once):
            return None  # neurons that cannot separate some of the samples cannot separate all
    return interior_point(problem, neurons, budget, multipliers=multipliers)


def _of_few(
    problem: Problem, neurons: Neurons, budget: Budget, multipliers: FloatArray | None
) -> tuple[InteriorPoint | None, bool]:
    """The point, if that is not given up, and whether any set had one."""
    m = problem.n_samples
    rows = _first_rows(problem, neurons)
    last: InteriorPoint | None = None
    points: list[InteriorPoint] = []
    for _ in range(settings.SET_ROUNDS):
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
        short = np.flatnonzero(outside & (margins < 1.0 - settings.SHORT))
        if not short.size:
            return _on_all(points, rows, m), True
        if short.size > settings.MANY_SHORT * m or rows.size > settings.LARGEST_SHARE * m:
            break
        trained = neurons.outputs_squared is None
        ended = (
            _newton_on_all(problem, _on_all(points, rows, m)) if trained and short.size <= settings.FEW_SHORT else None
        )
        if ended is not None:
            return ended, True
        worst = short[np.argsort(margins[short], kind="stable")[: max(settings.JOIN_AT_LEAST, rows.size // 2)]]
        near = np.flatnonzero(outside & (margins < settings.NEAR_MARGIN))
        rows, last = np.union1d(rows, np.union1d(worst, near)), point
    return None, bool(points)


def _from_last(part: Problem, last: InteriorPoint, neurons: Neurons, budget: Budget) -> InteriorPoint | None:
    """From the neurons of the last set; where they are too few, joined by short copies of those of the start."""
    if neurons.outputs_squared is not None:
        return None
    point = interior_point(part, Neurons(last.U, last.s), budget)
    if point is not None:
        return replace(point, members=follow(last.members, point.members))
    U, s = np.concatenate([last.U, settings.COPIES * neurons.U]), np.concatenate([last.s, neurons.s])
    order = np.argsort(-s, kind="stable")
    point = interior_point(part, Neurons(U[order], s[order]), budget)
    if point is None:
        return None
    row = np.empty(len(s), dtype=np.int64)
    row[order] = point.members
    came = follow(last.members, row)
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
    return replace(
        point,
        lam=spread(point.lam, rows, m),
        mu=spread(point.mu, rows, m),
        iterations=sum(each.iterations for each in points),
        rounds=sum(each.rounds for each in points),
        newton_steps=sum(each.newton_steps for each in points),
        history=tuple(entry for each in points for entry in each.history),
    )


def _first_rows(problem: Problem, neurons: Neurons) -> IntArray:
    """The samples of smallest margin of each label, and as many at random; ascending."""
    m, r = problem.X.shape
    count = max(int(settings.FIRST_SHARE * m), settings.TO_A_DIMENSION * r)
    margins = problem.margins(neurons.U, neurons.s)
    random = np.random.default_rng(0).choice(m, min(m, count // 2), replace=False)
    return np.union1d(random, nearest(margins, problem.y, count // 4))
