"""The global max-margin network of samples in the plane, with a proof that it is global."""

import time
from math import inf

import numpy as np

from marginflow.arrays import read_only, real_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.plane.program import PlaneProgramError
from marginflow.limit.plane.result import PlaneLimit, dual_bound, objective
from marginflow.limit.plane.samples import PlanarSamples
from marginflow.limit.plane.solver import solve
from marginflow.limit.separable import CANCELLED
from marginflow.networks import TwoLayer


def max_margin(
    data: Dataset,
    *,
    penalty: float | None = None,
    bias: bool = True,
    width: int | None = None,
    gap: float = 1e-9,
    time_limit: float | None = None,
) -> PlaneLimit:
    r"""The network of least norm among all two-layer networks with margin 1 in the plane, hard or soft.

    .. math:: \min_\theta \tfrac12 \|\theta\|^2 + C \sum_i (1 - y_i N(x_i))_+
              = \max_{0 \le \lambda \le C} \sum_i \lambda_i
              \quad\text{s.t.}\quad
              \sup_{\|u\| = 1} \Big|\sum_i \lambda_i y_i\, \mathrm{relu}(u \cdot (x_i, 1))\Big| \le 1

    A linear program over directions grows by the local maxima of the dual function, all of which are listed by sweeps
    along the great circles that the samples cut out of the sphere of directions; Newton's method on the structure gives
    the numbers; a last sweep over all circles proves that no other network is better. Any width of at least that of the
    result is optimal.

    Parameters
    ----------
    data : Dataset
        Samples in the plane, on a line or, without bias, in space: with the bias they span at most 3 dimensions.
    penalty : float, optional
        C of the soft margin; hard by default, and then coinciding samples must agree in their label.
    bias : bool
        Whether neurons have a bias.
    width : int or None
        Number of neurons, met by splitting; None for as few as were found.
    gap : float
        Relative width of the bracket that counts as closed.
    time_limit : float, optional
        Seconds after which the best bracket so far is returned.

    Returns
    -------
    PlaneLimit
        Its gap is the proof.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import plane
    >>> data = Dataset(X=[[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], y=[1, 1, -1, -1])
    >>> best = plane.max_margin(data)
    >>> best.network.width, best.gap < 1e-9
    (4, True)
    """
    began = time.monotonic()
    data.require_two_classes()
    if penalty is None:
        data.require_no_contradiction()
    cost = inf if penalty is None else real_number("penalty", penalty, above=0.0)
    gap = real_number("gap", gap, above=0.0)
    deadline = inf if time_limit is None else began + real_number("time_limit", time_limit, at_least=0.0)
    samples = PlanarSamples.of(data, bias=bias)
    try:
        found = solve(samples, penalty=cost * samples.unit, gap=gap, deadline=deadline)
    except PlaneProgramError:
        raise InputError(
            f"The linear program over directions of these {data.n_samples} samples does not settle in floating point; "
            "samples further apart relative to their size, or a penalty, are expected."
        ) from None
    if found.s.size == 0 and not found.in_time:
        raise InputError(
            f"time_limit is {time_limit:g} seconds, too few for the first linear program over directions."
        ) from OutOfTimeError()
    if found.s.size == 0:
        # Zero is optimal as long as all multipliers at the penalty keep |F| below 1, and F is linear in them.
        supremum = dual_bound(data, np.ones(data.n_samples), bias=bias)[1]
        if supremum == 0.0:
            raise InputError(CANCELLED)
        raise InputError(
            f"penalty is {penalty:g}, so small that the best network is the zero function; others are better from "
            f"{1.0 / supremum:.4g} on."
        )
    lam = np.minimum(found.lam / samples.unit, cost)
    network = TwoLayer.from_directions(found.U @ samples.basis / samples.unit, found.s, bias=bias)
    left = None if time_limit is None else max(0.0, deadline - time.monotonic())
    lower, supremum = dual_bound(data, lam, penalty=penalty, bias=bias, time_limit=left)
    clarke = None
    if found.mu is not None:
        positive = found.lam > 0
        pattern = (samples.rows @ found.U.T > 0).astype(np.float64)
        ratio = found.mu / np.where(positive, found.lam, 1.0)[:, None]
        clarke = read_only(np.where(positive[:, None], ratio, pattern))
    limit = PlaneLimit(
        network=network,
        data=data,
        penalty=penalty,
        multipliers=read_only(lam),
        clarke=clarke,
        dual_supremum=supremum,
        lower=lower,
        upper=objective(network, data, penalty)[1],
        rounds=found.rounds,
    )
    return limit if width is None else limit.widened(width)
