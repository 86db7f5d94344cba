r"""[KYS23, proof of Theorem 4.3] No multiplier exceeds 3mn once B > 1/4."""

from marginflow.theory.frame import Findings, Instance, above, at_most, stated, value
from marginflow.theory.kys23.sphere_points import frozen_close, frozen_point
from marginflow.theory.kys23.thm_4_3.setting import frozen_setting


@stated(
    id="KYS23/B2.LamMax",
    kind="lemma",
    number="Proof of Theorem 4.3, both cases",
    meaning="Once B > 1/4, no multiplier exceeds 3mn (1.5 mn by the proof; 1.5 on positive samples).",
    formula=r"B > \tfrac14, \ m^2 n^2 \rho \le \tfrac12 \implies \max_i \lambda_i \le 3mn",
    example=lambda: frozen_point(88, 2, 1, 10**13),
    control=frozen_close,
    control_shows="two opposite samples at an angle of 0.1 have multipliers of 100, and 3mn is 12",
    printed=r"\max_i \lambda_i \le 3mn",
    sharp=r"\max_{I_+} \lambda_i \le \tfrac32, \quad \max_{I_-} \lambda_i \le \tfrac32 mn",
    remark="Case II cites Lemma B.5 where B.6 is meant. On the exact points measured the largest multiplier is "
    "below 1, a four-hundredth of the bound and less.",
)
def b2_lam_max(instance: Instance) -> Findings:
    """The largest multiplier of either class against what the two cases give."""
    frozen, shared = frozen_setting(instance)
    sample, lam = frozen.sample, frozen.lam
    largest = float(lam.max())
    on_plus = float(lam[~sample.minus].max(initial=0.0))
    return Findings(
        value("largest lambda / (3mn)", largest / (3 * frozen.mn)),
        value("largest lambda on I_+", on_plus),
        hypotheses=(*shared, above("B", frozen.B, 0.25), frozen.nearly_orthogonal(frozen.mn**2, 0.5, "m^2 n^2 rho")),
        claims=(at_most("largest lambda", largest, 3 * frozen.mn),),
        proof_steps=(
            at_most("largest lambda, as the proof gives", largest, 1.5 * frozen.mn),
            at_most("largest lambda on I_+, as the proof gives", on_plus, 1.5),
            at_most("largest lambda against mn times the largest on I_+", largest, frozen.mn * on_plus),
        ),
    )
