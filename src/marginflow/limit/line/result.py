r"""What a solver on the line hands back: a network, its multipliers, and a bracket on the global optimum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, inf

import numpy as np

from marginflow.arrays import FloatArray, IntArray, read_only, vector
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.line.circle import Circle
from marginflow.limit.line.integers import exact_excess
from marginflow.limit.line.planar import PlanarSolution
from marginflow.limit.line.settings import OUTWARDS
from marginflow.limit.neurons import split_to_width
from marginflow.networks import TwoLayer


@dataclass(frozen=True, eq=False, kw_only=True)
class LineLimit:
    r"""A KKT point of the max-margin problem on the line, and how far it is from the global optimum.

    For any multipliers, :math:`\sum_i \lambda_i / \sup_{\|t\| = 1} |F_\lambda(t)|` bounds the optimum of
    :math:`\tfrac12 \|\theta\|^2` from below, and :math:`\tfrac12 \|\theta\|^2 / \min_i y_i N(x_i)` bounds it from
    above. Both are recomputed from the stored numbers in exact arithmetic and rounded outwards.

    Parameters
    ----------
    network : TwoLayer of dimension 1 with bias
    data : Dataset
    multipliers : array, shape (n,)
        lambda_i, of the objective ||theta||^2 / 2; samples that coincide share theirs equally.
    clarke : array, shape (n, k)
        relu'(w_j x_i + b_j), with the value that stationarity asks for on a kink.
    dual_supremum : float
        sup |F_lambda| over all unit directions, left- and right-facing; 1 at a global optimum.
    least_margin : float
        min_i y_i N(x_i) of the stored network, exactly rounded.
    lower, upper : float
        The bracket on the global optimum of ||theta||^2 / 2.
    rounds : int
        Number of linear programs.
    """

    network: TwoLayer
    data: Dataset
    multipliers: FloatArray
    clarke: FloatArray
    dual_supremum: float
    least_margin: float
    lower: float
    upper: float
    rounds: int

    @property
    def objective(self) -> float:
        """||theta||^2 / 2."""
        return self.network.norm_squared() / 2

    @property
    def gap(self) -> float:
        """upper / lower - 1: how much of the objective a global optimum could save at most."""
        return self.upper / self.lower - 1.0 if self.lower > 0 else inf

    def widened(self, width: int) -> LineLimit:
        """The same point with `width` neurons: neurons are split, multipliers and bounds stay as they are."""
        network, clarke = split_to_width(self.network, self.clarke, width)
        return replace(self, network=network, clarke=clarke)


def line_samples(data: Dataset) -> tuple[FloatArray, FloatArray, IntArray]:
    """Rows (x, 1) and labels of the distinct samples, and for every sample which of them it is."""
    if data.dimension != 1:
        raise InputError(f"The data have dimension {data.dimension}; samples on a line (dimension 1) are expected.")
    data.require_no_contradiction()
    x, first, owner = np.unique(data.X[:, 0], return_index=True, return_inverse=True)
    return np.column_stack([x, np.ones(x.size)]), data.y[first], owner


def unsettled(what: str, rows: FloatArray) -> str:
    """The sentence for samples on which floating point does not suffice."""
    gaps = np.diff(rows[:, 0])
    closest = f"the closest two are {gaps.min():g} apart" if gaps.size else f"there is one, {rows[0, 0]:g}"
    return (
        f"{what} of these {rows.shape[0]} distinct samples does not settle in floating point: {closest}, and samples "
        "further apart, relative to their size, are expected."
    )


def result(solution: PlanarSolution, data: Dataset, owner: IntArray) -> LineLimit:
    """The solution for distinct samples, as a network for all of them, with its bounds."""
    network = TwoLayer.from_directions(solution.U, solution.signs, bias=True)
    shared = solution.multipliers / np.bincount(owner)
    least = 1.0 + float(exact_excess(network, data.X, data.y).min())
    half_norm = fsum(float(c) ** 2 for c in np.concatenate([network.augmented.ravel(), network.v])) / 2
    return LineLimit(
        network=network,
        data=data,
        multipliers=read_only(shared[owner]),
        clarke=read_only(solution.clarke[owner]),
        dual_supremum=solution.supremum,
        least_margin=least,
        lower=fsum(solution.multipliers) / solution.supremum * (1 - OUTWARDS),
        upper=half_norm / least * (1 + OUTWARDS) if least > 0 else inf,
        rounds=solution.rounds,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class DualFunction:
    r"""F_lambda on the circle of unit directions (w, b), exactly.

    .. math:: F_\lambda(w, b) = \sum_i \lambda_i y_i \,\mathrm{relu}(w x_i + b), \qquad w^2 + b^2 = 1

    Arc k runs counter-clockwise from kink k to kink k + 1 (cyclically); on it F is linear. The first axis of `maxima`
    and `positions` is the sign: 0 for +F, where positive neurons may stand, 1 for -F.

    Parameters
    ----------
    kinks : array, shape (K,)
        Position of the kink of each breakpoint direction: a sample.
    facing : array, shape (K,)
        +1 for right-facing (w > 0), -1 for left-facing directions.
    values : array, shape (K,)
        F at the breakpoints.
    maxima : array, shape (2, K)
        The maximum of +F and of -F over each closed arc.
    positions : array, shape (2, K, 2)
        The unit directions (w, b) where the maxima are attained.
    """

    kinks: FloatArray
    facing: FloatArray
    values: FloatArray
    maxima: FloatArray
    positions: FloatArray

    @property
    def supremum(self) -> float:
        """sup |F| over all unit directions."""
        return max(0.0, float(self.maxima.max()))


def dual_function(data: Dataset, multipliers: FloatArray) -> DualFunction:
    """F_lambda over all arcs of directions, right- and left-facing, from integers and rounded once.

    Source: [KYS23, X.GlobalLP].

    Parameters
    ----------
    data : Dataset of dimension 1
    multipliers : array, shape (n,)
        Any numbers; a global optimum has them non-negative with a supremum of 1.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import line
    >>> data = Dataset(X=[[0.0], [1.0]], y=[-1, 1])
    >>> line.dual_function(data, [1.0, 1.0]).supremum
    1.0
    """
    rows, y, owner = line_samples(data)
    lam = vector("multipliers", multipliers, data.n_samples)
    weights = y * np.array([fsum(lam[owner == i]) for i in range(y.size)])
    circle = Circle(rows)
    arcs = circle.arcs(weights)
    entering = np.array([group.size > 0 for group in circle.entering])
    samples = np.array([(a if a.size else b)[0] for a, b in zip(circle.entering, circle.leaving, strict=True)])
    return DualFunction(
        kinks=rows[samples, 0],
        facing=np.where(entering, 1.0, -1.0),
        values=arcs.at_breakpoints,
        maxima=arcs.maxima,
        positions=arcs.positions,
    )
