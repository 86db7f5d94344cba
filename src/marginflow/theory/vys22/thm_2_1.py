r"""[VYS22, Theorem 2.1]: gradient flow converges in direction to a KKT point. Quoted there; here a trend."""

from __future__ import annotations

from typing import Final

import numpy as np

from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.losses import AbstractLoss
from marginflow.networks import TwoLayer
from marginflow.theory.check import above, at_least, at_most, below, true, value
from marginflow.theory.instance import Instance
from marginflow.theory.recorded import flow_run, unfinished_run
from marginflow.theory.statement import Forms, Statement
from marginflow.theory.verdict import Findings


def alignment(network: TwoLayer, data: Dataset, loss: AbstractLoss) -> float:
    """cos(theta, -grad L), which tends to 1 along the flow."""
    p = loss.weights(network.margins(data.X, data.y))
    g = network.gradient(data.X, data.y * p)
    inner = float((network.W * g.W).sum() + network.v @ g.v)
    if network.b is not None and g.b is not None:
        inner += float(network.b @ g.b)
    return inner / float(np.sqrt(network.norm_squared() * g.norm_squared("trained")))


def judge(instance: Instance) -> Findings:
    """From the first record below the threshold to the last: alignment, KKT residual, spread, loss, norm, margin."""
    run, data = instance.the_run(), instance.the_data()
    path, loss = run.trajectory, run.plan.loss
    if path.networks is None:
        raise InputError("The run kept no networks; record it with Recording(networks=True).")
    threshold = loss.log_threshold(data.n_samples)
    fitted = np.flatnonzero(path.log_loss < threshold)
    hypotheses = (
        true("a homogeneous two-layer network", isinstance(run.network, TwoLayer)),
        below("smallest ln L on the way", float(path.log_loss.min()), threshold, rtol=0.0, note="ln l(0)"),
    )
    if fitted.size < 2:
        ends = at_most("1 - cos(theta, -grad L) at the end", np.nan, 1.0, note="the samples were never fitted")
        return Findings(hypotheses=hypotheses, conclusions=(ends,))
    first, last = int(fitted[0]), len(path) - 1
    early, late = path.networks[first], path.networks[last]
    assert isinstance(early, TwoLayer)
    assert isinstance(late, TwoLayer)
    before, after = certify(early, data), certify(late, data)
    margins = [network.margins(data.X, data.y)[after.support] for network in (early, late)]
    spread = [float(q.max() / q.min()) - 1.0 for q in margins]
    align = [1.0 - alignment(network, data, loss) for network in (early, late)]
    smooth = path.smoothed_margin[first:]
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("ln L at t_0", float(path.log_loss[first])),
            value("ln L at the end", float(path.log_loss[last])),
            value("KKT residual at t_0", before.total),
            value("stationarity with hard patterns at the end", after.kink_report.hard_residual or after.stationarity),
        ),
        conclusions=(
            at_most("1 - cos(theta, -grad L) falls", align[1], align[0]),
            at_most("KKT residual falls", after.total, before.total),
            at_most("max q / min q - 1 on the support falls", spread[1], spread[0]),
            above("all margins are positive at the end", float(path.least_margin[last]), 0.0),
            below("ln L falls by at least 10", float(path.log_loss[last]), float(path.log_loss[first]) - 10.0),
            at_least("||theta|| grows", np.diff(path.norm[first:]), 0.0),
            at_least("the smoothed normalised margin never falls", np.diff(smooth), 0.0, scale=smooth.max(), rtol=1e-3),
        ),
    )


THEOREM_2_1: Final = Statement(
    id="VYS22/Thm2.1",
    kind="theorem",
    number="Theorem 2.1 (Lyu and Li; Ji and Telgarsky)",
    meaning="Once all samples are fitted, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"L(\theta(t_0)) < 1 \implies \frac{\theta(t)}{\|\theta(t)\|} \to \text{a KKT direction}, \quad "
    r"L(\theta(t)) \to 0, \quad \|\theta(t)\| \to \infty",
    needs=("run", "data"),
    judge=judge,
    example=flow_run,
    control=unfinished_run,
    control_shows="the run never fits the samples",
    forms=Forms(
        printed=r"L(\theta(t_0)) < 1",
        proved=r"L(\theta(t_0)) < \ell(0)",
        remark="Asymptotic and with rates logarithmic in 1/L: at a finite time only the trend can be judged. A KKT "
        "point need not be a local minimum. For the logistic loss the threshold is ln 2, not 1.",
    ),
)
