r"""The other way round: the point with a sample added.

The cap of the new sample's multiplier rises from 0, where it is not there, until the sample reaches its margin (or,
with a soft margin, until the cap is the penalty). A sample that has margin 1 already changes nothing: with lambda = 0
the conditions with it are those without it.
"""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.influences.base import Base, solved_again
from marginflow.influences.path import capped_point, objective, strayed
from marginflow.influences.result import Way
from marginflow.limit.budget import Budget
from marginflow.limit.problem import Problem
from marginflow.limit.solver.newton import NewtonResult, Structure
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE
from marginflow.networks import TwoLayer

# The first cap in units of the mean multiplier, its growth from step to step, the least step and the most steps.
_FIRST, _GROWTH, _LEAST, _MOST = 0.1, 1.3, 1e-4, 60


def with_sample(
    base: Base, x: FloatArray, y: float, tolerance: float, budget: Budget
) -> tuple[TwoLayer, Way, float, bool, float]:
    """The network with the sample, how it was found, its residual, whether the branch was left, and the multiplier."""
    margin = float(base.network.margins(x[None], np.array([y]))[0])
    if margin >= 1.0:
        return base.network, "unchanged", base.residual, False, 0.0
    data = Dataset(X=np.vstack([base.data.X, x]), y=np.append(base.data.y, y))
    problem = Problem.of(data.X, data.y, bias=base.network.b is not None, penalty=base.penalty)
    arrived = _rise(base, problem, budget)
    if arrived is not None:
        point, jumped = arrived
        back = np.argsort(problem.order)
        bias = base.network.b is not None
        network = TwoLayer.from_directions(problem.ambient(point.U), point.s, bias=bias)
        given = (point.lam[back], point.mu[back])
        certificate = certify(network, data, penalty=base.soft_penalty, multipliers=given, as_given=True)
        if certificate.holds(tolerance):
            return certificate.network, "continuation", certificate.residuals.largest, jumped, float(given[0][-1])
    near = solved_again(base, data, budget)
    judged = near.certificate
    return near.compact, "solved again", judged.residuals.largest, True, float(judged.multipliers[-1])


def _rise(base: Base, problem: Problem, budget: Budget) -> tuple[NewtonResult, bool] | None:
    """Raise the cap of the last sample until it has its margin; the point, and whether the branch was left."""
    if base.point is None or base.point.structure is None:
        return None
    new = int(np.flatnonzero(problem.order == base.data.n_samples)[0])
    structure = _extended(base, problem, base.point, base.point.structure)
    U = problem.reduced(base.problem.ambient(base.point.U))
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
        guess = Structure(structure.s, structure.state, free, capped, lam, structure.t)
        found = capped_point(problem, guess, caps, budget)
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
            return found, strayed(risen, integral, begun)
        structure, missing, cap, width = found.structure, now, reached, _GROWTH * width
    return None


def _extended(base: Base, problem: Problem, point: NewtonResult, structure: Structure) -> Structure:
    """The structure of the point with the new sample, which has no multiplier yet."""
    known = structure.on(np.argsort(base.problem.order))
    new = int(np.flatnonzero(problem.order == base.data.n_samples)[0])
    Z = problem.X[new] @ problem.reduced(base.problem.ambient(point.U)).T
    state = np.vstack([known.state, np.where(Z > 0, ACTIVE, INACTIVE).astype(known.state.dtype)])
    free, capped, lam = np.append(known.free, False), np.append(known.capped, False), np.append(known.lam, 0.0)
    return Structure(structure.s, state, free, capped, lam, structure.t).on(problem.order)
