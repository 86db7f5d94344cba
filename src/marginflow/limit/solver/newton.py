r"""Newton's method on the identified structure of problem (C): from a good guess to rounding error.

Structure: which samples are on the margin, and for every (sample, neuron) pair whether it is inactive, active or
on a kink. For neuron j let P_j project on the orthogonal complement of {x_i : (i, j) on a kink}. With
sigma_ij = y_i s_j and g_j = sum_{active} sigma_ij lambda_i x_i the KKT conditions of (C) are

    u_j = t_j D_j,   D_j = P_j g_j,   ||D_j|| = 1 (trained) or t_j = v_j^2 (frozen),   margins = 1,

a square system in the multipliers lambda of the margin samples and the scales t. Its Jacobian is the symmetric
saddle matrix [[sum_j t_j H_j, C], [C^T, 0]] with H_j the Gram matrix of the rows sigma_ij P_j x_i and C_j = H_j lambda.
The Clarke weights of the kinks come out of the projection: mu solves X_K^T (sigma mu) = -(1 - P_j) g_j.

After every step each pair and sample is put where its own optimality condition says (a primal-dual active set
method): a kink with mu < 0 becomes inactive, with mu > lambda_i active; an active or inactive opposite pair whose
pre-activation has the wrong sign becomes a kink; same pairs follow the sign of their pre-activation, which is
the convex-concave step; a sample with lambda < 0 leaves the margin, a violated one enters it; a neuron with
t < 0 disappears.

Two things make that work from a rough guess. The opposite pairs follow every step in several rounds at fixed lambda
(`Pairs.settle`), so that the next Hessian belongs to the right kinks. And both lambda and t are held back: lambda by
a proximal term around the guess until the structure is consistent, t by a share of the Schur complement that falls with
the square of the number of violations. Without the second, directions of t in which many neurons nearly do the same
run away, and neurons die that are needed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.neurons import equal_pattern_groups
from marginflow.limit.problem import Problem
from marginflow.limit.products import times_transpose
from marginflow.limit.settings import COLUMNS_AT_ONCE, PATIENCE, WRONG, WRONG_AT_FIRST
from marginflow.limit.solver.kink_basis import KinkBases
from marginflow.limit.solver.pairs import ACTIVE, Pairs
from marginflow.threads import threads_for

# A sample outside the margin set may fall short of margin 1 by this much before it enters the set.
_MARGIN_SLACK = 1e-12
# A consistent structure is accepted as a solution when its equations hold to this.
_ACCEPTED_RESIDUAL = 1e-10


@dataclass(frozen=True, eq=False)
class Structure:
    """A guess of the solution of (C) and of everything discrete about it.

    Attributes
    ----------
    s : array, shape (k,)
        Signs of the live neurons, +1 first.
    state : integer array, shape (m, k)
        INACTIVE, ACTIVE or KINK for every pair.
    free, capped : boolean arrays, shape (m,)
        Samples on the margin with 0 < lambda < C; samples with lambda = C (soft margin only).
    lam : array, shape (m,)
        Multipliers.
    t : array, shape (k,)
        Scales: ||u_j|| with trained outputs, v_j^2 with frozen ones.
    """

    s: FloatArray
    state: IntArray
    free: BoolArray
    capped: BoolArray
    lam: FloatArray
    t: FloatArray


@dataclass(frozen=True, eq=False)
class NewtonResult:
    """Where Newton's method ended.

    `U` (k, r), `s`, `lam` (m,) and `mu` (m, k) satisfy the KKT system of (C) to `residual`; `converged` says that
    in addition no pair and no sample is on the wrong side. `keep` holds the positions of the surviving neurons
    in the guess, and `structure` what is discrete about a point that has converged.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray
    residual: float
    violations: int
    iterations: int
    converged: bool
    keep: IntArray
    structure: Structure | None = None


def newton(
    problem: Problem,
    guess: Structure,
    *,
    frozen: bool,
    max_iterations: int = 60,
    tolerance: float = 2e-14,
    deadline: float = np.inf,
    damping: float = 1e-2,
    inertia: float = 10.0,
    threads: int = 1,
    caps: FloatArray | None = None,
) -> NewtonResult:
    """Iterate to a point of (C) whose structure is consistent, or give up after `max_iterations`.

    `damping` holds the multipliers near where they are until the structure is consistent, relative to the size of the
    Hessian; `inertia` holds the scales as long as many pairs are on the wrong side, relative to the Schur complement.
    The bases of single neurons are small and made by one BLAS thread; the Hessian may use `threads`. `caps` (m,) are
    penalties that differ from sample to sample, by default that of the problem.
    """
    C = np.full(problem.n_samples, problem.penalty) if caps is None else caps
    # Steps from a wrong structure may overflow; they are noticed by their size and by `isfinite`.
    with np.errstate(over="ignore", invalid="ignore"), threads_for(0.0, 1):
        return _newton(problem, guess, C, frozen, max_iterations, tolerance, deadline, damping, inertia, threads)


