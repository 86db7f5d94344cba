r"""The best multipliers of a classifier: a convex quadratic program, by an interior point and a polish.

With mu_ij = sum_t lambda_it min(0, dv_ijt) + beta_ij the unknowns are lambda_p >= 0 for the pairs p = (i, t) that take
part, and 0 <= beta_ij <= sum_t lambda_it |dv_ijt| for their kinks. The residual is linear in them, so that

.. math:: \min_z \tfrac12 \|r_0 - M z\|^2 \quad \text{s.t.} \quad A z \ge 0 .

A primal-dual interior point on the Gram matrix says which inequalities bind; least squares on the free unknowns, which
does not square the condition number, takes the residual of a KKT point down to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates.pattern import Pattern, coordinates
from marginflow.networks import Classifier

_STEPS, _GAP = 80, 1e-13
# A pair enters when it would lower the residual by more than this share of what it is made of.
_GAIN = 1e-10


class ClassMultipliers(NamedTuple):
    """lambda (n, K), and mu (n, k) on the kinks."""

    lam: FloatArray
    mu: FloatArray


def differences(V: FloatArray, own: IntArray) -> FloatArray:
    """v_own - v_t of every sample and class, shape (n, K, k)."""
    return V[own][:, None, :] - V[None, :, :]


def bounds_of_mu(dv: FloatArray, lam: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Between which numbers mu may lie on a kink: the sums of the negative and of the positive parts, shape (n, k)."""
    low, high = (np.einsum("it,itj->ij", lam, part) for part in (np.minimum(dv, 0.0), np.maximum(dv, 0.0)))
    return low, high


