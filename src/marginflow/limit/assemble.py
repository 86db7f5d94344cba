"""From what a start or a polish has found to a `Limit`: the network, its certificate, how far it moved, the status."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marginflow.arrays import BoolArray, IntArray
from marginflow.certificates import certify
from marginflow.limit.budget import Budget, Stop
from marginflow.limit.limit import Limit, Moved
from marginflow.limit.solver.polish import Polished
from marginflow.limit.starts.start import Finished, Start, finished
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer
from marginflow.threads import available_threads, threads_for

_FRESH_POINTS = 500


def of_finished(task: Task, point: Finished, tolerance: float, budget: Budget) -> Limit:
    """The limit of a point that needed no polish; it has moved from where it comes from, if it comes from anywhere."""
    nowhere = np.full(task.width, -1, dtype=np.int64)
    limit = _limit(task, point, tolerance, budget)
    if point.origin is not None:
        origin = task.given if task.callers_own else point.origin.network
        moved = _moved(task, origin, limit.network, point.origin.members, point.origin.patterns)
        return replace(limit, moved=moved, flow_seconds=point.origin.flow_seconds)
    if not task.callers_own:
        return limit
    patterns = np.zeros((task.problem.n_samples, 0), dtype=bool)
    return replace(limit, moved=_moved(task, task.given, limit.network, nowhere, patterns))


def of_polish(task: Task, start: Start, found: Polished, tolerance: float, budget: Budget) -> Limit:
    """The limit of a polish; it has moved from the caller's own network, or from where the flow ended."""
    members = np.where(start.groups >= 0, found.members[start.groups], -1)
    how = f"after {found.iterations} ADMM iterations and {found.newton_steps} Newton steps"
    point = _frozen(task, found, members, how) if task.frozen else finished(task, *_parts(found), how)
    assert point is not None  # a polish never has more neurons than it was given
    limit = _limit(task, replace(point, history=found.history), tolerance, budget)
    origin = task.given if task.callers_own else start.origin
    patterns = task.problem.X @ found.U.T > 0
    moved = _moved(task, origin, limit.network, members, patterns)
    return replace(limit, moved=moved, flow_seconds=start.flow_seconds)


def stopped_early(by: Stop, stationarity: float) -> str:
    """The status of a point whose work was ended from outside."""
    what = {"interrupt": "by an interrupt", "time limit": "at the time limit"}[by]
    return f"Stopped early {what}: relative stationarity {stationarity:.1e}."


def _parts(found: Polished) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    return found.U, found.s, found.lam, found.mu


def _frozen(task: Task, found: Polished, members: IntArray, how: str) -> Finished:
    """Neurons of one group share its u in proportion to v_j^2; those that vanished have zero weights."""
    v = task.given.v
    used = members >= 0
    total = np.zeros(len(found.s))
    np.add.at(total, members[used], v[used] ** 2)
    share = np.where(used, np.abs(v) / total[members], 0.0)
    rows = task.outside(share[:, None] * task.problem.ambient(found.U)[members])
    bias = task.given.b is not None
    W, b = (rows[:, :-1], rows[:, -1]) if bias else (rows, None)
    return Finished(
        network=TwoLayer(W=W, b=b, v=v, outputs="frozen"),
        lam=task.in_callers_order(found.lam),
        mu=task.in_callers_order(np.where(used, found.mu[:, members], 0.0)),
        how=how,
        gap=task.problem.gap(*_parts(found), found.outputs_squared),
    )


def _limit(task: Task, point: Finished, tolerance: float, budget: Budget) -> Limit:
    """The point with its certificate; a certificate that is to be quick judges the multipliers as they are."""
    with threads_for(task.data.X.size * task.width, available_threads()):
        certificate = certify(
            point.network,
            task.data,
            penalty=task.problem.penalty if task.soft else None,
            multipliers=(point.lam, point.mu),
            as_given=budget.over,
        )
    exact = certificate.holds(tolerance) and point.gap <= tolerance
    stopped = None if exact else budget.stopped_by
    return Limit(
        network=certificate.network,
        compact=certificate.network.compact(rtol=1e-9),
        certificate=certificate,
        gap=point.gap,
        moved=None,
        history=point.history,
        status=_status(task, point, exact, stopped, certificate.stationarity, float(certificate.margins.min())),
        exact=exact,
        seconds=budget.seconds,
        flow_seconds=0.0,
        stopped_by=stopped,
    )


def _moved(task: Task, origin: TwoLayer, network: TwoLayer, members: IntArray, patterns: BoolArray) -> Moved:
    """What has changed since `origin` (in coordinates of the span).

    `members` gives for every neuron of `origin` its column of `patterns`, the activations on the samples of
    `task.problem`; -1 where it has vanished.
    """
    least = float(origin.margins(task.X, task.data.y).min())
    before = origin.norm_squared() / least ** (2 / origin.degree) if least > 0 else np.inf
    rng = np.random.default_rng(0)
    centre = task.X.mean(axis=0)
    weights = rng.standard_normal((_FRESH_POINTS, len(task.X))) / np.sqrt(len(task.X))
    fresh = centre + weights @ (task.X - centre)
    old = origin(fresh)
    new = replace(network, W=network.W @ task.Q.T).compact(rtol=1e-9)(fresh)
    lengths = float(np.linalg.norm(old) * np.linalg.norm(new))
    kept = np.flatnonzero(members >= 0)
    was = origin.patterns(task.X)[task.problem.order][:, kept]
    now = patterns[:, members[kept]]
    return Moved(
        cosine=float(old @ new) / lengths if lengths > 0 else 0.0,
        norm_squared_before=before,
        norm_squared_after=network.norm_squared(),
        patterns_changed=float((was != now).mean()) if kept.size else 0.0,
        neurons_vanished=1.0 - kept.size / len(members),
        separated_by_flow=least > 0,
    )


def _status(task: Task, point: Finished, exact: bool, stopped: Stop | None, stationarity: float, least: float) -> str:
    if exact and point.status is not None:
        return point.status
    if exact:
        return f"Exact KKT point: relative stationarity {stationarity:.1e} {point.how}."
    if stopped is not None:
        return stopped_early(stopped, stationarity)
    if least <= 0 and not task.soft:
        return (
            f"Not separated: no network of {task.width} neurons with positive margins was found; try a "
            "larger width or a soft margin (penalty)."
        )
    return f"Not exact: the structure did not settle; relative stationarity {stationarity:.1e}."
