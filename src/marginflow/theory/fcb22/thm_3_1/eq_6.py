r"""[FCB22, Eq. (6)] The sizes of the clean parts of the clusters."""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from marginflow.data import ClusterNoise, UniformNoise, XorClusters
from marginflow.theory.fcb22.constants import C1_PAPER
from marginflow.theory.fcb22.numbers import DELTA
from marginflow.theory.fcb22.path import XorSample
from marginflow.theory.frame import Check, Counterexample, Erratum, Findings, Instance, at_least, at_most, stated, value


@cache
def _clusters_of(one_cluster: bool) -> Instance:
    noise = ClusterNoise(rate=0.1) if one_cluster else UniformNoise(rate=0.1)
    data = XorClusters(dimension=2, sigma=0.01, noise=noise, allocation="stratified").sample(40_000)
    return Instance(name="noise on one cluster" if one_cluster else "uniform noise", data=data)


@stated(
    id="FCB22/Eq6",
    number="Equation (6)",
    meaning="The clean part of every cluster has about n/4 samples, at least n/8; as printed false for uneven noise.",
    formula=r"\tfrac{n}{8} \le \tfrac{n}{4}\left(1 - C_1 u - \tfrac{|\mathcal{N}|}{n}\right) \le |I_\mu^{\mathcal{C}}| "
    r"\le \tfrac{n}{4}(1 + C_1 u), \quad u = \sqrt{\tfrac{\log(1/\delta)}{n}}",
    needs=("data",),
    parameters={"delta": "failure probability, 0.1 by default", "C1": "the constant of Lemma 4.3, 2 by default"},
    example=lambda: _clusters_of(False),
    control=lambda: _clusters_of(True),
    control_shows="all noise is on one cluster, whose clean part is n/4 (1 - 4 |N|/n)",
    printed=r"\tfrac{n}{4}\left(1 - C_1 u - \tfrac{|\mathcal{N}|}{n}\right) \le |I_\mu^{\mathcal{C}}|",
    proved=r"\tfrac{n}{4}\left(1 - 4 C_1 u - 4 \tfrac{|\mathcal{N}|}{n}\right) \le |I_\mu^{\mathcal{C}}|",
    remark="The middle expression is what the proof uses; with n/8 alone its Eq. (12) would be negative.",
    errata=Erratum.false_statement(
        "Eq. (5) divided by n/4 gives a factor 4 on |N|/n, which is lost in print.",
        headline="Frei, Chatterji and Bartlett bound the clean samples of a cluster from below by the share of noisy "
        "labels; a factor 4 on that share is lost, with all noise on one cluster the bound fails, and the "
        "bound n/8 behind it survives for noise below 1/8.",
        evidence="all label noise on one cluster, in fractions",
        repair="n/4 (1 - 4 C1 u - 4 |N|/n) <= |I_mu^C|; the bound n/8 survives for noise below 1/8, "
        "but with n/8 alone the lower bound (12) is negative",
    ),
)
def equation_6(instance: Instance) -> Findings:
    """The four clean sizes against both printed bounds; what is repaired, and what is used, beside them."""
    sample = XorSample.of(instance.the_data())
    delta = instance.number("delta", DELTA)
    C1 = instance.number("C1", C1_PAPER)
    n = sample.n
    u = C1 * math.sqrt(math.log(1 / delta) / n)
    share = sample.noisy_share
    sizes = sample.clean_sizes
    printed, repaired = n / 4 * (1 - u - share), n / 4 * (1 - 4 * u - 4 * share)
    even: Check = at_most("Lemma 4.3(d): ||I_mu|/n - 1/4|", np.abs(sample.sizes / n - 0.25), u)
    claims = (
        at_least("|I_mu^C|, as printed", sizes, printed),
        at_most("|I_mu^C|, as printed, from above", sizes, n / 4 * (1 + u)),
    )
    failed = any(check.state == "failed" for check in claims)
    return Findings(
        value("smallest |I_mu^C|", int(sizes.min())),
        value("largest |I_mu^C|", int(sizes.max())),
        value("|N|/n", share),
        hypotheses=(even, at_least("n/4 (1 - C1 u - |N|/n) against n/8", printed, n / 8)),
        counterexample=_uneven_noise(sample, u) if failed else None,
        claims=claims,
        derived=(
            at_least("repaired: |I_mu^C| against n/4 (1 - 4 C1 u - 4 |N|/n)", sizes, repaired),
            at_most("repaired, from above: n/4 (1 + 4 C1 u)", sizes, n / 4 * (1 + 4 * u)),
            at_least("what it is used for: |I_mu^C| against n/8", sizes, n / 8),
        ),
    )


def _uneven_noise(sample: XorSample, u: float) -> Counterexample | None:
    """Hypotheses and failing claim in fractions, with C_1 u enclosed; C_1 is only said to exist.

    With all clusters of n/4 samples and the noise in one of them the claim fails as soon as 3 |N|/n > C_1 u, and the
    hypotheses hold while C_1 u + |N|/n <= 1/2: for every C_1 and delta take |N| = n/8 and n large.
    """
    n = sample.n
    low, high = Fraction(u * (1 - 1e-12)), Fraction(u * (1 + 1e-12))
    share = Fraction(int(sample.noisy.sum()), n)
    even = all(abs(Fraction(int(size), n) - Fraction(1, 4)) <= low for size in sample.sizes)
    short = min(int(size) for size in sample.clean_sizes)
    bound = Fraction(n, 4) * (1 - high - share)
    if not (even and 1 - high - share >= Fraction(1, 2) and short < bound):
        return None
    summary = (
        f"a cluster of {n} samples has {short} clean ones, fewer than the printed {float(bound):.6g}; for every C_1 "
        "and delta equal clusters with |N| = n/8 in one of them do, once n is large"
    )
    return Counterexample(summary=summary, proof="fractions")
