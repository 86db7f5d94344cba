r"""[KYS23, Lemma D.1] Two uniform points on the sphere are nearly orthogonal; the exact law of their product."""

import math

from marginflow.theory.frame import Findings, Instance, at_least, at_most, stated, value
from marginflow.theory.probability import log_sphere_correlation_tail


def log_cap_bound(t: float, d: int) -> float:
    r"""ln of (1 - t^2)^((d-1)/2), a bound on P(|u . v| >= t) that needs no factor 2.

    With s = t^2 and B ~ Beta(1/2, b), b = (d - 1)/2, substituting x = s + (1 - s) z in the density gives
    P(B > s) = (1 - s)^b E[(z / (s + (1 - s) z))^(1/2)] over z ~ Beta(1/2, b), and the root is at most 1.
    """
    return (d - 1) / 2 * math.log1p(-(t**2)) if t < 1 else -math.inf


@stated(
    id="KYS23/LemD.1",
    number="Lemma D.1 (Ball)",
    meaning="Two uniform points on the sphere are nearly orthogonal; the square of u . v has a Beta law.",
    formula=r"\Pr[|u^\top v| \ge t] \le 2 e^{-d t^2 / 2}, \quad "
    r"(u^\top v)^2 \sim \mathrm{Beta}\left(\tfrac12, \tfrac{d-1}{2}\right)",
    needs=("parameters",),
    parameters={"dimension": "d", "t": "threshold in [0, 1]", "factor": "multiplies the bounds; 1 as in the paper"},
    example=lambda: Instance(name="d = 100, t = 1/2", parameters={"dimension": 100, "t": 0.5}),
    control=lambda: Instance(
        name="d = 100, t = 1/2, a hundredth of the bound", parameters={"dimension": 100, "t": 0.5, "factor": 0.01}
    ),
    control_shows="a hundredth of the bound is too small",
    control_outcome="violated",
    printed=r"2 e^{-d t^2/2}",
    proved=r"\Pr \le (1 - t^2)^{(d-1)/2}",
    remark="Lemmas B.1 and B.4 and both theorems use the bound without the factor 2. That is true where "
    "t^2 >= 2/(d - 1), which the bound (1 - t^2)^((d-1)/2) implies: the confidence is epsilon, not 2 epsilon.",
)
def lemma_d1(instance: Instance) -> Findings:
    """The exact tail against the printed bound, and against the one without the factor 2."""
    d, t = instance.whole("dimension"), instance.number("t")
    shift = math.log(instance.number("factor", 1.0))
    inside = (at_least("d", d, 2), at_least("t", t, 0.0), at_most("t against 1", t, 1.0))
    exact = log_sphere_correlation_tail(min(max(t, 0.0), 1.0), max(d, 2))
    printed = math.log(2) - d * t**2 / 2 + shift
    cap = log_cap_bound(t, d) + shift
    return Findings(
        hypotheses=inside,
        constants=(
            value("P(|u . v| >= t), exact", math.exp(exact)),
            at_most("ln P, without the factor 2", exact, -d * t**2 / 2, note="as used in Lemmas B.1 and B.4"),
        ),
        claims=(at_most("ln P(|u . v| >= t)", exact, printed, vacuous=printed >= 0),),
        derived=(
            at_most("ln P against (1 - t^2)^((d-1)/2)", exact, cap, vacuous=cap >= 0, note="an upper bound, not sharp"),
        ),
    )
