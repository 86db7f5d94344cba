r"""The exact point of a structure: Newton's method on the KKT equations, and the structure corrected by what comes out.

A structure says which pairs (i, t) have margin 1, which (i, j) lie on a kink and which are active. Then theta, lambda
and the slopes mu on the kinks solve

.. math:: U_j = \sum_{i\,\text{active}} (q_i \cdot v_j)\, T_i + \sum_{i\,\text{kink}} \mu_{ij} T_i , \quad
   V = \sum_i q_i\, \mathrm{relu}(z_i)^\top , \quad m_{it} = 1 , \quad T_i \cdot U_j = 0 ,

a square system. Its solution is a KKT point if lambda >= 0, every other margin is at least 1, no pre-activation has
changed its sign, and mu_ij lies between sum_t lambda_it min(0, dv_ijt) and sum_t lambda_it max(0, dv_ijt). What is
violated says what to change: where q_i . v_j < 0 the Lagrangian is convex in z_ij, and a sign that changed means a
kink; elsewhere it means that the pair has changed its side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning, solve

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.classes.problem import ClassesProblem, Weights
from marginflow.limit.classes.settings import (
    BOLD,
    CONVERGED,
    LAMBDA_ROUNDING,
    LARGEST,
    LONGEST,
    MARGIN_ROUNDING,
    ROUNDS,
    SIGN_ROUNDING,
    STALLED,
    STEPS,
)


@dataclass(frozen=True, eq=False)
class Structure:
    """Pairs (i, t) on the margin, (i, j) on a kink and active, and values to begin with."""

    weights: Weights
    lam: FloatArray
    mu: FloatArray
    on_margin: BoolArray
    kink: BoolArray
    active: BoolArray


class Exact(NamedTuple):
    """A solution whose structure is its own; mu (n, k) also holds q_i . v_j of active pairs."""

    weights: Weights
    lam: FloatArray
    mu: FloatArray


def read_structure(problem: ClassesProblem, weights: Weights, lam: FloatArray, near: float) -> Structure:
    """The structure near weights and multipliers; pre-activations below `near` are kinks where they can be."""
    Z = problem.T @ weights.U.T
    through = problem.votes(lam) @ weights.V
    kink = (np.abs(Z) < near) & (through < 0)
    on_margin = lam > 1e-5 * lam.max()
    return Structure(weights, lam, np.where(kink, 0.5 * through, 0.0), on_margin, kink, (Z > 0) & ~kink)


def settle(problem: ClassesProblem, structure: Structure, over: Callable[[], bool]) -> Exact | None:
    """Newton's method and corrections in turn; None where they do not end."""
    rng = np.random.default_rng(0)
    seen: set[tuple[bytes, bytes, bytes]] = set()
    for number in range(ROUNDS):
        if over():
            return None
        found = _newton(problem, structure)
        if found is None:
            return None
        structure = found
        wrong = _violations(problem, structure)
        count = sum(int(mask.sum()) for mask, _ in wrong)
        if count == 0:
            through = problem.votes(structure.lam) @ structure.weights.V
            mu = np.where(structure.kink, structure.mu, np.where(structure.active, through, 0.0))
            return Exact(structure.weights, structure.lam, mu)
        key = (structure.on_margin.tobytes(), structure.kink.tobytes(), structure.active.tobytes())
        masks = [mask for mask, _ in wrong]
        if key in seen:
            masks = _some(wrong, int(rng.integers(count)))
        elif number >= BOLD:
            masks = _worst(wrong)
        seen.add(key)
        structure = _corrected(problem, structure, *masks)
    return None


def _newton(problem: ClassesProblem, structure: Structure) -> Structure | None:
    """The solution of the equations of a structure; None where the iteration does not converge."""
    T, own = problem.T, problem.own
    (U, V), active = structure.weights, structure.active
    i, t = np.nonzero(structure.on_margin)
    a, j = np.nonzero(structure.kink)
    (k, r), K = U.shape, problem.n_classes
    N, p = k * (r + K), i.size
    if p == 0 or N + p + a.size > LARGEST:
        return None
    lam, mu = np.maximum(structure.lam[i, t], 0.0), structure.mu[a, j]
    before = np.inf
    for _ in range(STEPS):
        Z = T @ U.T
        hidden = np.where(active, Z, 0.0)
        dv = V[own[i]] - V[t]
        full = np.zeros((own.size, K))
        full[i, t] = lam
        q = problem.votes(full)
        slopes = np.where(active, q @ V, 0.0)
        slopes[a, j] = mu
        residual = np.concatenate(
            [(U - slopes.T @ T).ravel(), (V - q.T @ hidden).ravel(), (dv * hidden[i]).sum(axis=1) - 1.0, Z[a, j]]
        )
        norm = Weights(U, V).norm
        size = float(np.linalg.norm(residual)) / norm
        if not np.isfinite(size):
            return None
        if size < CONVERGED or (size < STALLED and size > 0.3 * before):
            lam_all, mu_all = np.zeros_like(structure.lam), np.zeros_like(structure.mu)
            lam_all[i, t], mu_all[a, j] = lam, mu
            return replace(structure, weights=Weights(U, V), lam=lam_all, mu=mu_all)
        before = size
        step = _step(_matrix(problem, structure, q, dv, hidden), residual)
        if step is None:
            return None
        length = min(1.0, LONGEST * norm / max(float(np.linalg.norm(step[:N])), np.finfo(float).tiny))
        step *= length
        U = U + step[: k * r].reshape(k, r)
        V = V + step[k * r : N].reshape(K, k)
        lam, mu = lam + step[N : N + p], mu + step[N + p :]
    return None


