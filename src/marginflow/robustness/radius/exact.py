r"""The door: the exact l2 distance of points to the decision boundary of a two-layer ReLU network."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, read_only, real_number, vector, whole_number
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.radius.certificate import Certificate, ProofNode
from marginflow.robustness.radius.reduction import Reduction, farthest, reduce_network
from marginflow.robustness.radius.result import Radius, Status
from marginflow.robustness.radius.search import HORIZONS, Outcome, solve
from marginflow.threads import one_thread

# What is given up of the lower bound so that the checker, which charges all rounding, confirms it.
_ROUNDING = 1e-9


def exact_radius(
    network: TwoLayer,
    x: ArrayLike,
    *,
    label: float | None = None,
    level: float = 0.0,
    rtol: float = 1e-6,
    time_limit: float = 60.0,
    max_nodes: int | None = None,
    certificate: bool = True,
) -> Radius:
    r"""The distance of x to the decision boundary, proved from both sides.

    .. math:: \min \|\delta\| \quad \text{s.t.} \quad y N(x + \delta) \le level

    The network is a difference of two convex functions, so only the neurons with y v_j < 0 have to be branched on.
    Upper bounds are projections with the signs of those neurons fixed; lower bounds replace each of them by its chord,
    or by the best parabola above it, on the interval that is left for it. See `search`, `cuts`, `quadratic`.

    Parameters
    ----------
    network : TwoLayer
        With or without biases.
    x : array, shape (d,)
        The point.
    label : -1, +1 or None
        y; None for the sign of N(x), +1 if N(x) = 0.
    level : float
        Where the other side begins: y N <= level. Constructed robust networks vanish on whole regions; with level 0
        these count as the other side, with a negative level they do not.
    rtol : float
        Stop when upper - lower <= rtol upper; at least 1e-8.
    time_limit : float
        Seconds after which the bounds found so far are returned with status "bounded".
    max_nodes : int or None
        The same for the number of regions; unlike time it gives the same answer on every machine.
    certificate : bool
        Whether to keep the proof.

    Returns
    -------
    Radius

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.radius import exact_radius
    >>> net = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> exact_radius(net, [3.0, 1.0])  # the distance to the diagonal, 2 / sqrt(2)
    Radius(1.41421356, proved, 1 node)
    """
    point = vector("x", x)
    if point.size != network.dimension:
        raise InputError(f"x has {point.size} entries, but the network has dimension {network.dimension}.")
    options = checked_options(level, rtol, time_limit, max_nodes)
    y = None if label is None else float(labels("label", [label])[0])
    with one_thread():
        return radius_at(network, reduce_network(network), point, y, certificate=certificate, **options)


def checked_options(level: float, rtol: float, time_limit: float, max_nodes: int | None) -> dict[str, float]:
    """The numbers that say what is wanted and when to stop."""
    return {
        "level": real_number("level", level),
        "rtol": real_number("rtol", rtol, at_least=1e-8, below=1.0),
        "time_limit": real_number("time_limit", time_limit, above=0.0),
        "max_nodes": float("inf") if max_nodes is None else float(whole_number("max_nodes", max_nodes)),
    }


def radius_at(
    network: TwoLayer,
    reduction: Reduction,
    point: FloatArray,
    label: float | None,
    *,
    level: float,
    rtol: float,
    time_limit: float,
    max_nodes: float,
    certificate: bool,
) -> Radius:
    """One point of a network that has been reduced already."""
    begin = time.monotonic()
    value = float(network(point[None, :])[0])
    y = label if label is not None else (1.0 if value >= 0 else -1.0)
    if y * value <= level:
        outcome = Outcome(lower=0.0, upper=0.0, delta=None, finished=True, tree=[], trace=[(0.0, 0.0, 0.0)])
        status: Status = "misclassified"
        witness: FloatArray | None = point
    else:
        outcome = solve(
            reduction.at(point, y, level), rtol=rtol - 2 * _ROUNDING, seconds=time_limit, max_nodes=max_nodes
        )
        witness = None
        if outcome.delta is not None:
            witness = _on_the_other_side(network, point, reduction.lift(outcome.delta), y, level)
        if outcome.upper == np.inf:
            status = "infinite" if outcome.finished else "bounded"
        else:
            status = "proved" if outcome.finished else "bounded"
    upper = float("inf") if witness is None else float(np.linalg.norm(witness - point))
    lower = min(outcome.lower * (1.0 - _ROUNDING), upper)
    if lower == np.inf and (y * network.v < 0)[network.W.any(axis=1)].any():
        # Neurons have cancelled, which is true up to rounding only; infinity would be too much.
        lower = HORIZONS[-1] * farthest(reduction.at(point, y, level))
    proof = None
    if certificate:
        proof = Certificate(
            point=read_only(point),
            label=y,
            level=level,
            lower=lower,
            witness=None if witness is None else read_only(witness),
            groups=reduction.groups,
            nodes=tuple(
                ProofNode(steps=tuple(node.steps), split=node.split, children=node.children) for node in outcome.tree
            ),
        )
    return Radius(
        point=read_only(point),
        label=y,
        level=level,
        lower=lower,
        upper=upper,
        witness=None if witness is None else read_only(witness),
        status=status,
        nodes=len(outcome.tree),
        seconds=time.monotonic() - begin,
        trace=tuple(outcome.trace),
        certificate=proof,
    )


def _on_the_other_side(
    network: TwoLayer, point: FloatArray, delta: FloatArray, label: float, level: float
) -> FloatArray:
    """point + delta, lengthened by as little as makes the network itself say label N <= level.

    Where N only touches the level, rounding decides; then the point is kept as it is, and the checker allows for it.
    """
    for stretch in (0.0, *np.geomspace(4e-16, 1e-9, 24)):
        candidate: FloatArray = point + (1.0 + stretch) * delta
        if label * float(network(candidate[None, :])[0]) <= level:
            return candidate
    return point + delta
