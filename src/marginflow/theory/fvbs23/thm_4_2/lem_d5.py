r"""[FVBS23, Lemma D.5]: the step along u is well defined."""

from marginflow.theory.frame import Findings, Instance, above, at_least, below, true, value
from marginflow.theory.fvbs23.presets import law_of, law_only, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSetting


@stated_of_law(
    id="FVBS23/LemD.5",
    meaning="The number that every neuron's response to u is measured in is positive.",
    formula=r"D_u = d - \Delta - k (p + \Delta) > 0",
    control=lambda: law_only(law_of(100, 2, 0.5)),
    control_shows="with sigma = 1/2 in dimension 100, D_u is negative",
    printed=r"d - \Delta - k(p + \Delta) > 0",
    sharp=r"D_u = (d - \Delta) - c'(d - \Delta + 1) + k \ge \tfrac{6}{7} d + k - \tfrac{1}{10}",
)
def lemma_d5(instance: Instance) -> Findings:
    """D_u is positive, equals (d - Delta) - c'(d - Delta + 1) + k, and is at least 6d/7 + k - 1/10."""
    s = ClusterSetting.of(instance)
    identity = (s.d - s.Delta) - s.c_prime * (s.d - s.Delta + 1) + s.k
    return Findings(
        value("D_u", s.D_u),
        value("D_u / d", s.D_u / s.d),
        hypotheses=s.assumption(),
        claims=(below("- D_u", -s.D_u, 0.0),),
        proof_steps=(above("D_u, as proved", s.D_u, 6 * s.d / 7 - 0.1),),
        derived=(at_least("D_u, explicit", s.D_u, 6 * s.d / 7 + s.k - 0.1, scale=s.d, tolerance=1e-14),),
        arithmetic=(true("D_u = (d - Delta) - c'(d - Delta + 1) + k", abs(identity - s.D_u) <= 1e-12 * s.d),),
    )
