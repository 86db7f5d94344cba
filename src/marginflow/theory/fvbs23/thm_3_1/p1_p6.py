r"""[FVBS23, Appendix A.1, (P1) to (P6)]: what the proof asks of a sample."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.frame import Check, Findings, Instance, at_most, stated, value
from marginflow.theory.fvbs23.presets import A, missing_cluster, preset
from marginflow.theory.fvbs23.setting import ClusterSample


def _with_point(sample: int, point: FloatArray, name: str) -> Instance:
    """The law of preset A and its data, with one of the samples elsewhere."""
    good = preset(A)
    X = good.the_data().X.copy()
    X[sample] = point
    return good.only("law", name=name, data=replace(good.the_data(), X=X))


def stretched(factor: float, toward: str = "") -> Instance:
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
    return Findings(value("Delta", sample.setting.Delta), value("n", sample.n), claims=claims, derived=derived)


@_property(
    id="FVBS23/P1",
    number="Appendix A.1, (P1)",
    meaning="Noise is no longer than sigma sqrt(2d).",
    formula=r"\|\xi_i\| \le \sigma \sqrt{2d}",
    control=lambda: stretched(2.0),
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
    control=lambda: stretched(1.0, toward="other"),
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
    control=lambda: stretched(3.0, toward="other"),
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
    control=lambda: stretched(-12.0, toward="own"),
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
