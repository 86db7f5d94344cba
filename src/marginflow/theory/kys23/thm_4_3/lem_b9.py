r"""[KYS23, Lemma B.9] With few negative samples the biases win: B > 1/4."""

from marginflow.theory.frame import Findings, Instance, above, stated, value
from marginflow.theory.kys23.sphere_points import frozen_point
from marginflow.theory.kys23.thm_4_3.orthonormal import closed_form_B
from marginflow.theory.kys23.thm_4_3.setting import frozen_setting


@stated(
    id="KYS23/LemB.9",
    meaning="With few negative samples and nearly orthogonal data the biases win: B > 1/4.",
    formula=r"|I_-| \le \frac{m}{22 n^2}, \ m \ge 2n, \ 2 m^2 n^2 \rho \le \tfrac12 \implies "
    r"\sum_{v_j = 1} b_j - \sum_{v_j = -1} b_j > \tfrac14",
    example=lambda: frozen_point(88, 2, 1, 10**13),
    control=lambda: frozen_point(40, 2, 18, 10**12),
    control_shows="with 18 of 40 labels turned B = 4/41",
    printed=r"\sum_{v_j = -1} b_j \ge -\frac{10 n |I_-|}{8}",
    proved=r"\sum_{v_j = -1} b_j \le \frac{10 n |I_-|}{8}",
    remark="The second display of the proof has the wrong sign and direction; the constants survive: "
    "(m/4n)(1 - 11c) >= 1/2 - 11c/2 > 1/4 for c < 1/22.",
)
def lemma_b9(instance: Instance) -> Findings:
    """B against 1/4."""
    frozen, shared = frozen_setting(instance)
    sample, n, B = frozen.sample, frozen.n, frozen.B
    return Findings(
        value("q/(4n) - 10 n k/4", sample.q / (4 * n) - 2.5 * n * sample.k, "what B would be at least if B <= 1/4"),
        value("B of every KKT point on orthonormal samples", closed_form_B(sample.q, sample.k)),
        hypotheses=(*shared, *frozen.regime()),
        claims=(above("B", B, 0.25),),
    )
