r"""Attacks in the Euclidean norm: upper bounds on the radius min{||delta|| : y N(x + delta) <= level}.

All have one signature, `attack(network, X, y, *, level=0.0, ...)`, and look for the smallest perturbation of every
point. There is no box around the inputs. Every answer is shortened along its own ray (exactly) and evaluated again, so
`sizes` are proved upper bounds; the attacks differ only in how they search.
"""

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.networks import TwoLayer
from marginflow.robustness.attack_result import AttackResult, run_attack
from marginflow.robustness.neighbourhood import Neighbourhood


def fgm(network: TwoLayer, X: ArrayLike, y: ArrayLike, *, level: float = 0.0) -> AttackResult:
    """Fast gradient method: the exact first flip along the negative gradient at the point.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.attacks import fgm
    >>> net = TwoLayer(W=[[3.0, 4.0], [-3.0, -4.0]], v=[1.0, -1.0])      # N(x) = 3 x_1 + 4 x_2
    >>> fgm(net, [[1.0, 1.0]], [1]).sizes
    array([1.4])
    """

    def search(seen: Neighbourhood) -> FloatArray:
        return -seen.values_and_gradients(np.zeros((seen.n_points, seen.rank)))[1]

    return run_attack("FGM", network, X, y, search, level=level)


def ddn(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, n_steps: int = 200, gamma: float = 0.05, level: float = 0.0
) -> AttackResult:
    """Decoupled direction and norm: gradient steps on a sphere that shrinks when inside the other class, else grows."""
    n_steps = whole_number("n_steps", n_steps)
    gamma = real_number("gamma", gamma, above=0.0, below=1.0)
    return run_attack("DDN", network, X, y, lambda seen: _ddn(seen, n_steps, gamma), level=level)


def fmn(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, n_steps: int = 200, gamma: float = 0.05, level: float = 0.0
) -> AttackResult:
    """Fast minimum norm: the ball follows the linearised distance until a flip is found, then shrinks around it."""
    n_steps = whole_number("n_steps", n_steps)
    gamma = real_number("gamma", gamma, above=0.0, below=1.0)
    return run_attack("FMN", network, X, y, lambda seen: _fmn(seen, n_steps, gamma), level=level)


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


def nearest_of_two(seen: Neighbourhood) -> list[FloatArray]:
    """What DDN and FMN find at their defaults, shape (n, r) each: zero where nothing flips."""
    return [search(seen, 200, 0.05) for search in (_ddn, _fmn)]


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
