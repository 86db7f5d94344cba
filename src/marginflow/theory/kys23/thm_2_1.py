r"""[KYS23, Theorem 2.1]: gradient flow converges in direction to a KKT point. Quoted there; here a trend."""

from __future__ import annotations

from typing import Final

import numpy as np

from marginflow.certificates import certify
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.check import above, at_least, at_most, below, true, value
from marginflow.theory.instance import Instance
from marginflow.theory.kys23.recorded import sphere_flow
from marginflow.theory.statement import Forms, Statement
from marginflow.theory.verdict import Findings, undefined


def _judge(instance: Instance) -> Findings:
    """From the first record with L < l(0) to the last: KKT residual, normalised margin, speed of turning."""
    run, data = instance.the_run(), instance.the_data()
    path, loss = run.trajectory, run.plan.loss
    if path.networks is None:
        raise InputError("The run kept no networks; record it with Recording(networks=True).")
    threshold = loss.log_threshold(data.n_samples)
    fitted = np.flatnonzero(path.log_loss < threshold)
    hypotheses = (
        true("a homogeneous two-layer network", isinstance(run.network, TwoLayer)),
        above("largest of the least margins on the way", float(path.least_margin.max()), 0.0, note="as printed"),
        below("smallest ln L on the way", float(path.log_loss.min()), threshold, rtol=0.0, note="ln l(0), as proved"),
    )
    if fitted.size < 3:
        return undefined(hypotheses, "the samples were never fitted")
    first, last = int(fitted[0]), len(path) - 1
    early, late = path.networks[first], path.networks[last]
    assert isinstance(early, TwoLayer)
    assert isinstance(late, TwoLayer)
    before, after = certify(early, data), certify(late, data)
    smooth = path.smoothed_margin[first:]
    angle = np.arccos(np.clip(path.cosine[first + 1 :], -1.0, 1.0))
    rate = angle / np.diff(path.log_time[first:])
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("KKT residual at t_0", before.total),
            value("KKT residual at the end", after.total, "falls like 1 / ln t: 0.1 and more is common in training"),
            value("normalised margin at t_0", float(path.normalised_margin[first])),
            value("normalised margin at the end", float(path.normalised_margin[last])),
            value("ln L at the end", float(path.log_loss[last])),
        ),
        conclusions=(
            at_most("the KKT residual falls", after.total, before.total),
            at_least(
                "the smoothed normalised margin never falls", np.diff(smooth), 0.0, scale=float(smooth.max()), rtol=1e-3
            ),
            at_most("angle per unit of ln t, last against first", float(rate[-1]), float(rate[0])),
            at_least("||theta|| grows", np.diff(path.norm[first:]), 0.0),
            below("ln L falls by at least 10", float(path.log_loss[last]), float(path.log_loss[first]) - 10.0),
        ),
    )


THEOREM_2_1: Final = Statement(
    id="KYS23/Thm2.1",
    kind="theorem",
    number="Theorem 2.1 (Lyu and Li; Ji and Telgarsky)",
    meaning="Once the samples are fitted, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"y_i N_{\theta(t_0)}(x_i) > 0 \ \forall i \implies \frac{\theta(t)}{\|\theta(t)\|} \to "
    r"\text{a KKT direction of Problem (1)}",
    needs=("run", "data"),
    judge=_judge,
    example=sphere_flow,
    control=lambda: sphere_flow(steps=20),
    control_shows="after 20 steps the samples are not fitted",
    forms=Forms(
        printed=r"y_i N_{\theta(t_0)}(x_i) > 0 \quad \forall i",
        proved=r"\sum_{i=1}^m \ell(y_i N_{\theta(t_0)}(x_i)) < \ell(0)",
        remark="The cited works ask for a total loss below l(0), more than positive margins; the loss is written as a "
        "sum to n where m is meant. No rate: directions converge like 1 / ln t, so only a trend can be judged.",
    ),
)
