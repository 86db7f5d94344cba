r"""[FVBS23, Proposition A.1 and Appendix A.1] Properties P1 to P6 of a sample, and how likely they are."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Clusters, GramReduction
from marginflow.theory.frame import Check, Findings, Instance, above, at_most, compare, stated, value
from marginflow.theory.fvbs23.presets import A, law_of, law_only, missing_cluster, preset, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting, log_sum
from marginflow.theory.fvbs23.thm_3_1.lem_a1_a4 import log_inner_product_tail, log_noise_norm_tail
from marginflow.theory.probability import clopper_pearson, log_coupon_missed_tail, log_two_sided_gaussian_tail, union


def _with_point(sample: int, point: FloatArray, name: str) -> Instance:
    """The preset with one of its points moved."""
    good = preset(A)
    X = good.the_data().X.copy()
    X[sample] = point
    return good.only("law", name=name, data=replace(good.the_data(), X=X))


def _stretched(factor: float, toward: str = "") -> Instance:
    """The noise of the first sample is stretched, or points along a mean: P1 to P5 fail there."""
    sample = ClusterSample.of(preset(A))
    q = int(sample.clusters[0])
    noise = sample.noise[0]
    if toward:  # a unit vector along its own mean, or along that of the other cluster
        noise = sample.means[q if toward == "own" else 1 - q] / math.sqrt(A[0])
    return _with_point(0, sample.means[q] + factor * noise, "a sample with one point moved")


def _copied_noise() -> Instance:
    """Two samples of different clusters with the same noise: the inner product of the noises is its squared norm."""
    sample = ClusterSample.of(preset(A))
    other = int(np.flatnonzero(sample.clusters != sample.clusters[0])[0])
    # sigma = 1/sqrt(d): ||xi||^2 is near 1, the bound of P2 is sigma^2 sqrt(2d) ln d = 0.38.
    point = sample.means[sample.clusters[other]] + sample.noise[0]
    return _with_point(other, point, "two samples with the same noise")


_property = partial(stated, kind="definition", needs=("data", "law"), example=lambda: preset(A))


def _found(sample: ClusterSample, claims: tuple[Check, ...], derived: tuple[Check, ...] = ()) -> Findings:
    return Findings(
        constants=(value("Delta", sample.setting.Delta), value("n", sample.n)), claims=claims, derived=derived
    )


@_property(
    id="FVBS23/P1",
    number="Appendix A.1, (P1)",
    meaning="Noise is no longer than sigma sqrt(2d).",
    formula=r"\|\xi_i\| \le \sigma \sqrt{2d}",
    control=lambda: _stretched(2.0),
    control_shows="the noise of one sample is twice as long",
)
def p1(instance: Instance) -> Findings:
    """The lengths of the noises."""
    sample = ClusterSample.of(instance)
    return _found(sample, (sample.P1(),))


@_property(
    id="FVBS23/P2",
    number="Appendix A.1, (P2)",
    meaning="The noises of two samples are nearly orthogonal.",
    formula=r"|\langle \xi_i, \xi_{i'} \rangle| \le \sigma^2 \sqrt{2d} \ln d \quad (i \ne i')",
    control=_copied_noise,
    control_shows="two samples share their noise",
    remark="Here sigma is squared; Lemmas A.5 and A.6 use the weaker bound with sigma.",
)
def p2(instance: Instance) -> Findings:
    """Inner products of the noises."""
    sample = ClusterSample.of(instance)
    return _found(sample, (sample.P2(),))


@_property(
    id="FVBS23/P3",
    number="Appendix A.1, (P3)",
    meaning="Noise is nearly orthogonal to every mean.",
    formula=r"|\langle \mu^{(q)}, \xi_i \rangle| \le \sigma \sqrt{d} \ln d = \tfrac{\Delta}{4}",
    control=lambda: _stretched(1.0, toward="other"),
    control_shows="the noise of one sample points along a mean",
)
def p3(instance: Instance) -> Findings:
    """Inner products of noises and means."""
    sample = ClusterSample.of(instance)
    return _found(sample, (sample.P3(),))


@_property(
    id="FVBS23/P4",
    number="Appendix A.1, (P4)",
    meaning="Samples of different clusters are nearly orthogonal.",
    formula=r"|\langle x_i, x_{i'} \rangle| \le p + \Delta",
    control=lambda: _stretched(3.0, toward="other"),
    control_shows="one sample leans toward the mean of another cluster",
    printed=r"p + \Delta",
    sharp=r"p + (2 + \sqrt{2} \sigma) g, \quad g = \tfrac{\Delta}{4}",
    remark="Follows from P1 to P3 when sigma <= 1.",
)
def p4(instance: Instance) -> Findings:
    """Inner products across clusters, against the printed radius and the one that P1 to P3 give."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    across = np.abs(np.where(sample.same, 0.0, sample.gram))
    sharp = s.p + (2 + math.sqrt(2) * s.sigma) * s.g
    derived = at_most("P4 with the radius that P1-P3 give", across, sharp, scale=s.d)
    return _found(sample, (sample.P4(),), (derived,))


