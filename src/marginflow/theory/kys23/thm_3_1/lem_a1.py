r"""[KYS23, Lemma A.1] Gaps of uniform points are neither too large nor, most of them, too small: the exact spacing law.

The m + 1 spacings of m uniform points are exchangeable with P(j given ones exceed r_1, ..., r_j) = (1 - sum r)_+^m, so
both conditions have exact probabilities by inclusion and exclusion, here in whole numbers.
"""

import math
from fractions import Fraction
from functools import cache

from marginflow.theory.frame import (
    Check,
    Counterexample,
    Erratum,
    Findings,
    Instance,
    at_least,
    below,
    equal,
    require,
    stated,
    value,
)


def largest_gap_allowed(m: int, delta: float) -> float:
    """log(8 (m + 1) / delta) / (m + 1)."""
    return math.log(8 * (m + 1) / delta) / (m + 1)


@cache
def no_large_gap(m: int, r: Fraction, gaps: int) -> Fraction:
    """P(given `gaps` of the m + 1 spacings are all at most r), exactly."""
    n, d = r.numerator, r.denominator
    terms = min(gaps, d // n)  # (1 - j r)_+ vanishes beyond
    total = sum((-1) ** j * math.comb(gaps, j) * (d - j * n) ** m for j in range(terms + 1))
    return Fraction(total, d**m)


@cache
def few_small_gaps(m: int, r: Fraction, gaps: int, fewer_than: Fraction) -> Fraction:
    """P(fewer than that many of the given `gaps` spacings are below r), exactly.

    At least t = gaps - (largest allowed number) of them exceed r; the probability of at least t of exchangeable events
    is sum_{i >= t} (-1)^(i - t) C(i - 1, t - 1) C(gaps, i) P(i given ones occur).
    """
    allowed = math.ceil(fewer_than) - 1
    t = gaps - allowed
    if t <= 0:
        return Fraction(1)
    n, d = r.numerator, r.denominator
    last = min(gaps, d // n)
    total = sum(
        (-1) ** (i - t) * math.comb(i - 1, t - 1) * math.comb(gaps, i) * (d - i * n) ** m for i in range(t, last + 1)
    )
    return Fraction(total, d**m)


@stated(
    id="KYS23/LemA.1",
    meaning="With probability 1 - delta/4 no gap of m uniform points is too large and few are too small, for m >= m_0.",
    formula=r"\Pr\Big[ \max_i (x_{i+1} - x_i) \le \tfrac{\log(8(m+1)/\delta)}{m+1}, \; "
    r"\big| \{ i : x_{i+1} - x_i < \tfrac{1}{10(m+1)} \} \big| < \tfrac{m+1}{8} \Big] \ge 1 - \tfrac{\delta}{4}",
    needs=("parameters",),
    parameters={"m": "number of points, at most 5000", "delta": "failure probability (default 0.1)"},
    example=lambda: Instance(name="m = 600", parameters={"m": 600, "delta": 0.1}),
    control=lambda: Instance(name="m = 1000, delta = 0.001", parameters={"m": 1000, "delta": 0.001}),
    control_shows="at m = 1000, delta = 0.001 too many gaps are small more often than delta/4; no m_0 serves every "
    "delta",
    printed=r"\Pr[\Delta_{(j)} \le r] \to \Big( 1 - \tfrac{e^{-(m+1) r + \log(m+1)}}{m+1} \Big)^j",
    sharp=r"\Pr[\text{all } K \text{ given spacings} \le r] = \sum_j (-1)^j \tbinom{K}{j} (1 - j r)_+^m",
    remark="At delta = 0.1 the exact law violates the bound for every m from 3 to 311 and last decides so at m = "
    "359; it first holds for certain at 408, and from 456 on (checked up to 700). In between the two conditions "
    "are known exactly and their union is not.",
    errata=(
        Erratum.false_statement(
            "m_0 cannot be absolute: the second condition fails with a probability that is positive for every "
            "m and does not depend on delta.",
            headline="Kornowski, Yehudai and Shamir say that from a fixed number of uniform points on the gaps are "
            "regular, however small the probability δ of failure; 1000 points contradict it at δ = 0.001, "
            "and a number that grows with log(1/δ) suffices.",
            evidence="violated at m = 1000, delta = 0.001 and at m = 2000, delta = 1e-6, by the exact law of "
            "spacings in whole numbers",
            repair="m >= m_0 + c log(1/delta); Theorem 3.1 needs no more",
        ),
        Erratum.slip(
            "Each condition gets 1 - delta/4 and then a union bound is needed; the law of the j-th ordered "
            "spacing is right for j = m + 1 only; 1/(10m) and 1/(10(m + 1)) are mixed."
        ),
    ),
)
def lem_a1(instance: Instance) -> Findings:
    """The exact probability of either condition, and of both between two bounds."""
    m, delta = instance.whole("m"), instance.number("delta", 0.1)
    hypotheses = (
        at_least("m", m, 3.0),
        at_least("delta", delta, 1e-300),
        below("delta < 1", delta, 1.0),
        below("m, so that whole numbers stay small", m, 5001.0),
    )
    require(hypotheses, "no probability to compute")
    r = Fraction(largest_gap_allowed(m, delta)).limit_denominator(10**9)
    small = Fraction(1, 10 * (m + 1))
    large_fine = float(no_large_gap(m, r, m - 1))
    few_small = few_small_gaps(m, small, m - 1, Fraction(m + 1, 8))
    small_fine, fails = float(few_small), 1 - few_small
    lowest, highest = large_fine + small_fine - 1.0, min(large_fine, small_fine)
    target = 1 - delta / 4
    both = Check(
        "P(E_x)",
        (lowest + highest) / 2,
        ">=",
        target,
        interval=(lowest, highest),
        note="both conditions exactly, their union bounded from both sides; no collisions almost surely",
    )
    single = float(no_large_gap(m, r, 1))
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("P(no gap is too large)", large_fine),
            value("its limit exp(-delta / 8)", math.exp(-delta / 8)),
            value("P(fewer than (m + 1)/8 gaps are too small)", small_fine),
            value("P(one spacing below 1/(10 (m + 1)))", 1 - float((1 - small) ** m), "tends to 1 - e^-0.1 < 1/8"),
            equal("one spacing: 1 - (1 - r)^m", single, 1 - (1 - float(r)) ** m),
        ),
        claims=(both,),
        counterexample=_no_absolute_m0(m, delta, fails) if both.state == "failed" else None,
    )


def _no_absolute_m0(m: int, delta: float, fails: Fraction) -> Counterexample | None:
    """m_0 is only said to exist; the second condition alone contradicts every m_0, as its chance is free of delta."""
    if fails <= Fraction(delta) / 4:
        return None
    summary = (
        f"at m = {m} more than an eighth of the gaps are small with probability {float(fails):.6g} > delta/4 = "
        f"{delta / 4:.6g}; this chance is positive for every m and free of delta, so that no m_0 serves every delta"
    )
    return Counterexample(summary=summary, proof="whole numbers, by inclusion and exclusion")
