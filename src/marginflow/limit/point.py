r"""`kkt_point`: from data to a certified KKT point of the max-margin problem in one call.

The route is flow first, then polish: gradient flow from small initialisation until every margin is positive and the
direction has begun to settle, then ADMM and Newton's method on problem (P) from there, then the certificate.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginflow.arrays import one_of, real_number, whole_number
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import line
from marginflow.limit.attempt import Solve, VanishedError, stopped_early
from marginflow.limit.limit import Limit
from marginflow.limit.solver.polish import Progress
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.networks.layers import Outputs
from marginflow.threads import available_threads, threads_for

_TRIES = 3
_LARGEST_WIDTH = 10_000_000
# The flow runs in single precision, which holds squares of parameters of this size and of its inverse.
_LEAST_SCALE = 1e-15


def kkt_point(
    data: Dataset,
    *,
    width: int = 100,
    seed: int = 0,
    bias: bool = True,
    outputs: Outputs = "trained",
    penalty: float | None = None,
    start: TwoLayer | None = None,
    scale: float = 0.01,
    loss: AbstractLoss | None = None,
    flow_steps: int | None = None,
    angle: float = 0.05,
    stay_near: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 20_000,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Limit:
    r"""A KKT point of min 1/2 ||theta||^2 s.t. y_i N(x_i) >= 1, certified, near where gradient flow goes.

    Parameters
    ----------
    data : Dataset
        Two classes, no identical points with opposite labels (a soft margin allows them).
    width : int
        Number of neurons; also of the returned network.
    seed : int
        Of the initialisation.
    bias : bool
        Whether neurons have a bias.
    outputs : "trained" or "frozen"
        Frozen outputs are +-1/sqrt(width), half of each, unless `start` brings its own.
    penalty : float, optional
        C of the soft-margin problem min 1/2 ||theta||^2 + C sum_i (1 - y_i N(x_i))_+; data need not be separable and
        lambda_i <= C.
    start : TwoLayer, optional
        Where to begin instead of a random initialisation; its bias and outputs decide the problem.
    scale : float
        Factor on the torch initialisation; small, so that the flow learns features before it fits.
    loss : AbstractLoss, optional
        Of the flow; default exponential.
    flow_steps : int, optional
        Length of the flow. By default it runs until every margin is positive and half as long again.
    angle : float
        Length of a flow step relative to ||theta||.
    stay_near : float
        Weight of a proximal term that holds the polish near the flow while patterns settle (0: none, 1: strong); it is
        removed before the end, so the result is a KKT point whatever the weight.
    tolerance : float
        What the certificate must reach for the status to say "exact".
    max_iterations : int
        Of ADMM in each of at most three attempts; unlike a time limit it gives the same bits on every machine.
    time_limit : float, optional
        Seconds after which the best point so far is returned with the status "stopped early".
    progress : callable, optional
        Receives a `Progress` after every round.

    Returns
    -------
    Limit
        Network, certificate, duality gap, what the polish changed, history, status.

    Notes
    -----
    On the line (d = 1, bias, trained outputs, hard margin) patterns of neighbouring samples are too entangled for
    the flow to separate; there the *global* max-margin network is computed (`limit.line.max_margin`). In few
    dimensions (up to six with the bias, up to 100 samples), where the flow settles on no structure, the point comes
    from generated columns and need not be near the flow; the status says so, and `moved` is then None.

    Examples
    --------
    >>> import marginflow as mf
    >>> data = mf.data.Sphere(dimension=20).sample(20, seed=0)
    >>> limit = mf.kkt_point(data, width=50, seed=0)
    >>> limit.certificate.holds(1e-9), limit.network.width
    (True, 50)
    """
    began = time.monotonic()
    deadline = np.inf if time_limit is None else began + real_number("time_limit", time_limit, above=0.0)
    width = whole_number("width", width if start is None else start.width)
    if width > _LARGEST_WIDTH:
        raise InputError(f"width is {width:.3g}; a whole number of at most {_LARGEST_WIDTH:,} is expected.")
    scale = real_number("scale", scale, at_least=_LEAST_SCALE, at_most=1 / _LEAST_SCALE)
    one_of("outputs", outputs, ("trained", "frozen"))
    stay_near = real_number("stay_near", stay_near, at_least=0.0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    max_iterations = whole_number("max_iterations", max_iterations)
    cap = np.inf if penalty is None else real_number("penalty", penalty, above=0.0)
    data.require_two_classes()
    if penalty is None:
        data.require_no_contradiction()
    if start is not None:
        if start.dimension != data.dimension:
            raise InputError(f"start has dimension {start.dimension}, but the data have dimension {data.dimension}.")
        bias, outputs = start.b is not None, start.outputs
    if width < 2:
        raise InputError("width is 1, but data with both labels need at least 2 neurons, one of each sign.")
    if data.dimension == 1 and bias and outputs == "trained" and penalty is None and start is None:
        return _on_the_line(data, width, tolerance, began)
    if start is None:
        start = TwoLayer.initialise(width, data.dimension, scale=scale, bias=bias, outputs=outputs, seed=seed)
    if not bias and not data.X.any():
        raise InputError("Every sample is zero; without bias every network is zero there.")
    with threads_for(data.X.size * float(min(data.X.shape)), available_threads()):
        solve = Solve(data, start, cap, stay_near, tolerance, max_iterations, began, deadline, progress)
    steps = None if flow_steps is None else whole_number("flow_steps", flow_steps, minimum=0)
    limits: list[Limit] = []
    for attempt in range(_TRIES):
        try:
            limits.append(solve.attempt(attempt, steps, angle, loss))
        except VanishedError:
            if attempt == _TRIES - 1 and not limits:
                raise
            continue  # with a soft margin zero is a KKT point like others; a longer flow may find a better one
        except InputError:
            if not limits:
                raise
            break  # a later attempt that cannot even start does not take back what an earlier one found
        if limits[-1].exact or limits[-1].stopped_by:
            break
    return replace(_best(limits), seconds=time.monotonic() - began)


def _best(limits: list[Limit]) -> Limit:
    """The exact point, or the one of least stationarity (1 for networks that do not separate the data)."""
    best = min(limits, key=lambda limit: (not limit.exact, limit.certificate.stationarity))
    last = limits[-1].stopped_by
    if best is not limits[-1] and last is not None:
        return replace(best, status=stopped_early(last, best.certificate.stationarity), stopped_by=last)
    return best


def _on_the_line(data: Dataset, width: int, tolerance: float, began: float) -> Limit:
    """The global max-margin network in one dimension, with its proof of optimality."""
    point = line.max_margin(data)
    if point.network.width > width:
        raise InputError(
            f"width is {width}, but the max-margin network of these samples on a line has {point.network.width} "
            "neurons; at least as many are expected."
        )
    point = point.widened(width)
    mu = point.multipliers[:, None] * point.clarke
    certificate = certify(point.network, data, multipliers=(point.multipliers, mu))
    exact = certificate.holds(tolerance)
    return Limit(
        network=certificate.network,
        compact=certificate.network.compact(rtol=1e-9),
        certificate=certificate,
        gap=point.gap,
        moved=None,
        history=(),
        status=f"Global max-margin network on the line: no network of any width has a norm smaller by {point.gap:.1e}.",
        exact=exact,
        seconds=time.monotonic() - began,
        flow_seconds=0.0,
    )