@_property(
    id="FVBS23/P5",
    number="Appendix A.1, (P5)",
    meaning="Samples of one cluster, i = i' included, have inner products between d - Delta and 3d + Delta.",
    formula=r"d - \Delta \le \langle x_i, x_{i'} \rangle \le 3d + \Delta",
    control=lambda: _stretched(-12.0, toward="own"),
    control_shows="one sample is on the other side of its mean",
    printed=r"3d + \Delta",
    sharp=r"|\langle x_i, x_{i'} \rangle - d| \le (2 + \sqrt{2} \sigma) g \ (i \ne i'), \quad "
    r"\|x_i\|^2 \le (1 + 2 \sigma^2) d + 2 g",
    remark="3d is needed for i = i' and sigma = 1 only.",
)
def p5(instance: Instance) -> Findings:
    """Inner products within clusters and squared norms, against the printed bounds and those that P1 to P3 give."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    apart = sample.same & ~np.eye(sample.n, dtype=np.bool_)
    spread = (2 + math.sqrt(2) * s.sigma) * s.g
    off = np.where(apart, np.abs(sample.gram - s.d), 0.0)
    derived = (
        at_most("|<x_i, x_i'> - d|, i != i'", off, spread, scale=s.d),
        at_most("||x_i||^2", np.diag(sample.gram), (1 + 2 * s.sigma**2) * s.d + 2 * s.g, scale=s.d),
    )
    return _found(sample, sample.P5(), derived)


@_property(
    id="FVBS23/P6",
    number="Appendix A.1, (P6)",
    meaning="Every cluster has a sample.",
    formula=r"I^{(q)} \ne \emptyset",
    control=missing_cluster,
    control_shows="the last cluster has no sample",
)
def p6(instance: Instance) -> Findings:
    """The clusters that have a sample."""
    sample = ClusterSample.of(instance)
    return _found(sample, (sample.P6(),))


def is_nice(law: Clusters | GramReduction, n: int, seed: int) -> bool:
    """Whether a sample with this seed satisfies P1 to P6."""
    data = law.sample(n, seed=seed)
    return all(check.state == "met" for check in ClusterSample.of(Instance(data=data, law=law)).nice)


def log_exact_union(s: ClusterSetting, n: int) -> float:
    """ln of the union bound over P1, P2, P3 and P6 with exact tails for each event (P4, P5 follow)."""
    return min(
        0.0,
        log_sum(
            union(log_noise_norm_tail(s.d), n),
            union(log_inner_product_tail(s.d), n * (n - 1) / 2) if n > 1 else -math.inf,
            union(log_two_sided_gaussian_tail(s.L), n * s.k),
            log_coupon_missed_tail(n, s.k),
        ),
    )


@stated_of_law(
    id="FVBS23/PropA.1",
    meaning="A sample of at least k ln(d)^2 points satisfies P1 to P6 with overwhelming probability.",
    formula=r"\Pr[\neg (P1 \wedge \dots \wedge P6)] \le 3 n^2 d^{-\ln(d)/2} + n^2 e^{-d/16} + d^{1 - \ln d}",
    parameters={"n": "sample size, the least that is allowed by default", "draws": "samples drawn beside the bound"},
    control=lambda: replace(law_only(law_of(549, 2), "2 samples of 2 clusters"), parameters={"n": 2}),
    control_shows="two samples of two clusters: every other draw misses a cluster, so that P6 fails",
    printed=r"3 n^2 q_d + n^2 e^{-d/16} + d^{1 - \ln d}",
    sharp=r"(n(n-1) + 2nk) q_d + n e^{-d/16} + k d^{-\ln d}",
    remark="Failure probabilities are compared as logarithms: 1 - 1e-44 is 1 in floating point. In dimension "
    "38 the bound exceeds 1, although most draws satisfy P1 to P6.",
)
def proposition_a1(instance: Instance) -> Findings:
    """The union of exact tails against F, and draws beside both."""
    s = ClusterSetting.of(instance)
    n = instance.whole("n", math.ceil(s.k * s.L**2))
    draws = instance.whole("draws", 50)
    law = instance.the_law()
    assert isinstance(law, Clusters | GramReduction)
    reduced = GramReduction(law) if isinstance(law, Clusters) and n + s.k <= s.d else law
    printed, sharp, exact = s.log_failure(n), s.log_failure_sharp(n), log_exact_union(s, n)
    failed = sum(not is_nice(reduced, n, instance.seed + draw) for draw in range(draws))
    share = clopper_pearson(failed, draws)
    nothing = printed >= 0
    bound = min(1.0, math.exp(printed)) if printed > -700 else 0.0
    counted = replace(share.check("share of samples without P1 to P6", "<=", bound), vacuous=nothing)
    tells = counted.state != "undecided"  # draws without P1 to P6 speak against the bound; so few cannot prove it
    return Findings(
        hypotheses=(*s.assumption(), compare("n", n, ">=", s.k * s.L**2, note="k ln(d)^2"), above("ln d", s.L, 1.0)),
        constants=(
            value("ln F", printed, "3 n^2 q_d + n^2 e^(-d/16) + d^(1 - ln d)"),
            value("ln F', counted without waste", sharp),
            value("ln of the union of exact tails", exact),
            value("samples without P1 to P6", failed, f"of {draws}"),
            *(() if tells else (counted,)),
        ),
        claims=(
            at_most("union of exact tails, ln", exact, printed, vacuous=nothing),
            *((counted,) if tells else ()),
        ),
        derived=(
            at_most("F', ln", sharp, printed, vacuous=nothing),
            at_most("union of exact tails against F', ln", exact, sharp, vacuous=sharp >= 0),
        ),
    )
