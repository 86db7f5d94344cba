r"""The door: the exact l2 distance of points to the decision boundary of a two-layer ReLU network or classifier."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, read_only
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.evaluation import checked_point
from marginflow.robustness.radius.certificate import RadiusCertificate
from marginflow.robustness.radius.claims import ROUNDING, confirmed, in_plain_units, on_the_other_side
from marginflow.robustness.radius.horizons import HORIZONS, solve
from marginflow.robustness.radius.normal import length, margin_sign, one_unflushed
from marginflow.robustness.radius.options import RadiusOptions, checked_labels, checked_options
from marginflow.robustness.radius.reduction import Reduction, farthest, reduce_network
from marginflow.robustness.radius.result import Radius
from marginflow.robustness.radius.rivals import classifier_radius
from marginflow.robustness.radius.search import TreeNode
from marginflow.threads import one_thread

# A radius below 2^-100 of the farthest neuron is searched for again with itself as unit.
_NEAR = 2.0**-100


def exact_radius(
    network: TwoLayer | Classifier,
    x: ArrayLike,
    *,
    label: float | None = None,
    level: float = 0.0,
    tolerance: float = 1e-6,
    time_limit: float = 60.0,
    max_nodes: int | None = None,
    certificate: bool = True,
) -> Radius:
    r"""The distance of x to the decision boundary, proved from both sides.

    .. math:: \min \|\delta\| \quad \text{s.t.} \quad y N(x + \delta) \le level

    The network is a difference of two convex functions, so only the neurons with y v_j < 0 have to be branched on.
    Upper bounds are projections with the signs of those neurons fixed; lower bounds replace each of them by its chord,
    or by the best parabola above it, on the interval that is left for it. See `search`, `cuts`, `quadratic`. Whatever
    is found goes before the judge, `check_certificate`; bounds that it does not confirm are not returned.

    Parameters
    ----------
    network : TwoLayer or Classifier
        With or without biases. For a classifier the answer is the least of the radii of f_y - f_t over all rivals t,
        with the nearest of them as `Radius.rival`.
    x : array, shape (d,)
        The point.
    label : -1, +1 or None
        y; None for the sign of N(x), +1 if N(x) = 0. For a classifier the class 0, ..., K - 1; None for the
        predicted one.
    level : float
        Where the other side begins: y N <= level. Constructed robust networks vanish on whole regions; with level 0
        these count as the other side, with a negative level they do not. For a classifier it is 0.
    tolerance : float
        Stop when upper - lower <= tolerance upper; at least 1e-8.
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
    >>> from marginflow.networks import Classifier
    >>> three = Classifier(W=[[1.0, 0.0], [0.0, 1.0]], V=[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> exact_radius(three, [3.0, 1.0]).rival
    1
    """
    point = checked_point("x", x, network.dimension)
    options = checked_options(
        level=level, tolerance=tolerance, time_limit=time_limit, max_nodes=max_nodes, certificate=certificate
    )
    (y,) = checked_labels(network, None if label is None else [label], 1, "label", options.level)
    with one_thread():
        return radius_of(network, point, y, options)


def radius_of(network: TwoLayer | Classifier, point: FloatArray, label: float | None, options: RadiusOptions) -> Radius:
    """One point, of either kind of network; what was prepared for an earlier point is used again."""
    if isinstance(network, Classifier):
        return classifier_radius(network, point, label, options)
    reduction, begin = reduce_network(network), time.monotonic()
    y = label if label is not None else (1.0 if margin_sign(network, point, 1.0, 0.0) >= 0 else -1.0)
    if margin_sign(network, point, y, options.level) <= 0:
        found = _Found(witness=point, unit=0, trace=[(0.0, 0.0, 0.0)])
    else:
        with np.errstate(all="ignore"):
            found = _search(network, reduction, point, y, options)
    ((units, nodes),) = in_plain_units([found.tree], found.unit, [reduction.outputs])
    claim = RadiusCertificate(
        point=read_only(point),
        label=y,
        level=options.level,
        lower=found.lower,
        witness=None if found.witness is None else read_only(found.witness),
        groups=reduction.geometry.groups,
        nodes=nodes,
        units=units,
    )
    unit = found.unit
    trace = tuple((t, one_unflushed(low, unit), one_unflushed(high, unit)) for t, low, high in found.trace)
    return confirmed(claim, network, options, begin, nodes=len(found.tree), trace=trace)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Found:
    """What the search says: a lower bound and a witness in the user's units, tree and history in units of 2^unit."""

    lower: float = 0.0
    witness: FloatArray | None
    unit: int
    tree: list[TreeNode] = field(default_factory=list)
    trace: list[tuple[float, float, float]]


def _search(network: TwoLayer, reduction: Reduction, point: FloatArray, y: float, options: RadiusOptions) -> _Found:
    level, unit = options.level, reduction.geometry.unit(point)
    closer = replace(options, tolerance=options.tolerance - 2 * ROUNDING)  # bound and witness are rounded once more
    for _ in range(3):
        problem = reduction.at(point, y, level, unit)
        if not (reduction.fits and np.isfinite(problem.a).all() and problem.at_zero > 0):
            return _Found(witness=None, unit=unit, trace=[(0.0, 0.0, float("inf"))])
        outcome = solve(problem, closer)
        if not 0.0 < outcome.upper < _NEAR:
            break
        unit += int(np.frexp(outcome.upper)[1])
    witness, upper = None, float("inf")
    if outcome.delta is not None:
        delta = np.ldexp(reduction.geometry.lift(outcome.delta), unit)
        witness = on_the_other_side(network, point, delta, y, level)
        upper = length(witness - point)
    lower = one_unflushed(outcome.lower * (1.0 - ROUNDING), unit)
    if lower == np.inf and (y * network.v < 0)[network.W.any(axis=1)].any():
        # Neurons have cancelled, which is true up to rounding only; infinity would be too much.
        lower = one_unflushed(HORIZONS[-1] * farthest(problem), unit)
    return _Found(lower=min(lower, upper), witness=witness, unit=unit, tree=outcome.tree, trace=outcome.trace)
