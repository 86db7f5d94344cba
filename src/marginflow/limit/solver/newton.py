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

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.neurons import equal_pattern_groups
from marginflow.limit.problem import Problem
from marginflow.limit.products import without_flags
from marginflow.limit.settings import (
    ACCEPTED_RESIDUAL,
    DAMPED_BELOW,
    DAMPING,
    INERTIA,
    LARGE_HESSIAN,
    MARGIN_SLACK,
    PATIENCE,
    PRODUCTS,
    UNDAMPED,
    WRONG,
    WRONG_AT_FIRST,
)
from marginflow.limit.solver.conjugate_gradients import GradientSteps
from marginflow.limit.solver.hessian import hessian, solve_saddle
from marginflow.limit.solver.kink_basis import KinkBases, KinkBasis
from marginflow.limit.solver.kink_factors import KinkFactors
from marginflow.limit.solver.pairs import ACTIVE, KINK, Pairs
from marginflow.threads import one_thread, threads_for


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

    def on(self, rows: IntArray) -> Structure:
        """The structure on some of the samples."""
        return Structure(self.s, self.state[rows], self.free[rows], self.capped[rows], self.lam[rows], self.t)


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
    iterations: int
    converged: bool
    keep: IntArray
    structure: Structure | None = None


@without_flags  # steps from a wrong structure may overflow; they are noticed by their size and by `isfinite`
def newton(
    problem: Problem,
    guess: Structure,
    *,
    frozen: bool,
    max_iterations: int = 60,
    tolerance: float = 2e-14,
    deadline: float = np.inf,
    damping: float = DAMPING,
    inertia: float = INERTIA,
    threads: int = 1,
    caps: FloatArray | None = None,
    lean: bool | None = None,
) -> NewtonResult:
    """Iterate to a point of (C) whose structure is consistent, or give up after `max_iterations`.

    `damping` holds the multipliers near where they are until the structure is consistent, relative to the size of the
    Hessian; `inertia` holds the scales as long as many pairs are on the wrong side, relative to the Schur complement.
    Neurons are shared among `threads`, each with one BLAS thread; Hessian and preconditioner use BLAS threads.
    `caps` (m,) are penalties that differ from sample to sample, by default that of the problem. `lean` solves for every
    step by conjugate gradients and forms no Hessian; by default where the Hessian is the larger work.
    """
    C = np.full(problem.n_samples, problem.penalty) if caps is None else caps
    lean = step_work(problem, guess)[1] if lean is None else lean
    y = problem.y
    known = KinkFactors(problem, threads) if lean else KinkBases(problem)
    gradients = GradientSteps(problem) if lean else None
    s, state, t, keep = guess.s, guess.state, guess.t, np.arange(len(guess.s))
    free, capped = guess.free, guess.capped
    lam = np.where(free, guess.lam, 0.0)
    lam[capped] = C[capped]
    pairs: Pairs | None = None
    same = False
    best, start = np.inf, float(t.sum())
    fewest, since = state.size, 0
    heaviest = damping * float(t.sum() * problem.norms.mean() ** 2)
    damping, centre, inertia_at_first = heaviest, lam.copy(), inertia
    with one_thread():
        for iteration in range(1, max_iterations + 1):
            rows = np.flatnonzero(free)
            if rows.size == 0 or len(s) == 0 or time.monotonic() > deadline:
                break
            try:
                if pairs is None or len(pairs.s) != len(s):
                    pairs = Pairs(problem, known, s, state, lam, threads=threads)
                else:
                    pairs.move(state, lam, same_multipliers=same)
                lam, t = _step(rows, pairs, lam, t, frozen, damping, centre, inertia, gradients)
                if not 0.5 * start <= t.sum() <= 2.0 * start or not np.isfinite(lam).all():
                    break  # the structure was not right; more of ADMM is cheaper than going on from here
                pairs.settle(lam, t)
            except np.linalg.LinAlgError:
                break
            same = True
            state = pairs.state
            off_unit = 0.0 if frozen else np.abs(pairs.norms_squared - 1.0).max(initial=0.0)
            short = 1.0 - pairs.margins(t) + damping * (centre - lam)  # of the (damped) margin equation
            residual = float(max(off_unit, np.abs(short[rows]).max(initial=0.0)))
            new_state = pairs.next_state(lam, t)
            leave, enter = free & (lam < 0.0), ~free & ~capped & (short > MARGIN_SLACK)
            cap, uncap = free & (lam > C), capped & (short < -MARGIN_SLACK)
            dead = np.zeros(len(s), dtype=bool) if frozen else t <= 0.0
            wrong = (new_state != state)[:, ~dead]
            violations = int(sum(part.sum() for part in (wrong, leave, enter, cap, uncap, dead)))
            inertia = inertia_at_first * min(1.0, violations / len(s)) ** 2
            if violations == 0 and damping > 0.0 and residual < DAMPED_BELOW:
                damping = UNDAMPED * damping if damping > UNDAMPED * heaviest else 0.0
                centre, best = lam.copy(), np.inf
                fewest, since = state.size, iteration
                continue
            if violations == 0 and damping == 0.0 and (residual <= tolerance or residual > 0.25 * best):
                U = t[:, None] * pairs.D
                end = Structure(s, state, free, capped, lam, t)
                return NewtonResult(U, s, lam, pairs.mu, residual, iteration, residual < ACCEPTED_RESIDUAL, keep, end)
            best = residual if violations == 0 else np.inf
            if violations < fewest:
                fewest, since = violations, iteration
            elif violations and iteration - since >= PATIENCE:
                break  # the active set wanders
            if violations > (WRONG if iteration > 1 else WRONG_AT_FIRST) * state.size:
                break
            if violations:
                state = new_state
                free, capped = (free & ~leave & ~cap) | enter | uncap, (capped & ~uncap) | cap
                same = not (leave.any() or cap.any())
                lam = np.where(leave, 0.0, np.minimum(lam, C))
                if not frozen:
                    state, t, alive = _without_redundant_neurons(state, s, y, t, dead)
                    s, keep = s[alive], keep[alive]
        nothing = np.zeros((0, problem.X.shape[1]))
        return NewtonResult(nothing, s[:0], lam, np.zeros((len(y), 0)), np.inf, iteration, False, keep[:0])


