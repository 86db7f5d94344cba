r"""[KYS23, Lemmas A.6 and A.7] The two halves of Proposition A.4; both false as printed."""

from marginflow.theory.frame import Erratum, Findings, Instance, stated
from marginflow.theory.kys23.line_points import five_point_minimum, global_point, linearity_counterexample
from marginflow.theory.kys23.thm_3_2.prop_a4 import PATTERN, pattern_findings


@stated(
    id="KYS23/LemA.6",
    meaning="The linear half of Prop. A.4: N is linear behind the - of a pattern +, -, +. False as printed.",
    formula=PATTERN + r" \;\Rightarrow\; N_\theta \text{ linear on } (x_i, x_{i+1})",
    example=lambda: global_point(20, 0.3, 5),
    control=linearity_counterexample,
    control_shows="a local minimum on six points, found by search, that bends between x_i and x_{i+1}",
    errata=(
        Erratum.false_statement(
            "The linear half of Prop. A.4 falls with it.",
            evidence="a local minimum on six points that bends by 0.676 behind a -, enclosed in ball arithmetic",
            repair="KYS23/PropA.4-repaired",
        ),
        Erratum.slip("Case (2) must read N'(z2) < N'(z1); the middle term of (13) is v1 w1 w2 / v2; i >= 2 is needed."),
    ),
)
def lem_a6(instance: Instance) -> Findings:
    """The distance of N from its chord behind the - of every pattern."""
    return pattern_findings(instance, linear=True, values=False)


@stated(
    id="KYS23/LemA.7",
    meaning="The other half of Prop. A.4: N = -1 at the - of a pattern +, -, + and N = 1 behind it. False as printed.",
    formula=PATTERN + r" \;\Rightarrow\; N_\theta(x_i) = -1, \; N_\theta(x_{i+1}) = 1",
    example=lambda: global_point(20, 0.3, 5),
    control=five_point_minimum,
    control_shows="N(x_5) = 4 at a strict local minimum",
    remark="N(x_i) < -1 at a local minimum has not been seen; N(x_{i+1}) > 1 has.",
    errata=Erratum.false_statement(
        "The half of Prop. A.4 about values falls with it.",
        evidence="N(x_5) = 4 at a strict local minimum on five points",
        repair="KYS23/PropA.4-repaired",
    ),
)
def lem_a7(instance: Instance) -> Findings:
    """The values of N at the - of every pattern and behind it."""
    return pattern_findings(instance, linear=False, values=True)
