r"""[FVBS23, Theorem 3.1]: every KKT point classifies fresh points of seen clusters."""

import math

from marginflow.theory.frame import Check, Findings, Instance, at_most, value
from marginflow.theory.fvbs23 import region
from marginflow.theory.fvbs23.presets import B, blind_network, preset, stated_of_clusters
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting
from marginflow.theory.fvbs23.thm_3_1.thm_a1 import least_outputs, theorem_hypotheses
from marginflow.theory.probability import clopper_pearson, log_share


def packaging(s: ClusterSetting, n: int, epsilon: float, delta: float) -> tuple[Check, ...]:
    """The four implications that turn Theorem A.1 into Theorem 3.1, in logarithms."""
    third, twice = log_share(delta / 3), 2 * math.log(n)
    return (
        at_most("ln 3 n^2 q_d", math.log(3) + twice + s.log_q, third),
        at_most("ln n^2 e^(-d/16)", twice - s.d / 16, third),
        at_most("ln d^(1 - ln d)", (1 - s.L) * s.L, third),
        at_most("ln 4 n q_d", s.log_test_failure(n), log_share(epsilon)),
    )


@stated_of_clusters(
    id="FVBS23/Thm3.1",
    meaning="With k ln(d)^2 samples and more, every KKT point has a test error of at most epsilon, however wide it is.",
    formula=r"k \ln^2 d \le n \le \min\left\{\sqrt{\tfrac{\delta}{3}}\, e^{d/32}, \tfrac{\sqrt{\delta}}{3} "
    r"d^{\ln(d)/4}, \tfrac{\epsilon}{4} d^{\ln(d)/2}\right\} \implies \Pr[y N_\theta(x) \le 0] \le \epsilon",
    parameters={"epsilon": "test error, 0.05 by default", "delta": "failure probability, 0.05 by default"},
    example=lambda: preset(B),
    control=blind_network,
    control_shows="a network without neurons for two of ten clusters is not a KKT point and errs there",
    region=region.THEOREM_3_1,
    printed=r"n \le \min\{\dots\}",
    remark="The window for n is empty for small d (for k = 2 below d = 183 with epsilon = delta = 0.1), where the "
    "theorem is void although Assumption 2.2 can hold from d = 20 on. The bound on the error is uniform over "
    "KKT points.",
)
def theorem_3_1(instance: Instance) -> Findings:
    """The test error with its confidence interval against epsilon; the steps from Theorem A.1 to here."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    epsilon, delta = instance.number("epsilon", 0.05), instance.number("delta", 0.05)
    outputs, _ = least_outputs(instance)
    lower, upper = s.log_window(epsilon, delta)
    errors = clopper_pearson(int((outputs <= 0).sum()), outputs.size)
    return Findings(
        value("smallest n, ln", lower),
        value("largest n, ln", upper, "the window is empty if this is below the smallest"),
        value("samples", sample.n),
        hypotheses=(*theorem_hypotheses(instance), *s.window(sample.n, epsilon, delta)),
        claims=(errors.check("test error", "<=", epsilon),),
        proof_steps=packaging(s, sample.n, epsilon, delta),
    )
