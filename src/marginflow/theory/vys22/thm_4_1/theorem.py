r"""[VYS22, Theorem 4.1]: at every KKT point one small vector z = eta sum_i y_i x_i flips every sample."""

from typing import Final

import numpy as np

from marginflow.robustness.explicit_vectors import Form, vys22_vector
from marginflow.theory.frame import Check, Findings, Instance, at_most, is_kkt_point, require, stated, value
from marginflow.theory.instances import orthogonal_point
from marginflow.theory.vacuity import says_nothing
from marginflow.theory.vys22 import region
from marginflow.theory.vys22.presets import robust_control
from marginflow.theory.vys22.setting import Setting

LEVEL: Final[dict[Form, float]] = {"literal": -1.0, "flip": 0.0, "sharp": 0.0}
"""What each form of z takes y N(x - y z) below."""


def flips(instance: Instance, setting: Setting, hypotheses: tuple[Check, ...], *told: Check) -> Findings:
    """What z does to the samples of the setting: the printed z as a claim, flip-only and sharp z beside it.

    The printed (literal) z gives y N(x - y z) <= -1, the two others y N(x - y z) <= 0; the exact z is the smallest
    multiple of u that does so.
    """
    network = instance.certificate.network
    X, y = setting.X, setting.y
    constants = [*told, value("eta_1", setting.eta_1), value("eta_2", setting.eta_2)]
    require(hypotheses, "z is not defined for these data", *constants, given=setting.defines_z)
    lines: dict[str, Check] = {}
    nothing = True
    for form, level in LEVEL.items():
        vector = vys22_vector(X, y, form=form, ambient_dimension=setting.d)
        moved = y * network(X - y[:, None] * vector.vector)
        vacuous = says_nothing(vector.size, setting.d)
        nothing = vacuous if form == "literal" else nothing
        note = f"||z|| = {vector.size:.6g} = {vector.relative_size:.4g} sqrt(d)"
        lines[form] = at_most(f"y_i N(x_i - y_i z), {form} z", moved, level, scale=1.0, note=note, vacuous=vacuous)
        constants.append(value(f"||z||, {form}", vector.size))
    exact = setting.shortest_flip(network)
    constants.append(value("||z||, exact", exact, "the smallest multiple of u that flips all"))
    c, c_prime, m, root = setting.c, setting.c_prime, setting.m, float(np.sqrt(setting.d))
    length = setting.z_norm
    order = 18 * root * np.sqrt(2 / m) / c
    return Findings(
        *constants,
        hypotheses=hypotheses,
        claims=(
            lines["literal"],
            at_most("||z||", length, order, note="18 sqrt(2) sqrt(d/m) / c, as proved for O(.)", vacuous=nothing),
        ),
        proof_steps=(  # Lemma C.9
            at_most("||z|| with c'", length, (18 * c * c_prime + 12) * np.sqrt(2 / m) * root / c),
        ),
        derived=(lines["flip"], lines["sharp"]),
    )


@stated(
    id="VYS22/Thm4.1",
    meaning="At every KKT point one vector along the sum of y_i x_i, of size O(sqrt(d/m)), flips every sample.",
    formula=r"z = (\eta_1 + \eta_2) \sum_{i \in I} y_i x_i, \quad y_i N_\theta(x_i - y_i z) \le -1, \quad "
    r"\|z\| \le \frac{18 \sqrt{2}}{c} \sqrt{\frac{d}{m}}",
    example=lambda: orthogonal_point(1000, 332),
    control=robust_control,
    control_shows="the network is robust and has all margins 1, but is not a KKT point",
    region=region.THEOREM_4_1,
    printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 m}}\right)",
    proved=r"\|z\| \le \frac{(18 c c' + 12) \sqrt{2d}}{c \sqrt{m}}",
    sharp=r"\|z\| = \left(\frac{p+1}{D} + \frac{(n-1)(p+1) + d + 1}{n D}\right) \|u\|, \quad D = d - (m-1)p, \quad "
    r"n = \min(|I^+|, |I^-|)",
    remark="The sharp form flips the sign (y N <= 0) instead of reaching -1. On random data the printed z is "
    "longer than sqrt(d) for d below about 400000.",
)
def theorem_4_1(instance: Instance) -> Findings:
    """Hypotheses on the data and the KKT point; z and what it does to every sample."""
    setting = Setting.of(instance.the_data())
    hypotheses = (*setting.hypotheses(), is_kkt_point(instance))
    letters = (value("p", setting.p), value("c", setting.c), value("c'", setting.c_prime))
    return flips(instance, setting, hypotheses, *letters)
