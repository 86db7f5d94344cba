r"""What the solver in the plane hands back: a network, its multipliers, and a bracket on the global optimum."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import fsum, inf

import numpy as np

from marginflow.arrays import FloatArray, real_number, vector
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.neurons import split_to_width
from marginflow.limit.plane.arrangement import survey
from marginflow.limit.plane.samples import PlanarSamples
from marginflow.networks import TwoLayer

_EPS = float(np.finfo(np.float64).eps)
_EPS_LONG = float(np.finfo(np.longdouble).eps)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaneLimit:
    r"""The max-margin network of samples in the plane, and how far it can be from the global optimum.

    With J the objective, :math:`\tfrac12 \|\theta\|^2` or :math:`\tfrac12 \|\theta\|^2 + C \sum_i (1 - y_i N(x_i))_+`,

    .. math:: \frac{\sum_i \lambda_i}{\max(1, \sup_{\|u\| = 1} |F_\lambda(u)|)} \;\le\; \min J \;\le\; J(\theta)

    for all :math:`0 \le \lambda \le C`. Both sides are recomputed from the numbers that are returned, with rounding
    charged: the supremum over all directions by sweeps along every great circle, the right one at margin 1.

    Parameters
    ----------
    network : TwoLayer
    data : Dataset
    penalty : float or None
        C; None for the hard margin.
    multipliers : array, shape (n,)
    clarke : array, shape (n, k), or None
        relu'(w_j . x_i + b_j) with the value that stationarity asks for on a kink; None where only the bracket is
        known, because the structure did not settle.
    dual_supremum : float
        An upper bound on sup |F_lambda|.
    lower, upper : float
        The bracket on the global optimum of J.
    rounds : int
        Number of linear programs.
    """

    network: TwoLayer
    data: Dataset
    penalty: float | None
    multipliers: FloatArray
    clarke: FloatArray | None
    dual_supremum: float
    lower: float
    upper: float
    rounds: int

    @property
    def objective(self) -> float:
        """J of the network."""
        return objective(self.network, self.data, self.penalty)[0]

    @property
    def gap(self) -> float:
        """upper / lower - 1: how much of the objective a global optimum could save at most."""
        return self.upper / self.lower - 1.0 if self.lower > 0 else inf

    def widened(self, width: int) -> PlaneLimit:
        """The same point with `width` neurons: neurons are split, multipliers and bounds stay as they are."""
        if self.clarke is None:
            return replace(self, network=self.network.widened(width))
        network, clarke = split_to_width(self.network, self.clarke, width)
        return replace(self, network=network, clarke=clarke)


def objective(network: TwoLayer, data: Dataset, penalty: float | None) -> tuple[float, float]:
    """J of a network, and a bound from above on its J after scaling to margin 1 (hard) or as it is (soft)."""
    half = fsum(float(c) ** 2 for c in np.concatenate([network.augmented.ravel(), network.v])) / 2
    # Added up in extended precision, where there is one.
    W, v = network.W.astype(np.longdouble), network.v.astype(np.longdouble)
    b = 0.0 if network.b is None else network.b.astype(np.longdouble)
    margins = data.y * (np.maximum(data.X.astype(np.longdouble) @ W.T + b, 0.0) @ v).astype(np.float64)
    # Each output is a sum of products: k + d + 2 roundings of terms of at most this size, and one at the end.
    rows = np.hypot(np.linalg.norm(data.X, axis=1), 1.0 if network.b is not None else 0.0)
    terms = float(np.abs(network.v) @ np.linalg.norm(network.augmented, axis=1)) * rows
    charge = 2 * _EPS_LONG * (network.width + data.dimension + 4) * terms + _EPS * np.abs(margins)
    if penalty is None:
        least = float((margins - charge).min())
        return half, half / least * (1 + 8 * _EPS) if least > 0 else inf
    slack = np.maximum(1.0 - margins, 0.0)
    worst = np.maximum(1.0 - margins + charge, 0.0)
    return half + penalty * fsum(slack), (half + penalty * fsum(worst)) * (1 + 8 * _EPS)


def dual_bound(
    data: Dataset,
    multipliers: FloatArray,
    *,
    penalty: float | None = None,
    bias: bool = True,
    time_limit: float | None = None,
) -> tuple[float, float]:
    r"""What multipliers prove: a lower bound on the optimum over all networks, and sup |F_lambda| from above.

    .. math:: \min J \ge \sum_i \lambda_i / \max(1, \sup |F_\lambda|)

    (with a hard margin the division is by the supremum also where that is below 1).

    Parameters
    ----------
    data : Dataset
        Samples that with the bias span at most three dimensions.
    multipliers : array, shape (n,)
        Non-negative, and at most `penalty`.
    penalty : float, optional
    bias : bool
    time_limit : float, optional
        Seconds after which nothing is proved: 0 and infinity.

    Returns
    -------
    lower, supremum : float

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import plane
    >>> data = Dataset(X=[[1.0, 0.0], [-1.0, 0.0]], y=[1, -1])
    >>> lower, supremum = plane.dual_bound(data, [0.5, 0.5], bias=False)
    >>> round(lower, 12), round(supremum, 12)
    (2.0, 0.5)
    """
    lam = vector("multipliers", multipliers, data.n_samples)
    if (lam < 0).any():
        raise InputError(f"multipliers has the entry {lam.min():g}; numbers of at least 0 are expected.")
    if penalty is not None and (lam > penalty).any():
        raise InputError(f"multipliers has the entry {lam.max():g} above the penalty {penalty:g}.")
    deadline = inf if time_limit is None else time.monotonic() + real_number("time_limit", time_limit, at_least=0.0)
    try:
        samples = PlanarSamples.of(data, bias=bias)
        found = survey(samples.rows, lam * samples.y * samples.unit, level=inf, deadline=deadline)
    except OutOfTimeError:
        return 0.0, inf
    scale = found.bound if penalty is None else max(1.0, found.bound)
    return (fsum(lam) / scale * (1 - 8 * _EPS) if scale > 0 else 0.0), found.bound
