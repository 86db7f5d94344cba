"""Proofs that a member of a family contradicts a statement: hypotheses and failing claim in exact or enclosed numbers.

Each prover is given what names the member and the instance, and answers with a proof or with the reason why there is
none. Quantifiers are respected: where a constant is only said to exist, the argument must cover all of its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from marginflow.theory.hunting.enclosed import enclose_minimum
from marginflow.theory.hunting.exact_error import enclosed_error
from marginflow.theory.hunting.family import Candidate
from marginflow.theory.instance import Instance
from marginflow.theory.kys23.lem_d2 import sure_deviation
from marginflow.theory.kys23.line import Bends, line_samples, plus_minus_plus, plus_plus
from marginflow.theory.kys23.thm_3_1.lem_a1 import few_small_gaps


@dataclass(frozen=True, kw_only=True)
class Proof:
    """Whether a contradiction was proved, in one sentence; and in which arithmetic."""

    proved: bool
    sentence: str
    arithmetic: str = ""


Prover = Callable[[Candidate, Instance], Proof]


def _unproved(reason: str) -> Proof:
    return Proof(proved=False, sentence=reason)


def pattern_breaks(candidate: Candidate, instance: Instance) -> Proof:
    """[KYS23, Prop. A.4] At an enclosed local minimum a value of a pattern +, -, +, or its chord, is off."""
    found = enclose_minimum(instance.the_network(), instance.the_data())
    if isinstance(found, str):
        return _unproved(found)
    x, y = line_samples(instance.the_data())
    low, high = found.values(x)
    bends = Bends.of(found.network)
    for i in plus_minus_plus(y):
        for index, wanted in ((i, -1.0), (i + 1, 1.0)):
            if low[index] > wanted or high[index] < wanted:
                value = f"N({x[index]:g}) in [{low[index]:.9g}, {high[index]:.9g}]"
                return _line_proof(f"{value}, not {wanted:g}")
        for kink in bends.inside(float(x[i]), float(x[i + 1])):
            inner = found.values(np.array([kink]))
            share = (kink - x[i]) / (x[i + 1] - x[i])
            below = inner[0][0] - ((1 - share) * high[i] + share * high[i + 1])
            beyond = inner[1][0] - ((1 - share) * low[i] + share * low[i + 1])
            if below > 1e-9 or beyond < -1e-9:
                return _line_proof(f"N({kink:.6g}) is off its chord by at least {max(below, -beyond):.6g}")
    return _unproved("the enclosures of the values contain what is claimed.")


def _line_proof(what: str) -> Proof:
    return Proof(
        proved=True,
        sentence=f"an exact local minimum is enclosed at which {what}",
        arithmetic="ball arithmetic of 192 bits (Krawczyk's test)",
    )


def dips_below_zero(candidate: Candidate, instance: Instance) -> Proof:
    """[KYS23, Prop. A.5] At an enclosed local minimum N is negative between two neighbours labelled +."""
    found = enclose_minimum(instance.the_network(), instance.the_data())
    if isinstance(found, str):
        return _unproved(found)
    x, y = line_samples(instance.the_data())
    bends = Bends.of(found.network)
    for i in plus_plus(y):
        kinks = bends.inside(float(x[i]), float(x[i + 1]))
        if kinks.size:
            high = found.values(kinks)[1]
            if float(high.min()) < 0:
                return _line_proof(f"N <= {float(high.min()):.6g} between {x[i]:g} and {x[i + 1]:g}")
    return _unproved("the enclosures of the values between neighbours labelled + contain 0.")


def small_error(candidate: Candidate, instance: Instance) -> Proof:
    """[KYS23, Prop. 4.5] The clean error of a network with whole weights, enclosed, is below 2^-n."""
    W, v = candidate["W"], candidate["v"]
    if len(W[0]) != 2:
        return _unproved("the error is enclosed in the plane only.")
    low, high = enclosed_error(W, v)
    bound = Fraction(1, 2 ** len(v))
    if high >= bound:
        return _unproved(f"the error is in [{float(low):.6g}, {float(high):.6g}], not below {bound}.")
    error = "0" if high == 0 else f"at most {float(high):.9g}"
    return Proof(
        proved=True,
        sentence=f"{instance.name} has n = {len(v)} neurons and clean error {error} < {bound}",
        arithmetic="whole numbers, angles enclosed in fractions",
    )


def norm_too_large(candidate: Candidate, instance: Instance) -> Proof:
    """[KYS23, Lemma B.3] sqrt(k) ||theta||^2 = 4 ||s||^2 + 4k + 2 against 9k, all hypotheses in fractions."""
    m, k, t = candidate["samples"], candidate["negative"], Fraction(candidate["tilt"], 64)
    product = 2 * t / (1 + t * t)  # the one inner product that is not 0, of the last two samples
    along = (1 - t * t) / (1 + t * t)
    if along**2 + product**2 != 1 or 2 * k > m or product > Fraction(1, 10):
        return _unproved("a hypothesis does not hold in exact arithmetic.")
    s_squared = k + (2 * product if k >= 2 else 0)
    total = 4 * s_squared + 4 * k + 2
    if total <= 9 * k:
        return _unproved("the norm is not too large in exact arithmetic.")
    return Proof(
        proved=True,
        sentence=f"with |I_-| = {k} the printed network has sqrt(k) ||theta||^2 = {total} > {9 * k}: the printed bound "
        "on this network fails, and the lemma, which only says that some network has it, needs another one",
        arithmetic="fractions",
    )


def deviates_for_every_constant(candidate: Candidate, instance: Instance) -> Proof:
    """[KYS23, Lemma D.2] c is only said to exist: with d and t as found, m = 2c + d + t contradicts every c.

    For m >= d + t the rate is at most 2/d, so that c times it is at most 2c/d <= m/d - 1, by which every sample of rank
    d and trace m deviates; the event then has probability 1 > 2 e^-t.
    """
    d, t = candidate["dimension"], Fraction(candidate["t"], 4)
    if not 2 * math.exp(-float(t)) < 1 - 1e-9:
        return _unproved("2 e^-t is not below 1.")
    for c in (1, 10, candidate["c"], 10**3, 10**6):
        m = math.ceil(2 * c + d + t)
        rate = Fraction(2, d)  # at least the printed rate, for sqrt((d + t)/m) <= 1 and (d + t)/m <= 1
        if not (m >= d + t and sure_deviation(m, d) >= c * rate):
            return _unproved(f"the argument fails at c = {c}.")
    return Proof(
        proved=True,
        sentence=f"for every c >= 1, m = 2c + {d} + {t} points in dimension {d} always deviate by more than c times "
        f"the rate at t = {t}, and 2 e^-t < 1",
        arithmetic="fractions",
    )


def no_absolute_m0(candidate: Candidate, instance: Instance) -> Proof:
    """[KYS23, Lemma A.1] m_0 is only said to exist: the second condition fails with a chance that is free of delta."""
    m = candidate["m"]
    fails = 1 - few_small_gaps(m, Fraction(1, 10 * (m + 1)), m - 1, Fraction(m + 1, 8))
    delta = Fraction(candidate["delta"], 1024)
    if fails <= delta / 4:
        return _unproved("the second condition alone does not exceed delta/4 here.")
    return Proof(
        proved=True,
        sentence=f"at m = {m} more than an eighth of the gaps are small with probability {float(fails):.6g} > delta/4 "
        f"= {float(delta / 4):.6g}; this probability is positive for every m and free of delta, so that no m_0 serves "
        "every delta",
        arithmetic="whole numbers (the law of spacings by inclusion and exclusion)",
    )


def uneven_noise(candidate: Candidate, instance: Instance) -> Proof:
    """[FCB22, Eq. (6)] Sizes are whole numbers and u = sqrt(log(1/delta)/n) is enclosed; C_1 is only said to exist.

    With all clusters of n/4 samples and the noise in one of them the claim fails as soon as 3 |N|/n > C_1 u, and the
    hypotheses hold while C_1 u + |N|/n <= 1/2: for every C_1 and delta take |N| = n/8 and n large.
    """
    sizes = [candidate["size"] + candidate["uneven"], *[candidate["size"]] * 3]
    noisy = [candidate[f"noisy_{i}"] for i in range(1, 5)]
    n = sum(sizes)
    log = math.log(10.0)
    low, high = (2 * math.sqrt(log / n) * factor for factor in (1 - 1e-12, 1 + 1e-12))  # C_1 u at C_1 = 2, delta = 0.1
    u_low, u_high = Fraction(low), Fraction(high)
    share = Fraction(sum(noisy), n)
    even = all(abs(Fraction(size, n) - Fraction(1, 4)) <= u_low for size in sizes)
    half = 1 - u_high - share >= Fraction(1, 2)
    short = any(size - wrong < Fraction(n, 4) * (1 - u_high - share) for size, wrong in zip(sizes, noisy, strict=True))
    if not (even and half and short):
        return _unproved("a hypothesis or the claim is not decided in exact arithmetic.")
    return Proof(
        proved=True,
        sentence=f"clusters of {sizes} samples with {noisy} noisy have fewer clean samples than printed at C_1 = 2, "
        "delta = 0.1; for every C_1 and delta equal clusters with |N| = n/8 in one of them do, once n is large",
        arithmetic="fractions",
    )


PROVERS: Final[dict[str, Prover]] = {
    "KYS23/PropA.4": pattern_breaks,
    "KYS23/LemA.6": pattern_breaks,
    "KYS23/LemA.7": pattern_breaks,
    "KYS23/PropA.5": dips_below_zero,
    "KYS23/Prop4.5": small_error,
    "KYS23/LemB.3": norm_too_large,
    "KYS23/LemD.2": deviates_for_every_constant,
    "KYS23/LemA.1": no_absolute_m0,
    "FCB22/Eq6": uneven_noise,
}
