r"""Attacks in the Euclidean norm: upper bounds on the radius min{||delta|| : y N(x + delta) <= level}.

All have one signature: `attack(network, X, y, *, epsilons=None, level=0.0, ...)`. `epsilons=None` looks for the
smallest perturbation of each point; a number asks which points can be flipped within that budget; a list gives a
curve (see `Asked`). There is no box around the inputs. Every answer is shortened along its own ray (exactly) and
evaluated again, so `sizes` are proved upper bounds; the attacks differ only in how they search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.networks import TwoLayer
from marginflow.robustness.attack_result import Asked, AttackResult, run_attack
from marginflow.robustness.convex_concave import descend
from marginflow.robustness.neighbourhood import Neighbourhood


def fgm(network: TwoLayer, X: ArrayLike, y: ArrayLike, **asked: Unpack[Asked]) -> AttackResult:
    """Fast gradient method: the exact first flip along the negative gradient at the point.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.attacks import fgm
    >>> net = TwoLayer(W=[[3.0, 4.0], [-3.0, -4.0]], v=[1.0, -1.0])      # N(x) = 3 x_1 + 4 x_2
    >>> fgm(net, [[1.0, 1.0]], [1]).sizes
    array([1.4])
    """

    def search(seen: Neighbourhood, budget: FloatArray | None) -> FloatArray:
        return -seen.values_and_gradients(np.zeros((seen.n_points, seen.rank)))[1]

    return run_attack("FGM", network, X, y, search, **asked)


def pgd(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_steps: int = 30,
    n_restarts: int = 3,
    n_bisections: int = 8,
    seed: int = 0,
    **asked: Unpack[Asked],
) -> AttackResult:
    """Projected gradient descent on y N in a ball, from the point and from random starts.

    With `epsilons=None` the budget of each point is bisected, starting from its exact flip along the gradient.
    """
    n_steps, n_restarts = whole_number("n_steps", n_steps), whole_number("n_restarts", n_restarts)
    n_bisections = whole_number("n_bisections", n_bisections)
    seed = whole_number("seed", seed, minimum=0)

    def search(seen: Neighbourhood, budget: FloatArray | None) -> FloatArray:
        rng = np.random.default_rng(seed)
        if budget is not None:
            return _pgd_in_ball(seen, budget, n_steps, n_restarts, rng)
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

    return run_attack("PGD", network, X, y, search, searches_each_budget=True, **asked)


def deepfool(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    overshoot: float = 0.02,
    max_steps: int = 100,
    **asked: Unpack[Asked],
) -> AttackResult:
    """Repeated projection on the linearised boundary, delta - (1 + overshoot) f g / ||g||^2, until the sign changes."""
    overshoot = real_number("overshoot", overshoot, at_least=0.0)
    max_steps = whole_number("max_steps", max_steps)
    return run_attack("DeepFool", network, X, y, lambda seen, _: _deepfool(seen, overshoot, max_steps), **asked)


def ddn(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, n_steps: int = 200, gamma: float = 0.05, **asked: Unpack[Asked]
) -> AttackResult:
    """Decoupled direction and norm: gradient steps on a sphere that shrinks when inside the other class, else grows."""
    n_steps = whole_number("n_steps", n_steps)
    gamma = real_number("gamma", gamma, above=0.0, below=1.0)
    return run_attack("DDN", network, X, y, lambda seen, _: _ddn(seen, n_steps, gamma), **asked)


def fmn(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, n_steps: int = 200, gamma: float = 0.05, **asked: Unpack[Asked]
) -> AttackResult:
    """Fast minimum norm: the ball follows the linearised distance until a flip is found, then shrinks around it."""
    n_steps = whole_number("n_steps", n_steps)
    gamma = real_number("gamma", gamma, above=0.0, below=1.0)
    return run_attack("FMN", network, X, y, lambda seen, _: _fmn(seen, n_steps, gamma), **asked)


def convex_concave(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_starts: int = 5,
    max_steps: int = 30,
    seed: int = 0,
    **asked: Unpack[Asked],
) -> AttackResult:
    r"""Convex-concave procedure: fix which opposing neurons are active, project exactly, repeat.

    {f <= 0} is the union over sets S of opposing neurons of the convex sets
    {C(delta) <= sum_S |c_j| (a_j + w_j . delta)}. Each step projects the origin on the set whose S is active at the
    present flip, so the size never grows. Starts: FMN, DeepFool, the gradient ray, then random rays.
    """
    n_starts, max_steps = whole_number("n_starts", n_starts), whole_number("max_steps", max_steps)
    seed = whole_number("seed", seed, minimum=0)

    def search(seen: Neighbourhood, budget: FloatArray | None) -> FloatArray:
        rng = np.random.default_rng(seed)
        starts = [_fmn(seen, 200, 0.05), _deepfool(seen, 0.02, 100), *_first_guess(seen, rng, max(0, n_starts - 3))]
        starts = starts[:n_starts]
        best = _shortened(seen, *starts)
        for start in starts:
            delta = _shortened(seen, start)
            for i in np.flatnonzero(delta.any(axis=1)):
                delta[i] = descend(seen.only(np.array([i])), np.ones(1), delta[i], max_steps=max_steps)
            best = _shortened(seen, best, delta)
        return best

    return run_attack("convex-concave", network, X, y, search, **asked)


ATTACKS: dict[str, Callable[..., AttackResult]] = {
    "fgm": fgm,
    "pgd": pgd,
    "deepfool": deepfool,
    "ddn": ddn,
    "fmn": fmn,
    "convex_concave": convex_concave,
}


class _ShortestSeen:
    """The shortest flipping perturbation seen so far, point by point, and the last gradient."""

    def __init__(self, seen: Neighbourhood) -> None:
        self.seen = seen
        self.delta = np.zeros((seen.n_points, seen.rank))
        self.size = np.full(seen.n_points, np.inf)
        self.slope = np.ones(seen.n_points)

    def look(self, delta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value at delta and unit direction of descent; a flip that is shorter is remembered."""
        value, gradient = self.seen.values_and_gradients(delta)
        size = np.linalg.norm(delta, axis=1)
        better = (value <= 0) & (size < self.size)
        self.delta[better], self.size[better] = delta[better], size[better]
        self.slope = _lengths(gradient)
        return value, -gradient / self.slope[:, None]


