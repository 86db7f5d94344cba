r"""[KYS23, Lemma B.4]: nearly orthogonal samples and at most c_1 m / n^2 negative ones, with high probability."""

import math
from fractions import Fraction

from marginflow.theory.frame import (
    Check,
    Counterexample,
    Erratum,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    stated,
    unmet,
    value,
)
from marginflow.theory.kys23.thm_4_1.lem_b1 import log_pairs_tail, pair_threshold
from marginflow.theory.kys23.thm_4_3.setting import NOISE
from marginflow.theory.kys23.unit_sphere import log_binomial_tail


def _at(m: int, n: int, d: int, p: float) -> Instance:
    return Instance(
        name=f"m = {m}, n = {n}, d = {d:.3g}, p = {p:.3g}", parameters={"m": m, "width": n, "dimension": d, "p": p}
    )


@stated(
    id="KYS23/LemB.4",
    meaning="With probability 1 - delta: small inner products and |I_-| <= c_1 m / n^2; needs m of order n^2.",
    formula=r"p \le \frac{c}{n^2}, \ m > c' \ln\frac{2}{\delta}: \quad |x_i^\top x_l| \le \sqrt{\frac{2 \ln(2m^2/"
    r"\delta)}{d}}, \quad |I_-| \le \frac{c_1 m}{n^2}",
    needs=("parameters",),
    parameters={
        "m": "samples",
        "width": "n",
        "dimension": "d",
        "p": "noise rate",
        "delta": "0.1 by default",
        "c": "of p <= c / n^2; c_1 / 2 = 1/44 by default",
        "c_prime": "of m > c' ln(2/delta); 10 by default",
    },
    example=lambda: _at(2000, 2, 10**12, NOISE / 16),
    control=lambda: _at(20 * 10**2, 10, 10**15, NOISE / 200),
    control_shows="m = 20 n^2 allows no negative sample at all, and one appears with probability 0.365",
    printed=r"m > c' \ln\frac{2}{\delta}",
    proved=r"m \ge C n^2 \ln\frac{2}{\delta}",
    remark="The theorem's m >= c_2 n ln(1/delta) does not help for large n.",
    errata=Erratum.false_statement(
        "m of order ln(1/delta) is too few for |I_-| <= c_1 m/n^2: m below n^2/c_1 demands |I_-| = 0.",
        headline="Kornowski, Yehudai and Shamir ask for a number of samples of order log(1/δ) so that at most a "
        "share c/n² of the labels is wrong, n being the number of neurons; that is too few, the number must grow with "
        "n² as well.",
        evidence="m = 20 n^2, p = 1/(44 n^2): fails with probability about 1 - e^(-c/c_1), whatever n is; for "
        "every c and c' some delta and n contradict it",
        repair="m >= C n^2 ln(2/delta)",
    ),
)
def lemma_b4(instance: Instance) -> Findings:
    """Exact tails of both properties, and of their union."""
    m, n, d = instance.whole("m"), instance.whole("width"), instance.whole("dimension")
    p, delta = instance.number("p"), instance.number("delta", 0.1)
    c, c_prime = instance.number("c", NOISE / 2), instance.number("c_prime", 10.0)
    allowed = NOISE * m / n**2
    threshold = pair_threshold(m, d, delta, 2.0)
    pairs, negatives = log_pairs_tail(m, d, threshold), log_binomial_tail(math.floor(allowed), m, p)
    together = math.log(min(1.0, math.exp(pairs) + math.exp(negatives))) if max(pairs, negatives) > -700 else -700.0
    claim = Check(
        "ln P(P1' or P2' fails)",
        together,
        "<=",
        math.log(delta),
        interval=(min(negatives, together), together),
        note="at least the exact tail of P2', at most the sum of both",
    )
    hypotheses = (
        above("p", p, 0.0),
        at_most("p against c / n^2", p, c / n**2),
        at_least("m", m, c_prime * math.log(2 / delta), note="c' ln(2/delta)"),
        at_least("d", d, 2),
    )
    return Findings(
        value("c_1 m / n^2", allowed, "below 1 no negative sample is allowed"),
        value("threshold of P1'", threshold),
        value("P(|I_-| = 0)", math.exp(m * math.log1p(-p)) if p < 1 else 0.0),
        hypotheses=hypotheses,
        claims=(claim,),
        proof_steps=(
            at_most("ln P(P1' fails), union of exact tails", pairs, math.log(delta / 2)),
            at_most("ln P(P2' fails), exact", negatives, math.log(delta / 2)),
        ),
        unspecified=(value("c", c), value("c'", c_prime)),
        counterexample=_one_negative(m, n, p, delta) if claim.state == "failed" and not unmet(hypotheses) else None,
    )


def _one_negative(m: int, n: int, p: float, delta: float) -> Counterexample | None:
    """Where c_1 m / n^2 < 1 one negative sample is too many: P = 1 - (1 - p)^m, in fractions, for every n alike.

    With m just below n^2/c_1 and p = c/n^2 this tends to 1 - e^(-c/c_1) as n grows, so that every c, c' is contradicted
    by a smaller delta and a larger n.
    """
    if m >= 22 * n**2:  # c_1 = 1/22
        return None
    fails = 1 - (1 - Fraction(p)) ** m
    if fails <= Fraction(delta):
        return None
    summary = (
        f"m = {m} < 22 n^2 allows no negative sample, and one appears with probability {float(fails):.4g} > {delta:g}; "
        "for every c, c' the same happens at a smaller delta and a larger n"
    )
    return Counterexample(summary=summary, proof="fractions")
