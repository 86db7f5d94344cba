r"""[KYS23, Lemma B.1]: nearly orthogonal samples, ||X X^T|| = O(1) and few negative ones, with high probability."""

import math
from typing import Final

import numpy as np

from marginflow.theory.frame import Check, Erratum, Findings, Instance, above, at_least, at_most, stated, value
from marginflow.theory.kys23.lem_d2 import explicit_deviation, uniform_gram
from marginflow.theory.kys23.unit_sphere import log_binomial_tail
from marginflow.theory.probability import estimate, log_sphere_correlation_tail, union

_DRAWS: Final = 60


def pair_threshold(m: int, d: int, delta: float, factor: float) -> float:
    """sqrt(2 ln(factor m^2 / delta) / d), which no |x_i . x_l| should exceed."""
    return math.sqrt(2 * math.log(factor * m**2 / delta) / d)


def log_pairs_tail(m: int, d: int, threshold: float) -> float:
    """ln of the union over the m (m - 1)/2 pairs of the exact tail of |x_i . x_l|."""
    if m < 2 or threshold >= 1:
        return -math.inf
    return union(log_sphere_correlation_tail(threshold, d), m * (m - 1) / 2)


@stated(
    id="KYS23/LemB.1",
    meaning="With probability 1 - delta: small inner products, ||X X^T|| <= C, and |I_-| <= 3pm/2.",
    formula=r"|x_i^\top x_l| \le \sqrt{\frac{2 \ln(3m^2/\delta)}{d}} \ (i \ne l), \quad \|X X^\top\| \le C, \quad "
    r"|I_-| \le \frac{3pm}{2}",
    needs=("parameters",),
    parameters={
        "m": "samples",
        "dimension": "d",
        "p": "noise rate",
        "delta": "0.1 by default",
        "C": "the constant of Property 2; 4 by default",
        "c2": "the constant of the condition on m; 5 by default",
    },
    example=lambda: Instance(name="m = 100, d = 10^6, p = 0.2", parameters={"m": 100, "dimension": 10**6, "p": 0.2}),
    control=lambda: Instance(name="m = 100, d = 20, p = 0.2", parameters={"m": 100, "dimension": 20, "p": 0.2}),
    control_shows="d < m, which Section 4 excludes: ||X X^T|| >= m/d = 5 > C = 4, always",
    printed=r"p \le c_1, \quad m > c_2 \frac{\ln(1/\delta)}{p}",
    proved=r"p \le \tfrac14, \quad m \ge \frac{5 \ln(3/\delta)}{p}, \quad d \ge c\, m",
    errata=(
        Erratum.wrong_constant(
            "Bernstein's inequality loses its factor 1/2, and exp(-pm/5) is not a bound of P(|I_-| >= 3pm/2).",
            evidence="m = 276, p = 7/64: the exact tail is 0.00259, exp(-pm/5) is 0.00239; found by the hunter, in "
            "fractions",
            repair="exp(-3pm/28), so that c_2 = 28/3 instead of 5",
        ),
        Erratum.slip(
            "Property 1 must exclude i = l; Property 2 needs d >= c m, which the lemma does not say (Section 4 "
            "assumes d >> m throughout, and the theorem's d >= c_3 m^2 supplies it); ln(1/delta) must be ln(3/delta)."
        ),
    ),
)
def lemma_b1(instance: Instance) -> Findings:
    """Exact tails of P1 and P3, P2 by its explicit bound or counted."""
    m, d = instance.whole("m"), instance.whole("dimension")
    p, delta, C = instance.number("p"), instance.number("delta", 0.1), instance.number("C", 4.0)
    c2 = instance.number("c2", 5.0)
    threshold = pair_threshold(m, d, delta, 3.0)
    pairs, negatives = log_pairs_tail(m, d, threshold), log_binomial_tail(math.floor(1.5 * p * m), m, p)
    third = math.log(delta / 3)
    deviation = 1 + explicit_deviation(m, d, math.log(6 / delta))

    def fails(rng: np.random.Generator) -> bool:
        gram = uniform_gram(m, d, rng)
        largest = float(np.linalg.eigvalsh(gram)[-1])
        np.fill_diagonal(gram, 0.0)
        count = int((rng.random(m) < p).sum())
        return bool(np.abs(gram).max() > threshold or largest > C or count > 1.5 * p * m)

    if m / d > C:
        joint: Check = at_most("P(some property fails)", 1.0, delta, note="||X X^T|| >= m/d > C for every sample")
    elif deviation <= C:
        total = math.exp(pairs) + math.exp(negatives) + delta / 3
        joint = at_most("P(some property fails)", total, delta, note="at most this: P2 by the explicit bound")
    else:
        joint = estimate(fails, _DRAWS, seed=instance.seed).check("P(some property fails)", "<=", delta)
    exact = (
        at_most("ln P(P1 fails), union of exact tails", pairs, third),
        at_most("ln P(P3 fails), exact", negatives, -p * m / 5, note="exp(-pm/5) by Bernstein"),
        at_most("ln P(P3 fails) against delta/3", negatives, third),
    )
    return Findings(
        value("threshold of P1", threshold),
        value("1 + explicit bound of Lemma D.2-repaired", deviation, "P2 with this C has probability 1 - delta/3"),
        value("m / d", m / d, "||X X^T|| is at least this"),
        hypotheses=(
            above("p", p, 0.0),
            at_most("p against c_1", p, 0.25),
            at_least("m", m, c2 * math.log(3 / delta) / p if p > 0 else math.inf, note="c_2 ln(3/delta) / p"),
            at_least("d", d, max(m, 2), note="Section 4 assumes d >> m throughout; d >= m is what is used"),
        ),
        claims=(joint,),
        proof_steps=exact,
        unspecified=(value("C", C), value("c_2", c2)),
    )