def _newton(
    problem: Problem,
    guess: Structure,
    C: FloatArray,
    frozen: bool,
    max_iterations: int,
    tolerance: float,
    deadline: float,
    first_damping: float,
    first_inertia: float,
    threads: int,
) -> NewtonResult:
    y = problem.y
    known = KinkBases(problem)
    s, state, t, keep = guess.s, guess.state, guess.t, np.arange(len(guess.s))
    free, capped = guess.free, guess.capped
    lam = np.where(free, guess.lam, 0.0)
    lam[capped] = C[capped]
    best, start = np.inf, float(t.sum())
    fewest, since = state.size, 0
    heaviest = first_damping * float(t.sum() * problem.norms.mean() ** 2)
    damping, centre, inertia = heaviest, lam.copy(), first_inertia
    for iteration in range(1, max_iterations + 1):
        rows = np.flatnonzero(free)
        if rows.size == 0 or len(s) == 0 or time.monotonic() > deadline:
            break
        pairs = Pairs(problem, known, s, state, lam)
        try:
            lam, t = _step(problem, rows, pairs, lam, t, frozen, damping, centre, inertia, threads)
        except np.linalg.LinAlgError:
            break
        if not 0.5 * start <= t.sum() <= 2.0 * start or not np.isfinite(lam).all():
            break  # the structure was not right; more of ADMM is cheaper than going on from here
        pairs.settle(lam, t)
        state = pairs.state
        off_unit = 0.0 if frozen else np.abs(pairs.norms_squared - 1.0).max(initial=0.0)
        short = 1.0 - pairs.margins(t) + damping * (centre - lam)  # of the (damped) margin equation
        residual = float(max(off_unit, np.abs(short[rows]).max(initial=0.0)))
        new_state = pairs.next_state(lam, t)
        leave, enter = free & (lam < 0.0), ~free & ~capped & (short > _MARGIN_SLACK)
        cap, uncap = free & (lam > C), capped & (short < -_MARGIN_SLACK)
        dead = np.zeros(len(s), dtype=bool) if frozen else t <= 0.0
        wrong = (new_state != state)[:, ~dead]
        violations = int(sum(part.sum() for part in (wrong, leave, enter, cap, uncap, dead)))
        inertia = first_inertia * min(1.0, violations / len(s)) ** 2
        if violations == 0 and damping > 0.0 and residual < 1e-3:
            damping = 1e-3 * damping if damping > 1e-3 * heaviest else 0.0
            centre, best = lam.copy(), np.inf
            fewest, since = state.size, iteration
            continue
        if violations == 0 and damping == 0.0 and (residual <= tolerance or residual > 0.25 * best):
            U = t[:, None] * pairs.D
            end = Structure(s, state, free, capped, lam, t)
            return NewtonResult(U, s, lam, pairs.mu, residual, 0, iteration, residual < _ACCEPTED_RESIDUAL, keep, end)
        best = residual if violations == 0 else np.inf
        if violations < fewest:
            fewest, since = violations, iteration
        elif violations and iteration - since >= PATIENCE:
            break  # the active set wanders
        if violations > (WRONG if iteration > 1 else WRONG_AT_FIRST) * state.size:
            break
        if violations and iteration < max_iterations:
            state = new_state
            free, capped = (free & ~leave & ~cap) | enter | uncap, (capped & ~uncap) | cap
            lam = np.where(leave, 0.0, np.minimum(lam, C))
            if not frozen:
                state, t, alive = _without_redundant_neurons(state, s, y, t, dead)
                s, keep = s[alive], keep[alive]
    else:
        U = t[:, None] * pairs.D
        return NewtonResult(U, s, lam, pairs.mu, residual, violations, max_iterations, False, keep)
    nothing = np.zeros((0, problem.X.shape[1]))
    return NewtonResult(nothing, s[:0], lam, np.zeros((len(y), 0)), np.inf, -1, iteration, False, keep[:0])


