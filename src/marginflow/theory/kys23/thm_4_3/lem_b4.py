r"""[KYS23, Lemma B.4]: nearly orthogonal samples and at most c_1 m / n^2 negative ones, with high probability."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from marginflow.theory.frame import Findings, Forms, Instance, Statement, above, at_least, at_most, value
from marginflow.theory.kys23.thm_4_1.lem_b1 import log_pairs_tail, pair_threshold
from marginflow.theory.kys23.thm_4_3.setting import NOISE
from marginflow.theory.kys23.unit_sphere import log_binomial_tail


def exact_no_negative(m: int, p: Fraction) -> Fraction:
    """P(|I_-| = 0) = (1 - p)^m, exactly.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from marginflow.theory.kys23.thm_4_3.lem_b4 import exact_no_negative
    >>> exact_no_negative(2, Fraction(1, 3))
    Fraction(4, 9)
    """
    return (1 - p) ** m


def _at(m: int, n: int, d: int, p: float) -> Instance:
    return Instance(
        name=f"m = {m}, n = {n}, d = {d:.3g}, p = {p:.3g}", parameters={"m": m, "width": n, "dimension": d, "p": p}
    )


@partial(
    Statement,
    id="KYS23/LemB.4",
    kind="lemma",
    number="Lemma B.4",
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
    control_outcome="violated",
    forms=Forms(
        printed=r"m > c' \ln\frac{2}{\delta}",
        proved=r"m \ge C n^2 \ln\frac{2}{\delta}",
        remark="False for every choice of c < c_1 and c': m just below n^2/c_1 demands |I_-| = 0, which fails with "
        "probability about 1 - e^(-c/c_1) whatever n is. The theorem's m >= c_2 n ln(1/delta) is no help for large n.",
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
    return Findings(
        hypotheses=(
            above("p", p, 0.0),
            at_most("p against c / n^2", p, c / n**2),
            at_least("m", m, c_prime * math.log(2 / delta), note="c' ln(2/delta)"),
            at_least("d", d, 2),
        ),
        constants=(
            value("c_1 m / n^2", allowed, "below 1 no negative sample is allowed"),
            value("threshold of P1'", threshold),
            value("P(|I_-| = 0)", math.exp(m * math.log1p(-p)) if p < 1 else 0.0),
        ),
        claims=(
            at_most("ln P(P1' fails), union of exact tails", pairs, math.log(delta / 2)),
            at_most("ln P(P2' fails), exact", negatives, math.log(delta / 2)),
            at_most("ln P(P1' or P2' fails)", together, math.log(delta)),
        ),
    )
