r"""Over-relaxed ADMM for the convex problem (C), with the pattern A refreshed inside the run.

Split Z = X U^T. Every neuron then has its own proximal step, every sample its own projection:

- neuron: min h_j(u) + rho/2 ||X u - b||^2. With trained outputs u = t R / (1 + rho s^2 t) where R = rho X^T b and
  t = ||u|| solves the secular equation sum_l R_l^2 / (1 + rho s_l^2 t)^2 = 1 (u = 0 if ||R|| <= 1);
  with frozen outputs h is quadratic and u = a^2 R / (1 + rho s^2 a^2).
- sample: the projection of a row z0 on sum_same A z - sum_opposite relu(z) >= 1 moves active same entries up by
  tau and soft-thresholds positive opposite entries by tau; tau >= 0 solves a concave increasing piecewise
  linear equation. lambda = rho tau. A soft margin caps tau at C / rho.

Solving (C) to the end for every pattern would waste the early rounds: instead A is refreshed every few
iterations, neurons whose patterns have become equal are merged, and neurons that stay zero are dropped. When
no entry of A flips any more the run *is* ADMM on one convex problem.

Single precision is enough to find out which pairs and samples are where, at half of the time; `sharpen` goes on in
double precision once the residuals have come down to what single precision can resolve.
"""

from functools import partial
from typing import Literal

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.neurons import Merging, Neurons, equal_pattern_groups, follow, survivors
from marginflow.limit.problem import Problem
from marginflow.limit.products import product, without_flags
from marginflow.limit.settings import (
    ASLEEP_UP_TO,
    BALANCED_AFTER,
    BLOCK_BYTES,
    FEW_PAIRS,
    IDLE_BEFORE_DROP,
    LARGEST_MULTIPLIER,
    REFRESH_ANYWAY,
    REFRESH_EVERY,
    REFRESH_MARGIN,
    SINGLE,
    WEIGHT_KEPT,
)
from marginflow.limit.solver.balance import Balance, uneven
from marginflow.limit.solver.proximal import FewPairs, Part, project, shrink
from marginflow.threads import available_threads, one_thread, parts_of, share

Precision = Literal["single", "double"]