def _step(
    problem: Problem,
    rows: IntArray,
    pairs: Pairs,
    lam: FloatArray,
    t: FloatArray,
    frozen: bool,
    damping: float,
    centre: FloatArray,
    inertia: float,
    threads: int,
) -> tuple[FloatArray, FloatArray]:
    """One Newton step in the free multipliers and, with trained outputs, the scales."""
    C = (problem.X @ pairs.D.T) * pairs.active
    columns = sum(basis.narrow.shape[1] for basis in pairs.bases)
    with threads_for(float(len(rows)) ** 2 * columns, threads):
        H = _hessian(problem, rows, pairs, t)
    H[np.diag_indices(len(rows))] += damping
    missing = (1.0 - C @ t + damping * (centre - lam))[rows]
    lam = lam.copy()
    if frozen:
        lam[rows] += _solve_saddle(H, C[rows, :0], missing, np.zeros(0))[0]
        return lam, t
    dlam, dt = _solve_saddle(H, C[rows], missing, 0.5 * (1.0 - pairs.norms_squared), inertia)
    lam[rows] += dlam
    return lam, t + dt


def _hessian(problem: Problem, rows: IntArray, pairs: Pairs, t: FloatArray) -> FloatArray:
    """sum_j t_j H_j on the given rows, H_j the Gram matrix of the projected samples of neuron j."""
    signs, bases = pairs.active[rows], pairs.bases
    whole = np.where([basis.complement for basis in bases], 0.0, t)
    H: FloatArray = problem.gram(rows, rows) * ((signs * whole) @ signs.T)
    for complement in (False, True):
        pending: list[FloatArray] = []
        columns = 0
        chosen = [j for j, basis in enumerate(bases) if basis.complement == complement]
        for j in chosen:
            # t_j < 0 only while a neuron is on its way out
            pending.append((np.sqrt(max(t[j], 0.0)) * signs[:, j])[:, None] * bases[j].narrow[rows])
            columns += pending[-1].shape[1]
            if columns > COLUMNS_AT_ONCE or j == chosen[-1]:
                E = np.concatenate(pending, axis=1)
                H += times_transpose(E) if complement else -times_transpose(E)
                pending, columns = [], 0
    return H


def _solve_saddle(
    H: FloatArray, C: FloatArray, f: FloatArray, g: FloatArray, inertia: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Solve [[H, C], [C^T, -delta]] (x, z) = (f, g), H positive semidefinite, by elimination and refinement.

    delta is `inertia` times the average diagonal entry of the Schur complement C^T H^{-1} C.
    """
    n, k = C.shape
    # The shifts keep both Cholesky factors alive when neurons or samples are redundant; refinement removes them.
    shifted = H.copy()
    shifted[np.diag_indices(n)] += 1e-12 * (np.trace(H) / n) + 1e-300
    factor = scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    B = scipy.linalg.cho_solve(factor, C, check_finite=False)
    S = C.T @ B
    delta = inertia * float(np.trace(S)) / max(k, 1)
    S[np.diag_indices(k)] += delta + 1e-14 * np.trace(S) / max(k, 1) + 1e-300
    schur = scipy.linalg.cho_factor(S, lower=True, check_finite=False) if k else None

    def eliminate(f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
        x: FloatArray = scipy.linalg.cho_solve(factor, f, check_finite=False)
        if schur is None:
            return x, g
        z: FloatArray = scipy.linalg.cho_solve(schur, C.T @ x - g, check_finite=False)
        return x - B @ z, z

    x, z = eliminate(f, g)
    for _ in range(2):
        dx, dz = eliminate(f - H @ x - C @ z, g - C.T @ x + delta * z)
        x, z = x + dx, z + dz
    return x, z


def _without_redundant_neurons(
    state: IntArray, s: FloatArray, y: FloatArray, t: FloatArray, dead: BoolArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """Drop dead neurons and merge those whose patterns on same samples agree; the largest keeps its kinks."""
    alive = np.flatnonzero(~dead)
    groups = equal_pattern_groups(state[:, alive] == ACTIVE, s[alive], y)
    scale = np.zeros(int(groups.max(initial=-1)) + 1)
    np.add.at(scale, groups, t[alive])
    by_size = alive[np.argsort(-t[alive], kind="stable")]
    largest = by_size[np.unique(groups[np.argsort(-t[alive], kind="stable")], return_index=True)[1]]
    return state[:, largest], scale, largest
