r"""[FCB22, Eq. (6)] The sizes of the clean parts of the clusters."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from marginflow.data import ClusterNoise, UniformNoise, XorClusters
from marginflow.theory.fcb22.constants import C1_PAPER
from marginflow.theory.fcb22.numbers import DELTA
from marginflow.theory.fcb22.path import Sample
from marginflow.theory.frame import Check, Findings, Forms, Instance, Statement, at_least, at_most, value


@cache
def _clusters_of(one_cluster: bool) -> Instance:
    noise = ClusterNoise(rate=0.1) if one_cluster else UniformNoise(rate=0.1)
    data = XorClusters(dimension=2, sigma=0.01, noise=noise, allocation="stratified").sample(40_000)
    return Instance(name="noise on one cluster" if one_cluster else "uniform noise", data=data)


@partial(
    Statement,
    id="FCB22/Eq6",
    kind="lemma",
    number="Equation (6)",
    meaning="The clean part of every cluster has about n/4 samples, at least n/8; as printed false for uneven noise.",
    formula=r"\tfrac{n}{8} \le \tfrac{n}{4}\left(1 - C_1 u - \tfrac{|\mathcal{N}|}{n}\right) \le |I_\mu^{\mathcal{C}}| "
    r"\le \tfrac{n}{4}(1 + C_1 u), \quad u = \sqrt{\tfrac{\log(1/\delta)}{n}}",
    needs=("data",),
    parameters={"delta": "failure probability, 0.1 by default", "C1": "the constant of Lemma 4.3, 2 by default"},
    example=lambda: _clusters_of(False),
    control=lambda: _clusters_of(True),
    control_shows="all noise is on one cluster, whose clean part is n/4 (1 - 4 |N|/n)",
    control_outcome="violated",
    forms=Forms(
        printed=r"\tfrac{n}{4}\left(1 - C_1 u - \tfrac{|\mathcal{N}|}{n}\right) \le |I_\mu^{\mathcal{C}}|",
        proved=r"\tfrac{n}{4}\left(1 - 4 C_1 u - 4 \tfrac{|\mathcal{N}|}{n}\right) \le |I_\mu^{\mathcal{C}}|",
        remark="Eq. (5) divided by n/4 gives a factor 4, which is lost in print. The bound n/8, which the proof "
        "uses, survives for noise below 1/8.",
    ),
)
def equation_6(instance: Instance) -> Findings:
    """The four clean sizes against both printed bounds; what is repaired, and what is used, beside them."""
    sample = Sample.of(instance.the_data())
    delta = instance.number("delta", DELTA)
    C1 = instance.number("C1", C1_PAPER)
    n = sample.n
    u = C1 * math.sqrt(math.log(1 / delta) / n)
    share = sample.noisy_share
    sizes = sample.clean_sizes
    printed, repaired = n / 4 * (1 - u - share), n / 4 * (1 - 4 * u - 4 * share)
    even: Check = at_most("Lemma 4.3(d): ||I_mu|/n - 1/4|", np.abs(sample.sizes / n - 0.25), u)
    return Findings(
        hypotheses=(even, at_least("n/4 (1 - C1 u - |N|/n) against n/8", printed, n / 8)),
        constants=(
            value("smallest |I_mu^C|", int(sizes.min())),
            value("largest |I_mu^C|", int(sizes.max())),
            value("|N|/n", share),
            at_least("repaired: |I_mu^C| against n/4 (1 - 4 C1 u - 4 |N|/n)", sizes, repaired),
            at_most("repaired, from above: n/4 (1 + 4 C1 u)", sizes, n / 4 * (1 + 4 * u)),
            at_least("what it is used for: |I_mu^C| against n/8", sizes, n / 8),
        ),
        claims=(
            at_least("|I_mu^C|, as printed", sizes, printed),
            at_most("|I_mu^C|, as printed, from above", sizes, n / 4 * (1 + u)),
        ),
    )
