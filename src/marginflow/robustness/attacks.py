r"""Attacks in the Euclidean norm: upper bounds on the radius min{||delta|| : y N(x + delta) <= level}.

All have one signature, `attack(network, X, y, *, level=0.0, ...)`, and look for the smallest perturbation of every
point. There is no box around the inputs. Every answer is shortened along its own ray (exactly) and evaluated again, so
`sizes` are proved upper bounds; the attacks differ only in how they search.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, read_only, real_number, whole_number
from marginflow.networks import TwoLayer
from marginflow.robustness.neighbourhood import Neighbourhood, neighbourhood, points_and_labels

# A witness on the boundary itself evaluates to +1e-17 in one batch and to -1e-17 in another. So it is lengthened by the
# first of these shares with which it flips beyond rounding.
LENGTHENINGS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackResult:
    """Upper bounds on the radii, each with a witness that was evaluated again on the network.

    Parameters
    ----------
    name : str
        Which attack.
    perturbations : array, shape (n, d)
        The shortest flipping perturbation found for each point; zero where none was found.
    sizes : array, shape (n,)
        Their Euclidean norms; 0 where the point is flipped already, infinity where none was found.
    values : array, shape (n,)
        y_i N(x_i + delta_i), at most `level` exactly where `flipped`.
    flipped, already : boolean arrays, shape (n,)
        Whether a perturbation was found, and whether the point was flipped before any perturbation.
    level : float
        Flipped means y N <= level.
    """

    name: str
    perturbations: FloatArray
    sizes: FloatArray
    values: FloatArray
    flipped: BoolArray
    already: BoolArray
    level: float

    def __repr__(self) -> str:
        found = self.sizes[self.flipped]
        median = f"{np.median(found):.6g}" if found.size else "none"
        return (
            f"AttackResult({self.name}: {int(self.flipped.sum())} of {self.sizes.size} flipped, median size {median})"
        )


Search = Callable[[Neighbourhood], FloatArray]


def run_attack(
    name: str, network: TwoLayer, X: ArrayLike, y: ArrayLike, search: Search, *, level: float = 0.0
) -> AttackResult:
    """Call `search(seen)` on the points that are not flipped yet, shorten, and evaluate.

    `search` returns coordinates of one candidate per point, shape (n, r); candidates need not flip.
    """
    points, signs = points_and_labels(network, X, y)
    seen = neighbourhood(network, points, signs, level)
    already = network(points) * signs <= seen.level
    open_ = np.flatnonzero(~already)
    P = np.zeros_like(points)
    sizes = np.where(already, 0.0, np.inf)
    if open_.size:
        part = seen.only(open_)
        found = witnesses(network, points[open_], signs[open_], part, search(part))
        flips = found.any(axis=1)
        P[open_[flips]], sizes[open_[flips]] = found[flips], np.linalg.norm(found[flips], axis=1)
    values = signs * network(points + P)
    return AttackResult(
        name=name,
        perturbations=read_only(P),
        sizes=read_only(sizes),
        values=read_only(values),
        flipped=read_only(np.isfinite(sizes)),
        already=read_only(already),
        level=seen.level,
    )


def witnesses(
    network: TwoLayer, X: FloatArray, y: FloatArray, seen: Neighbourhood, candidates: FloatArray
) -> FloatArray:
    """Perturbations along the candidates that really flip, as short as the exact ray allows; zero where none does."""
    steps = seen.steps(candidates)
    usable = np.isfinite(steps)
    base = seen.lift(np.where(usable, steps, 0.0)[:, None] * candidates)
    P = np.zeros_like(base)
    missing = np.flatnonzero(usable)
    for lengthening in LENGTHENINGS:
        if missing.size == 0:
            break
        tried = base[missing] * (1.0 + lengthening)
        flips = flips_beyond_rounding(network, X[missing] + tried, y[missing], seen.level)
        P[missing[flips]] = tried[flips]
        missing = missing[~flips]
    return P


def flips_beyond_rounding(network: TwoLayer, X: FloatArray, y: FloatArray, level: float) -> BoolArray:
    """y N <= level whatever the order of summation; where every neuron is dead N is exactly 0 and needs no room."""
    active = np.maximum(network.preactivations(X), 0.0)
    inputs = np.abs(X) @ np.abs(network.W.T) + (0.0 if network.b is None else np.abs(network.b))
    room = 4.0 * np.finfo(np.float64).eps * (np.where(active > 0, inputs, 0.0) @ np.abs(network.v))
    return y * (active @ network.v) + room <= level


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
    return run_attack("FGM", network, X, y, lambda seen: -seen.values_and_gradients()[1], level=level)


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
    value, gradient = seen.values_and_gradients()
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