class _Unknowns(NamedTuple):
    """The pairs (i, t) with multipliers, the kinks (a, j) with beta <= limits @ lambda, and what lambda fixes."""

    i: IntArray
    t: IntArray
    a: IntArray
    j: IntArray
    fixed: FloatArray
    limits: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassesProgram:
    """The data of the program: samples T, rows U = (w, b), V, which pairs are active or on a kink, and the weights."""

    T: FloatArray
    U: FloatArray
    V: FloatArray
    own: IntArray
    active: BoolArray
    kink: BoolArray
    rho: FloatArray
    omega: FloatArray

    @classmethod
    def of(
        cls, network: Classifier, X: FloatArray, own: IntArray, pattern: Pattern, Z: FloatArray, margins: FloatArray
    ) -> ClassesProgram:
        """For a network at margin 1, in coordinates of the span of the samples."""
        T, U = coordinates(network, X)
        factor = 2.0 / np.sqrt(network.norm_squared())
        omega = factor * np.where(np.isfinite(margins), np.maximum(margins - 1.0, 0.0), 0.0)
        rho = np.maximum(Z, 0.0)
        return cls(T=T, U=U, V=network.V, own=own, active=pattern.active, kink=pattern.kink, rho=rho, omega=omega)

    # The linear map -------------------------------------------------------------------------------

    def _residual(self, found: ClassMultipliers) -> tuple[FloatArray, FloatArray, float]:
        """Of the hidden and of the output layer, and of complementarity."""
        lam = found.lam
        dv = differences(self.V, self.own)
        slopes = np.where(self.active, np.einsum("it,itj->ij", lam, dv), np.where(self.kink, found.mu, 0.0))
        q = -lam.copy()
        q[np.arange(self.own.size), self.own] += lam.sum(axis=1)
        return self.U - slopes.T @ self.T, self.V - q.T @ self.rho, -float((self.omega * lam).sum())

    def wanted(self, found: ClassMultipliers) -> BoolArray:
        """Pairs whose multiplier, with the best Clarke weights, would lower the residual."""
        hidden, output, comp = self._residual(found)
        S = self.T @ hidden.T  # (n, k)
        dv = differences(self.V, self.own)
        gain = np.einsum("itj,ij->it", dv, np.where(self.active, S, 0.0))
        gain += np.where(self.kink[:, None, :], np.maximum(dv * S[:, None, :], 0.0), 0.0).sum(axis=2)
        outer = self.rho @ output.T  # (n, K)
        gain += outer[np.arange(self.own.size), self.own][:, None] - outer + comp * self.omega
        size = _length(hidden, output, comp)
        reach = np.linalg.norm(self.T, axis=1)[:, None] * np.linalg.norm(dv, axis=2)
        reach += np.linalg.norm(self.rho, axis=1)[:, None] + self.omega
        whole = float(np.sqrt((self.U**2).sum() + (self.V**2).sum()))
        more: BoolArray = gain > _GAIN * reach * (size + 1e-5 * whole)
        return more

    def solve(self, chosen: BoolArray) -> ClassMultipliers:
        """The best multipliers among those of the chosen pairs."""
        i, t = np.nonzero(chosen)
        kinked = np.zeros(self.own.size, dtype=np.bool_)
        kinked[i] = True
        a, j = np.nonzero(self.kink & kinked[:, None] & self.V.any(axis=0))
        dv = self.V[self.own[i]] - self.V[t]
        # What lambda contributes to each neuron beside beta.
        fixed = np.where(self.active[i], dv, np.where(self.kink[i], np.minimum(dv, 0.0), 0.0))
        limits = np.where(i[None, :] == a[:, None], np.abs(dv[:, j].T), 0.0)
        unknowns = _Unknowns(i, t, a, j, fixed, limits)
        H, c = self._normal_equations(unknowns)
        scale = np.sqrt(np.maximum(np.diagonal(H), 1e-300))
        scaled = limits * scale[i.size :, None] / scale[: i.size]
        z, binding = _interior_point(H / np.outer(scale, scale), c / scale, scaled)
        found = self._multipliers(z / scale, unknowns)
        better = self._polished(binding, unknowns)
        if better is not None:
            polished = self._multipliers(better, unknowns)
            if self.size(polished) <= self.size(found):
                return polished
        return found

    def size(self, found: ClassMultipliers) -> float:
        """Norm of the residual, which the multipliers minimise."""
        return _length(*self._residual(found))

    def _normal_equations(self, unknowns: _Unknowns) -> tuple[FloatArray, FloatArray]:
        """M^T M and M^T r_0, from inner products of samples."""
        i, t, a, j, fixed, _ = unknowns
        own, gram = self.own[i], self.T @ self.T.T
        signs = (own[:, None] == own).astype(np.float64) + (t[:, None] == t) - (own[:, None] == t) - (t[:, None] == own)
        pairs = (fixed @ fixed.T) * gram[np.ix_(i, i)] + (self.rho[i] @ self.rho[i].T) * signs
        pairs += np.outer(self.omega[i, t], self.omega[i, t])
        mixed = fixed[:, j].T * gram[np.ix_(a, i)]
        kinks = (j[:, None] == j) * gram[np.ix_(a, a)]
        towards = self.T @ self.U.T  # (n, k)
        right = np.einsum("pj,pj->p", fixed, towards[i]) + np.einsum("pj,pj->p", self.rho[i], self.V[own] - self.V[t])
        return np.block([[pairs, mixed.T], [mixed, kinks]]), np.concatenate([right, towards[a, j]])

    def _multipliers(self, z: FloatArray, unknowns: _Unknowns) -> ClassMultipliers:
        """lambda and mu, clipped to what is allowed."""
        i, t, a, j, _, _ = unknowns
        lam = np.zeros((self.own.size, self.V.shape[0]))
        lam[i, t] = np.maximum(z[: i.size], 0.0)
        fewest, most = bounds_of_mu(differences(self.V, self.own), lam)
        mu = np.where(self.kink, fewest, 0.0)
        mu[a, j] += np.clip(z[i.size :], 0.0, (most - fewest)[a, j])
        return ClassMultipliers(lam=lam, mu=np.where(self.kink, mu, 0.0))

    def _polished(self, binding: BoolArray, unknowns: _Unknowns) -> FloatArray | None:
        """Least squares with the binding inequalities as equations; None if that leaves the feasible set."""
        i, t, a, j, fixed, limits = unknowns
        p, q = i.size, a.size
        no_lam, no_beta, full = binding[:p], binding[p : p + q], binding[p + q :]
        free_lam = np.flatnonzero(~no_lam)
        free_beta = np.flatnonzero(~no_beta & ~full)
        if free_lam.size == 0:
            return None
        # Columns of M: a pair moves every neuron it is active on (and, where its kink is full, also that one).
        reach = fixed[free_lam].copy()
        at_top = np.flatnonzero(full & ~no_beta)
        np.add.at(reach.T, j[at_top], limits[at_top][:, free_lam])
        k, r = self.U.shape
        hidden = np.einsum("pj,pr->pjr", reach, self.T[i[free_lam]]).reshape(free_lam.size, k * r)
        signs = np.zeros((free_lam.size, self.V.shape[0]))
        signs[np.arange(free_lam.size), self.own[i[free_lam]]] += 1.0
        signs[np.arange(free_lam.size), t[free_lam]] -= 1.0
        output = np.einsum("pt,pj->ptj", signs, self.rho[i[free_lam]]).reshape(free_lam.size, -1)
        columns = np.hstack([hidden, output, self.omega[i, t][free_lam][:, None]])
        bends = np.zeros((free_beta.size, columns.shape[1]))
        for row, kink in enumerate(free_beta):
            bends[row, j[kink] * r : (j[kink] + 1) * r] = self.T[a[kink]]
        M = np.vstack([columns, bends]).T
        target = np.concatenate([self.U.ravel(), self.V.ravel(), [0.0]])
        used = np.abs(M).any(axis=1) | (target != 0)
        norms = np.linalg.norm(M, axis=0)
        norms[norms == 0] = 1.0
        solved = np.linalg.lstsq(M[used] / norms, target[used], rcond=1e-13)[0] / norms
        z = np.zeros(p + q)
        z[free_lam], z[p + free_beta] = solved[: free_lam.size], solved[free_lam.size :]
        z[p + at_top] = limits[at_top] @ z[:p]
        top = float(np.abs(z[:p]).max(initial=0.0))
        room = limits @ z[:p] - z[p:]
        slack = 1e-10 * top
        if z[:p].min() < -slack or (q and (z[p:].min() < -slack * 10 or room.min() < -slack * 10)):
            return None
        return z


