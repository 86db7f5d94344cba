r"""[VYS22, Lemma C.1]: at a KKT point every sample is exactly on the margin."""

import numpy as np

from marginflow.certificates import DEFAULT_TOLERANCE
from marginflow.theory.frame import Findings, Instance, at_most, equal, is_kkt_point, stated, true, value
from marginflow.theory.vys22.presets import gram_preset, with_longer_samples
from marginflow.theory.vys22.setting import MarginNeurons, Setting


@stated(
    id="VYS22/LemC.1",
    meaning="At a KKT point on few, nearly orthogonal samples, every sample attains exactly margin 1.",
    formula=r"y_i N_\theta(x_i) = 1 \quad \text{for all } i \in I",
    example=gram_preset,
    control=lambda: with_longer_samples(1.5, 3.0),
    control_shows="samples that are multiples of others have other norms, and margins 1.44 and 2.76",
    printed=r"m \le \frac{d+1}{3(p+1)} \implies y_i N_\theta(x_i) = 1",
    sharp=r"m - 1 \le \frac{d+1}{3(p+1)} \implies y_i N_\theta(x_i) = 1",
    remark="The sums of the proof skip one sample, so m - 1 in place of m suffices. Random data with m = sqrt(d) "
    "are not covered, although Section 6 reads as if they were.",
)
def lemma_c1(instance: Instance) -> Findings:
    """All q_i = 1, and the two facts on the largest weight alpha that the contradiction of the proof rests on."""
    setting = Setting.of(instance.the_data())
    margins = instance.certificate.margins
    m, p, d = setting.m, setting.p, setting.d
    plus, minus = MarginNeurons.of(instance, setting).per_sample
    # alpha = max_l sum_{j in J+ or J-} v_j^2 lambda_l sigma'_lj, attained at r.
    own = plus if plus.max() >= minus.max() else minus
    r = int(np.argmax(own))
    alpha, right_class = float(own[r]), (setting.y[r] > 0) == (own is plus)
    return Findings(
        value("max q - min q", float(margins.max() - margins.min())),
        value("alpha", alpha),
        value("1 / (m (p + 1))", 1 / (m * (p + 1)), "a sample off the margin would need alpha above this"),
        value("(1 - 2c') / c'", (1 - 2 * setting.c_prime) / setting.c_prime, "at least 1; equal at c' = 1/3"),
        hypotheses=(*setting.hypotheses(), is_kkt_point(instance)),
        claims=(equal("margins q_i", margins, 1.0, tolerance=DEFAULT_TOLERANCE),),
        proof_steps=(
            true("case 1 excluded: the sample with weight alpha has the label of its neurons", right_class),
            at_most("case 2: alpha (d + 1) (1 - 2c')", alpha * (d + 1) * (1 - 2 * setting.c_prime), 1.0),
        ),
    )
