"""From what a start or a polish has found to a `Limit`: the network, its certificate, how far it moved, the status."""

from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate, certify
from marginflow.limit.advice import advice
from marginflow.limit.budget import Budget, Stop
from marginflow.limit.limit import Limit, Moved
from marginflow.limit.samples import spread
from marginflow.limit.settings import CERTIFICATE_PRODUCTS, FRESH_FROM, FRESH_POINTS, HARD_PATTERNS
from marginflow.limit.starts.start import Finished, Origin
from marginflow.limit.task import Flowed, Task
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import row_blocks
from marginflow.threads import available_threads, threads_for


def assemble(task: Task, point: Finished, tolerance: float, budget: Budget) -> Limit:
    """The point with its certificate; it has moved from the caller's own network, or from where the flow ended.

    A certificate that comes when the budget is over, or is interrupted, judges the multipliers as they are.
    """
    certificate = None
    with budget.interruptible():
        certificate = _certificate(task, point, budget)
    if certificate is None:
        certificate = _certificate(task, point, budget)
    exact = certificate.holds(tolerance) and point.gap <= tolerance
    stopped = None if exact else budget.stopped_by
    origin = point.origin
    if task.callers_own:
        nothing = np.zeros((task.data.n_samples, 0), dtype=bool)
        lost = Origin(Flowed(task.given, 0.0), np.full(task.width, -1, dtype=np.int64), nothing)
        origin = lost if origin is None else replace(origin, flowed=replace(origin.flowed, network=task.given))
    return Limit(
        network=certificate.network,
        compact=certificate.network.compact(tolerance=1e-9),
        certificate=certificate,
        gap=point.gap,
        moved=None if origin is None else _moved(task, origin, certificate.network),
        history=point.history,
        status=_status(task, point, certificate, exact, stopped, tolerance),
        exact=exact,
        seconds=budget.seconds,
        flow_seconds=0.0 if origin is None else origin.flowed.seconds,
        stopped_by=stopped,
    )


def _certificate(task: Task, point: Finished, budget: Budget) -> Certificate:
    data, lam, mu = task.whole, point.lam, point.mu
    if task.data is not data:
        lam, mu = (spread(part, task.first, data.n_samples) for part in (lam, mu))
    neurons = len(np.unique(point.network.v))  # most are copies, which are evaluated once
    with threads_for(CERTIFICATE_PRODUCTS * float(data.X.size) * neurons, available_threads()):
        return certify(
            point.network,
            data,
            penalty=task.penalty if task.soft else None,
            multipliers=(lam, mu),
            as_given=budget.over,
            hard_patterns=task.hard_patterns and data.n_samples * task.width <= HARD_PATTERNS,
            time_limit=budget.time_limit,
        )


def rounded_to(task: Task, certificate: Certificate) -> float:
    """What double precision leaves of margins of this size: the network sums up numbers that large."""
    longest = np.sqrt(float(np.vecdot(task.X, task.X).max()) + task.bias)
    return float(np.finfo(np.float64).eps * 0.5 * certificate.network.norm_squared() * longest)


def only_rounded(task: Task, certificate: Certificate, tolerance: float) -> bool:
    """Whether a hard margin is met as far as double precision can tell, which is not as far as was asked for."""
    if task.soft or task.frozen or certificate.holds(tolerance):
        return False
    rounding = rounded_to(task, certificate)
    return rounding > tolerance and certificate.holds(4.0 * rounding)


def stopped_early(by: Stop, stationarity: float) -> str:
    """The status of a point whose work was ended from outside."""
    what, then = {
        "interrupt": ("by an interrupt", ""),
        "time limit": ("at the time limit", " More time (a larger time_limit) may lead to an exact point."),
    }[by]
    return f"Stopped early {what}: relative stationarity {stationarity:.1e}.{then}"


def fresh_points(X: FloatArray) -> FloatArray:
    """Gaussian points with the mean and the covariance of the samples, at which networks are compared.

    Of many samples some, evenly spaced, stand for all of them.
    """
    X = X[:: -(-len(X) // FRESH_FROM)]
    centre = X.mean(axis=0)
    weights = np.random.default_rng(0).standard_normal((FRESH_POINTS, len(X))) / np.sqrt(len(X))
    fresh: FloatArray = centre + weights @ (X - centre)
    return fresh


def _least_margin(network: TwoLayer, X: FloatArray, y: FloatArray) -> float:
    """Of all samples, or of those up to the first block that has one on the wrong side: more is not asked."""
    least = np.inf
    for block in row_blocks(len(y), network.width):
        least = min(least, float(network.margins(X[block], y[block]).min()))
        if least <= 0.0:
            break
    return least


def _moved(task: Task, came_from: Origin, network: TwoLayer) -> Moved:
    """What has changed since the network that the point comes from."""
    origin, members = came_from.flowed.network, came_from.members
    least = _least_margin(origin, task.X, task.data.y)
    before = origin.norm_squared() / least ** (2 / origin.degree) if least > 0 else np.inf
    fresh = fresh_points(task.X)
    old = origin(fresh)
    new = replace(network, W=network.W @ task.Q.T).compact(tolerance=1e-9)(fresh)
    lengths = float(np.linalg.norm(old) * np.linalg.norm(new))
    kept = np.flatnonzero(members >= 0)
    some = slice(None, None, -(-len(task.X) // FRESH_FROM))
    was, now = origin.patterns(task.X[some])[:, kept], came_from.patterns[some, members[kept]]
    return Moved(
        cosine=float(old @ new) / lengths if lengths > 0 else 0.0,
        norm_squared_before=before,
        norm_squared_after=network.norm_squared(),
        patterns_changed=float((was != now).mean()) if kept.size else 0.0,
        neurons_vanished=1.0 - kept.size / len(members),
        separated_by_flow=least > 0,
    )


def _status(
    task: Task, point: Finished, certificate: Certificate, exact: bool, stopped: Stop | None, tolerance: float
) -> str:
    stationarity = certificate.stationarity
    if exact and point.status is not None:
        return point.status
    if exact:
        return f"Exact KKT point: relative stationarity {stationarity:.1e} {point.how}."
    if point.status is not None and stopped is None and certificate.holds(tolerance):
        return (
            f"Not proved to be the optimum to within {tolerance:.0e}: no network of any width is better by more than "
            f"{point.gap:.1e}, and the point is a KKT point (relative stationarity {stationarity:.1e}). "
            f"tolerance={1.1 * point.gap:.1e} accepts that."
        )
    if only_rounded(task, certificate, tolerance):
        rounding = rounded_to(task, certificate)
        return (
            f"Not exact: a KKT point to {rounding:.0e}, which is all that double precision allows for such margins; "
            f"relative stationarity {stationarity:.1e}. {advice(task)}"
        )
    if stopped is not None:
        return stopped_early(stopped, stationarity)
    if certificate.margins.min() <= 0 and not task.soft:
        return f"Not separated: no network of {task.width} neurons with positive margins was found. {advice(task)}"
    return f"Not exact: the structure did not settle; relative stationarity {stationarity:.1e}. {advice(task)}"
