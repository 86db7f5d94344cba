r"""[FVBS23, Section 2] Loss, gradient flow and convergence in direction."""

import math

from marginflow.losses import Base, Exponential, Logistic
from marginflow.theory.convergence import flow_checks, judge_direction, stated_direction
from marginflow.theory.frame import Findings, Instance, at_least, equal, stated, value
from marginflow.theory.fvbs23.presets import A, preset
from marginflow.theory.fvbs23.recorded import coarse_run, flow_run, unfinished_run


def _log_mean(logarithms: list[float]) -> float:
    """ln of the mean of numbers whose logarithms are given: margins of thousands neither vanish nor overflow."""
    largest = max(logarithms)
    return largest + math.log(math.fsum(math.exp(term - largest) for term in logarithms) / len(logarithms))


def _log_logistic(q: float) -> float:
    """ln ln(1 + e^-q); outside [-40, 40] what is left out is below the last digit."""
    if abs(q) <= 40:
        return math.log(math.log1p(math.exp(-q)))
    return -q if q > 0 else math.log(-q)


@stated(
    id="FVBS23/Def-Loss",
    number="Equation (1)",
    meaning="The loss is a mean over the samples; the logistic loss has the logarithm with base 2.",
    formula=r"L(\theta) = \frac{1}{n} \sum_{i=1}^n \ell(y_i N_\theta(x_i)), \quad \ell(q) = e^{-q} \text{ or } "
    r"\log_2(1 + e^{-q})",
    parameters={"base": "base of the logarithm, 2 as the paper says or e"},
    example=lambda: preset(A),
    control=lambda: preset(A).only("network", "data", name="the natural logarithm", parameters={"base": "e"}),
    control_shows="with the natural logarithm a loss below 1/n does not make all margins positive",
    printed=r"\log(1 + e^{-q})",
    proved=r"\log_2(1 + e^{-q})",
    remark="The paper's convention is log = base 2 and ln = base e; with the natural logarithm the threshold of "
    "Theorem 2.1 is ln(2)/n.",
)
def def_loss(instance: Instance) -> Findings:
    """Equation (1) added up term by term with base 2, against the library; and what the base does to Theorem 2.1."""
    data = instance.the_data()
    q = instance.the_network().margins(data.X, data.y)
    base: Base = instance.word("base", "2", ("2", "e"))
    exponential = _log_mean([-float(margin) for margin in q])
    logistic = _log_mean([_log_logistic(float(margin)) for margin in q]) - math.log(math.log(2.0))
    ours = Logistic("mean", base=base)
    # The least margin that one sample can have when the mean loss is 1/n and all other terms vanish.
    least = ours.inverse(0.0 - ours.log_scale_of_term)
    return Findings(
        value("ln of the mean exponential loss", exponential),
        value("ln of the mean logistic loss, base 2", logistic),
        value("margin of a sample that carries the whole loss 1/n", least, "natural logarithm: -0.54"),
        claims=(
            equal("ln L, exponential", Exponential("mean").log_value(q), exponential, scale=1.0),
            equal("ln L, logistic with base 2", ours.log_value(q), logistic, scale=1.0),
            at_least("L < 1/n makes all margins positive: the least margin at L = 1/n", least, 0.0, scale=1.0),
        ),
    )


@stated(
    id="FVBS23/Def-GF",
    number="Section 2, Gradient flow",
    meaning="Gradient flow follows the Clarke subdifferential: the loss falls, v_j^2 - ||(w_j, b_j)||^2 stays.",
    formula=r"\frac{d\theta(t)}{dt} \in -\partial^\circ L(\theta(t))",
    needs=("run",),
    example=flow_run,
    control=coarse_run,
    control_shows="gradient descent with huge steps conserves nothing and raises the loss",
)
def def_gf(instance: Instance) -> Findings:
    """What a flow lowers, and what it conserves."""
    path = instance.the_run().trajectory
    ends = (value("ln L at the end", float(path.log_loss[-1])), value("||theta|| at the end", float(path.norm[-1])))
    return Findings(constants=ends, claims=flow_checks(path))


@stated_direction(
    id="FVBS23/Def-DirConv",
    meaning="The direction of the parameters converges.",
    example=flow_run,
    control=unfinished_run,
    remark="A limit cannot be seen at a finite time; the rate of turning in log time is what is judged.",
)
def def_dirconv(instance: Instance) -> Findings:
    """Angles between records, per unit of ln t."""
    return judge_direction(instance)
