r"""Radii of many points: the network is reduced once, points are shared among processes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, matrix, whole_number
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.radius.exact import checked_options, radius_at
from marginflow.robustness.radius.reduction import Reduction, reduce_network
from marginflow.robustness.radius.result import Radius
from marginflow.threads import one_thread


def exact_radii(
    network: TwoLayer,
    X: ArrayLike,
    *,
    y: ArrayLike | None = None,
    level: float = 0.0,
    rtol: float = 1e-6,
    time_limit: float = 60.0,
    max_nodes: int | None = None,
    certificate: bool = False,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Radius]:
    """`exact_radius` for every row of X.

    Parameters
    ----------
    network : TwoLayer
        With or without biases.
    X : array, shape (n, d)
        Points as rows.
    y : array, shape (n,), or None
        Labels; None for the signs of N(x_i).
    level, rtol, max_nodes : float, float, int or None
        As in `exact_radius`.
    time_limit : float
        Seconds for each point.
    certificate : bool
        Whether to keep the proofs.
    processes : int
        Number of processes; each uses one BLAS thread.
    progress : callable or None
        Called with (points done, points in all) after every point, in the calling process.

    Returns
    -------
    list of Radius
        In the order of the rows.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.radius import exact_radii
    >>> net = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> [round(radius.upper, 6) for radius in exact_radii(net, [[3.0, 1.0], [2.0, 2.5]])]
    [1.414214, 0.353553]
    """
    points = matrix("X", X)
    if points.shape[1] != network.dimension:
        raise InputError(f"X has {points.shape[1]} columns, but the network has dimension {network.dimension}.")
    n = points.shape[0]
    signs: list[float | None] = [None] * n if y is None else [float(s) for s in labels("y", y, n)]
    options = checked_options(level, rtol, time_limit, max_nodes)
    processes = whole_number("processes", processes)
    with one_thread():
        reduction = reduce_network(network)
        if processes == 1:
            done = (
                radius_at(network, reduction, x, s, certificate=certificate, **options)
                for x, s in zip(points, signs, strict=True)
            )
            return _collected(done, n, progress)
    done = Parallel(n_jobs=processes, return_as="generator", inner_max_num_threads=1)(
        delayed(_one)(network, reduction, np.array(x), s, certificate, options)
        for x, s in zip(points, signs, strict=True)
    )
    return _collected(done, n, progress)


def _collected(done: object, n: int, progress: Callable[[int, int], None] | None) -> list[Radius]:
    radii: list[Radius] = []
    for radius in done:  # type: ignore[attr-defined]
        radii.append(radius)
        if progress is not None:
            progress(len(radii), n)
    return radii


def _one(
    network: TwoLayer,
    reduction: Reduction,
    point: FloatArray,
    label: float | None,
    certificate: bool,
    options: dict[str, float],
) -> Radius:
    """One point in a worker process."""
    with one_thread():
        return radius_at(network, reduction, point, label, certificate=certificate, **options)
