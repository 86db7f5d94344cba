r"""[FVBS23, Lemma D.9]: the step along u has length O(sqrt(d / (c^2 k)))."""

import math

from marginflow.robustness.explicit_vectors import fvbs23_size_constants
from marginflow.theory.frame import Check, Findings, Instance, at_most, value
from marginflow.theory.fvbs23.presets import law_of, law_only, stated_of_law
from marginflow.theory.fvbs23.setting import LENGTH, ClusterSetting


def size_constant(d: int, c: float) -> float:
    """C of ||z|| <= C sqrt(d / (c^2 k)): (c A_d + B_d) sqrt(1.1 + 0.1/d)."""
    A_d, B_d = fvbs23_size_constants(d)
    return (c * A_d + B_d) * math.sqrt(1.1 + 0.1 / d)


def size_checks(s: ClusterSetting, *, vacuous: bool = False) -> tuple[Check, tuple[Check, ...]]:
    """The length of z against 13.31 sqrt(d / (c^2 k)), and the chain of Lemma D.9 that leads there."""
    A_d, B_d = fvbs23_size_constants(s.d)
    eta, z = s.eta_1 + s.eta_2, s.z_norm
    C = size_constant(s.d, s.c)
    middle, plugged = s.k * s.d + s.k**2 * s.p, s.k * s.d + s.k * s.c_prime * (s.d - s.Delta + 1)
    order = math.sqrt(s.d / s.k) / s.c if s.c > 0 else math.nan
    steps = (
        at_most("eta_1 + eta_2", eta, (A_d + B_d / s.c) / s.k if s.c > 0 else math.nan),
        at_most("||u||^2", s.u_norm**2, middle),
        at_most("k d + k^2 p", middle, plugged),
        at_most("k d + k c' (d - Delta + 1)", plugged, 1.1 * s.k * s.d + 0.1 * s.k),
        at_most("||z|| against C sqrt(d / (c^2 k))", z, C * order),
        at_most("the constant C", C, LENGTH, tolerance=1e-3),
    )
    note = "13.31 sqrt(d / (c^2 k))"
    return at_most("||z||", z, LENGTH * order, tolerance=1e-3, note=note, vacuous=vacuous), steps


@stated_of_law(
    id="FVBS23/LemD.9",
    meaning="z has length O(sqrt(d / (c^2 k))), with a constant of at most 13.31.",
    formula=r"\|z\| = (\eta_1 + \eta_2) \|u\| \le C \sqrt{\frac{d}{c^2 k}}, \quad C \le 13.31",
    control=lambda: law_only(law_of(549, 2, 0.308)),
    control_shows="so much noise that D_u is almost zero: z is longer than the bound",
    printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
    proved=r"\|z\| \le (c A_d + B_d) \sqrt{1.1 + \tfrac{0.1}{d}} \sqrt{\frac{d}{c^2 k}}",
    sharp=r"\|z\| \to \frac{9}{c} \sqrt{\frac{d}{k}} \quad (p = 0, c' \to 0)",
    remark="Step (ii) bounds (1 - 2c')/(1 - 3c') by monotonicity in c' of the whole fraction, not term by term. With c "
    "= 1/2 z is shorter than the data only from hundreds of clusters on.",
)
def lemma_d9(instance: Instance) -> Findings:
    """The links of the chain from eta_1 + eta_2 to the length of z."""
    s = ClusterSetting.of(instance)
    z = s.z_norm
    size, steps = size_checks(s)
    return Findings(
        value("||z|| here", z),
        value("||z|| / sqrt(d)", z / math.sqrt(s.d), "above 1: longer than the data"),
        value("||z|| / sqrt(d / (c^2 k))", z * s.c * math.sqrt(s.k / s.d)),
        hypotheses=s.assumption(),
        claims=(size,),
        proof_steps=steps,
    )
