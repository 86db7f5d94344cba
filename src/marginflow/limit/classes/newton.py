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

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.classes import settings
from marginflow.limit.classes.elimination import KKTSystem, Linearised
from marginflow.limit.classes.problem import ClassesProblem, ClassesSolution, Weights


@dataclass(frozen=True, eq=False)
class ClassesStructure:
    """Pairs (i, t) on the margin, (i, j) on a kink and active, and values to begin with."""

    weights: Weights
    lam: FloatArray
    mu: FloatArray
    on_margin: BoolArray
    kink: BoolArray
    active: BoolArray


def read_structure(
    problem: ClassesProblem, weights: Weights, lam: FloatArray, *, delta: float, near: float
) -> ClassesStructure:
    """The structure near weights and multipliers, with slopes from relu rounded by delta.

    Pre-activations below `near` are kinks where they can be, that is where the Lagrangian is convex in them.
    """
    Z = problem.T @ weights.U.T
    through = problem.votes(lam) @ weights.V
    kink = (np.abs(Z) < near) & (through < 0)
    on_margin = lam > 1e-5 * lam.max()
    slope = 0.5 * (1.0 + Z / np.sqrt(Z * Z + delta * delta))
    return ClassesStructure(weights, lam, np.where(kink, slope * through, 0.0), on_margin, kink, (Z > 0) & ~kink)


def settle(problem: ClassesProblem, structure: ClassesStructure, over: Callable[[], bool]) -> ClassesSolution | None:
    """Newton's method and corrections in turn, until a solution has its own structure; None where they do not end.

    Its mu (n, k) also holds q_i . v_j of active pairs.
    """
    rng = np.random.default_rng(0)
    seen: set[tuple[bytes, bytes, bytes]] = set()
    repetitions = 0
    if structure.kink.sum(axis=0).max(initial=0) >= problem.T.shape[1]:
        return None  # a neuron with as many kinks as weights is zero
    for number in range(settings.ROUNDS):
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
            return ClassesSolution(structure.weights, structure.lam, mu)
        key = (structure.on_margin.tobytes(), structure.kink.tobytes(), structure.active.tobytes())
        masks = [mask for mask, _ in wrong]
        if key in seen:
            repetitions += 1
            if repetitions > settings.REPETITIONS:
                return None
            masks = _single(wrong, int(rng.integers(count)))
        elif number >= settings.BOLD:
            masks = _single(wrong)
        seen.add(key)
        structure = _corrected(problem, structure, masks)
    return None


def _newton(problem: ClassesProblem, structure: ClassesStructure) -> ClassesStructure | None:
    """The solution of the equations of a structure; None where the iteration does not converge."""
    if not structure.on_margin.any():
        return None
    system = KKTSystem(problem, structure.on_margin, structure.kink, structure.active)
    i, t, a, j = system.i, system.t, system.a, system.j
    at, before = ClassesSolution(structure.weights, np.maximum(structure.lam[i, t], 0.0), structure.mu[a, j]), np.inf
    for _ in range(settings.STEPS):
        linearised, norm = Linearised(system, at), at.weights.norm
        size = linearised.size / norm
        if not np.isfinite(size):
            return None
        if size < settings.CONVERGED or (size < settings.STALLED and size > 0.3 * before):
            lam, mu = np.zeros_like(structure.lam), np.zeros_like(structure.mu)
            lam[i, t], mu[a, j] = at.lam, at.mu
            return replace(structure, weights=at.weights, lam=lam, mu=mu)
        before = size
        step = linearised.newton_step()
        if step is None:
            return None
        length = min(1.0, settings.LONGEST * norm / max(step.weights.norm, np.finfo(float).tiny))
        weights = Weights(at.weights.U + length * step.weights.U, at.weights.V + length * step.weights.V)
        at = ClassesSolution(weights, at.lam + length * step.lam, at.mu + length * step.mu)
    return None


def _violations(problem: ClassesProblem, structure: ClassesStructure) -> list[tuple[BoolArray, FloatArray]]:
    """Multipliers below 0, margins below 1, signs that ask for a kink, signs to follow, slopes outside: with sizes."""
    (U, V), lam, mu = structure.weights, structure.lam, structure.mu
    Z = problem.T @ U.T
    margins = problem.margins(np.where(structure.kink, 0.0, np.maximum(Z, 0.0)), V)
    top = float(np.abs(lam).max())
    drop = structure.on_margin & (lam < -settings.LAMBDA_ROUNDING * top)
    add = ~structure.on_margin & (margins < 1.0 - settings.MARGIN_ROUNDING)
    flips = ~structure.kink & ((Z > 0) != structure.active) & (np.abs(Z) > settings.SIGN_ROUNDING)
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
        (beyond > 10.0 * settings.LAMBDA_ROUNDING * top, beyond / (top * float(np.abs(V).max()))),
    ]


def _single(wrong: list[tuple[BoolArray, FloatArray]], number: int | None = None) -> list[BoolArray]:
    """One of the violations alone: by its number among all, or the largest."""
    every = [(kind, index) for kind, (mask, _) in enumerate(wrong) for index in np.flatnonzero(mask)]
    largest = max(every, key=lambda at: float(wrong[at[0]][1].flat[at[1]]))
    kind, index = largest if number is None else every[number]
    masks = [np.zeros_like(mask) for mask, _ in wrong]
    masks[kind].flat[index] = True
    return masks


def _corrected(problem: ClassesProblem, structure: ClassesStructure, masks: list[BoolArray]) -> ClassesStructure:
    """The structure with those violations repaired; a released kink goes to the side whose slope is nearer."""
    drop, add, to_kink, follow, released = masks
    through = problem.votes(structure.lam) @ structure.weights.V
    mu = structure.mu
    to_active = released & (np.abs(mu - through) < np.abs(mu))
    kink = (structure.kink & ~released) | to_kink
    active = (((structure.active ^ follow) & ~to_kink) | to_active) & ~kink
    on_margin = (structure.on_margin & ~drop) | add
    return replace(structure, mu=np.where(kink, mu, 0.0), on_margin=on_margin, kink=kink, active=active)
