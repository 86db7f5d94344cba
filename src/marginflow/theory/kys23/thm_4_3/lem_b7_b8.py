r"""[KYS23, Lemmas B.7 and B.8]: if the biases were small, positive samples would weigh enough and negative ones little.

Steps of a proof by contradiction: their premise B <= 1/4 is what Lemma B.9 refutes, so in the regime of the theorem
they are vacuous. The inequalities displayed in their proofs hold at every KKT point and are checked everywhere; where
the premise is false, nothing here is counted as evidence.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from marginflow.data import Dataset
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, stated, value
from marginflow.theory.kys23.sphere_points import frozen_close, frozen_point
from marginflow.theory.kys23.thm_4_3.setting import frozen_setting

_PREMISE: Final = "the premise B <= 1/4 is false"


def _repeated(times: int = 30) -> Instance:
    """A KKT point with B < 1/4 on data in which one positive sample occurs many times: still a KKT point."""
    point = frozen_point(40, 2, 18, 10**12)
    data = point.the_data()
    first = int(np.flatnonzero(data.y > 0)[0])
    X = np.vstack([data.X, np.repeat(data.X[first : first + 1], times, axis=0)])
    more = Dataset(X=X, y=np.append(data.y, np.ones(times)), ambient_dimension=data.ambient_dimension)
    return replace(point, name=f"a positive sample {times + 1} times", data=more, multipliers=None)


_DELTA: Final = {"delta": "0.1; only for the printed dimension"}


@stated(
    id="KYS23/LemB.7",
    meaning="If B <= 1/4, every positive sample has lambda_i >= 1/(4n). Vacuous in the regime of Theorem 4.3.",
    formula=r"B = \sum_{v_j = 1} b_j - \sum_{v_j = -1} b_j \le \tfrac14 \implies \lambda_i \ge \frac{1}{4n} \quad "
    r"\forall i \in I_+",
    parameters=_DELTA,
    example=lambda: frozen_point(40, 2, 18, 10**12),
    control=_repeated,
    control_shows="a positive sample is repeated thirty times: the copies share its multiplier",
    printed=r"d \ge 32 m^4 n^2 \ln\frac{2m^2}{\delta}",
    proved=r"1 \le B + n \lambda_r + n \rho \sum_{i \ne r} \lambda_i \quad \text{at every KKT point}",
    remark="Only a step of the proof that B > 1/4.",
    errata=Erratum.slip(
        "Equation (22) and the display after it have a sign wrong; Section 4.1 defines sigma' by '> 1' where "
        "'> 0' is meant."
    ),
)
def lemma_b7(instance: Instance) -> Findings:
    """1 <= B + n lambda_r + n rho sum lambda for all r in I_+, and lambda_r >= 1/(4n) where B <= 1/4."""
    frozen, shared = frozen_setting(instance)
    sample, n, delta = frozen.sample, frozen.n, instance.number("delta", 0.1)
    lam, B = frozen.lam[~sample.minus], frozen.B
    vacuous = B > 0.25
    displayed = B + n * lam + n * sample.rho * (frozen.lam.sum() - lam)
    # The material implication: met where the premise is false by as much as it is.
    claim = (lam - 1 / (4 * n)) if not vacuous else B - 0.25
    return Findings(
        value("B", B),
        value("1 / (4n)", 1 / (4 * n)),
        value("smallest lambda on I_+", float(lam.min(initial=float("inf")))),
        value("ln of the least d that is printed", frozen.log_least_dimension(32, 2, delta)),
        hypotheses=(
            *shared,
            sample.some_positive(),
            frozen.nearly_orthogonal(sample.m**2 * n, 0.25, "m^2 n rho"),
        ),
        claims=(
            at_least("B > 1/4, or lambda_r - 1/(4n) on I_+", claim, 0.0, scale=1 / (4 * n), vacuous=vacuous,
                     note=_PREMISE if vacuous else ""),
        ),
        proof_steps=(at_least("B + n lambda_r + n rho sum lambda, r in I_+", displayed, 1.0),),
    )  # fmt: skip


@stated(
    id="KYS23/LemB.8",
    meaning="If B <= 1/4, every negative sample has lambda_i <= 10/4. Vacuous in the regime of Theorem 4.3.",
    formula=r"B \le \tfrac14 \implies \lambda_i \le \tfrac{10}{4} \quad \forall i \in I_-",
    parameters=_DELTA,
    example=lambda: frozen_point(40, 2, 18, 10**12),
    control=frozen_close,
    control_shows="two opposite samples at an angle of 0.1: their multipliers are near 100",
    printed=r"d \ge 16 m^4 n^4 \ln\frac{2m^2}{\delta}",
    proved=r"d \ge 32 m^4 n^4 \ln\frac{2m^2}{\delta}",
    errata=Erratum.wrong_constant(
        "With d >= 16 m^4 n^4 ln(2m^2/delta), 2 m^2 n^2 rho is at most 0.707, not 1/2 as the proof says.",
        repair="32 instead of 16",
    ),
)
def lemma_b8(instance: Instance) -> Findings:
    """-1 <= B + n rho sum lambda - lambda_s for all s in I_- on the margin, and lambda_s <= 10/4 where B <= 1/4."""
    frozen, shared = frozen_setting(instance)
    sample, n, delta = frozen.sample, frozen.n, instance.number("delta", 0.1)
    lam, B = frozen.lam[sample.minus], frozen.B
    vacuous = B > 0.25
    displayed = B + n * sample.rho * (frozen.lam.sum() - lam) - lam
    claim = (2.5 - lam) if not vacuous else B - 0.25
    return Findings(
        value("B", B),
        value("largest lambda on I_-", float(lam.max(initial=0.0))),
        value("ln of the least d that is printed", frozen.log_least_dimension(16, 4, delta)),
        value("ln of the least d that is needed", frozen.log_least_dimension(32, 4, delta)),
        hypotheses=(
            *shared,
            sample.some_negative(),
            frozen.nearly_orthogonal(2 * frozen.mn**2, 0.5, "2 m^2 n^2 rho"),
        ),
        claims=(
            at_most("minus B - 1/4, or lambda_s - 10/4 on I_-", -claim, 0.0, scale=2.5, vacuous=vacuous,
                    note=_PREMISE if vacuous else ""),
        ),
        proof_steps=(at_least("B + n rho sum lambda - lambda_s, s in I_-", displayed, -1.0),),
    )  # fmt: skip
