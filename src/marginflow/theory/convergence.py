r"""Gradient flow and its limit, judged on a recorded run.

Three of the papers quote the theorem from Lyu and Li and from Ji and Telgarsky. It is asymptotic, with rates
logarithmic in 1/L: at a finite time only the trend can be judged.
"""

from dataclasses import fields, replace
from functools import partial
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.flow import Trajectory
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.theory.check import Check, above, at_least, at_most, below, true, value
from marginflow.theory.findings import Findings
from marginflow.theory.hypotheses import require
from marginflow.theory.instance import Instance
from marginflow.theory.stated import stated

# How much of a conserved quantity a flow that is followed by finite steps may lose.
_DRIFT: Final = 0.05
# Radians per unit of ln t at which a direction counts as settled.
_SETTLED: Final = 0.01
# 1 - cos(theta, -grad L) below which finite steps, which zigzag by more than that, decide.
_ALIGNED: Final = 1e-3


def flow_checks(path: Trajectory) -> tuple[Check, Check]:
    """What a flow lowers, and what it conserves."""
    drift = np.nan if path.balance is None else float(np.abs(path.balance - path.balance[0]).max())
    scale = float(path.norm.max() ** 2)
    return (
        at_most("ln L never rises between records", np.diff(path.log_loss), 0.0, scale=np.abs(path.log_loss[1:])),
        at_most("drift of v_j^2 - ||(w_j, b_j)||^2, relative to ||theta||^2", drift / scale, _DRIFT, tolerance=0.0),
    )


def turning(path: Trajectory) -> FloatArray:
    """Angle per unit of ln t between a record and the one before it, both at a time t > 0."""
    moving = np.flatnonzero(np.isfinite(path.log_time))[1:]
    angle = np.arccos(np.clip(path.cosine[moving], -1.0, 1.0))
    return angle / (path.log_time[moving] - path.log_time[moving - 1])


def judge_direction(instance: Instance) -> Findings:
    """A path that converges in direction turns ever less per unit of ln t, while theta grows."""
    path = instance.the_run().trajectory
    rate = turning(path)
    return Findings(
        value("records", len(path)),
        value("largest rate of turning", float(rate.max(initial=0.0))),
        claims=(
            at_most("angle per unit of ln t, at the end", float(rate[-1]), _SETTLED, tolerance=0.0),
            at_most("the last rate against the largest", float(rate[-1]), float(rate.max()) / 10),
            at_least("||theta|| grows", np.diff(path.norm[len(path) // 2 :]), 0.0),
        ),
    )


stated_direction = partial(
    stated,
    number="Section 2, Gradient flow",
    formula=r"\lim_{t \to \infty} \frac{\theta(t)}{\|\theta(t)\|} = \frac{\tilde\theta}{\|\tilde\theta\|}",
    needs=("run",),
    control_shows="after 20 steps the direction still turns",
)
"""Writes the definition of convergence in direction, which two of the papers have; the control is an unfinished run."""


def _alignment(network: TwoLayer, data: Dataset, loss: AbstractLoss) -> float:
    """cos(theta, -grad L), which tends to 1 along the flow."""
    p = loss.weights(network.margins(data.X, data.y))
    g = network.gradient(data.X, data.y * p)
    inner = float((network.W * g.W).sum() + network.v @ g.v)
    if network.b is not None and g.b is not None:
        inner += float(network.b @ g.b)
    return inner / float(np.sqrt(network.norm_squared() * g.norm_squared("trained")))


def backwards(instance: Instance) -> Instance:
    """The record of a run read from its end to its start: everything that should fall rises."""
    run = instance.the_run()
    path = run.trajectory
    turned = {
        field.name: getattr(path, field.name)[::-1]
        for field in fields(path)
        if field.name not in ("step", "epoch", "log_time") and getattr(path, field.name) is not None
    }
    trajectory = replace(path, **turned)
    assert path.networks is not None
    network, last = path.networks[0], path.networks[-1]
    assert isinstance(network, TwoLayer)
    assert isinstance(last, TwoLayer)
    turned_run = replace(run, network=network, trajectory=trajectory)
    return replace(instance, name="the record of the flow, read backwards", start=last, network=network, run=turned_run)


stated_convergence = partial(
    stated,
    number="Theorem 2.1 (Lyu and Li; Ji and Telgarsky)",
    needs=("run", "data"),
    control_shows="read backwards the record is not a gradient flow: it leaves the KKT point",
)
"""Writes the theorem that three of the papers quote; their control is the record read backwards."""


def judge_convergence(instance: Instance) -> Findings:
    """From the first record with L < l(0) to the last: KKT residual, alignment, turning, loss, norm."""
    run, data = instance.the_run(), instance.the_data()
    path, loss = run.trajectory, run.plan.loss
    if path.networks is None:
        raise InputError("The run kept no networks; record it with Recording(networks=True).")
    threshold = loss.log_threshold(data.n_samples)
    fitted = np.flatnonzero(path.log_loss < threshold)
    hypotheses = (
        true("a homogeneous two-layer network", isinstance(run.network, TwoLayer)),
        above("largest of the least margins on the way", float(path.least_margin.max()), 0.0),
        below(
            "smallest ln L on the way",
            float(path.log_loss.min()),
            threshold,
            tolerance=0.0,
            note="ln l(0), minus ln n for a mean",
        ),
        at_most("ln L never rises between records", np.diff(path.log_loss), 0.0),
    )
    require(hypotheses, "the samples were never fitted", given=fitted.size > 2)
    first, last = int(fitted[0]), len(path) - 1
    early, late = path.networks[first], path.networks[last]
    assert isinstance(early, TwoLayer)
    assert isinstance(late, TwoLayer)
    before, after = certify(early, data), certify(late, data)
    tight = late.margins(data.X, data.y)[after.support]
    spread = float(tight.max() / tight.min()) - 1.0 if tight.size else np.nan
    off = [1.0 - _alignment(network, data, loss) for network in (early, late)]
    rate = turning(path)
    smooth = path.smoothed_margin[first:]
    return Findings(
        value("ln L at t_0", float(path.log_loss[first])),
        value("ln L at the end", float(path.log_loss[last])),
        value("KKT residual at t_0", before.total),
        value("KKT residual at the end", after.total, "0.1 and more is common in training"),
        value("max q / min q - 1 on the support at the end", spread),
        value("stationarity with hard patterns at the end", after.kink_report.hard_residual or after.stationarity),
        hypotheses=hypotheses,
        claims=(
            above("all margins are positive at t_0", early.margins(data.X, data.y), 0.0),
            at_most("the KKT residual falls", after.total, before.total),
            below("ln L falls by at least 10", float(path.log_loss[last]), float(path.log_loss[first]) - 10.0),
            at_least("||theta|| grows", np.diff(path.norm[first:]), 0.0),
        ),
        derived=(
            at_most("1 - cos(theta, -grad L) falls, or is next to nothing", off[1], max(off[0], _ALIGNED)),
            at_most("angle per unit of ln t, last against largest", float(rate[-1]), float(rate.max())),
            at_least(
                "the smoothed normalised margin never falls", np.diff(smooth), 0.0, scale=smooth.max(), tolerance=1e-3
            ),
        ),
    )
