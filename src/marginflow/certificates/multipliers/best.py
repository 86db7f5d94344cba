r"""The multipliers that explain a network best: a primal-dual active-set method with a fallback that always converges.

Every kink has a state - free, at 0, tied to lambda_i - and given the states `elimination.py` solves for lambda. A
state whose sign condition fails is changed, all at once, until none fails: then the point is optimal, for the
problem is convex. At a KKT point the first guess "all kinks free" is usually right. When the states start to
repeat, accelerated projected gradients take over and hand back better states.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates.multipliers.corrective import by_atoms
from marginflow.certificates.multipliers.elimination import EliminatedKinks
from marginflow.certificates.multipliers.least_squares import Point, StationarityProblem, lower_bound
from marginflow.certificates.multipliers.projected_gradient import descend

_NOISE = 2e-15  # relative residual below which nothing is left to gain in double precision
_SIGN = 1e-11  # relative size below which a multiplier or a gradient counts as zero
_ROUNDING = 1e-14  # relative error with which the residual itself is known
_ALL_SAMPLES = 1500  # up to this many samples all may carry a multiplier from the start
_NOTHING_LEFT = 1e-10  # relative residual below which the lower bound is 0: it reads 0 below about 1e-8
_UNRESOLVED = 1e-6  # relative residual below which rounding blurs the lower bound
_PIVOT_ROUNDS = 30
_ATOM_ROUNDS = 2000
_SMALL_FOR_ATOMS = 300_000
_GRADIENT_STEPS = (200, 800, 3000)


@dataclass(frozen=True, eq=False, kw_only=True)
class Multipliers:
    """Feasible lambda (n,) and mu (n, k), the norm of their residual, and a lower bound of what any others can
    reach."""

    lam: FloatArray
    mu: FloatArray
    size: float
    bound: float
    from_start: bool


def feasible(problem: StationarityProblem, lam: FloatArray, mu: FloatArray) -> Point:
    """Clip to 0 <= lambda <= cap and 0 <= mu_ij <= lambda_i on the kinks, 0 elsewhere."""
    lam = np.clip(lam, 0.0, problem.cap)
    clipped = np.zeros(mu.shape)
    carry = np.flatnonzero(lam)  # at many samples most have no multiplier
    clipped[carry] = np.where(problem.kink[carry], np.clip(mu[carry], 0.0, lam[carry, None]), 0.0)
    return lam, clipped


def best_multipliers(
    problem: StationarityProblem,
    start: Point | None = None,
    *,
    enough: float = 0.0,
    deadline: float = np.inf,
) -> Multipliers:
    """Minimise the residual over all feasible multipliers.

    Parameters
    ----------
    problem : StationarityProblem
    start : (lambda (n,), mu (n, k)) or None
        A guess; it is made feasible first and kept only while nothing better is found.
    enough : float
        A guess whose residual is at most this needs no improvement.
    deadline : float
        The value of `time.monotonic()` at which the best multipliers so far are returned. It is looked at in every
        loop, so that what may come after it is one factorisation of a matrix.

    Returns
    -------
    Multipliers
        Feasible, with the residual recomputed on `problem` itself.
    """
    n, k = problem.active.shape
    lam, mu = feasible(problem, *start) if start is not None else (np.zeros(n), np.zeros((n, k)))
    size = problem.residual(lam, mu).norm()
    from_start = start is not None
    if start is None or (size > enough and time.monotonic() <= deadline):
        groups = equal_neurons(problem)
        merged = merge(problem, groups)
        firsts = mu[:, [group[0] for group in groups]]
        found = _with_growing_sample_set(merged, lam, firsts, warm=start is not None, deadline=deadline)
        spread = np.empty((n, k))
        for position, group in enumerate(groups):
            spread[:, group] = found[1][:, [position]]
        new = feasible(problem, found[0], spread)
        new_size = problem.residual(*new).norm()
        if new_size < size:
            (lam, mu), size, from_start = new, new_size, False
    # What is left is rounding: no number above 0 would be certain.
    bound = 0.0 if size <= _NOTHING_LEFT * problem.norm() else lower_bound(problem, lam, mu)
    return Multipliers(lam=lam, mu=mu, size=size, bound=bound, from_start=from_start)


def equal_neurons(problem: StationarityProblem, tolerance: float = 1e-13) -> list[IntArray]:
    """Groups of neurons that one neuron can stand for.

    Neurons with one pattern and one quotient (w_j, b_j)/v_j, such as the parts of a split neuron, can have equal Clarke
    weights: up to a factor v_j^2 they have the same objective. Without kinks one pattern is enough, for the multipliers
    then act on all alike.
    """
    kinked = np.asarray(problem.kink.any(axis=0))
    by_pattern: dict[bytes, list[list[int]]] = {}
    active, kink = np.packbits(problem.active, axis=0).T, np.packbits(problem.kink, axis=0).T
    quotient = problem.U / np.where(problem.v == 0, 1.0, problem.v)[:, None]
    size = np.linalg.norm(quotient, axis=1)
    for j in np.flatnonzero(problem.v).tolist():
        groups = by_pattern.setdefault(active[j].tobytes() + kink[j].tobytes(), [])
        for group in groups:
            first = group[0]
            if not kinked[j] or np.linalg.norm(quotient[j] - quotient[first]) <= tolerance * size[first]:
                group.append(j)
                break
        else:
            groups.append([j])
    alone = [[j] for j in np.flatnonzero(problem.v == 0).tolist()]
    return [np.array(group) for group in [*(group for groups in by_pattern.values() for group in groups), *alone]]


def merge(problem: StationarityProblem, groups: list[IntArray]) -> StationarityProblem:
    """One hidden neuron per group, v = (sum v_j^2)^(1/2): the same problem up to a constant. Output equations stay."""
    first = np.array([group[0] for group in groups])
    U, v = problem.U[first], problem.v[first]
    for position, group in enumerate(groups):
        if group.size > 1:
            v[position] = np.linalg.norm(problem.v[group])
            U[position] = problem.v[group] @ problem.U[group] / (v[position] or 1.0)  # it may underflow
    return replace(problem, U=U, v=v, active=problem.active[:, first], kink=problem.kink[:, first])


def _with_growing_sample_set(
    problem: StationarityProblem, lam: FloatArray, mu: FloatArray, *, warm: bool, deadline: float
) -> Point:
    """Solve on the samples nearest to the margin and add those that would lower the residual, until none would."""
    n = problem.y.size
    if n <= _ALL_SAMPLES:
        return _solve(problem, lam, mu, warm=warm, deadline=deadline)
    chosen = np.zeros(n, dtype=bool)
    chosen[np.argsort(problem.omega, kind="stable")[:_ALL_SAMPLES]] = True
    chosen |= lam > 0
    while True:
        index = np.flatnonzero(chosen)
        part = _solve(problem.rows(index), lam[index], mu[index], warm=warm, deadline=deadline)
        lam, mu = np.zeros_like(lam), np.zeros_like(mu)
        lam[index], mu[index] = part
        residual = problem.residual(lam, mu)
        scores = problem.score_sums(residual)
        gain = scores.s + scores.positive
        gain[chosen] = 0.0
        scale = residual.norm() * np.linalg.norm(problem.T, axis=1).max() * np.linalg.norm(problem.v)
        if not (gain > _SIGN * scale).any() or time.monotonic() > deadline:
            return lam, mu
        wanted = np.argsort(-gain)[:_ALL_SAMPLES]
        chosen[wanted[gain[wanted] > _SIGN * scale]] = True
        warm = True


def _solve(problem: StationarityProblem, lam: FloatArray, mu: FloatArray, *, warm: bool, deadline: float) -> Point:
    """Pivot; where that is not known to have ended at the optimum, go by atoms or by gradients, and pivot again."""
    free, tied = _states(problem, lam, mu) if warm else (problem.usable, np.zeros_like(problem.usable))
    best, optimal = _pivot(problem, free, tied, feasible(problem, lam, mu), deadline)
    if time.monotonic() > deadline:
        return best
    if not _is_best(problem, best, optimal) and _suits_atoms(problem):
        best = _better(problem, best, by_atoms(problem, max_rounds=_ATOM_ROUNDS, deadline=deadline))
        return _pivot(problem, *_states(problem, *best), best, deadline)[0]
    for steps in _GRADIENT_STEPS:
        if _is_best(problem, best, optimal) or time.monotonic() > deadline:
            break
        best = _better(problem, best, descend(problem, *best, max_steps=steps, deadline=deadline))
        best, optimal = _pivot(problem, *_states(problem, *best), best, deadline)
    return best


def _suits_atoms(problem: StationarityProblem) -> bool:
    return bool(np.isinf(problem.cap)) and problem.y.size * problem.U.size <= _SMALL_FOR_ATOMS


def _is_best(problem: StationarityProblem, point: Point, optimal: bool) -> bool:
    """Whether the bound meets the residual - or cannot be resolved any more, and every sign condition holds."""
    size = problem.residual(*point).norm()
    if size <= _NOISE * problem.norm() or size - lower_bound(problem, *point, charged=False) <= 1e-9 * size:
        return True
    return optimal and size <= _UNRESOLVED * problem.norm()


def _better(problem: StationarityProblem, first: Point, second: Point) -> Point:
    return second if problem.residual(*second).norm() < problem.residual(*first).norm() else first


def _states(problem: StationarityProblem, lam: FloatArray, mu: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Free and tied kinks as read from a feasible point."""
    small = _SIGN * float(lam.max(initial=0.0))
    carrying = problem.usable & (lam > small)[:, None]
    tied = carrying & (mu >= lam[:, None] - small)
    return carrying & (mu > small) & ~tied, tied


