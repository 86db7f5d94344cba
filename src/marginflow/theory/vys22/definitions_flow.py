"""[VYS22, Section 2] The loss, gradient flow and convergence in direction, judged on a recorded run."""

import math

import numpy as np

from marginflow.losses import Exponential, Logistic, Reduction
from marginflow.networks import TwoLayer
from marginflow.theory.convergence import flow_checks, judge_direction, stated_direction
from marginflow.theory.frame import Findings, Instance, at_most, equal, require, stated, value
from marginflow.theory.recorded import coarse_run, flow_run, unfinished_run
from marginflow.theory.vys22.presets import orthogonal_preset


@stated(
    id="VYS22/Def.loss",
    number="Equation (1)",
    meaning="The loss is a sum over the samples, of exp(-q) or of the natural logarithm ln(1 + exp(-q)).",
    formula=r"L(\theta) = \sum_{i=1}^n \ell(y_i N_\theta(x_i)), \quad \ell(q) = e^{-q} \text{ or } \ln(1 + e^{-q})",
    parameters={"reduction": "sum, as in the paper, or mean"},
    example=orthogonal_preset,
    control=lambda: orthogonal_preset().only(
        "network", "data", name="the mean over the samples", parameters={"reduction": "mean"}
    ),
    control_shows="a mean is another loss, smaller by a factor n",
)
def def_loss(instance: Instance) -> Findings:
    """Equation (1) added up term by term, against the library's loss in the log domain."""
    data = instance.the_data()
    q = instance.the_network().margins(data.X, data.y)
    reduction: Reduction = instance.word("reduction", "sum", ("sum", "mean"))
    in_range = at_most("largest |q_i|", float(np.abs(q).max()), 700.0, note="so that e^-q is a float")
    require(in_range, "the terms cannot be added up one by one")
    exponential = math.log(math.fsum(math.exp(-float(margin)) for margin in q))
    logistic = math.log(math.fsum(math.log1p(math.exp(-float(margin))) for margin in q))
    return Findings(
        value("ln n", math.log(q.size), "by which a mean differs from a sum"),
        hypotheses=(in_range,),
        claims=(
            equal("ln L, exponential", Exponential(reduction).log_value(q), exponential, scale=1.0),
            equal("ln L, logistic", Logistic(reduction=reduction).log_value(q), logistic, scale=1.0),
        ),
    )


@stated(
    id="VYS22/Def.GF",
    number="Section 2, Gradient flow",
    meaning="Gradient flow lowers the loss, conserves v_j^2 - ||(w_j, b_j)||^2, and does not care about sigma'(0).",
    formula=r"\frac{d\theta(t)}{dt} = -\nabla L(\theta(t))",
    needs=("run", "data"),
    example=flow_run,
    control=coarse_run,
    control_shows="gradient descent with huge steps conserves nothing and raises the loss on its way",
)
def def_gf(instance: Instance) -> Findings:
    """What gradient flow conserves and what it lowers, along the records; sigma'(0) at the end."""
    run, data = instance.the_run(), instance.the_data()
    network = run.network
    p = run.plan.loss.weights(network.margins(data.X, data.y))
    apart = 0.0
    if isinstance(network, TwoLayer):
        gradients = [network.gradient(data.X, -data.y * p, kink=kink) for kink in (0.0, 0.5, 1.0)]
        norm = float(np.linalg.norm(gradients[0].W))
        apart = max(float(np.linalg.norm(g.W - gradients[0].W)) for g in gradients) / norm
    return Findings(
        value("ln L at the end", run.log_loss),
        value("||theta|| at the end", float(run.trajectory.norm[-1])),
        claims=(
            *flow_checks(run.trajectory),
            at_most("gradients with sigma'(0) = 0, 1/2, 1 differ by", apart, 0.0, scale=1.0),
        ),
    )


@stated_direction(
    id="VYS22/Def.dirconv",
    meaning="The direction of the parameters converges while their length grows.",
    example=flow_run,
    control=unfinished_run,
    remark="A limit cannot be seen at a finite time; what is checked is how fast the direction turns in log time.",
)
def def_dirconv(instance: Instance) -> Findings:
    """Angles between records, per unit of ln t."""
    return judge_direction(instance)