def _lengths(rows: FloatArray) -> FloatArray:
    """Norms of the rows, with 1 in place of 0."""
    norms = np.linalg.norm(rows, axis=1)
    return np.where(norms > 0, norms, 1.0)


def _cosine(step: int, n_steps: int, first: float, last: float) -> float:
    return last + 0.5 * (first - last) * (1.0 + float(np.cos(np.pi * step / n_steps)))


def _linear_guess(seen: Neighbourhood) -> FloatArray:
    """f / ||gradient|| at the points: the scale of the problem, so that no step size depends on units."""
    value, gradient = seen.values_and_gradients(np.zeros((seen.n_points, seen.rank)))
    norms = np.linalg.norm(gradient, axis=1)
    typical = float(np.median(value[norms > 0] / norms[norms > 0])) if (norms > 0).any() else 1.0
    return np.where(norms > 0, value / np.where(norms > 0, norms, 1.0), typical)


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
            pace = budget * _cosine(step, n_steps, 0.5, 0.02)
            delta = delta - (pace / _lengths(gradient))[:, None] * gradient
            delta *= np.minimum(1.0, budget / _lengths(delta))[:, None]
    return best


def nearest_of_two(seen: Neighbourhood, n_steps: int = 200, gamma: float = 0.05) -> list[FloatArray]:
    """What DDN and FMN find at their defaults, shape (n, r) each: zero where nothing flips."""
    return [_ddn(seen, n_steps, gamma), _fmn(seen, n_steps, gamma)]


def _ddn(seen: Neighbourhood, n_steps: int, gamma: float) -> FloatArray:
    unit = _linear_guess(seen)
    radius, delta, best = unit.copy(), np.zeros((seen.n_points, seen.rank)), _ShortestSeen(seen)
    for step in range(n_steps):
        value, direction = best.look(delta)
        delta = delta + (unit * _cosine(step, n_steps, 1.0, 0.01))[:, None] * direction
        radius = np.where(value <= 0, radius * (1 - gamma), radius * (1 + gamma))
        delta = delta * (radius / _lengths(delta))[:, None]
    best.look(delta)
    return best.delta


def _fmn(seen: Neighbourhood, n_steps: int, gamma: float) -> FloatArray:
    unit = _linear_guess(seen)
    radius, delta, best = np.full(seen.n_points, np.inf), np.zeros((seen.n_points, seen.rank)), _ShortestSeen(seen)
    for step in range(n_steps):
        value, direction = best.look(delta)
        shrink = _cosine(step, n_steps, gamma, 1e-3)
        linear = np.linalg.norm(delta, axis=1) + np.maximum(value, 0.0) / best.slope
        inside = np.minimum(radius, best.size) * (1 - shrink)
        radius = np.where(value <= 0, inside, np.where(np.isfinite(best.size), radius * (1 + shrink), linear))
        delta = delta + (unit * _cosine(step, n_steps, 1.0, 0.01))[:, None] * direction
        delta = delta * np.minimum(1.0, radius / _lengths(delta))[:, None]
    best.look(delta)
    return best.delta
