r"""[FVBS23, Lemmas A.5 to A.7]: inner products of samples within and across clusters."""

import math
from functools import cache, partial
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray
from marginflow.data import Clusters, Dataset
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, stated, value
from marginflow.theory.fvbs23.setting import ClusterSample

_D: Final = 549


@cache
def aligned(factor: float = 1.0, *, squared: float = 1.0) -> Instance:
    """Two samples per cluster, sigma = 0.1, whose noises attain the hypotheses with equality.

    Every noise has the inner product g with both means, and the noises have the inner product sqrt(2) g `factor` with
    each other (or, where the components along the means give more already, that); where there is room left, each
    is then stretched to the squared norm 2 sigma^2 d `squared`.
    """
    law = Clusters(dimension=_D, n_clusters=2, sigma=0.1)
    sigma, L = law.sigma_value, math.log(_D)
    g = sigma * math.sqrt(_D) * L
    means = law.ambient_means()
    noise = np.zeros((4, _D))
    noise[:, :2] = sigma * L  # <mu^(q), xi> = g
    common = math.sqrt(max(math.sqrt(2) * factor * g - 2 * (sigma * L) ** 2, 0.0))
    noise[:, 2] = common  # <xi, xi'> = sqrt(2) g for all pairs
    rest = 2 * sigma**2 * _D * squared - (noise**2).sum(axis=1)
    noise[:, 3:7] = np.diag(np.sqrt(np.maximum(rest, 0.0)))  # up to the largest norm of Lemma A.7
    clusters = np.array([0, 0, 1, 1])
    data = Dataset(
        X=means[clusters] + noise,
        y=law.mean_label_values[clusters],
        clusters=clusters,
        means=means,
        mean_labels=law.mean_label_values,
    )
    return Instance(name=f"aligned noises (factors {factor:g} and {squared:g})", data=data, law=law)


def _pairs(sample: ClusterSample, chosen: BoolArray) -> tuple[Check, Check]:
    """The two hypotheses on the pairs of a mask: noise against means, noise against noise."""
    s = sample.setting
    onto = np.abs(sample.noise @ sample.means.T)  # (n, k)
    crossed = onto[:, sample.clusters]  # |<xi_i, mu^(cluster(i'))>|
    between = np.abs(sample.noise @ sample.noise.T)
    return (at_most("|<mu, xi'>|", crossed[chosen], s.g), at_most("|<xi, xi'>|", between[chosen], math.sqrt(2) * s.g))


_inner_products = partial(
    stated,
    needs=("data", "law"),
    example=aligned,
    control=lambda: aligned(2.0),
    control_shows="the noises have twice the inner product that is allowed",
    printed=r"4 g",
    proved=r"(2 + \sqrt{2}) g",
)


@_inner_products(
    id="FVBS23/LemA.5",
    meaning="Samples of two clusters are as orthogonal as the means, up to Delta.",
    formula=r"|\langle \mu^{(i)} + \xi, \mu^{(j)} + \xi' \rangle| \le |\langle \mu^{(i)}, \mu^{(j)} \rangle| + "
    r"4 \sigma \sqrt{d} \ln d",
    remark="The example attains the proved bound.",
)
def lemma_a5(instance: Instance) -> Findings:
    """Pairs of different clusters: by how much |<x, x'>| exceeds |<mu_i, mu_j>|."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    chosen = ~sample.same
    means = np.abs(s.gram)[sample.clusters][:, sample.clusters]
    excess = (np.abs(sample.gram) - means)[chosen]
    return Findings(
        value("g", s.g),
        value("pairs", float(chosen.sum())),
        hypotheses=_pairs(sample, chosen),
        claims=(at_most("|<x, x'>| - |<mu_i, mu_j>|", excess, 4 * s.g, scale=s.d, note="4 g = Delta"),),
        derived=(at_most("the same, as proved", excess, (2 + math.sqrt(2)) * s.g, scale=s.d, note="(2 + sqrt 2) g"),),
    )


@_inner_products(
    id="FVBS23/LemA.6",
    meaning="Two samples of one cluster have the inner product d up to Delta.",
    formula=r"|\langle \mu^{(i)} + \xi, \mu^{(i)} + \xi' \rangle - d| \le 4 \sigma \sqrt{d} \ln d",
    remark="For two different noises only: with xi = xi' the square ||xi||^2, up to 2 sigma^2 d, is added.",
)
def lemma_a6(instance: Instance) -> Findings:
    """Pairs of one cluster, i = i' left out: how far <x, x'> is from d."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    chosen = sample.same & ~np.eye(sample.n, dtype=np.bool_)
    off = np.abs(sample.gram - s.d)[chosen]
    return Findings(
        value("g", s.g),
        value("| ||x||^2 - d |, i = i'", float(np.abs(np.diag(sample.gram) - s.d).max())),
        hypotheses=(s.equal_norms(), *_pairs(sample, chosen)),
        claims=(at_most("|<x, x'> - d|", off, 4 * s.g, scale=s.d, note="4 g = Delta"),),
        derived=(at_most("the same, as proved", off, (2 + math.sqrt(2)) * s.g, scale=s.d, note="(2 + sqrt 2) g"),),
    )


@stated(
    id="FVBS23/LemA.7",
    meaning="The squared norm of a sample is between d - Delta/2 and 3d + Delta/2.",
    formula=r"d - 2 \sigma \sqrt{d} \ln d \le \|\mu^{(i)} + \xi\|^2 \le 3 d + 2 \sigma \sqrt{d} \ln d",
    needs=("data", "law"),
    example=lambda: aligned(0.0),
    control=lambda: aligned(0.0, squared=150.0),
    control_shows="the noise is twelve times as long as sigma sqrt(2d), and the samples are longer than claimed",
    printed=r"3 d + 2 g",
    sharp=r"(1 + 2 \sigma^2) d + 2 g",
    remark="The example attains the sharp bound; 3d is for sigma = 1.",
)
def lemma_a7(instance: Instance) -> Findings:
    """Squared norms of the samples, from both sides."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    own = np.abs(np.einsum("ij,ij->i", sample.noise, sample.means[sample.clusters]))
    squares = np.diag(sample.gram)
    return Findings(
        value("smallest ||x||^2", float(squares.min())),
        value("largest ||x||^2", float(squares.max())),
        hypotheses=(
            s.equal_norms(),
            at_most("|<mu, xi>|", own, s.g),
            at_most("||xi||^2", sample.noise_norms**2, 2 * s.sigma**2 * s.d),
            at_most("sigma", s.sigma, 1.0),
        ),
        claims=(
            at_least("||x||^2, from below", squares, s.d - 2 * s.g),
            at_most("||x||^2", squares, 3 * s.d + 2 * s.g),
        ),
        derived=(at_most("||x||^2, with sigma kept", squares, (1 + 2 * s.sigma**2) * s.d + 2 * s.g),),
    )