class Admm:
    """A run of ADMM on (C): state in place, advanced by `run`.

    With `multipliers` (m,) it begins from a warm dual, and with `weights` (m, k), multipliers times Clarke weights,
    from the dual of a point that was left before: without them kinks begin as active. `weight` multiplies rho, which is
    balanced from iteration `balanced_from` on. A first pattern that is `feasible` is kept until margins nearly are.

    Attributes
    ----------
    U, s : arrays, shapes (k, r) and (k,)
        Present neurons in reduced coordinates, positive signs first.
    A : boolean array, shape (m, k)
        Pattern on same pairs (entries of opposite pairs are not used).
    tau : array, shape (m,)
        Scaled multipliers; lambda = rho * tau.
    primal_residual, dual_residual : float
        ||X U^T - Z|| / ||Z|| and rho ||X^T (Z - Z_previous)|| per neuron, at the last check.
    flips : int
        Entries of A that changed at the last refresh.
    """

    # A run that becomes infinite or not a number shows it in `objective`, where `polish` looks.
    @without_flags
    def __init__(
        self,
        problem: Problem,
        neurons: Neurons,
        multipliers: FloatArray | None = None,
        *,
        weights: FloatArray | None = None,
        anchor_weight: float = 0.0,
        precision: Precision = "double",
        weight: float = 1.0,
        balanced_from: int = BALANCED_AFTER,
        feasible: bool = False,
    ) -> None:
        self.problem = problem
        self._use(precision)
        self.U = np.array(neurons.U, dtype=self._real)
        self.s = np.array(neurons.s)
        self.a2 = None if neurons.outputs_squared is None else np.array(neurons.outputs_squared)
        self.members: IntArray = np.arange(len(self.s))
        self.anchor = self.U.copy()
        self.anchor_weight = anchor_weight
        self.iterations = 0
        self.flips = -1
        self.primal_residual = np.inf
        self.dual_residual = np.inf
        m = problem.n_samples
        self.t: FloatArray = np.linalg.norm(self.U, axis=1)
        size = max(float(self.t.sum() if self.a2 is None else self.a2.sum()), 1e-300)
        self._balance = Balance(weight, size, due=balanced_from)
        self.rho = self._balance.rho(problem, self.t)
        self.scales: FloatArray = np.ones(len(self.s), dtype=self._real)
        self.tau = np.zeros(m, dtype=self._real)
        self.idle = np.zeros(len(self.s), dtype=np.int64)
        self.Z = self._X @ self.U.T
        self.Y = np.zeros_like(self.Z)
        self.A: BoolArray = self.Z > 0
        self._ensure_every_sample_is_reached(self.Z)
        if multipliers is not None:  # a warm dual: without it the first steps forget where the flow has been
            self.tau = (np.minimum(multipliers, problem.penalty) / self.rho).astype(self._real)
            same = self._same_mask()
            held = self.tau[:, None] * np.where(same, self.A, self.Z > 0) if weights is None else weights / self.rho
            self.Y = np.where(same, -held, held).astype(self._real, copy=False)
        # Multipliers sum to the objective at the end, so this cap is out of reach unless the pattern is infeasible.
        self.cap = min(problem.penalty, LARGEST_MULTIPLIER * max(self.objective, 1e-300))
        self._last_refresh, self._refresh_anyway = 0, np.inf if feasible else REFRESH_ANYWAY
        self._allocate()

    # Precision ------------------------------------------------------------------------------------

    def _use(self, precision: Precision) -> None:
        self._real = np.dtype(np.float32 if precision == "single" else np.float64)
        X = self.problem.rounded if precision == "single" else self.problem.X
        self._X: FloatArray = X.astype(self._real, copy=False)

    @property
    def precision(self) -> Precision:
        """Of the present arithmetic."""
        return "single" if self._real == np.float32 else "double"

    @property
    def weight(self) -> float:
        """What rho is multiplied by at present."""
        return self._balance.factor

    def go_on_from(self, iterations: int) -> None:
        """Count on from an earlier run."""
        self._balance.due += iterations - self.iterations
        self.iterations = self._last_refresh = iterations

    def sharpen(self) -> None:
        """Go on in double precision."""
        self._use("double")
        self.U, self.t, self.tau = (part.astype(self._real, copy=False) for part in (self.U, self.t, self.tau))
        self.Z, self.Y, self.anchor = (part.astype(self._real, copy=False) for part in (self.Z, self.Y, self.anchor))
        self.scales = self.scales.astype(self._real)
        self._allocate()

    @property
    def exhausted(self) -> bool:
        """Whether single precision has nothing more to give."""
        return self._real == np.float32 and self.residual < SINGLE

    @property
    def residual(self) -> float:
        """The larger of both."""
        return max(self.primal_residual, self.dual_residual)

    # Layout ---------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        """Buffers and views for the present number of neurons; columns of one sign are contiguous."""
        m, k = self.Z.shape
        self._H = np.empty_like(self.Z)
        self._R = np.empty_like(self.U)
        self._s2 = self.problem.s2.astype(self._real)
        self._zeros = np.zeros(k, dtype=self._real)  # a row: see `project`
        work = float(self.problem.X.size) * k
        self._neuron_parts = parts_of(k, work)
        most = max(1, BLOCK_BYTES // max(1, k * self._real.itemsize))
        p, kp = self.problem.n_positive, int((self.s > 0).sum())
        self._parts = [Part.of(rows, p, kp, k, most, self._real) for rows in parts_of(m, work)]
        self._pattern_changed()

    def _pattern_changed(self) -> None:
        """The pattern as shares of the margin for each unit of a scaled pre-activation."""
        shares = 1.0 / self.scales
        few = len(self._parts) == 1 and self.A.size <= FEW_PAIRS
        self._few = FewPairs.of(self.A, self._same_mask(), shares) if few else None
        for part in [] if self._few is not None else self._parts:
            part.A_same = [self.A[rows, same] * shares[same] for rows, same, _ in part.blocks]
            part.active = [A.sum(axis=1) for A in part.A_same]

    @property
    def _same_pairs(self) -> tuple[tuple[slice, slice], ...]:
        """Samples and neurons of one sign: both have the positive ones first."""
        (m, k), p, kp = self.Z.shape, self.problem.n_positive, int((self.s > 0).sum())
        return (slice(0, p), slice(0, kp)), (slice(p, m), slice(kp, k))

    def _same_mask(self) -> BoolArray:
        return np.asarray(self.problem.y[:, None] * self.s > 0)

    def _ensure_every_sample_is_reached(self, Z: FloatArray) -> None:
        """A sample without an active same neuron activates the one with the largest pre-activation.

        Without that no point of (C) satisfies its margin; with a soft margin it may stay below the margin.
        """
        if np.isfinite(self.problem.penalty):
            return
        for rows, same in self._same_pairs:
            lonely = rows.start + np.flatnonzero(~self.A[rows, same].any(axis=1))
            if lonely.size and same.start < same.stop:
                self.A[lonely, same.start + np.argmax(Z[lonely, same], axis=1)] = True

    # The two proximal steps -----------------------------------------------------------------------

    def _multiply_samples(self, part: Part) -> None:
        """H = X U^T of some samples."""
        np.matmul(self._X[part.rows], self._scaled.T, out=self._H[part.rows])

    def _multiply_and_project(self, part: Part) -> None:
        self._multiply_samples(part)
        self._project_samples(part)

    def _project_samples(self, part: Part, *, measure: bool = False) -> None:
        """H to Z, Y and the multipliers tau, and then to Z - Y in place."""
        if self._few is not None:
            few = (self._H, self.Z, self.Y, self.tau, self.cap / self.rho)
            part.apart = self._few.project(*few, measure=measure)
            return
        state = (self._H, self.Z, self.Y, self.tau, self.A)
        project(part, *state, 1.0 / self.scales, self.cap / self.rho, measure=measure)

    def _shrink_neurons(self, neurons: slice) -> None:
        """rho R (+ anchor), R = (Z - Y)^T X, to U; solves the secular equations of these neurons."""
        R, t = self._R[neurons], self.t[neurons]
        R *= self.rho
        if self.anchor_weight > 0.0:
            R += self.anchor_weight * self.anchor[neurons]
        if self.a2 is not None:
            rs = (self.rho * self.problem.s2 + self.anchor_weight).astype(self._real)
            self.U[neurons] = R / (rs + (1.0 / self.a2[neurons, None]).astype(self._real))
            t[...] = np.linalg.norm(self.U[neurons], axis=1)
            return
        rho = self._real.type(self.rho) * self.scales[neurons]
        live = shrink(R, t, self._s2, rho, self.anchor_weight, out=self.U[neurons])
        idle = self.idle[neurons]
        idle += 1
        idle[live] = 0

    # Housekeeping ---------------------------------------------------------------------------------

    def _may_refresh(self, H: FloatArray) -> bool:
        """Patterns are read off nearly feasible points only: (C) of an infeasible pattern has no solution.

        A run that stays far from feasible for long was started from data that are not separated yet; it refreshes.
        """
        margins = self.problem.y * (np.maximum(H, self._zeros) @ (self.s / self.scales).astype(self._real))
        waited = self.iterations - self._last_refresh
        nearly_feasible = np.isfinite(self.problem.penalty) or float(margins.min()) >= REFRESH_MARGIN
        if not nearly_feasible and waited < self._refresh_anyway:
            return False
        self._last_refresh = self.iterations
        return True

    def _refresh(self, H: FloatArray) -> None:
        """A neuron that has become zero keeps its pattern: none is better, and to lose it shakes the others.

        Where samples are many, far too many neurons would come back.
        """
        old = self.A
        self.A = H > 0
        asleep = self.t == 0
        if asleep.any() and self.problem.n_samples < ASLEEP_UP_TO * self.problem.X.shape[1]:
            self.A[:, asleep] = old[:, asleep]
        self._ensure_every_sample_is_reached(H)
        self.flips = sum(int(np.count_nonzero(old[part] != self.A[part])) for part in self._same_pairs)
        self._pattern_changed()

    def _select(self, keep: BoolArray) -> None:
        """With trained outputs: no neuron of frozen outputs is dropped."""
        self.members = survivors(self.members, np.flatnonzero(keep))
        self.U, self.s, self.t, self.idle = self.U[keep], self.s[keep], self.t[keep], self.idle[keep]
        self.anchor, self.scales = self.anchor[keep], self.scales[keep]
        # Rows stay contiguous, as they are worked on; an index `[:, keep]` would return columns that are.
        self.Z, self.Y = np.compress(keep, self.Z, axis=1), np.compress(keep, self.Y, axis=1)
        self.A = np.compress(keep, self.A, axis=1)
        self._allocate()

    def merge(self) -> None:
        """Merge neurons of one sign whose patterns on same samples agree (no cost is added, no margin lost)."""
        groups = equal_pattern_groups(self.A, self.s, self.problem.y)
        if int(groups.max()) + 1 == len(self.s):
            return
        merging = Merging(groups, self.t, self._real)
        first, added_up = merging.first, merging.added_up
        self.Y = merging.averaged(self.Y)
        self.Z = added_up(self.Z / self.scales)
        self.U, self.anchor = (np.ascontiguousarray(added_up(rows.T).T) for rows in (self.U, self.anchor))
        if self.a2 is not None:
            self.a2 = added_up(self.a2)
        self.members = follow(self.members, groups)
        self.s, self.A = self.s[first], np.take(self.A, first, axis=1)
        self.t = np.linalg.norm(self.U, axis=1)
        self.scales = self.scales[first]
        self.Z *= self.scales
        self.idle = np.zeros(len(merging), dtype=np.int64)
        self._allocate()

    def drop_idle(self, patience: int = IDLE_BEFORE_DROP) -> None:
        """Drop neurons that have been zero for `patience` iterations; at least one of each needed sign stays."""
        if self.a2 is not None:
            return
        keep = self.idle <= patience
        for sign in (1.0, -1.0):
            of_sign = self.s == sign
            if of_sign.any() and not (keep & of_sign).any():
                keep[np.flatnonzero(of_sign)[np.argmin(self.idle[of_sign])]] = True
        if not keep.all():
            self._select(keep)

    def _reweigh(self) -> None:
        """Let the weights follow the residuals and the neurons; scaled multipliers follow the weights."""
        self._balance.follow(self.iterations, self.share_flipped, self.primal_residual, self.dual_residual)
        scales = None if self.a2 is not None else uneven(self.problem, self.t, self.iterations, self.share_flipped)
        if scales is not None:
            self.Z *= (scales / self.scales).astype(self._real)
            self.scales = scales.astype(self._real)
            self._pattern_changed()
        target = self._balance.rho(self.problem, self.t)
        if not WEIGHT_KEPT[0] <= target / self.rho <= WEIGHT_KEPT[1]:
            self.tau *= self.rho / target
            self.Y *= self.rho / target
            self.rho = target

    # The loop -------------------------------------------------------------------------------------

    @without_flags
    def run(self, iterations: int, *, refresh: bool = True) -> None:
        """Advance; every tenth iteration refreshes the pattern, measures residuals, merges and drops.

        Samples and neurons are shared among as many threads as BLAS may use, in parts that do not depend on how many.
        """
        threads = available_threads()
        with one_thread():
            for _ in range(iterations):
                self._scaled = self.scales[:, None] * self.U
                if self.iterations % REFRESH_EVERY == 0:
                    self._check(refresh, threads)
                else:
                    share(self._multiply_and_project, self._parts, threads)
                    product(self._H.T, self._X, out=self._R, threads=threads)
                    share(self._shrink_neurons, self._neuron_parts, threads)
                self.iterations += 1

    def _check(self, refresh: bool, threads: int) -> None:
        """An iteration that refreshes the pattern and measures the residuals."""
        share(self._multiply_samples, self._parts, threads)
        if refresh and self._may_refresh(self._H):
            self._refresh(self._H)
            self.merge()
            self.drop_idle()
            self._scaled = self.scales[:, None] * self.U
            share(self._multiply_samples, self._parts, threads)
        moved = self.Z.copy()
        share(partial(self._project_samples, measure=True), self._parts, threads)
        product(self._H.T, self._X, out=self._R, threads=threads)
        np.subtract(self.Z, moved, out=moved)
        self.dual_residual = float(np.linalg.norm(product(moved.T, self._X, threads=threads)))
        self.dual_residual *= self.rho / np.sqrt(max(int((self.t > 0).sum()), 1))
        apart = sum(part.apart for part in self._parts)
        self.primal_residual = np.sqrt(apart) / max(float(np.linalg.norm(self.Z)), 1e-300)
        share(self._shrink_neurons, self._neuron_parts, threads)
        self._reweigh()

    @property
    def share_flipped(self) -> float:
        """Share of the same pairs that flipped at the last refresh, infinite before the first one."""
        return self.flips / (0.5 * self.A.size) if self.flips >= 0 else np.inf

    @property
    def objective(self) -> float:
        """sum_j h_j(u_j), without the slack of a soft margin."""
        if self.a2 is None:
            return float(self.t.sum(dtype=np.float64))
        return float(0.5 * (self.t.astype(np.float64) ** 2 / self.a2).sum())

    @property
    def capped(self) -> BoolArray:
        """Samples whose multiplier is at the penalty C, to the precision at hand; shape (m,)."""
        rounding = 8.0 * float(np.finfo(np.float32 if self._real == np.float32 else np.float64).eps)
        return self.multipliers >= self.problem.penalty * (1.0 - rounding)

    @property
    def weights(self) -> FloatArray:
        """Multipliers times Clarke weights, rho |Y|, shape (m, k)."""
        return np.where(self._same_mask(), -self.rho, self.rho) * self.Y

    @property
    def multipliers(self) -> FloatArray:
        """lambda = rho tau, shape (m,)."""
        return self.rho * self.tau.astype(np.float64)
