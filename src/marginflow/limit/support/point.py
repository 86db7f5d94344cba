r"""A KKT point for classifiers that are wanted soon: descent on a smooth objective, then exact on the support alone.

Samples beyond their margin have lambda_i = 0, so that a KKT point of the problem with some of the samples is one of the
whole problem as soon as every other sample has margin 1 or more. Which samples matter is learnt by descent
(`support.descent`); the rest is done on the samples near the margin, joined by those that come out violated on the way
(`support.watched`). Where the flow would go plays no part; for that, call `kkt_point` itself.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marginflow.arrays import real_number, whole_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.limit import Limit
from marginflow.limit.point import reserve_judgement, search
from marginflow.limit.separable import require_separable
from marginflow.limit.starts import named_starts
from marginflow.limit.starts.interior import Interior
from marginflow.limit.starts.start import AbstractStart
from marginflow.limit.support.descent import descend
from marginflow.limit.support.settings import HARD_PENALTY, INTERIOR_FROM, OTHERWISE
from marginflow.limit.support.watched import GrowingAdmm, Watched, begun, solve
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


def support_point(
    data: Dataset,
    start: TwoLayer,
    *,
    penalty: float | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 20_000,
    time_limit: float | None = None,
) -> Limit:
    """A certified KKT point near where descent on the smoothed objective leads; arguments as in `kkt_point`.

    Parameters
    ----------
    data : Dataset
        Two classes; without contradictions unless there is a penalty.
    start : TwoLayer
        With trained outputs.

    Returns
    -------
    Limit
        Judged on all samples. Where the support does not settle, what `kkt_point` finds from the descended network
        with all samples at once.

    Examples
    --------
    >>> import marginflow as mf
    >>> from marginflow.limit.support import support_point
    >>> data = mf.data.Sphere(dimension=20).sample(60, seed=0)
    >>> start = mf.networks.TwoLayer.initialise(width=20, dimension=20, seed=0)
    >>> support_point(data, start, penalty=1.0).certificate.holds(1e-9)
    True
    """
    (found,) = support_points(
        [(data, start)],
        penalty=penalty,
        tolerance=tolerance,
        max_iterations=max_iterations,
        time_limit=time_limit,
    )
    return found


def support_points(
    problems: Sequence[tuple[Dataset, TwoLayer]],
    *,
    penalty: float | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 20_000,
    time_limit: float | None = None,
    width_is_open: bool = False,
) -> list[Limit]:
    """`support_point` for each of several data sets and starts, in step, which is faster than one after another.

    Where the width is open, a global optimum in the plane may have more neurons than the start.
    A time limit is for each; with one they come one after another. The seconds of a point are its own and its share of
    what was done for all. An interrupt ends it all with a KeyboardInterrupt: some of the points are of no use.
    """
    whole_number("max_iterations", max_iterations)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    penalty = None if penalty is None else real_number("penalty", penalty, above=0.0)
    time_limit = None if time_limit is None else real_number("time_limit", time_limit, above=0.0)
    for data, start in problems:
        if start.outputs != "trained":
            raise InputError("The outputs of start are frozen; trained outputs are expected.")
        data.require_two_classes()
        if penalty is None:
            require_separable(data, bias=start.b is not None)
    groups = [problems] if time_limit is None else [[problem] for problem in problems]
    found = [_in_step(group, penalty, tolerance, max_iterations, time_limit, width_is_open) for group in groups]
    return [limit for limits in found for limit in limits]


def _in_step(
    problems: Sequence[tuple[Dataset, TwoLayer]],
    penalty: float | None,
    tolerance: float,
    max_iterations: int,
    time_limit: float | None,
    width_is_open: bool,
) -> list[Limit]:
    began = time.monotonic()
    deadline = np.inf if time_limit is None else began + 0.5 * time_limit  # the other half is for the exact point
    C = HARD_PENALTY if penalty is None else penalty
    descended = [descend(data, start, C, deadline=deadline) for data, start in problems]
    cap = np.inf if penalty is None else penalty
    tasks = [
        Task(data, network, penalty=cap, flow_steps=0, hard_patterns=False)
        for (data, _), (network, _) in zip(problems, descended, strict=True)
    ]
    left = None if time_limit is None else max(1e-3, time_limit - (time.monotonic() - began))
    budget = Budget(time_limit=left, max_iterations=max_iterations)
    multipliers = [lam[task.first] for task, (_, lam) in zip(tasks, descended, strict=True)]
    runs = [begun(task, budget, lam) for task, lam in zip(tasks, multipliers, strict=True)]
    solve([run for run in runs if run is not None], budget)
    of_each = (time.monotonic() - began) / len(problems)
    found = []
    for (data, start), task, run in zip(problems, tasks, runs, strict=True):
        own = time.monotonic() - of_each
        limit = _settled(task, run, tolerance, budget)
        if budget.interrupted:
            raise KeyboardInterrupt
        if limit is None:
            left = None if time_limit is None else max(1e-3, time_limit - (time.monotonic() - began))
            whole = Task(data, start, penalty=cap, callers_own=True, hard_patterns=False, width_is_open=width_is_open)
            rest = Budget(time_limit=left, max_iterations=max_iterations)
            reserve_judgement(whole, rest)
            limit = search(whole, named_starts(OTHERWISE), tolerance, rest)
            if limit.stopped_by == "interrupt":
                raise KeyboardInterrupt
        found.append(replace(limit, seconds=time.monotonic() - own))
    return found


def _settled(task: Task, run: GrowingAdmm | None, tolerance: float, budget: Budget) -> Limit | None:
    """An exact point of the support, or that of an interior point where it does not settle."""
    starts: list[AbstractStart] = [Watched(run)]
    if budget.max_iterations >= INTERIOR_FROM:
        starts.append(Interior())
    try:
        found = search(task, starts, tolerance, budget)
    except InputError:  # neither applies, or nothing but the zero function is left
        return None
    return found if found.exact else None
