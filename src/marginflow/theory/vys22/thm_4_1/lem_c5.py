r"""[VYS22, Lemma C.5]: d - m p > 0, in fact at least (2d - 1)/3."""

from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, stated
from marginflow.theory.instances import gram_point
from marginflow.theory.vys22.presets import random_samples
from marginflow.theory.vys22.setting import Setting


@stated(
    id="VYS22/LemC.5",
    meaning="The samples are so few and so nearly orthogonal that d - mp is positive, at least about 2d/3.",
    formula=r"d - mp > 0",
    needs=("data",),
    example=lambda: gram_point(100, 16, 1.0).only("data", name="16 samples with p = 1 in dimension 100"),
    control=lambda: random_samples(10, 100),
    control_shows="m = 10 is far more than (d + 1) / (3 (p + 1)), and d - mp is negative",
    printed=r"d - \frac{c'(d+1)p}{p+1} \ge d - \frac13 \cdot \frac{2dp}{p} = \frac{d}{3}",
    proved=r"d - mp \ge \frac{d}{3}",
    sharp=r"d - mp \ge \frac{2d - 1}{3}",
    remark="The printed step divides p by p, undefined at p = 0; there d - mp = d and nothing is to prove.",
    errata=Erratum.slip(
        "A step divides p by p, which is undefined for orthogonal samples.", repair="d - mp = d where p = 0"
    ),
)
def lemma_c5(instance: Instance) -> Findings:
    """From m (p + 1) <= (d + 1) / 3 alone: d - m p >= d - (d + 1) / 3 + m >= (2d - 1) / 3."""
    setting = Setting.of(instance.the_data())
    d = setting.d
    return Findings(
        hypotheses=(setting.few_samples(),),
        claims=(above("d - m p", setting.D, 0.0, scale=d),),
        proof_steps=(at_least("d - m p, as proved", setting.D, d / 3),),
        derived=(at_least("d - m p, sharper", setting.D, (2 * d - 1) / 3),),
    )