class _Iterate(NamedTuple):
    """Where the interior point is: inequalities A, slacks s, multipliers y, residuals, and the factor of the system."""

    A: FloatArray
    s: FloatArray
    y: FloatArray
    dual: FloatArray
    primal: FloatArray
    factor: tuple[FloatArray, bool]

    def direction(self, aim: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Newton's direction towards s y = aim."""
        right = -self.dual + self.A.T @ ((aim - self.s * self.y + self.y * self.primal) / self.s)
        dz = cho_solve(self.factor, right, check_finite=False)
        ds = self.A @ dz - self.primal
        return dz, ds, (aim - self.s * self.y - self.y * ds) / self.s


def _interior_point(H: FloatArray, c: FloatArray, limits: FloatArray) -> tuple[FloatArray, BoolArray]:
    """min z'Hz/2 - c'z over lambda >= 0, 0 <= beta <= limits @ lambda; and which inequalities bind.

    Mehrotra's predictor and corrector; the unknowns are few, so that every step is one Cholesky factor.
    """
    q, p = limits.shape
    A = np.block([[np.eye(p), np.zeros((p, q))], [np.zeros((q, p)), np.eye(q)], [limits, -np.eye(q)]])
    lam = np.full(p, max(float(np.abs(c).max()), 1e-3))
    z = np.concatenate([lam, 0.5 * (limits @ lam) + 1e-12])
    s = np.maximum(A @ z, 1e-8 * lam[0])
    y = np.full(s.size, float(lam[0]))
    size = max(float(np.abs(c).max()), 1e-300)
    for _ in range(_STEPS):
        dual, primal = H @ z - c - A.T @ y, s - A @ z
        gap = float(s @ y) / s.size
        if gap <= _GAP * size**2 and np.abs(dual).max() <= _GAP * 10 * size:
            break
        K = H + A.T @ ((y / s)[:, None] * A)
        K.flat[:: K.shape[0] + 1] += 1e-15 * max(float(np.diagonal(K).max()), 1.0)
        try:
            factor = cho_factor(K, check_finite=False)
        except np.linalg.LinAlgError:
            break

        at = _Iterate(A, s, y, dual, primal, factor)
        dz, ds, dy = at.direction(np.zeros(s.size))
        far = _step(s, ds), _step(y, dy)
        left = float((s + far[0] * ds) @ (y + far[1] * dy)) / s.size
        aim = gap * (left / gap) ** 3 - ds * dy
        dz, ds, dy = at.direction(aim)
        lengths = 0.995 * _step(s, ds), 0.995 * _step(y, dy)
        if not (np.isfinite(dz).all() and min(lengths) > 0):
            break
        length = min(lengths)
        z, s, y = z + length * dz, s + length * ds, y + length * dy
    binding: BoolArray = s < y
    return z, binding


def _step(value: FloatArray, change: FloatArray) -> float:
    """The longest step, at most 1, that keeps the value non-negative."""
    falling = change < 0
    return min(1.0, float((-value[falling] / change[falling]).min(initial=np.inf)))


def _length(hidden: FloatArray, output: FloatArray, comp: float) -> float:
    """Of the residual with all of its parts."""
    return float(np.sqrt((hidden**2).sum() + (output**2).sum() + comp**2))
