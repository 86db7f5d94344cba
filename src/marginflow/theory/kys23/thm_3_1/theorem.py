r"""[KYS23, Thm 3.1] Any KKT point on the line overfits temperedly, between p^5 and sqrt(p).

c and C are said to exist only; both halves are judged with the values that are given, which the verdict names.
"""

import math

import numpy as np

from marginflow.theory.frame import Check, Erratum, Findings, Instance, at_least, at_most, stated, value
from marginflow.theory.kys23.line import Bends, exact_error, in_the_interval, kkt_point, noise_rate, sampled_labels
from marginflow.theory.kys23.line_points import global_point, spikes
from marginflow.theory.kys23.region import THEOREM_3_1, deviation
from marginflow.theory.kys23.thm_3_1.cor_a3 import fives, negative_segment


def lower_half(error: float, rate: float, slack: float, c: float, name: str) -> Check:
    """c (rate - slack) <= L_cl; it says nothing where the left side is not positive."""
    return at_least(f"L_cl >= c ({name} - sqrt(log(m/delta)/m))", error, c * (rate - slack), vacuous=rate <= slack)


def upper_half(error: float, rate: float, slack: float, C: float, name: str) -> Check:
    """L_cl <= C (rate + slack); it says nothing where the right side is at least 1."""
    bound = C * (rate + slack)
    return at_most(f"L_cl <= C ({name} + sqrt(log(m/delta)/m))", error, bound, vacuous=bound >= 1)


@stated(
    id="KYS23/Thm3.1",
    meaning="On the line every KKT point has a clean error between order p^5 and order sqrt(p), whatever the width.",
    formula=r"c \Big( p^5 - \sqrt{\tfrac{\log(m/\delta)}{m}} \Big) \le L_{\mathrm{cl}}(N_\theta) \le "
    r"C \Big( \sqrt p + \sqrt{\tfrac{\log(m/\delta)}{m}} \Big)",
    needs=("network", "data", "parameters"),
    parameters={
        "p": "noise rate; that of the law where one is given",
        "delta": "failure probability (default 0.1)",
        "c": "of the lower half, which the paper leaves open (default 1)",
        "C": "of the upper half, which the paper leaves open (default 1)",
    },
    example=lambda: global_point(60, 0.2, 1),
    control=lambda: spikes(60, 0.2, 1, depth=-1000.0),
    control_shows="spikes that are negative almost everywhere but on the samples: the error is far above sqrt(p)",
    region=THEOREM_3_1,
    proved=r"\text{lower half: KYS23/Thm3.1.groups}; \quad \text{upper half: KYS23/Thm3.1.upper}",
    remark="With c = C = 1 the lower bound is positive only for m above about 3e6 (p = 0.3); with the constant of "
    "the VC bound that is cited the upper one is below 1 only for p below about 0.01.",
    errata=(
        Erratum.proof_gap(
            "McDiarmid's inequality is applied to the clean error itself, as if one label changed N only "
            "nearby. A KKT point may change everywhere when one label does.",
            evidence="nothing in the proof compares the KKT points of two samples",
            repair="apply it to the explicit sum over groups (KYS23/Thm3.1.groups), which changes by one gap; the "
            "upper half stays open in this form",
        ),
        Erratum.slip(
            "The inner sum over a group counts the one segment that is negative five times.",
            repair="one segment a group: p^5/20 instead of p^5/4 in the limit",
        ),
    ),
)
def thm_3_1(instance: Instance) -> Findings:
    """Both halves at the exact clean error, with the constants that are given."""
    p, delta = noise_rate(instance), instance.number("delta", 0.1)
    c, C = instance.number("c", 1.0), instance.number("C", 1.0)
    hypotheses = (*kkt_point(instance), in_the_interval(instance), at_least("p", p, 0.0), at_most("p <= 1/2", p, 0.5))
    x, y, error = exact_error(instance, hypotheses)
    network, slack = instance.the_network(), deviation(x.size, delta)
    bends = Bends.of(network)
    signs = np.sign(network(np.sort(np.concatenate([x, bends.kinks, (x[:-1] + x[1:]) / 2]))[:, None]))
    changes = int((np.diff(signs[signs != 0]) != 0).sum())
    regions = 1 + int(((bends.kinks > 0) & (bends.kinks < 1)).sum())
    best = [negative_segment(bends, x[i : i + 5]) for i in fives(y)]
    return Findings(
        value("L_cl", error),
        value("fives of labels -1", len(best)),
        value("linear regions / (sign changes + 1)", regions / (changes + 1)),
        hypotheses=(*hypotheses, sampled_labels(y, p)),
        claims=(lower_half(error, p**5, slack, c, "p^5"), upper_half(error, math.sqrt(p), slack, C, "sqrt(p)")),
        proof_steps=(at_most("largest N on the best segment of five labels -1", best, 0.0),) if best else (),
        unspecified=(value("c", c), value("C", C)),
    )
