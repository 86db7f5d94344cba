r"""Attacks beyond those of the library, as rivals of its exact radii: PGD, DeepFool, the convex-concave procedure.

`ATTACKS` has them beside those of the library, by name. Each ends as those do: shortened on the exact ray, evaluated
again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.networks import TwoLayer
from marginflow.robustness.attacks import AttackResult, ddn, fgm, fmn, nearest_of_two, run_attack
from marginflow.robustness.convex_concave import descend
from marginflow.robustness.neighbourhood import Neighbourhood


def pgd(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    budget: float | None = None,
    n_steps: int = 30,
    n_restarts: int = 3,
    n_bisections: int = 8,
    seed: int = 0,
) -> AttackResult:
    """Projected gradient descent on y N in a ball, from the point and from random starts.

    Without a budget that of each point is bisected, starting from its exact flip along the gradient.
    """
    n_steps, n_restarts = whole_number("n_steps", n_steps), whole_number("n_restarts", n_restarts)
    n_bisections = whole_number("n_bisections", n_bisections)
    seed = whole_number("seed", seed, minimum=0)

    def search(seen: Neighbourhood) -> FloatArray:
        rng = np.random.default_rng(seed)
        if budget is not None:
            return _pgd_in_ball(seen, np.full(seen.n_points, budget), n_steps, n_restarts, rng)
        best = _shortened(seen, *_first_guess(seen, rng))
        low, high = np.zeros(seen.n_points), np.linalg.norm(best, axis=1)
        for _ in range(n_bisections):
            middle = 0.5 * (low + high)
            delta = _shortened(seen, _pgd_in_ball(seen, middle, n_steps, n_restarts, rng))
            size = np.linalg.norm(delta, axis=1)
            flips = (size > 0) & (size <= middle * (1 + 1e-9))
            best[flips], high[flips] = delta[flips], size[flips]
            low = np.where(flips, low, middle)
        return best

    return run_attack("PGD", network, X, y, search)


def deepfool(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, overshoot: float = 0.02, max_steps: int = 100
) -> AttackResult:
    """Repeated projection on the linearised boundary, delta - (1 + overshoot) f g / ||g||^2, until the sign changes."""
    overshoot = real_number("overshoot", overshoot, at_least=0.0)
    max_steps = whole_number("max_steps", max_steps)
    return run_attack("DeepFool", network, X, y, lambda seen: _deepfool(seen, overshoot, max_steps))


def convex_concave(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, n_starts: int = 5, max_steps: int = 30, seed: int = 0
) -> AttackResult:
    r"""Convex-concave procedure: fix which opposing neurons are active, project exactly, repeat.

    {f <= 0} is the union over sets S of opposing neurons of the convex sets
    {C(delta) <= sum_S |c_j| (a_j + w_j . delta)}. Each step projects the origin on the set whose S is active at the
    present flip, so the size never grows. Starts: FMN, DeepFool, the gradient ray, then random rays.
    """
    n_starts, max_steps = whole_number("n_starts", n_starts), whole_number("max_steps", max_steps)
    seed = whole_number("seed", seed, minimum=0)

    def search(seen: Neighbourhood) -> FloatArray:
        rng = np.random.default_rng(seed)
        starts = [
            nearest_of_two(seen)[1],
            _deepfool(seen, 0.02, 100),
            *_first_guess(seen, rng, max(0, n_starts - 3)),
        ][:n_starts]
        best = _shortened(seen, *starts)
        for start in starts:
            delta = _shortened(seen, start)
            for i in np.flatnonzero(delta.any(axis=1)):
                delta[i] = descend(seen.only(np.array([i])), np.ones(1), delta[i], max_steps=max_steps)
            best = _shortened(seen, best, delta)
        return best

    return run_attack("convex-concave", network, X, y, search)


ATTACKS: dict[str, Callable[..., AttackResult]] = {
    "fgm": fgm,
    "pgd": pgd,
    "deepfool": deepfool,
    "ddn": ddn,
    "fmn": fmn,
    "convex_concave": convex_concave,
}


def _lengths(rows: FloatArray) -> FloatArray:
    """Norms of the rows, with 1 in place of 0."""
    norms = np.linalg.norm(rows, axis=1)
    return np.where(norms > 0, norms, 1.0)


def _first_guess(seen: Neighbourhood, rng: np.random.Generator, n_random: int = 2) -> list[FloatArray]:
    """The gradient direction and random directions."""
    gradient = seen.values_and_gradients(np.zeros((seen.n_points, seen.rank)))[1]
    return [-gradient, *(rng.normal(size=gradient.shape) for _ in range(n_random))]


def _shortened(seen: Neighbourhood, *candidates: FloatArray) -> FloatArray:
    """The shortest exact flip among the rays through the candidates; zero where none flips."""
    best, size = np.zeros((seen.n_points, seen.rank)), np.full(seen.n_points, np.inf)
    for candidate in candidates:
        steps = seen.steps(candidate)
        delta = np.where(np.isfinite(steps), steps, 0.0)[:, None] * candidate
        length = np.where(np.isfinite(steps), np.linalg.norm(delta, axis=1), np.inf)
        better = (length < size) & (length > 0)
        best[better], size[better] = delta[better], length[better]
    return best


def _deepfool(seen: Neighbourhood, overshoot: float, max_steps: int) -> FloatArray:
    delta = np.zeros((seen.n_points, seen.rank))
    for _ in range(max_steps):
        value, gradient = seen.values_and_gradients(delta)
        squared = np.einsum("ij,ij->i", gradient, gradient)
        moving = (value > 0) & (squared > 0)
        if not moving.any():
            break
        scale = np.where(moving, (1 + overshoot) * value / np.where(squared > 0, squared, 1.0), 0.0)
        delta -= scale[:, None] * gradient
    return delta


def _pgd_in_ball(
    seen: Neighbourhood, budget: FloatArray, n_steps: int, n_restarts: int, rng: np.random.Generator
) -> FloatArray:
    """Where y N was least over all restarts, per point."""
    n, r = seen.n_points, seen.rank
    best, least = np.zeros((n, r)), np.full(n, np.inf)
    for restart in range(n_restarts):
        delta = np.zeros((n, r))
        if restart:
            delta = rng.normal(size=(n, r))
            delta *= (budget * rng.random(n) ** (1.0 / r) / _lengths(delta))[:, None]
        for step in range(n_steps + 1):
            value, gradient = seen.values_and_gradients(delta)
            better = value < least
            best[better], least[better] = delta[better], value[better]
            if step == n_steps:
                break
            pace = budget * (0.02 + 0.24 * (1.0 + float(np.cos(np.pi * step / n_steps))))
            delta = delta - (pace / _lengths(gradient))[:, None] * gradient
            delta *= np.minimum(1.0, budget / _lengths(delta))[:, None]
    return best