def _pivot(
    problem: StationarityProblem, free: BoolArray, tied: BoolArray, best: Point, deadline: float
) -> tuple[Point, bool]:
    """Change every state whose sign condition fails, until none fails (True), states repeat or time is over (False)."""
    best_size = problem.residual(*best).norm()
    reach = np.linalg.norm(problem.T, axis=1)[:, None] * np.abs(problem.v)
    generator = np.linalg.norm(reach, axis=1) + np.linalg.norm(problem.rho, axis=1) + np.abs(problem.omega)
    noise, usable = _NOISE * problem.norm(), problem.usable
    lam = best[0]
    seen: set[int] = set()
    for _ in range(_PIVOT_ROUNDS):
        if time.monotonic() > deadline:
            break
        seen.add(hash((free.tobytes(), tied.tobytes())))
        lam, mu = EliminatedKinks(problem, free, tied).solve(lam, deadline=deadline)
        point = feasible(problem, lam, mu)
        size = problem.residual(*point).norm()
        if size < best_size:
            best, best_size = point, size
        if best_size <= noise:
            return best, True
        residual = problem.residual(lam, mu)
        P, s = problem.scores(residual)
        small = _SIGN * float(lam.max(initial=0.0))
        rounding = _ROUNDING * problem.norm()
        sharp = reach * (_SIGN * residual.norm() + rounding)
        empty = usable & (lam <= small)[:, None]
        full = usable & ~empty
        below = full & free & (mu < -small)
        above = full & free & (mu > lam[:, None] + small)
        rise = full & ~free & ~tied & (sharp < P)
        loosen = full & tied & (-sharp > P)
        changed = below | above | rise | loosen | (empty & free)
        # A sample without a multiplier enters with the Clarke weights that gain most, so its kinks are tied or 0.
        next_tied = np.where(empty, P > 0, (tied & ~loosen) | above)
        next_free = np.where(empty, False, (free & ~below & ~above) | rise | loosen)
        gain = s + np.where(usable, np.maximum(P, 0.0), 0.0).sum(axis=1)
        enters = (lam <= small) & (gain > generator * (_SIGN * residual.norm() + rounding))
        if not changed.any() and not enters.any():
            return best, True
        free, tied = next_free & usable, next_tied & usable
        if hash((free.tobytes(), tied.tobytes())) in seen:
            return best, False
    return best, False
