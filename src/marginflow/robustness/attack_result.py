"""What an attack returns, and the one way in which every attack ends: shorten on the exact ray, evaluate again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, read_only, real_number, vector
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.neighbourhood import Neighbourhood, neighbourhood, points_and_labels

Budgets = float | ArrayLike | None
# A witness on the boundary itself evaluates to +1e-17 in one batch and to -1e-17 in another. So it is lengthened by the
# first of these shares with which it flips beyond rounding.
_LENGTHENINGS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)


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
    budgets : array, shape (e,), or None
        The epsilons that were asked for.
    flipped_at : boolean array, shape (e, n), or None
        Which points were flipped within each budget.
    level : float
        Flipped means y N <= level.
    """

    name: str
    perturbations: FloatArray
    sizes: FloatArray
    values: FloatArray
    flipped: BoolArray
    already: BoolArray
    budgets: FloatArray | None
    flipped_at: BoolArray | None
    level: float

    @property
    def shares(self) -> FloatArray:
        """Share of points flipped within each budget, shape (e,)."""
        if self.flipped_at is None:
            raise InputError("No budgets were given; call the attack with epsilons=... to have shares.")
        shares: FloatArray = self.flipped_at.mean(axis=1)
        return shares

    def __repr__(self) -> str:
        found = self.sizes[self.flipped]
        median = f"{np.median(found):.6g}" if found.size else "none"
        return (
            f"AttackResult({self.name}: {int(self.flipped.sum())} of {self.sizes.size} flipped, median size {median})"
        )


class Asked(TypedDict, total=False):
    """What every attack can be asked for.

    Parameters
    ----------
    epsilons : float, array, shape (e,), or None
        Budgets within which points are to be flipped; None for the smallest perturbation of each point.
    level : float
        Flipped means y N <= level; 0 if not given.
    """

    epsilons: Budgets
    level: float


Search = Callable[[Neighbourhood, FloatArray | None], FloatArray]


def run_attack(
    name: str,
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    search: Search,
    *,
    epsilons: Budgets = None,
    level: float = 0.0,
    searches_each_budget: bool = False,
) -> AttackResult:
    """Call `search(seen, budget)` on the points that are not flipped yet, shorten, evaluate, and compare with budgets.

    `search` returns coordinates of one candidate per point, shape (n, r); candidates need not flip. It is called once
    with None (find the smallest), or once per budget when the attack depends on it.
    """
    points, signs = points_and_labels(network, X, y)
    budgets = _budgets(epsilons)
    seen = neighbourhood(network, points, signs, level)
    already = network(points) * signs <= seen.level
    open_ = np.flatnonzero(~already)
    P = np.zeros_like(points)
    sizes = np.where(already, 0.0, np.inf)
    asked = [None] if budgets is None or not searches_each_budget else list(budgets)
    flipped_at = None if budgets is None else np.zeros((budgets.size, signs.size), dtype=np.bool_)
    if open_.size:
        part = seen.only(open_)
        for row, budget in enumerate(asked):
            per_point = None if budget is None else np.full(open_.size, float(budget))
            found = witnesses(network, points[open_], signs[open_], part, search(part, per_point))
            length = np.where(found.any(axis=1), np.linalg.norm(found, axis=1), np.inf)
            better = length < sizes[open_]
            P[open_[better]], sizes[open_[better]] = found[better], length[better]
            if flipped_at is not None and per_point is not None:
                flipped_at[row, open_] = length <= per_point * (1.0 + 1e-12)
    if flipped_at is not None and budgets is not None:
        flipped_at |= sizes[None, :] <= budgets[:, None] * (1.0 + 1e-12)
    values = signs * network(points + P)
    return AttackResult(
        name=name,
        perturbations=read_only(P),
        sizes=read_only(sizes),
        values=read_only(values),
        flipped=read_only(np.isfinite(sizes)),
        already=read_only(already),
        budgets=None if budgets is None else read_only(budgets),
        flipped_at=None if flipped_at is None else read_only(flipped_at),
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
    for lengthening in _LENGTHENINGS:
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


def _budgets(epsilons: Budgets) -> FloatArray | None:
    if epsilons is None:
        return None
    if np.ndim(epsilons) == 0:
        return np.array([real_number("epsilons", epsilons, at_least=0.0)])
    budgets = vector("epsilons", epsilons)
    if budgets.size == 0 or (budgets < 0).any():
        raise InputError("epsilons must hold at least one number, and none below 0.")
    return budgets