def _matrix(
    problem: ClassesProblem, structure: Structure, q: FloatArray, dv: FloatArray, hidden: FloatArray
) -> FloatArray:
    """The derivative of the equations: [[H, -A'], [A, 0]], H = [[I, -M_j], [-M_j', I]] for every neuron."""
    T, own, active = problem.T, problem.own, structure.active
    i, t = np.nonzero(structure.on_margin)
    a, j = np.nonzero(structure.kink)
    (k, r), K = structure.weights.U.shape, problem.n_classes
    N, p = k * (r + K), i.size
    J = np.zeros((N + p + a.size, N + p + a.size))
    J[np.arange(N), np.arange(N)] = 1.0
    for neuron in range(k):
        of_u, of_v = np.arange(neuron * r, (neuron + 1) * r), k * r + neuron + k * np.arange(K)
        M = T[active[:, neuron]].T @ q[active[:, neuron]]
        J[np.ix_(of_u, of_v)], J[np.ix_(of_v, of_u)] = -M, -M.T
    A = np.zeros((p + a.size, N))
    A[:p, : k * r] = ((dv * active[i])[:, :, None] * T[i][:, None, :]).reshape(p, k * r)
    outputs = np.zeros((p, K, k))
    outputs[np.arange(p), own[i]] += hidden[i]
    outputs[np.arange(p), t] -= hidden[i]
    A[:p, k * r :] = outputs.reshape(p, K * k)
    A[p + np.arange(a.size)[:, None], (j * r)[:, None] + np.arange(r)] = T[a]
    J[N:, :N], J[:N, N:] = A, -A.T
    return J


def _step(matrix: FloatArray, residual: FloatArray) -> FloatArray | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        try:
            step: FloatArray = solve(matrix, -residual, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
    return step if np.isfinite(step).all() else None


def _violations(problem: ClassesProblem, structure: Structure) -> list[tuple[BoolArray, FloatArray]]:
    """Multipliers below 0, margins below 1, signs that ask for a kink, signs to follow, slopes outside: with sizes."""
    (U, V), lam, mu = structure.weights, structure.lam, structure.mu
    Z = problem.T @ U.T
    margins = problem.margins(np.where(structure.kink, 0.0, np.maximum(Z, 0.0)), V)
    top = float(np.abs(lam).max())
    drop = structure.on_margin & (lam < -LAMBDA_ROUNDING * top)
    add = ~structure.on_margin & (margins < 1.0 - MARGIN_ROUNDING)
    flips = ~structure.kink & ((Z > 0) != structure.active) & (np.abs(Z) > SIGN_ROUNDING)
    through = problem.votes(lam) @ V
    dv = V[problem.own][:, None, :] - V[None, :, :]
    positive = np.maximum(lam, 0.0)
    low = np.einsum("it,itj->ij", positive, np.minimum(dv, 0.0))
    high = np.einsum("it,itj->ij", positive, np.maximum(dv, 0.0))
    beyond = np.where(structure.kink, np.maximum(low - mu, mu - high), 0.0)
    relative = np.abs(Z) / float(np.abs(Z).max())
    return [
        (drop, -lam / top),
        (add, 1.0 - margins),
        (flips & (through < 0), relative),
        (flips & (through >= 0), relative),
        (beyond > 10.0 * LAMBDA_ROUNDING * top, beyond / (top * float(np.abs(V).max()))),
    ]


def _some(wrong: list[tuple[BoolArray, FloatArray]], number: int) -> list[BoolArray]:
    """One of the violations, by its number among all."""
    masks = [np.zeros_like(mask) for mask, _ in wrong]
    for mask, (found, _) in zip(masks, wrong, strict=True):
        index = np.flatnonzero(found)
        if number < index.size:
            mask.flat[index[number]] = True
            break
        number -= index.size
    return masks


def _worst(wrong: list[tuple[BoolArray, FloatArray]]) -> list[BoolArray]:
    """The largest violation alone."""
    sizes = [np.where(mask, size, -np.inf) for mask, size in wrong]
    kind = int(np.argmax([size.max() for size in sizes]))
    masks = [np.zeros_like(mask) for mask, _ in wrong]
    masks[kind].flat[int(np.argmax(sizes[kind]))] = True
    return masks


def _corrected(
    problem: ClassesProblem,
    structure: Structure,
    drop: BoolArray,
    add: BoolArray,
    to_kink: BoolArray,
    follow: BoolArray,
    released: BoolArray,
) -> Structure:
    """The structure with those violations repaired; a released kink goes to the side whose slope is nearer."""
    through = problem.votes(structure.lam) @ structure.weights.V
    mu = structure.mu
    to_active = released & (np.abs(mu - through) < np.abs(mu))
    kink = (structure.kink & ~released) | to_kink
    active = (((structure.active ^ follow) & ~to_kink) | to_active) & ~kink
    on_margin = (structure.on_margin & ~drop) | add
    return replace(structure, mu=np.where(kink, mu, 0.0), on_margin=on_margin, kink=kink, active=active)
