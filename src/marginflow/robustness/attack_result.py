"""What an attack returns, and the one way in which every attack ends: shorten on the exact ray, evaluate again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, read_only
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
