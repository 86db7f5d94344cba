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
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.neurons import equal_pattern_groups
from marginflow.limit.problem import Problem
from marginflow.limit.threads import threads_for

INACTIVE, ACTIVE, KINK = 0, 1, 2

# Columns of projected samples gathered before one symmetric update of the Jacobian (bounds its memory).
_COLUMNS_AT_ONCE = 4096
# A sample outside the margin set may fall short of margin 1 by this much before it enters the set.
_MARGIN_SLACK = 1e-12
# Steps without a new least number of violations after which the structure is given back to ADMM.
_PATIENCE = 16
# And the share of pairs and samples on the wrong side above which it is given back after a few steps.
_WRONG, _FEW_STEPS = 0.02, 6
# Cholesky factors of kink samples whose diagonal falls by more than this are replaced by QR factors.
_STEEPEST = 1e-3
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
    in the guess.
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


@dataclass(frozen=True, eq=False)
class _KinkBasis:
    """The kink samples X_K of one neuron: a factorisation of X_K, and the rows of X in the smaller of two bases.

    `narrow` is X Q, Q an orthonormal basis of the rows of X_K, when at most half of the dimensions are taken by kinks;
    otherwise X N with N an orthonormal basis of the complement. The Gram matrix of the rows P_j x_i is
    XX^T - XQ (XQ)^T in the first case and XN (XN)^T in the second, and either costs as much as its basis is wide.

    In the first case the Cholesky factor L of the Gram matrix of X_K gives X Q = (X X_K^T) L^{-T} at a tenth of the
    cost of a QR factorisation; projections are refined once. Where L is too steep for that, and in the second case,
    X_K^T = Q R is used.
    """

    XK: FloatArray
    narrow: FloatArray
    complement: bool
    L: FloatArray | None = None
    Q: FloatArray | None = None
    R: FloatArray | None = None

    @classmethod
    def of(cls, problem: Problem, rows: BoolArray) -> _KinkBasis:
        X = problem.X
        XK, r = X[rows], X.shape[1]
        complement = 2 * len(XK) > r
        if len(XK) == 0:
            return cls(XK, np.zeros((len(X), 0)), False, L=np.zeros((0, 0)))
        if not complement:
            cross = problem.gram[rows]
            try:
                L: FloatArray = scipy.linalg.cholesky(cross[:, rows], lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                L = np.zeros((1, 1))
            steepness = np.diag(L)
            if steepness.min() > _STEEPEST * steepness.max():
                narrow = scipy.linalg.solve_triangular(L, cross, lower=True, check_finite=False).T
                return cls(XK, narrow, False, L=L)
        Q, R = scipy.linalg.qr(XK.T, mode="full" if complement else "economic", check_finite=False)
        width = min(r, len(XK))
        return cls(XK, X @ (Q[:, width:] if complement else Q), complement, Q=Q[:, :width], R=R[:width])

    def project(self, g: FloatArray) -> FloatArray:
        """P_j g."""
        if self.Q is not None:
            return g - self.Q @ (self.Q.T @ g)
        return g - self.XK.T @ self.coefficients(g)

    def coefficients(self, g: FloatArray) -> FloatArray:
        """c with X_K^T c = g - P_j g; of least norm when the kink samples are dependent."""
        c: FloatArray
        if self.L is not None:
            factor = (self.L, True)
            c = scipy.linalg.cho_solve(factor, self.XK @ g, check_finite=False)
            c = c + scipy.linalg.cho_solve(factor, self.XK @ (g - self.XK.T @ c), check_finite=False)
            return c
        assert self.Q is not None
        assert self.R is not None
        along = self.Q.T @ g
        diagonal = np.abs(np.diag(self.R))
        if self.R.shape[0] == self.R.shape[1] and diagonal.min() > 1e-13 * diagonal.max():
            c = scipy.linalg.solve_triangular(self.R, along, check_finite=False)
        else:
            c = scipy.linalg.lstsq(self.R, along, check_finite=False)[0]
        return c


class _KinkBases:
    """Bases of all neurons, remembered from one iteration to the next where the kink set stays the same."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[bytes, _KinkBasis] = {}

    def of(self, kinks: BoolArray) -> list[_KinkBasis]:
        """One basis for every column of `kinks`."""
        keys = [np.packbits(column).tobytes() for column in kinks.T]
        bases = {}
        for key, column in zip(keys, kinks.T, strict=True):
            if key not in bases:
                bases[key] = self._known.get(key) or _KinkBasis.of(self.problem, column)
        self._known = bases
        return [bases[key] for key in keys]


def newton(
    problem: Problem,
    guess: Structure,
    *,
    frozen: bool,
    rho: float,
    max_iterations: int = 40,
    tolerance: float = 2e-14,
    deadline: float = np.inf,
    damping: float = 1e-2,
    threads: int = 1,
) -> NewtonResult:
    """Iterate to a point of (C) whose structure is consistent, or give up after `max_iterations`.

    `rho` weighs pre-activations against multipliers when a pair on the wrong side chooses its next state. `damping`
    holds the multipliers near where they are until the structure is consistent, relative to the size of the Hessian.
    The bases of single neurons are small and made by one BLAS thread; the Hessian may use `threads`.
    """
    with threads_for(0.0, 1):
        return _newton(problem, guess, frozen, rho, max_iterations, tolerance, deadline, damping, threads)


def _newton(
    problem: Problem,
    guess: Structure,
    frozen: bool,
    rho: float,
    max_iterations: int,
    tolerance: float,
    deadline: float,
    first_damping: float,
    threads: int,
) -> NewtonResult:
    X, y, C = problem.X, problem.y, problem.penalty
    known = _KinkBases(problem)
    s, state, t, keep = guess.s, guess.state, guess.t, np.arange(len(guess.s))
    free, capped = guess.free, guess.capped
    lam = np.where(free, guess.lam, 0.0)
    if capped.any():
        lam[capped] = C
    best, start = np.inf, float(t.sum())
    fewest, since = state.size, 0
    heaviest = first_damping * float(t.sum() * problem.norms.mean() ** 2)
    damping, centre = heaviest, lam.copy()
    for iteration in range(1, max_iterations + 1):
        sigma = y[:, None] * s
        active = np.where(state == ACTIVE, sigma, 0.0)
        bases = known.of(state == KINK)
        rows = np.flatnonzero(free)
        if rows.size == 0 or len(s) == 0 or time.monotonic() > deadline:
            break
        try:
            lam, t = _step(problem, rows, active, bases, lam, t, frozen, damping, centre, threads)
        except np.linalg.LinAlgError:
            break
        D, mu = _directions(X, active, sigma, state, lam, bases)
        U = t[:, None] * D
        Z = X @ U.T
        margins = np.einsum("ij,ij->i", active, Z)
        off_unit = 0.0 if frozen else np.abs(np.einsum("ij,ij->i", D, D) - 1.0).max(initial=0.0)
        short = 1.0 - margins + damping * (centre - lam)  # of the (damped) margin equation
        residual = float(max(off_unit, np.abs(short[rows]).max(initial=0.0)))
        if not 0.5 * start <= t.sum() <= 2.0 * start or not np.isfinite(residual):
            break  # the structure was not right; more of ADMM is cheaper than going on from here
        size = np.outer(problem.norms, np.linalg.norm(U, axis=1))
        new_state = _next_state(state, sigma, Z, size, mu, lam, rho)
        leave, enter = free & (lam < 0.0), ~free & ~capped & (short > _MARGIN_SLACK)
        cap, uncap = free & (lam > C), capped & (short < -_MARGIN_SLACK)
        dead = np.zeros(len(s), dtype=bool) if frozen else t <= 0.0
        violations = int(sum(part.sum() for part in (new_state != state, leave, enter, cap, uncap, dead)))
        if violations == 0 and damping > 0.0 and residual < 1e-3:
            damping = 1e-3 * damping if damping > 1e-3 * heaviest else 0.0
            centre, best = lam.copy(), np.inf
            continue
        if violations == 0 and damping == 0.0 and (residual <= tolerance or residual > 0.25 * best):
            return NewtonResult(U, s, lam, mu, residual, 0, iteration, residual < _ACCEPTED_RESIDUAL, keep)
        best = residual if violations == 0 else np.inf
        if violations < fewest:
            fewest, since = violations, iteration
        elif violations and iteration - since >= _PATIENCE:
            break  # the active set wanders
        if iteration >= _FEW_STEPS and violations > _WRONG * state.size:
            break
        if violations and iteration < max_iterations:
            state = new_state
            free, capped = (free & ~leave & ~cap) | enter | uncap, (capped & ~uncap) | cap
            lam = np.where(leave, 0.0, np.minimum(lam, C))
            if not frozen:
                state, t, alive = _without_redundant_neurons(state, s, y, t, dead)
                s, keep = s[alive], keep[alive]
    else:
        return NewtonResult(U, s, lam, mu, residual, violations, max_iterations, False, keep)
    return NewtonResult(
        np.zeros((0, X.shape[1])), s[:0], lam, np.zeros((len(y), 0)), np.inf, -1, iteration, False, keep[:0]
    )


def _step(
    problem: Problem,
    rows: IntArray,
    active: FloatArray,
    bases: list[_KinkBasis],
    lam: FloatArray,
    t: FloatArray,
    frozen: bool,
    damping: float,
    centre: FloatArray,
    threads: int,
) -> tuple[FloatArray, FloatArray]:
    """One Newton step in the free multipliers and, with trained outputs, the scales."""
    D = (active * lam[:, None]).T @ problem.X
    for j, basis in enumerate(bases):
        D[j] = basis.project(D[j])
    C = (problem.X @ D.T) * active
    with threads_for(float(len(rows)) ** 2 * sum(basis.narrow.shape[1] for basis in bases), threads):
        H = _hessian(problem, rows, active, bases, t)
    H[np.diag_indices(len(rows))] += damping
    missing = (1.0 - C @ t + damping * (centre - lam))[rows]
    lam = lam.copy()
    if frozen:
        lam[rows] += _solve_saddle(H, C[rows, :0], missing, np.zeros(0))[0]
        return lam, t
    dlam, dt = _solve_saddle(H, C[rows], missing, 0.5 * (1.0 - np.einsum("ij,ij->i", D, D)))
    lam[rows] += dlam
    return lam, t + dt


def _hessian(
    problem: Problem, rows: IntArray, active: FloatArray, bases: list[_KinkBasis], t: FloatArray
) -> FloatArray:
    """sum_j t_j H_j on the given rows, H_j the Gram matrix of the projected samples of neuron j."""
    signs = active[rows]
    whole = np.where([basis.complement for basis in bases], 0.0, t)
    H: FloatArray = problem.gram[np.ix_(rows, rows)] * ((signs * whole) @ signs.T)
    for complement in (False, True):
        pending: list[FloatArray] = []
        columns = 0
        chosen = [j for j, basis in enumerate(bases) if basis.complement == complement]
        for j in chosen:
            # t_j < 0 only while a neuron is on its way out
            pending.append((np.sqrt(max(t[j], 0.0)) * signs[:, j])[:, None] * bases[j].narrow[rows])
            columns += pending[-1].shape[1]
            if columns > _COLUMNS_AT_ONCE or j == chosen[-1]:
                E = np.concatenate(pending, axis=1)
                H += E @ E.T if complement else -(E @ E.T)
                pending, columns = [], 0
    return H


def _solve_saddle(H: FloatArray, C: FloatArray, f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve [[H, C], [C^T, 0]] (x, z) = (f, g), H positive semidefinite, by regularised elimination and refinement."""
    n, k = C.shape
    # The shifts keep both Cholesky factors alive when neurons or samples are redundant; refinement removes them.
    shifted = H.copy()
    shifted[np.diag_indices(n)] += 1e-12 * (np.trace(H) / n) + 1e-300
    factor = scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    B = scipy.linalg.cho_solve(factor, C, check_finite=False)
    S = C.T @ B
    S[np.diag_indices(k)] += 1e-14 * np.trace(S) / max(k, 1) + 1e-300
    schur = scipy.linalg.cho_factor(S, lower=True, check_finite=False) if k else None

    def eliminate(f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
        x: FloatArray = scipy.linalg.cho_solve(factor, f, check_finite=False)
        if schur is None:
            return x, g
        z: FloatArray = scipy.linalg.cho_solve(schur, C.T @ x - g, check_finite=False)
        return x - B @ z, z

    x, z = eliminate(f, g)
    for _ in range(2):
        dx, dz = eliminate(f - H @ x - C @ z, g - C.T @ x)
        x, z = x + dx, z + dz
    return x, z


def _directions(
    X: FloatArray, active: FloatArray, sigma: FloatArray, state: IntArray, lam: FloatArray, bases: list[_KinkBasis]
) -> tuple[FloatArray, FloatArray]:
    """D_j = P_j g_j, shape (k, r), and the weights mu_ij = lambda_i times the Clarke derivative, shape (m, k)."""
    D = (active * lam[:, None]).T @ X
    mu = np.where(state == ACTIVE, lam[:, None], 0.0)
    for j, basis in enumerate(bases):
        if len(basis.XK):
            K = state[:, j] == KINK
            mu[K, j] = -sigma[K, j] * basis.coefficients(D[j])
            D[j] = basis.project(D[j])
    return D, mu


def _next_state(
    state: IntArray, sigma: FloatArray, Z: FloatArray, size: FloatArray, mu: FloatArray, lam: FloatArray, rho: float
) -> IntArray:
    """Each pair where its own optimality condition puts it; pairs on the right side stay."""
    tiny, kink, opposite = 1e-13 * size, state == KINK, sigma < 0
    small = 1e-12 * float(lam.max(initial=0.0))
    new = state.copy()
    new[kink & (mu < -small)] = INACTIVE
    new[kink & (mu > lam[:, None] + small)] = ACTIVE
    # An opposite pair on the wrong side becomes a kink, or crosses over if its pre-activation is far beyond what
    # the multiplier can hold (the proximal map of lambda relu at weight rho decides).
    falls = (state == ACTIVE) & (Z < -tiny)
    rises = (state == INACTIVE) & (Z > tiny)
    reach = lam[:, None] / rho
    new[opposite & falls] = KINK
    new[opposite & falls & (Z < -reach)] = INACTIVE
    new[opposite & rises] = KINK
    new[opposite & rises & (Z > reach)] = ACTIVE
    # Same pairs follow the sign of the pre-activation: the convex-concave step.
    new[~opposite & falls] = INACTIVE
    new[~opposite & rises] = ACTIVE
    return new


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
