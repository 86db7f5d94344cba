r"""[FVBS23, Lemma A.9]: what Assumption 2.2 implies for the constants of the proof."""

from marginflow.theory.frame import Findings, Instance, at_least, at_most, value
from marginflow.theory.fvbs23.presets import law_of, law_only, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSetting


@stated_of_law(
    id="FVBS23/LemA.9",
    meaning="The spread Delta of inner products is at most d / 21.",
    formula=r"\Delta \le \frac{d - 19}{21} \le \frac{d}{21}",
    control=lambda: law_only(law_of(100, 2, 0.1)),
    control_shows="Delta is almost a fifth of d, and Assumption 2.2 fails",
    printed=r"\Delta \le \frac{d}{21}",
    proved=r"\Delta \le \frac{d - 19}{21}",
    sharp=r"\Delta \le \frac{d + 1 - 10 k (p + 1)}{10 k + 1}",
    remark="Needs k >= 2, that is labels of both kinds.",
)
def lemma_a9(instance: Instance) -> Findings:
    """Arithmetic; the general form keeps k and p."""
    s = ClusterSetting.of(instance)
    general = (s.d + 1 - 10 * s.k * (s.p + 1)) / (10 * s.k + 1)
    return Findings(
        value("Delta / d", s.Delta / s.d),
        hypotheses=(*s.assumption(), at_least("k", s.k, 2)),
        claims=(at_most("Delta", s.Delta, s.d / 21, scale=s.d, tolerance=1e-14),),
        proof_steps=(at_most("Delta against (d - 19)/21", s.Delta, (s.d - 19) / 21, scale=s.d, tolerance=1e-14),),
        derived=(at_most("Delta, with k and p", s.Delta, general, scale=s.d, tolerance=1e-14),),
    )
