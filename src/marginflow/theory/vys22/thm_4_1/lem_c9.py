r"""[VYS22, Lemma C.9]: the size of z, step by step; a fact about the data alone."""

import numpy as np

from marginflow.theory.frame import Findings, Instance, at_most, stated, value
from marginflow.theory.instances import gram_point
from marginflow.theory.vys22.presets import gram_preset
from marginflow.theory.vys22.setting import Setting


def chain(setting: Setting) -> dict[str, float]:
    """||z|| and the right-hand sides of the proof (their square roots), in the order in which they are printed."""
    d, m, p, c, c1 = setting.d, setting.m, setting.p, setting.c, setting.c_prime
    if c == 0:
        return {"||z||": np.inf, "last": np.nan}
    front = 2 * (c * c1 + 1) * (d + 1) / (m * c)

    def step(opening: float, rest: float, length: float) -> float:
        return float((opening + front) / rest * np.sqrt(length)) if rest > 0 else np.inf

    return {
        "||z||": setting.z_norm if setting.D > 0 else np.inf,
        "||u||^2 <= md + m^2 p": step(p + 1, d - m * p, m * d + m**2 * p),
        "p + 1 for p": step(p + 1, d - m * (p + 1), m * d + m**2 * (p + 1)),
        "c' <= 1/3, d >= (d + 1)/2": step(p + 1, (d + 1) / 2 - (d + 1) / 3, m * d + m * 2 * d / 3),
        "5/3 md <= 2 md": step(p + 1, (d + 1) / 6, 2 * m * d),
        "(18cc' + 12) sqrt(2d) / (c sqrt m)": float((18 * c * c1 + 12) * np.sqrt(2 * d) / (c * np.sqrt(m))),
        "18 sqrt(2d) / (c sqrt m)": float(18 * np.sqrt(2 * d) / (c * np.sqrt(m))),
    }


@stated(
    id="VYS22/LemC.9",
    meaning="The vector z has norm at most 18 sqrt(2) sqrt(d/m) / c.",
    formula=r"\|z\| \le \frac{(18cc' + 12)\sqrt{2d}}{c \sqrt{m}} \le \frac{18 \sqrt{2}}{c} \sqrt{\frac{d}{m}}",
    needs=("data",),
    example=lambda: Instance(name="10 samples with p = 2 in dimension 100", data=gram_preset().data),
    control=lambda: Instance(name="11 samples with p = 9 in dimension 100", data=gram_point(100, 11, 9.0).data),
    control_shows="m p is almost d, and z is longer than the bound",
    printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 m}}\right)",
    proved=r"\|z\| \le \frac{18 \sqrt{2}}{c} \sqrt{\frac{d}{m}}",
    sharp=r"\|z\| \le \frac{15 \sqrt{2}}{c} \sqrt{\frac{d}{m}}",
    remark="The proof uses c <= 1; since a share of the smaller class is at most 1/2, 15 sqrt(2) holds as well.",
)
def lemma_c9(instance: Instance) -> Findings:
    """Every inequality of the chain, and with c <= 1/2 the constant 15 sqrt 2 in place of 18 sqrt 2."""
    setting = Setting.of(instance.the_data())
    steps = chain(setting)
    names = list(steps)
    tight = 15 * float(np.sqrt(2 * setting.d / setting.m)) / setting.c if setting.c else np.nan
    return Findings(
        value("||z|| / sqrt(d)", steps["||z||"] / float(np.sqrt(setting.d))),
        value("sqrt(d / m)", float(np.sqrt(setting.d / setting.m))),
        hypotheses=setting.hypotheses(),
        claims=(at_most("||z||", steps["||z||"], steps[names[-1]], note="18 sqrt(2) sqrt(d/m) / c"),),
        proof_steps=tuple(
            at_most(f"step {i}: {names[i]}", steps[names[i - 1]], steps[names[i]]) for i in range(1, len(names))
        ),
        derived=(at_most("||z|| with c <= 1/2", steps["||z||"], tight, note="15 sqrt(2) sqrt(d/m) / c"),),
    )
