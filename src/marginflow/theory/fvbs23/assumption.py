r"""[FVBS23, Assumption 2.2 and Section 2] The distribution of clusters, and what the assumption implies."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np
from scipy import stats

from marginflow.theory.frame import Findings, Forms, Instance, Statement, at_least, at_most, below, true, value
from marginflow.theory.fvbs23.presets import A, flipped_label, law_of, law_only, preset
from marginflow.theory.fvbs23.setting import Sample, Setting, log_sum
from marginflow.theory.probability import log_gaussian_tail

# p-values of goodness-of-fit tests below this (or above one minus this) speak against the law.
_SIGNIFICANT: Final = 1e-4


@partial(
    Statement,
    id="FVBS23/Asm2.2",
    kind="assumption",
    number="Assumption 2.2",
    meaning="Means of norm sqrt(d), noise at most 1 per coordinate, and few clusters: the means are nearly orthogonal.",
    formula=r"\|\mu^{(j)}\| = \sqrt{d}, \quad 0 < \sigma \le 1, \quad "
    r"k (p + \Delta + 1) \le \frac{d - \Delta + 1}{10}, \quad \Delta = 4 \sigma \sqrt{d} \ln d",
    needs=("law",),
    example=lambda: law_only(law_of(549, 2)),
    control=lambda: law_only(law_of(548, 2)),
    control_shows="one dimension less than the smallest that two clusters with sigma = 1/sqrt(d) need",
    control_outcome="violated",
    forms=Forms(
        printed=r"k (p + \Delta + 1) \le \tfrac{1}{10} (d - \Delta + 1)",
        proved=r"c' \le \tfrac{1}{10}, \quad c' = \frac{k (p + \Delta + 1)}{d - \Delta + 1}",
        remark="The logarithm is natural. That both labels occur is assumed beside it, and with it k >= 2.",
    ),
)
def assumption_2_2(instance: Instance) -> Findings:
    """The three parts, and the inequalities between d, k, p and Delta that follow from them."""
    s = Setting.of(instance)
    return Findings(
        constants=(
            value("p", s.p),
            value("Delta", s.Delta),
            value("c'", s.c_prime),
            value("slack of the third part", s.numbers.slack),
            at_most("implied: k", s.k, (s.d + 1) / 10),
            at_most("implied: p", s.p, s.d / (10 * s.k)),
            at_most("implied: Delta", s.Delta, (s.d - 19) / 21, scale=s.d, rtol=1e-14),
            at_least("implied: d", s.d, 20),
        ),
        claims=s.assumption(),
    )


@partial(
    Statement,
    id="FVBS23/Def-Dclusters",
    kind="definition",
    number="Section 2, Clustered data",
    meaning="A cluster at random, Gaussian noise around its mean, and the label of the cluster.",
    formula=r"j \sim \mathcal{U}([k]), \quad x \sim \mathcal{N}(\mu^{(j)}, \sigma^2 I_d), \quad y = y^{(j)}",
    needs=("data", "law"),
    example=lambda: preset(A),
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    control_outcome="violated",
    forms=Forms(remark="Both labels must occur, so k >= 2; Lemma A.9 uses it."),
)
def def_dclusters(instance: Instance) -> Findings:
    """Labels by definition; noise and cluster sizes by goodness of fit."""
    sample = Sample.of(instance)
    s = sample.setting
    sizes = np.bincount(sample.clusters, minlength=s.k)
    even = float(stats.chisquare(sizes).pvalue)
    total = float((sample.noise_norms**2).sum()) / s.sigma**2 if s.sigma > 0 else math.nan
    norms = float(stats.chi2.cdf(total, sample.n * s.d)) if s.sigma > 0 else math.nan
    along = sample.noise @ sample.u / (s.sigma * s.u_norm) if s.sigma > 0 else np.full(sample.n, math.nan)
    gaussian = float(stats.kstest(along, "norm").pvalue) if s.sigma > 0 else math.nan
    return Findings(
        hypotheses=(s.two_labels(),),
        constants=(value("smallest cluster", float(sizes.min())), value("largest cluster", float(sizes.max()))),
        claims=(
            sample.own_labels(),
            at_least("p-value of equally likely clusters", even, _SIGNIFICANT, rtol=0.0),
            at_least("P(chi^2 below the sum of the squared noise)", norms, _SIGNIFICANT, rtol=0.0),
            at_most("the same, from above", norms, 1 - _SIGNIFICANT, rtol=0.0),
            at_least("p-value of Gaussian noise along u", gaussian, _SIGNIFICANT, rtol=0.0),
        ),
    )


def log_linear_error(s: Setting) -> float:
    """ln of the exact probability that sign(u . x) is wrong: mean over j of Phi(-y^(j) <u, mu^(j)> / (sigma ||u||))."""
    toward = s.y * (s.gram @ s.y)
    return log_sum(*(log_gaussian_tail(float(one) / (s.sigma * s.u_norm)) for one in toward)) - math.log(s.k)


@partial(
    Statement,
    id="FVBS23/Lem2.1",
    kind="lemma",
    number="Lemma 2.1",
    meaning="Under Assumption 2.2 the sum of the signed means classifies almost every sample: the data are linear.",
    formula=r"u = \sum_q y^{(q)} \mu^{(q)}, \quad \Pr[y \ne \mathrm{sign}(u^\top x)] \le 2 k q_d \le 2 d^{1 - "
    r"\ln(d)/2}",
    needs=("law",),
    example=lambda: preset(A),
    control=lambda: law_only(law_of(548, 2)),
    control_shows="Assumption 2.2 fails by a hair",
    forms=Forms(
        printed=r"2 d^{1 - \ln(d)/2}",
        proved=r"2 k d^{-\ln(d)/2}",
        sharp=r"\frac{1}{k} \sum_j \Phi\left(-\frac{y^{(j)} \langle u, \mu^{(j)} \rangle}{\sigma \|u\|}\right)",
        remark="The exact error is a mean of Gaussian tails; no Monte Carlo is needed. The printed bound is below 1 "
        "from d = 13 on.",
    ),
)
def lemma_2_1(instance: Instance) -> Findings:
    """The exact error of u against the bounds, and the margin on the good event."""
    s = Setting.of(instance)
    exact = log_linear_error(s) if s.sigma > 0 else math.nan
    middle, printed = math.log(2 * s.k) + s.log_q, math.log(2) + (1 - s.L / 2) * s.L
    on_event = s.d - s.k * (s.p + s.g)
    conclusions = [
        at_most("ln P(y != sign(u . x)), exact", exact, middle, vacuous=middle >= 0, note="ln(2 k q_d)"),
        at_most("the same, as printed", exact, printed, vacuous=printed >= 0, note="ln(2 d^(1 - ln(d)/2))"),
        at_least("y u . x on the event |<mu_q, xi>| <= g", on_event, (9 * s.d + s.Delta - 1) / 10, scale=s.d),
    ]
    conclusions.append(at_least("y u . x on the event, as printed", on_event, (9 * s.d - 1) / 10, scale=s.d))
    if instance.data is not None:
        data = instance.data
        sample = Sample.of(instance)
        conclusions.append(below("- y_i u . x_i on the training sample", -data.y * (data.X @ sample.u), 0.0))
    return Findings(
        hypotheses=s.assumption(),
        constants=(value("exact error", math.exp(exact) if exact > -700 else 0.0), value("ln(2 k q_d)", middle)),
        claims=tuple(conclusions),
    )


@partial(
    Statement,
    id="FVBS23/LemA.9",
    kind="lemma",
    number="Lemma A.9",
    meaning="The spread Delta of inner products is at most d / 21.",
    formula=r"\Delta \le \frac{d - 19}{21} \le \frac{d}{21}",
    needs=("law",),
    example=lambda: law_only(law_of(549, 2)),
    control=lambda: law_only(law_of(100, 2, 0.1)),
    control_shows="Delta is almost a fifth of d, and Assumption 2.2 fails",
    forms=Forms(
        printed=r"\Delta \le \frac{d}{21}",
        proved=r"\Delta \le \frac{d - 19}{21}",
        sharp=r"\Delta \le \frac{d + 1 - 10 k (p + 1)}{10 k + 1}",
        remark="Needs k >= 2, that is labels of both kinds.",
    ),
)
def lemma_a9(instance: Instance) -> Findings:
    """Arithmetic; the general form keeps k and p."""
    s = Setting.of(instance)
    general = (s.d + 1 - 10 * s.k * (s.p + 1)) / (10 * s.k + 1)
    return Findings(
        hypotheses=(*s.assumption(), at_least("k", s.k, 2)),
        constants=(value("Delta / d", s.Delta / s.d),),
        claims=(
            at_most("Delta, as printed", s.Delta, s.d / 21, scale=s.d, rtol=1e-14),
            at_most("Delta, as proved", s.Delta, (s.d - 19) / 21, scale=s.d, rtol=1e-14),
            at_most("Delta, with k and p", s.Delta, general, scale=s.d, rtol=1e-14),
        ),
    )


@partial(
    Statement,
    id="FVBS23/LemD.5",
    kind="lemma",
    number="Lemma D.5",
    meaning="The number that every neuron's response to u is measured in is positive.",
    formula=r"D_u = d - \Delta - k (p + \Delta) > 0",
    needs=("law",),
    example=lambda: law_only(law_of(549, 2)),
    control=lambda: law_only(law_of(100, 2, 0.5)),
    control_shows="with sigma = 1/2 in dimension 100, D_u is negative",
    forms=Forms(
        printed=r"d - \Delta - k(p + \Delta) > 0",
        sharp=r"D_u = (d - \Delta) - c'(d - \Delta + 1) + k \ge \tfrac{6}{7} d + k - \tfrac{1}{10}",
    ),
)
def lemma_d5(instance: Instance) -> Findings:
    s = Setting.of(instance)
    identity = (s.d - s.Delta) - s.c_prime * (s.d - s.Delta + 1) + s.k
    return Findings(
        hypotheses=s.assumption(),
        constants=(value("D_u", s.D_u), value("D_u / d", s.D_u / s.d)),
        claims=(
            below("- D_u", -s.D_u, 0.0),
            true("D_u = (d - Delta) - c'(d - Delta + 1) + k", abs(identity - s.D_u) <= 1e-12 * s.d),
            at_least("D_u, explicit", s.D_u, 6 * s.d / 7 + s.k - 0.1, scale=s.d, rtol=1e-14),
        ),
    )
