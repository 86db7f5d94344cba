r"""[KYS23, App. A.1] The upper half of Theorem 3.1 with its steps.

Label changes bound the least width n*; their mean is 2p(1-p)(m-1); Jensen; a class of VC dimension O(n*); the clean
error is at most twice the error on noisy labels; one label is said to change n* by at most 1 (a1.py).
"""

import math

import numpy as np

from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, equal, stated, value
from marginflow.theory.kys23.line import exact_error, in_the_interval, kkt_point, noise_rate, sampled_labels
from marginflow.theory.kys23.line_points import global_point, spikes
from marginflow.theory.kys23.thm_3_1.a1 import ENUMERATED, label_changes, label_law
from marginflow.theory.kys23.thm_3_1.theorem import upper_half


@stated(
    id="KYS23/Thm3.1.upper",
    number="Theorem 3.1, upper half, and Appendix A.1, equations (6) and (7)",
    meaning="Few label changes, a class of small VC dimension, and so an error of order sqrt(p): step by step.",
    formula=r"\mathbb{E}\, n^* \le 2 p (1 - p)(m - 1), \quad \mathbb{E} \sqrt{n^*} \le \sqrt{\mathbb{E}\, n^*}, \quad "
    r"L_{\mathrm{cl}} \le 2 L^{0\text{-}1}, \quad L_{\mathrm{cl}} \le C \Big( \sqrt p + "
    r"\sqrt{\tfrac{\log(1/\delta)}{m}} \Big)",
    needs=("network", "data", "parameters"),
    parameters={
        "p": "noise rate; that of the law where one is given",
        "delta": "failure probability (default 0.1)",
        "C": "which the paper leaves open (default 1)",
    },
    example=lambda: global_point(60, 0.2, 1),
    control=lambda: spikes(60, 0.2, 1, depth=-1000.0),
    control_shows="spikes that are negative almost everywhere but on the samples: the error is far above sqrt(p)",
    printed=r"\Pr[N_\theta(x) \le 0] \le C (\sqrt p + \sqrt{\log(1/\delta)/m})",
    remark="The VC bound conditions on n*, which depends on the sample; as the training error is 0, the "
    "realisable rate would give p log(1/p), better than sqrt(p).",
    errata=Erratum.proof_gap(
        "The VC bound is taken conditionally on n*, which is a function of the sample it speaks of.",
        repair="a union over the values of n* costs a factor of order log m",
    ),
)
def thm_3_1_upper(instance: Instance) -> Findings:
    """The upper half at the exact clean error; the steps in exact expectations over the labels of a few samples."""
    p, delta, C = noise_rate(instance), instance.number("delta", 0.1), instance.number("C", 1.0)
    hypotheses = (*kkt_point(instance), in_the_interval(instance), at_least("p", p, 0.0), at_most("p <= 1/2", p, 0.5))
    x, y, error = exact_error(instance, hypotheses)
    slack = math.sqrt(math.log(1 / delta) / x.size)
    few = min(x.size, ENUMERATED)
    labels, chances = label_law(few, p)
    changes = (np.diff(labels, axis=1) != 0).sum(axis=1)
    mean = math.fsum(chances * changes)
    noisy = (1 - p) * error + p * (1 - error)
    return Findings(
        value("L_cl", error),
        value("label changes", label_changes(y)),
        value("noisy error", noisy),
        hypotheses=(*hypotheses, sampled_labels(y, p)),
        claims=(upper_half(error, math.sqrt(p), slack, C, "sqrt(p)"),),
        proof_steps=(
            equal(
                "(6): E of the label changes", mean, 2 * p * (1 - p) * (few - 1), note=f"all labels of {few} samples"
            ),
            at_most("Jensen: E sqrt(changes)", math.fsum(chances * np.sqrt(changes)), math.sqrt(mean)),
            at_least("2 L^{0-1} against L_cl", 2 * noisy, error),
        ),
        unspecified=(value("C", C),),
    )
