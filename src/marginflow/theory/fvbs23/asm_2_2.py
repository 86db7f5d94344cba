r"""[FVBS23, Assumption 2.2] What is assumed of the distribution of clusters."""

from marginflow.theory.frame import Findings, Instance, at_least, at_most, value
from marginflow.theory.fvbs23.presets import law_of, law_only, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSetting


@stated_of_law(
    id="FVBS23/Asm2.2",
    meaning="Means of norm sqrt(d), noise at most 1 per coordinate, and few clusters: the means are nearly orthogonal.",
    formula=r"\|\mu^{(j)}\| = \sqrt{d}, \quad 0 < \sigma \le 1, \quad "
    r"k (p + \Delta + 1) \le \frac{d - \Delta + 1}{10}, \quad \Delta = 4 \sigma \sqrt{d} \ln d",
    control=lambda: law_only(law_of(548, 2)),
    control_shows="one dimension less than the smallest that two clusters with sigma = 1/sqrt(d) need",
    printed=r"k (p + \Delta + 1) \le \tfrac{1}{10} (d - \Delta + 1)",
    proved=r"c' \le \tfrac{1}{10}, \quad c' = \frac{k (p + \Delta + 1)}{d - \Delta + 1}",
    remark="The logarithm is natural. That both labels occur is assumed beside it, and with it k >= 2.",
)
def assumption_2_2(instance: Instance) -> Findings:
    """The three parts, and the inequalities between d, k, p and Delta that follow from them."""
    s = ClusterSetting.of(instance)
    return Findings(
        constants=(
            value("p", s.p),
            value("Delta", s.Delta),
            value("c'", s.c_prime),
            value("slack of the third part", s.slack),
            at_most("implied: k", s.k, (s.d + 1) / 10),
            at_most("implied: p", s.p, s.d / (10 * s.k)),
            at_most("implied: Delta", s.Delta, (s.d - 19) / 21, scale=s.d, tolerance=1e-14),
            at_least("implied: d", s.d, 20),
        ),
        claims=s.assumption(),
    )
