r"""[FVBS23, Assumption 2.2 and Section 2] The distribution of clusters, and what is assumed of it."""

import math
from typing import Final

import numpy as np

from marginflow.theory.frame import Findings, Instance, at_least, at_most, stated, value
from marginflow.theory.fvbs23.presets import A, flipped_label, law_of, law_only, preset, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting

# p-values of goodness-of-fit tests below this (or above one minus this) speak against the law.
_SIGNIFICANT: Final = 1e-4


@stated_of_law(
    id="FVBS23/Asm2.2",
    meaning="Means of norm sqrt(d), noise at most 1 per coordinate, and few clusters: the means are nearly orthogonal.",
    formula=r"\|\mu^{(j)}\| = \sqrt{d}, \quad 0 < \sigma \le 1, \quad "
    r"k (p + \Delta + 1) \le \frac{d - \Delta + 1}{10}, \quad \Delta = 4 \sigma \sqrt{d} \ln d",
    control=lambda: law_only(law_of(548, 2)),
    control_shows="one dimension less than the smallest that two clusters with sigma = 1/sqrt(d) need",
    printed=r"k (p + \Delta + 1) \le \tfrac{1}{10} (d - \Delta + 1)",
    proved=r"c' \le \tfrac{1}{10}, \quad c' = \frac{k (p + \Delta + 1)}{d - \Delta + 1}",
    remark="The logarithm is natural. That both labels occur is assumed beside it, and with it k >= 2.",
)
def assumption_2_2(instance: Instance) -> Findings:
    """The three parts, and the inequalities between d, k, p and Delta that follow from them."""
    s = ClusterSetting.of(instance)
    return Findings(
        constants=(
            value("p", s.p),
            value("Delta", s.Delta),
            value("c'", s.c_prime),
            value("slack of the third part", s.slack),
            at_most("implied: k", s.k, (s.d + 1) / 10),
            at_most("implied: p", s.p, s.d / (10 * s.k)),
            at_most("implied: Delta", s.Delta, (s.d - 19) / 21, scale=s.d, tolerance=1e-14),
            at_least("implied: d", s.d, 20),
        ),
        claims=s.assumption(),
    )


@stated(
    id="FVBS23/Def-Dclusters",
    number="Section 2, Clustered data",
    meaning="A cluster at random, Gaussian noise around its mean, and the label of the cluster.",
    formula=r"j \sim \mathcal{U}([k]), \quad x \sim \mathcal{N}(\mu^{(j)}, \sigma^2 I_d), \quad y = y^{(j)}",
    needs=("data", "law"),
    example=lambda: preset(A),
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    remark="Both labels must occur, so k >= 2; Lemma A.9 uses it.",
)
def def_dclusters(instance: Instance) -> Findings:
    """Labels by definition; noise and cluster sizes by goodness of fit."""
    from scipy import stats  # slow to import, and needed by few

    sample = ClusterSample.of(instance)
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
            at_least("p-value of equally likely clusters", even, _SIGNIFICANT, tolerance=0.0),
            at_least("P(chi^2 below the sum of the squared noise)", norms, _SIGNIFICANT, tolerance=0.0),
            at_most("the same, from above", norms, 1 - _SIGNIFICANT, tolerance=0.0),
            at_least("p-value of Gaussian noise along u", gaussian, _SIGNIFICANT, tolerance=0.0),
        ),
    )
