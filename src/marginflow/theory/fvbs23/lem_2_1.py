r"""[FVBS23, Lemma 2.1]: a linear classifier separates the distribution."""

import math

from marginflow.theory.frame import Findings, Instance, at_least, at_most, below, value
from marginflow.theory.fvbs23.presets import A, law_of, law_only, preset, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting
from marginflow.theory.probability import log_gaussian_tail, log_sum


def log_linear_error(s: ClusterSetting) -> float:
    """ln of the exact probability that sign(u . x) is wrong: mean over j of Phi(-y^(j) <u, mu^(j)> / (sigma ||u||))."""
    toward = s.y * (s.gram @ s.y)
    return log_sum(*(log_gaussian_tail(float(distance) / (s.sigma * s.u_norm)) for distance in toward)) - math.log(s.k)


@stated_of_law(
    id="FVBS23/Lem2.1",
    meaning="Under Assumption 2.2 the sum of the signed means classifies almost every sample: the data are linear.",
    formula=r"u = \sum_q y^{(q)} \mu^{(q)}, \quad \Pr[y \ne \mathrm{sign}(u^\top x)] \le 2 k q_d \le 2 d^{1 - "
    r"\ln(d)/2}",
    example=lambda: preset(A),
    control=lambda: law_only(law_of(549, 2, 1.0, correlation=0.99)),
    control_shows="two means with a cosine of 0.99 and opposite labels: u errs on 5 per cent of the points",
    printed=r"2 d^{1 - \ln(d)/2}",
    proved=r"2 k d^{-\ln(d)/2}",
    sharp=r"\frac{1}{k} \sum_j \Phi\left(-\frac{y^{(j)} \langle u, \mu^{(j)} \rangle}{\sigma \|u\|}\right)",
    remark="The exact error is a mean of Gaussian tails; no Monte Carlo is needed. The printed bound is below 1 "
    "from d = 13 on.",
)
def lemma_2_1(instance: Instance) -> Findings:
    """The exact error of u against the bounds, and the margin on the good event."""
    s = ClusterSetting.of(instance)
    exact = log_linear_error(s) if s.sigma > 0 else math.nan
    middle, printed = math.log(2 * s.k) + s.log_q, math.log(2) + (1 - s.L / 2) * s.L
    on_event = s.d - s.k * (s.p + s.g)
    derived = [at_least("y u . x on the event, with Delta kept", on_event, (9 * s.d + s.Delta - 1) / 10, scale=s.d)]
    if instance.data is not None:
        sample = ClusterSample.of(instance)
        derived.append(below("- y_i u . x_i on the training sample", -sample.data.y * (sample.data.X @ sample.u), 0.0))
    return Findings(
        value("exact error", math.exp(exact) if exact > -700 else 0.0),
        value("ln(2 k q_d)", middle),
        hypotheses=s.assumption(),
        claims=(
            at_most(
                "ln P(y != sign(u . x)), exact", exact, printed, vacuous=printed >= 0, note="ln(2 d^(1 - ln(d)/2))"
            ),
        ),
        proof_steps=(
            at_most("the same against 2 k q_d", exact, middle, vacuous=middle >= 0, note="ln(2 k q_d)"),
            at_least("y u . x on the event |<mu_q, xi>| <= g", on_event, (9 * s.d - 1) / 10, scale=s.d),
        ),
        derived=tuple(derived),
    )
