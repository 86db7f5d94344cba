r"""[VYS22, Theorem 4.1]: at every KKT point one small vector z = eta sum_i y_i x_i flips every sample."""

from __future__ import annotations

from functools import partial

import numpy as np

from marginflow.robustness import minimal_step
from marginflow.robustness.explicit_vectors import vys22_steps, vys22_vector
from marginflow.theory.frame import Check, Findings, Forms, Instance, Statement, at_most, is_kkt_point, value
from marginflow.theory.instances import orthogonal_point
from marginflow.theory.vys22.presets import robust_control
from marginflow.theory.vys22.setting import Setting


def flips(instance: Instance, setting: Setting) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """Constants and conclusions of the theorem for the samples of the setting: literal, flip-only and sharp z.

    The literal z gives y N(x - y z) <= -1, the two others y N(x - y z) <= 0; the exact z is the smallest multiple of u
    that does so.
    """
    network = instance.certificate.network
    X, y = setting.X, setting.y
    root = float(np.sqrt(setting.d))
    constants = [value("eta_1", setting.eta_1), value("eta_2", setting.eta_2)]
    conclusions: list[Check] = []
    if not setting.defines_z:
        nothing = at_most("y_i N(x_i - y_i z)", np.nan, -1.0, note="z is not defined for these data")
        return tuple(constants), (nothing,)
    level = {"literal": -1.0, "flip": 0.0, "sharp": 0.0}
    for form in ("literal", "flip", "sharp"):
        vector = vys22_vector(X, y, form=form, ambient_dimension=setting.d)
        moved = y * network(X - y[:, None] * vector.vector)
        vacuous = vector.size > 2 * root  # longer than the way to the farthest point of the sphere
        note = f"||z|| = {vector.size:.6g} = {vector.relative_size:.4g} sqrt(d)"
        name = f"y_i N(x_i - y_i z), {form} z"
        conclusions.append(at_most(name, moved, level[form], scale=1.0, note=note, vacuous=vacuous))
        constants.append(value(f"||z||, {form}", vector.size))
    exact = minimal_step(network, X, y, setting.u)
    constants.append(
        value("||z||, exact", exact.all_at_once * setting.u_norm, "the smallest multiple of u that flips all")
    )
    c, c_prime, m = setting.c, setting.c_prime, setting.m
    literal = sum(vys22_steps(float(setting.d), float(m), setting.p, float(setting.n_least), "literal"))
    chain = (18 * c * c_prime + 12) * np.sqrt(2 * setting.d) / (c * np.sqrt(m))  # Lemma C.9
    conclusions += [
        at_most("||z||", literal * setting.u_norm, chain, note="(18 c c' + 12) sqrt(2d) / (c sqrt m)"),
        at_most(
            "||z||, big-O", literal * setting.u_norm, 18 * root * np.sqrt(2 / m) / c, note="18 sqrt(2) sqrt(d/m) / c"
        ),
    ]
    return tuple(constants), tuple(conclusions)


@partial(
    Statement,
    id="VYS22/Thm4.1",
    kind="theorem",
    number="Theorem 4.1",
    meaning="At every KKT point one vector along the sum of y_i x_i, of size O(sqrt(d/m)), flips every sample.",
    formula=r"z = (\eta_1 + \eta_2) \sum_{i \in I} y_i x_i, \quad y_i N_\theta(x_i - y_i z) \le -1, \quad "
    r"\|z\| \le \frac{18 \sqrt{2}}{c} \sqrt{\frac{d}{m}}",
    needs=("network", "data"),
    example=lambda: orthogonal_point(1000, 332),
    control=robust_control,
    control_shows="the network is robust and has all margins 1, but is no KKT point",
    forms=Forms(
        printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 m}}\right)",
        proved=r"\|z\| \le \frac{(18 c c' + 12) \sqrt{2d}}{c \sqrt{m}}",
        sharp=r"\|z\| = \left(\frac{p+1}{D} + \frac{(n-1)(p+1) + d + 1}{n D}\right) \|u\|, \quad D = d - (m-1)p, \quad "
        r"n = \min(|I^+|, |I^-|)",
        remark="The sharp form flips the sign (y N <= 0) instead of reaching -1. On random data the printed z is "
        "longer than sqrt(d) for d below about 400000.",
    ),
)
def theorem_4_1(instance: Instance) -> Findings:
    """Hypotheses on the data and the KKT point; z and what it does to every sample."""
    setting = Setting.of(instance.the_data())
    constants, conclusions = flips(instance, setting)
    return Findings(
        hypotheses=(*setting.hypotheses(), is_kkt_point(instance)),
        constants=(value("p", setting.p), value("c", setting.c), value("c'", setting.c_prime), *constants),
        claims=conclusions,
    )
