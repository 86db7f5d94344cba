r"""`kkt_point`: from data to a certified KKT point of the max-margin problem in one call.

The route is flow first, then polish: gradient flow from small initialisation until every margin is positive and the
direction has begun to settle, then ADMM and Newton's method on problem (P) from there, then the certificate.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from marginflow.arrays import one_of, real_number, whole_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.assemble import assemble, only_rounded, stopped_early
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.classes.point import kkt_point_of_classes
from marginflow.limit.limit import Limit
from marginflow.limit.separable import require_gain, require_separable
from marginflow.limit.settings import (
    FAITHFUL_ANGLE,
    FAITHFUL_STEPS,
    FLOW_LARGE_ANGLE,
    JUDGEMENT,
    JUDGEMENT_PRODUCTS,
    MOST_POLISHES,
)
from marginflow.limit.solver.polish import Polished, polish
from marginflow.limit.starts import AbstractStart, Finished, Start, named_starts
from marginflow.limit.starts.plane import Line, global_point
from marginflow.limit.starts.rising import least_useful_penalty
from marginflow.limit.starts.start import as_it_is, finished_polish, unpolished
from marginflow.limit.task import Task
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.networks.layers import Outputs

_LARGEST_WIDTH = 10_000_000
# The flow runs in single precision, which holds squares of parameters of this size and of its inverse.
_LEAST_SCALE = 1e-15
_SCALE = 0.01
_WIDTH = 100


def kkt_point(
    data: Dataset,
    *,
    width: int | None = None,
    seed: int = 0,
    bias: bool = True,
    outputs: Outputs = "trained",
    penalty: float | None = None,
    optimum: Literal["local", "global"] = "local",
    start: TwoLayer | None = None,
    scale: float = _SCALE,
    loss: AbstractLoss | None = None,
    flow_steps: int | None = None,
    angle: float = FLOW_LARGE_ANGLE,
    faithful: bool = False,
    stay_near: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 20_000,
    time_limit: float | None = None,
    starts: Sequence[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Limit | Any:  # Any: of three classes and more a ClassesLimit, which callers with two need not rule out
    r"""A KKT point of min 1/2 ||theta||^2 s.t. y_i N(x_i) >= 1, certified, near where gradient flow goes.

    With three classes and more: of min 1/2 ||theta||^2 s.t. f_{y_i}(x_i) - f_t(x_i) >= 1 for all t != y_i.

    Parameters
    ----------
    data : Dataset
        No identical points with different labels (a soft margin allows them). More than two classes take `width`,
        `seed`, `bias`, `tolerance`, `time_limit` and `progress`, and refuse what else is asked for.
    width : int, optional
        Number of neurons; also of the returned network. By default 100, or as many as the global optimum has where it
        is on a line or in the plane and has more.
    seed : int
        Of the initialisation.
    bias : bool
        Whether neurons have a bias.
    outputs : "trained" or "frozen"
        Frozen outputs are +-1/sqrt(width), half of each, unless `start` brings its own.
    penalty : float, optional
        C of the soft-margin problem min 1/2 ||theta||^2 + C sum_i (1 - y_i N(x_i))_+; data need not be separable and
        lambda_i <= C.
    optimum : "local" or "global"
        Near where the flow goes, or the least norm over all widths with its proof, for samples on a line or in the
        plane (`limit.line`, `limit.plane`).
    start : TwoLayer, optional
        Where to begin instead of a random initialisation; its bias and outputs decide the problem.
    scale : float
        Factor on the torch initialisation; small, so that the flow learns features before it fits.
    loss : AbstractLoss, optional
        Of the flow; default exponential.
    flow_steps : int, optional
        Length of the flow, in every attempt; 0 is none. By default it runs to a loss of 1e-300 where that is cheap,
        otherwise (large problems, soft margins, samples that it separates late) until every margin is positive and
        half as long again.
    angle : float
        Length of a flow step relative to ||theta||; unless it or `flow_steps` is given, steps are as small as is cheap.
    faithful : bool
        Flow for 5000 steps of 0.004 before the polish and bundle only parallel neurons: slower, and nearer to where
        the flow goes; `flow_steps` and `angle` must be left alone.
    stay_near : float
        Weight of a proximal term that holds the polish near the flow while patterns settle (0: none, 1: strong); it is
        removed before the end, so the result is a KKT point whatever the weight.
    tolerance : float
        What the certificate must reach for the status to say "exact".
    max_iterations : int
        Of ADMM in each of at most three attempts; unlike a time limit it gives the same bits on every machine.
    time_limit : float, optional
        Seconds after which the best point so far is returned with the status "stopped early".
    starts : sequence of str, optional
        Names of the ways to begin, in the order to try them (`limit.all_starts()` lists them); by default all.
    progress : callable, optional
        Receives a `Progress` after every round.

    Returns
    -------
    Limit or, for more than two classes, ClassesLimit
        Network (a `TwoLayer` or a `Classifier`), certificate, history, status; for two classes also the duality gap
        and what the polish changed.

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
    budget = Budget(
        time_limit=None if time_limit is None else real_number("time_limit", time_limit, above=0.0),
        max_iterations=whole_number("max_iterations", max_iterations),
        progress=progress,
    )
    width_is_open, width = width is None and start is None, _WIDTH if width is None else width
    width = whole_number("width", width if start is None else start.width)
    if width > _LARGEST_WIDTH:
        raise InputError(f"width is {width:.3g}; a whole number of at most {_LARGEST_WIDTH:,} is expected.")
    scale = real_number("scale", scale, at_least=_LEAST_SCALE, at_most=1 / _LEAST_SCALE)
    one_of("outputs", outputs, ("trained", "frozen"))
    one_of("optimum", optimum, ("local", "global"))
    stay_near = real_number("stay_near", stay_near, at_least=0.0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    cap = np.inf if penalty is None else real_number("penalty", penalty, above=0.0)
    steps = None if flow_steps is None else whole_number("flow_steps", flow_steps, minimum=0)
    if len(data.classes) > 2:
        _require_defaults(
            len(data.classes),
            outputs=outputs != "trained",
            penalty=penalty is not None,
            optimum=optimum != "local",
            start=start is not None,
            scale=scale != _SCALE,
            loss=loss is not None,
            flow_steps=flow_steps is not None,
            angle=angle != FLOW_LARGE_ANGLE,
            faithful=faithful,
            stay_near=stay_near != 0.0,
            starts=starts is not None,
        )
        return kkt_point_of_classes(data, width=width, seed=seed, bias=bias, tolerance=tolerance, budget=budget)
    if faithful:
        if flow_steps is not None or angle != FLOW_LARGE_ANGLE:
            raise InputError("faithful=True fixes the flow; leave flow_steps and angle out, or leave faithful out.")
        steps, angle = FAITHFUL_STEPS, FAITHFUL_ANGLE
    ways = named_starts(starts)
    data.require_two_classes()
    if start is not None:
        if start.dimension != data.dimension:
            raise InputError(f"start has dimension {start.dimension}, but the data have dimension {data.dimension}.")
        bias, outputs = start.b is not None, start.outputs
        if outputs == "frozen" and start.v.any() and not (start.v**2).any():
            raise InputError(
                f"The outputs of start are frozen and at most {np.abs(start.v).max():.1g}, so that their squares are "
                "zero in double precision; larger ones are expected."
            )
    if width < 2:
        raise InputError("width is 1, but data with both labels need at least 2 neurons, one of each sign.")
    if optimum == "global" and (outputs == "frozen" or start is not None):
        raise InputError(
            "optimum is 'global', which takes trained outputs and no start: it is the same from everywhere."
        )
    if not bias and not data.X.any():
        raise InputError("Every sample is zero; without bias every network is zero there.")
    if penalty is None:
        require_separable(data, bias=bias)
    else:
        require_gain(data)
    own = start is not None
    if start is None:
        start = TwoLayer.initialise(width, data.dimension, scale=scale, bias=bias, outputs=outputs, seed=seed)
    task = Task(
        data,
        start,
        penalty=cap,
        callers_own=own,
        flow_steps=steps,
        angle=angle,
        loss=loss,
        stay_near=stay_near,
        faithful=faithful,
        width_is_open=width_is_open,
    )
    reserve_judgement(task, budget)
    if optimum == "global":
        best = None
        with budget.interruptible():
            try:
                best = Line().propose(task, budget) or global_point(task, budget)
            except InputError:
                if not budget.over:
                    raise
        return assemble(task, best or as_it_is(task, task.given), tolerance, budget)
    return search(task, ways, tolerance, budget)


def _require_defaults(n_classes: int, **asked: bool) -> None:
    """Refuse what is there for two classes only."""
    refused = [name for name, given in asked.items() if given]
    if refused:
        are, them = ("is", "it") if len(refused) == 1 else ("are", "them")
        raise InputError(
            f"The data have {n_classes} classes; {', '.join(refused)} {are} for two classes only. Leave {them} out, or "
            "choose two of the classes."
        )


def search(task: Task, ways: Sequence[AbstractStart], tolerance: float, budget: Budget) -> Limit:
    """Go down the list until a point is exact; otherwise the best that was found.

    An interrupt that no stage has caught and the time limit end the search; what was found before is not lost, and
    before anything is found the network that it began from is what there is. A point whose own multipliers leave a gap
    is not exact whatever its certificate says, which takes long for such points: it is made only if nothing exact
    follows.
    """
    limits: list[Limit] = []
    rough: list[Finished] = []
    polishes = 0
    with budget.interruptible():
        for way in ways:
            if polishes >= MOST_POLISHES or budget.over or (limits and _done(task, limits[-1], tolerance)):
                break
            try:
                proposed = way.propose(task, budget)
            except InputError:
                if not (limits or rough):
                    raise
                break  # a later start that cannot even begin does not take back what an earlier one found
            if isinstance(proposed, Start) and budget.over:
                proposed = None if limits or rough else unpolished(task, proposed)
            elif isinstance(proposed, Start):
                polishes += 1
                proposed = finished_polish(task, proposed, _polish(task, proposed, budget))
            if proposed is not None and proposed.gap > tolerance:
                rough.append(proposed)
            elif proposed is not None:
                limits.append(assemble(task, proposed, tolerance, budget))
    if not any(limit.exact for limit in limits):
        limits += [assemble(task, point, tolerance, budget) for point in rough]
    if not limits:
        refused = None if budget.over else _refused(task, polishes)
        if refused is not None:
            raise refused
        limits.append(assemble(task, as_it_is(task, task.given), tolerance, budget))
    best = _best(task, limits, tolerance)
    stopped = None if _done(task, best, tolerance) else budget.stopped_by
    if stopped is not None:
        best = replace(best, status=stopped_early(stopped, best.certificate.stationarity), stopped_by=stopped)
    return replace(best, seconds=budget.seconds)


def _done(task: Task, limit: Limit, tolerance: float) -> bool:
    """Whether no other start could do better: the point is exact, or as near to it as its numbers can be told."""
    return limit.exact or (limit.gap <= tolerance and only_rounded(task, limit.certificate, tolerance))


def _polish(task: Task, start: Start, budget: Budget) -> Polished:
    """From a start to a point, in units in which the samples are about 1 long."""
    units = task.units(start.neurons.outputs_squared)
    neurons, price = units.neurons(start.neurons), units.price
    iterations = budget.max_iterations if start.max_iterations is None else start.max_iterations
    found = polish(
        units.problem(task.problem),
        neurons,
        budget,
        multipliers=None if start.multipliers is None else start.multipliers * price,
        anchor_weight=task.stay_near / float(np.linalg.norm(neurons.U, axis=1).mean()),
        max_iterations=min(iterations, budget.max_iterations),
        precision=start.precision,
        weight=start.weight,
        feasible=start.feasible,
        price=price,
    )
    return replace(
        found,
        U=found.U / units.scale,
        lam=found.lam / price,
        mu=found.mu / price,
        outputs_squared=found.outputs_squared / (units.outputs_scale or units.scale),
    )


def _best(task: Task, limits: Sequence[Limit], tolerance: float) -> Limit:
    """The exact point, else one as near to it as can be told, else that of least stationarity (1: not separated)."""
    return min(
        limits, key=lambda limit: (not limit.exact, not _done(task, limit, tolerance), limit.certificate.stationarity)
    )


def reserve_judgement(task: Task, budget: Budget) -> None:
    """Keep the time that it takes to judge the network that is found."""
    budget.reserve((JUDGEMENT + JUDGEMENT_PRODUCTS * task.data.dimension) * task.whole.n_samples * task.width)


def _refused(task: Task, polishes: int) -> InputError | None:
    """Why there is no point: no start applied, or nothing is worth its price; None where every polish went astray."""
    if not polishes:
        return InputError("None of the starts that were asked for applies to these data; leave `starts` out.")
    C = task.penalty
    useful = least_useful_penalty(task.problem, task.neurons(task.given).U)
    if useful < C:
        return None
    return InputError(
        f"penalty is {C:g}, so small that the best network found is the zero function; other networks are better from "
        f"about {useful:.3g} on."
    )
