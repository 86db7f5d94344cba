r"""[FVBS23, Section 2] The loss, gradient flow, convergence in direction, and Theorem 2.1, on a recorded run."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from marginflow.certificates import certify
from marginflow.errors import InputError
from marginflow.losses import Exponential, Logistic
from marginflow.networks import TwoLayer
from marginflow.theory.check import above, at_least, at_most, below, equal, true, value
from marginflow.theory.fvbs23.presets import A, preset
from marginflow.theory.fvbs23.recorded import coarse_run, flow_run, unfinished_run
from marginflow.theory.instance import Instance
from marginflow.theory.statement import Forms, Statement
from marginflow.theory.verdict import Findings

# How much of a conserved quantity a flow that is followed by finite steps may lose.
_DRIFT: Final = 0.05
# Radians per unit of ln t at which a direction counts as settled.
_SETTLED: Final = 0.01


def _loss(instance: Instance) -> Findings:
    """Equation (1) added up term by term with base 2, against the library; and what the base does to Theorem 2.1."""
    data = instance.the_data()
    q = instance.the_network().margins(data.X, data.y)
    base = instance.word("base", "2", ("2", "e"))
    exponential = math.fsum(math.exp(-float(one)) for one in q) / q.size
    logistic = math.fsum(math.log2(1 + math.exp(-float(one))) for one in q) / q.size
    ours = Logistic("mean", base=base)  # type: ignore[arg-type]
    # The least margin that one sample can have when the mean loss is 1/n and all other terms vanish.
    least = ours.inverse(0.0 - ours.log_scale_of_term)
    return Findings(
        constants=(
            value("mean exponential loss", exponential),
            value("mean logistic loss, base 2", logistic),
            value("margin of a sample that carries the whole loss 1/n", least, "natural logarithm: -0.54"),
        ),
        conclusions=(
            equal("ln L, exponential", Exponential("mean").log_value(q), math.log(exponential), scale=1.0),
            equal("ln L, logistic with base 2", ours.log_value(q), math.log(logistic), scale=1.0),
            at_least("L < 1/n makes all margins positive: the least margin at L = 1/n", least, 0.0, scale=1.0),
        ),
    )


DEF_LOSS: Final = Statement(
    id="FVBS23/Def-Loss",
    kind="definition",
    number="Equation (1)",
    meaning="The loss is a mean over the samples; the logistic loss has the logarithm with base 2.",
    formula=r"L(\theta) = \frac{1}{n} \sum_{i=1}^n \ell(y_i N_\theta(x_i)), \quad \ell(q) = e^{-q} \text{ or } "
    r"\log_2(1 + e^{-q})",
    needs=("network", "data"),
    parameters={"base": "base of the logarithm, 2 as the paper says or e"},
    judge=_loss,
    example=lambda: preset(A),
    control=lambda: Instance(
        name="the natural logarithm", network=preset(A).network, data=preset(A).data, parameters={"base": "e"}
    ),
    control_shows="with the natural logarithm a loss below 1/n does not make all margins positive",
    control_outcome="violated",
    forms=Forms(
        printed=r"\log(1 + e^{-q})",
        proved=r"\log_2(1 + e^{-q})",
        remark="The paper's convention is log = base 2 and ln = base e; with the natural logarithm the threshold of "
        "Theorem 2.1 is ln(2)/n.",
    ),
)


def _flow(instance: Instance) -> Findings:
    """What a flow lowers, and what it conserves."""
    path = instance.the_run().trajectory
    drift = np.nan if path.balance is None else float(np.abs(path.balance - path.balance[0]).max())
    scale = float(path.norm.max() ** 2)
    return Findings(
        constants=(value("ln L at the end", float(path.log_loss[-1])), value("||theta||^2 at the end", scale)),
        conclusions=(
            at_most("ln L never rises between records", np.diff(path.log_loss), 0.0, scale=np.abs(path.log_loss[1:])),
            at_most("drift of v_j^2 - ||(w_j, b_j)||^2, relative to ||theta||^2", drift / scale, _DRIFT, rtol=0.0),
        ),
    )


DEF_GF: Final = Statement(
    id="FVBS23/Def-GF",
    kind="definition",
    number="Section 2, Gradient flow",
    meaning="Gradient flow follows the Clarke subdifferential: the loss falls, v_j^2 - ||(w_j, b_j)||^2 stays.",
    formula=r"\frac{d\theta(t)}{dt} \in -\partial^\circ L(\theta(t))",
    needs=("run",),
    judge=_flow,
    example=flow_run,
    control=coarse_run,
    control_shows="gradient descent with huge steps conserves nothing and raises the loss",
    control_outcome="violated",
)


def _direction(instance: Instance) -> Findings:
    """How fast the direction turns per unit of ln t."""
    path = instance.the_run().trajectory
    moving = np.flatnonzero(np.isfinite(path.log_time))[1:]
    angle = np.arccos(np.clip(path.cosine[moving], -1.0, 1.0))
    rate = angle / (path.log_time[moving] - path.log_time[moving - 1])
    return Findings(
        constants=(value("records", len(path)), value("largest rate of turning", float(rate.max(initial=0.0)))),
        conclusions=(
            at_most("angle per unit of ln t, at the end", float(rate[-1]), _SETTLED, rtol=0.0),
            at_most("the last rate against the largest", float(rate[-1]), float(rate.max()) / 10),
        ),
    )


DEF_DIRCONV: Final = Statement(
    id="FVBS23/Def-DirConv",
    kind="definition",
    number="Section 2, Gradient flow",
    meaning="The direction of the parameters converges.",
    formula=r"\lim_{t \to \infty} \frac{\theta(t)}{\|\theta(t)\|} = \frac{\tilde\theta}{\|\tilde\theta\|}",
    needs=("run",),
    judge=_direction,
    example=flow_run,
    control=unfinished_run,
    control_shows="after 20 steps the direction still turns",
    control_outcome="violated",
    forms=Forms(remark="A limit cannot be seen at a finite time; the rate of turning in log time is what is judged."),
)


def _theorem_2_1(instance: Instance) -> Findings:
    """From the first record with L < 1/n to the last: KKT residual, loss, norm, margins."""
    run, data = instance.the_run(), instance.the_data()
    path, loss = run.trajectory, run.plan.loss
    if path.networks is None:
        raise InputError("The run kept no networks; record it with Recording(networks=True).")
    threshold = loss.log_threshold(data.n_samples)
    fitted = np.flatnonzero(path.log_loss < threshold)
    hypotheses = (
        true("a homogeneous two-layer network", isinstance(run.network, TwoLayer)),
        below("smallest ln L on the way", float(path.log_loss.min()), threshold, rtol=0.0, note="ln(1/n) for the mean"),
    )
    if fitted.size < 2:
        never = at_most("KKT residual at the end", np.nan, 1.0, note="the samples were never fitted")
        return Findings(hypotheses=hypotheses, conclusions=(never,))
    first, last = int(fitted[0]), len(path) - 1
    early, late = path.networks[first], path.networks[last]
    assert isinstance(early, TwoLayer)
    assert isinstance(late, TwoLayer)
    before, after = certify(early, data), certify(late, data)
    smooth = path.smoothed_margin[first:]
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("ln L at t_0", float(path.log_loss[first])),
            value("ln L at the end", float(path.log_loss[last])),
            value("KKT residual at t_0", before.total),
            value("KKT residual at the end", after.total),
        ),
        conclusions=(
            above("all margins are positive at t_0", early.margins(data.X, data.y), 0.0),
            at_most("the KKT residual falls", after.total, before.total),
            below("ln L falls by at least 10", float(path.log_loss[last]), float(path.log_loss[first]) - 10.0),
            at_least("||theta|| grows", np.diff(path.norm[first:]), 0.0),
            at_least("the smoothed normalised margin never falls", np.diff(smooth), 0.0, scale=smooth.max(), rtol=1e-3),
        ),
    )


THEOREM_2_1: Final = Statement(
    id="FVBS23/Thm2.1",
    kind="theorem",
    number="Theorem 2.1 (Lyu and Li; Ji and Telgarsky)",
    meaning="Once the loss is below 1/n, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"L(\theta(t_0)) < \frac{1}{n} \implies \frac{\theta(t)}{\|\theta(t)\|} \to \text{a KKT direction}, \quad "
    r"L(\theta(t)) \to 0, \quad \|\theta(t)\| \to \infty",
    needs=("run", "data"),
    judge=_theorem_2_1,
    example=flow_run,
    control=unfinished_run,
    control_shows="the run never fits the samples",
    forms=Forms(
        printed=r"L(\theta(t_0)) < \frac{1}{n}",
        remark="Asymptotic, with rates logarithmic in 1/L: at a finite time only the trend can be judged. The "
        "threshold "
        "is right for e^-q and for the logarithm with base 2; it is ln(2)/n for the natural one. A KKT point need not "
        "be an optimum.",
    ),
)