def step_work(problem: Problem, guess: Structure) -> tuple[float, bool]:
    """Multiplications in a step from this structure, and whether it does without the Hessian.

    The Hessian costs n^2 for every kink (or free dimension) of a neuron and its factor n^3 / 3; conjugate gradients
    cost `PRODUCTS` products m x r x k and the preconditioner 4 n r^2, or n^3 / 3 where it is made of inner products.
    """
    m, r = problem.X.shape
    kinks = (guess.state == KINK).sum(axis=0)
    n = float(guess.free.sum())
    hessian = n**2 * (float(np.minimum(kinks, np.maximum(r - kinks, 0)).sum()) + n / 3)
    gradients = PRODUCTS * float(m) * r * len(guess.s) + (4.0 * n * r**2 if n > 2 * r else n**3 / 3)
    lean = hessian > LARGE_HESSIAN and hessian > gradients
    return (gradients if lean else hessian), lean


def _step(
    rows: IntArray,
    pairs: Pairs,
    lam: FloatArray,
    t: FloatArray,
    frozen: bool,
    damping: float,
    centre: FloatArray,
    inertia: float,
    gradients: GradientSteps | None,
) -> tuple[FloatArray, FloatArray]:
    """One Newton step in the free multipliers and, with trained outputs, the scales."""
    C = pairs.XD * pairs.active
    missing = (1.0 - C @ t + damping * (centre - lam))[rows]
    C, off_unit = (C[rows, :0], np.zeros(0)) if frozen else (C[rows], 0.5 * (1.0 - pairs.norms_squared))
    if gradients is not None:
        dlam, dt = gradients.step(rows, pairs, t, C, missing, off_unit, damping=damping, inertia=inertia)
    else:
        bases = [basis for basis in pairs.bases if isinstance(basis, KinkBasis)]
        columns = sum(basis.narrow.shape[1] for basis in bases)
        with threads_for(float(len(rows)) ** 2 * columns, pairs.threads):
            H = hessian(pairs.problem, rows, pairs.active[rows], bases, t)
        H[np.diag_indices(len(rows))] += damping
        dlam, dt = solve_saddle(H, C, missing, off_unit, 0.0 if frozen else inertia)
    lam = lam.copy()
    lam[rows] += dlam
    return lam, t if frozen else t + dt


def _without_redundant_neurons(
    state: IntArray, s: FloatArray, y: FloatArray, t: FloatArray, dead: BoolArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """Drop dead neurons and merge those whose patterns on same samples agree; the largest keeps its kinks."""
    alive = np.flatnonzero(~dead)
    groups = equal_pattern_groups(state[:, alive] == ACTIVE, s[alive], y)
    by_size = np.argsort(-t[alive], kind="stable")
    largest = alive[by_size[np.unique(groups[by_size], return_index=True)[1]]]
    return state[:, largest], np.bincount(groups, t[alive]).astype(np.float64), largest
