r"""[KYS23, Thm 3.2] Local minima on the line err on a share of order p; c and C are said to exist only."""

from marginflow.generalisation import nearest_neighbour_line_error
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, below, stated, value
from marginflow.theory.instances import opposite
from marginflow.theory.kys23.line import exact_error, in_the_interval, local_minimum, noise_rate, sampled_labels
from marginflow.theory.kys23.line_points import five_point_minimum, local_point
from marginflow.theory.kys23.region import THEOREM_3_2, deviation
from marginflow.theory.kys23.thm_3_1.theorem import lower_half, upper_half
from marginflow.theory.kys23.thm_3_2.sandwich import core_slacks, expected_cores, sandwich


@stated(
    id="KYS23/Thm3.2",
    meaning="On the line the clean error of every local minimum is of order p, whatever the width.",
    formula=r"c \Big( p - \sqrt{\tfrac{\log(m/\delta)}{m}} \Big) \le L_{\mathrm{cl}}(N_\theta) \le "
    r"C \Big( p + \sqrt{\tfrac{\log(m/\delta)}{m}} \Big)",
    needs=("network", "data", "parameters"),
    parameters={
        "p": "noise rate; that of the law where one is given",
        "delta": "failure probability (default 0.1)",
        "c": "of the lower half, which the paper leaves open (default 1/8, of its expectation)",
        "C": "of the upper half, which the paper leaves open (default 2, of its expectation)",
    },
    example=lambda: local_point(100, 0.1, 1),
    control=lambda: opposite(local_point(100, 0.1, 1)),
    control_shows="the opposite network errs on 96 per cent of the interval: it does not interpolate",
    gap=lambda: five_point_minimum().but(parameters={"p": 0.3}),
    region=THEOREM_3_2,
    proved=r"\mathrm{LO} \le L_{\mathrm{cl}} \le \mathrm{HI} \quad \text{(KYS23/Thm3.2.sandwich; LO is false)}",
    remark="The lower half rests on Prop. A.4, the upper half on Prop. A.5.",
    errata=Erratum.proof_gap(
        "The lower half rests on Prop. A.4, which is false where neurons face both ways; the upper half "
        "rests on Prop. A.5, whose proof has the same gap. McDiarmid is applied to the error itself.",
        evidence="a local minimum with L = 0.25 below LO = 0.30 (KYS23/Thm3.2.sandwich), where the printed "
        "bound, (p - 0.88)/8, says nothing",
        repair="open (KYS23/O3)",
    ),
)
def thm_3_2(instance: Instance) -> Findings:
    """Both halves at the exact clean error, and the per-sample bounds of the proof."""
    p, delta = noise_rate(instance), instance.number("delta", 0.1)
    c, C = instance.number("c", 1 / 8), instance.number("C", 2.0)
    hypotheses = (*local_minimum(instance), in_the_interval(instance), at_least("p", p, 0.0), below("p < 1/2", p, 0.5))
    x, y, error = exact_error(instance, hypotheses, one_label=True)
    slack, means, slacks = deviation(x.size, delta), expected_cores(x, p), core_slacks(x, delta)
    return Findings(
        value("L_cl", error),
        value("E LO over the labels", means[0], f"McDiarmid: within {slacks[0]:.3g} with probability 1 - delta"),
        value("E HI over the labels", means[1], f"McDiarmid: within {slacks[1]:.3g} with probability 1 - delta"),
        value("L of 1-nearest neighbour", nearest_neighbour_line_error(x, y).value),
        hypotheses=(*hypotheses, sampled_labels(y, p)),
        claims=(lower_half(error, p, slack, c, "p"), upper_half(error, p, slack, C, "p")),
        proof_steps=sandwich(x, y, error),
        unspecified=(value("c", c), value("C", C)),
    )
