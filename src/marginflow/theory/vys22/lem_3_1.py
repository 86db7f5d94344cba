r"""[VYS22, Lemma 3.1]: random points of the sphere are nearly orthogonal. Exact tails beside the printed bounds."""

import math
from functools import partial

from scipy.special import betaln

from marginflow.errors import InputError
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, equal, stated, value
from marginflow.theory.probability import log_sphere_correlation_tail, union


def log_bound_a(d: int, m: float) -> float:
    """ln of m^2 d (3/4)^((d-3)/2), which is d^(2k+1) (3/4)^((d-3)/2) at m = d^k."""
    return 2 * math.log(m) + math.log(d) + (d - 3) / 2 * math.log(0.75)


def log_bound_b(d: int, m: float) -> float:
    """ln of m^2 d^(1 - ln(d)/4), which is d^(2k+1-ln(d)/4) at m = d^k; natural logarithms."""
    return 2 * math.log(m) + (1 - math.log(d) / 4) * math.log(d)


def _size(instance: Instance) -> tuple[int, float]:
    """d and m; m from k as m = d^k where k is given."""
    d = instance.whole("dimension")
    if d < 2:
        raise InputError(f"The parameter dimension is {d}; at least 2 is expected.")
    if "k" in instance.parameters:
        return d, d ** instance.number("k", at_least=0.0, at_most=300.0 / math.log10(d))
    m = instance.number("n_samples")
    if m < 2:
        raise InputError(f"The parameter n_samples is {m:g}; at least 2 is expected.")
    return d, m


def _judge(instance: Instance, part: str) -> Findings:
    """P(some pair exceeds t): exact pair tail, exact union bound, printed bound, all as natural logarithms."""
    d, m = _size(instance)
    span = instance.whole("span", d)
    if not 2 <= span <= d:
        raise InputError(f"The parameter span is {span}; between 2 and the dimension, {d}, is expected.")
    threshold = 0.5 if part == "a" else math.log(d) / math.sqrt(d)
    pair = log_sphere_correlation_tail(min(threshold, 1.0), span)
    pairs = m * (m - 1) / 2
    log_union = union(pair, pairs)
    bound = log_bound_a(d, m) if part == "a" else log_bound_b(d, m)
    note = f"probability {math.exp(log_union):.3g} against {math.exp(min(bound, 700.0)):.3g}"
    return Findings(
        hypotheses=(
            at_least("dimension", d, 3 if part == "a" else 6, note="what the proof needs"),
            equal("dimension of the sphere that the points are uniform on", span, d),
        ),
        constants=(
            value("m", m),
            value("k = ln m / ln d", math.log(m) / math.log(d)),
            value("threshold on the unit sphere", threshold),
            value("threshold on the sphere of radius sqrt(d)", threshold * d),
            at_most("density factor 2/B(1/2, (d-1)/2)", 2 * math.exp(-betaln(0.5, (d - 1) / 2)), d),
            at_most("ln P(one pair)", pair, bound - 2 * math.log(m), note="exact, by Beta(1/2, (d - 1)/2)"),
        ),
        claims=(at_most("ln P(some pair)", log_union, bound, note=note, vacuous=bound >= 0.0),),
    )


_part = partial(
    stated,
    needs=("parameters",),
    parameters={
        "dimension": "d",
        "n_samples": "m",
        "k": "alternatively to n_samples: m = d^k",
        "span": "dimension of the subspace whose sphere the points are uniform on; d as in the paper",
    },
)


def _case(dimension: int, **size: float) -> Instance:
    sizes = ", ".join(f"{name} = {number:g}" for name, number in size.items())
    return Instance(name=f"d = {dimension}, {sizes}", parameters={"dimension": dimension, **size})


@_part(
    id="VYS22/Lem3.1a",
    number="Lemma 3.1, first part",
    meaning="Random unit vectors have pairwise inner products of at most 1/2, with probability near 1.",
    formula=r"P\left(\max_{i \ne j} |\langle x_i, x_j \rangle| > \tfrac12\right) \le "
    r"d^{2k+1} \left(\tfrac34\right)^{(d-3)/2}, \quad m \le d^k",
    example=lambda: _case(200, n_samples=200),
    control=lambda: _case(200, n_samples=200, span=20),
    control_shows="points of a subspace of dimension 20: some pair is almost surely closer than 1/2",
    printed=r"d^{2k+1} \left(\tfrac34\right)^{(d-3)/2}",
    sharp=r"\binom{m}{2}\, I_{3/4}\left(\tfrac{d-1}{2}, \tfrac12\right)",
    remark="Stated for the unit sphere; on the sphere of radius sqrt(d) the threshold is d/2. The step "
    "Gamma((d-1)/2) >= Gamma(d/2 - 1) of the proof is false for d = 3 and 4, where B >= 2/d holds anyway.",
)
def lemma_3_1a(instance: Instance) -> Findings:
    """ln of the exact union of pair tails against the printed bound, threshold 1/2."""
    return _judge(instance, "a")


@_part(
    id="VYS22/Lem3.1b",
    number="Lemma 3.1, second part",
    meaning="Random unit vectors have pairwise inner products of at most ln(d)/sqrt(d), with probability near 1.",
    formula=r"P\left(\max_{i \ne j} |\langle x_i, x_j \rangle| > \tfrac{\ln d}{\sqrt{d}}\right) \le "
    r"d^{2k+1-\ln(d)/4}, \quad m \le d^k",
    example=lambda: _case(10_000, n_samples=100),
    control=lambda: _case(10_000, n_samples=100, span=100),
    control_shows="points of a subspace of dimension 100: some pair is closer than ln(d)/sqrt(d)",
    printed=r"\tfrac{\log d}{\sqrt{d}}, \quad d^{2k+1-\ln(d)/4}",
    sharp=r"\binom{m}{2}\, I_{1-t^2}\left(\tfrac{d-1}{2}, \tfrac12\right), \quad t = \tfrac{\ln d}{\sqrt{d}}",
    remark="The logarithm is natural: the proof turns log into ln. The printed bound is at least 1 unless ln d > 4(2k "
    "+ 1): at m = d it says nothing below d = 160000, while the truth is 1e-6 at d = 1000. The proof needs d >= 6.",
    errata=Erratum.proof_gap(
        "The proof uses Gamma((d-1)/2) >= Gamma(d/2 - 1), which is false for d = 3 and 4: "
        "Gamma is not monotone below 1.46.",
        evidence="Gamma(1) = 1 < Gamma(1/2) = 1.77 at d = 3",
        repair="the bound on the Beta function that it serves is true there as well",
    ),
)
def lemma_3_1b(instance: Instance) -> Findings:
    """ln of the exact union of pair tails against the printed bound, threshold ln(d)/sqrt(d)."""
    return _judge(instance, "b")
