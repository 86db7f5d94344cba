r"""[FVBS23, Lemma A.12]: a KKT point classifies every point near a seen cluster."""

import math
from typing import Final

import numpy as np
from scipy import special

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.data.isotropic import Normal, isotropic_law
from marginflow.errors import InputError
from marginflow.theory.frame import Check, Erratum, Findings, Instance, above, at_least, at_most, value
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import missing_cluster, stated_of_clusters
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting, cluster_law
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import deterministic

IMPLAUSIBLE: Final = 1e-9
"""Test points whose noise would be so long, or so short, with this probability only are not of the law."""


def test_clusters(instance: Instance) -> tuple[Dataset, IntArray]:
    """The test points and their clusters; an `InputError` where they have none, or are not of the law they claim."""
    test, law = instance.the_test(), cluster_law(instance.the_law())
    if test.clusters is None or test.means is None:
        raise InputError("The test points know no clusters; points of Clusters, with clusters and means, are expected.")
    s = ClusterSetting.of(instance)
    wrong = np.flatnonzero(test.y != s.y[test.clusters])
    if wrong.size:
        raise InputError(
            f"Test point {int(wrong[0])} has the label {test.y[wrong[0]]:+g}, but its cluster of the law has the other "
            f"one ({wrong.size} of {test.n_samples} points); test points of the law are expected."
        )
    if instance.data is not None and instance.data.means is not None:
        means = instance.data.means
        if means.shape != test.means.shape or not np.allclose(means, test.means, rtol=0.0, atol=1e-9 * math.sqrt(s.d)):
            raise InputError("The test points belong to other cluster means than the data.")
    resolved = s.sigma > 1e-12 * math.sqrt(s.d)  # below, noise is rounded away
    if resolved and isotropic_law(law.cluster_law) == Normal():
        total = float(((test.X - test.means[test.clusters]) ** 2).sum()) / s.sigma**2
        tail = min(special.chdtr(test.X.size, total), special.chdtrc(test.X.size, total))
        if tail < IMPLAUSIBLE:
            seen = s.sigma * math.sqrt(total / test.X.size)
            raise InputError(
                f"The noise of the test points has a standard deviation of {seen:.3g} per coordinate, but the law says "
                f"{s.sigma:.3g}; test points of the law are expected."
            )
    return test, test.clusters


def and_worst_points(sample: ClusterSample, test: Dataset, clusters: IntArray) -> tuple[Dataset, IntArray]:
    """The test points, and for every cluster the worst one that the lemmas allow."""
    every = np.append(clusters, np.arange(sample.setting.k))
    return Dataset(X=np.vstack([test.X, sample.worst_points]), y=sample.setting.y[every]), every


def inner_products(sample: ClusterSample, test: Dataset, clusters: IntArray) -> tuple[FloatArray, BoolArray]:
    """<x_i, x> and whether x is of the cluster of x_i, for the samples that differ, shapes (n, t)."""
    own: BoolArray = sample.distinct.clusters[:, None] == clusters[None, :]
    return sample.distinct.data.X @ test.X.T, own


def near_one_cluster(sample: ClusterSample, test: Dataset, clusters: IntArray) -> tuple[Check, Check]:
    """The hypothesis of Lemmas A.12 and D.2 on x."""
    s = sample.setting
    inner, own = inner_products(sample, test, clusters)
    return (
        at_most("|<x_i, x> - d| in the own cluster", np.where(own, np.abs(inner - s.d), 0.0), s.Delta, scale=s.d),
        at_most("|<x_i, x>| in other clusters", np.where(own, 0.0, np.abs(inner)), s.p + s.Delta, scale=s.d),
    )


def nice_noise(sample: ClusterSample, test: Dataset, clusters: IntArray) -> tuple[Check, ...]:
    """The event of Lemma A.13: the hypothesis of Lemma A.12, and |<x_i, xi>|, |<xi_i, xi>| <= Delta."""
    s = sample.setting
    noise = test.X - sample.means[clusters]
    return (
        *near_one_cluster(sample, test, clusters),
        at_most("|<x_i, xi>|", np.abs(sample.distinct.data.X @ noise.T), s.Delta, scale=s.d),
        at_most("|<xi_i, xi>|", np.abs(sample.distinct.noise @ noise.T), s.Delta, scale=s.d),
    )


def are_nice(sample: ClusterSample, test: Dataset, clusters: IntArray) -> BoolArray:
    """Which test points are in the event of Lemma A.13, shape (t,)."""
    s = sample.setting
    inner, own = inner_products(sample, test, clusters)
    noise = test.X - sample.means[clusters]
    room = 1e-9 * s.d
    off = np.where(own, np.abs(inner - s.d) - s.Delta, np.abs(inner) - s.p - s.Delta)
    along = np.maximum(np.abs(sample.distinct.data.X @ noise.T), np.abs(sample.distinct.noise @ noise.T)) - s.Delta
    fine: BoolArray = np.all(np.maximum(off, along) <= room, axis=0)
    return fine


@stated_of_clusters(
    id="FVBS23/LemA.12",
    meaning="A point near one cluster and nearly orthogonal to the others gets the label of that cluster.",
    formula=r"y^{(r)} N_\theta(x) \ge \frac{1 - 3c'}{1 - 2c'} \cdot \frac{d - \Delta + 1}{3d + \Delta + 1} - "
    r"\frac{2c'}{1 - 2c'} \ge \frac{3}{128}",
    control=missing_cluster,
    control_shows="the points of a cluster without samples are near no cluster that was seen",
    printed=r"\mathrm{sign}(N_\theta(x)) = y^{(r)}",
    proved=r"y^{(r)} N_\theta(x) \ge \tfrac{3}{128}",
    remark="Printed with Q^(r) where I^(r) is meant. Beside the test points, for each cluster the worst "
    "point of the allowed region is tried. Training points have larger norms than the lemma allows.",
    errata=Erratum.slip("Q^(r) is printed where I^(r) is meant."),
)
def lemma_a12(instance: Instance) -> Findings:
    """y N(x) against the bound with the actual c', and against 3/128."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test, clusters = and_worst_points(neurons.sample, *test_clusters(instance))
    outputs = s.y[clusters] * neurons.outputs(test.X)
    return Findings(
        value("least y N(x)", float(outputs.min())),
        value("median y N(x)", float(np.median(outputs))),
        value("bound with the actual c'", s.least_output),
        hypotheses=(*deterministic(instance), *near_one_cluster(neurons.sample, test, clusters)),
        claims=(above("y^(r) N(x)", outputs, 0.0, tolerance=0.0),),
        derived=(
            at_least("y^(r) N(x), explicit", outputs, s.least_output, note="with the actual c' and Delta"),
            at_least("y^(r) N(x), c' = 1/10", outputs, 3 / 128, note="3/128"),
        ),
    )
