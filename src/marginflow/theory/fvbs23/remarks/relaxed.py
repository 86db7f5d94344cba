r"""[FVBS23, Remarks] What changes with unequal norms, other noise, and larger noise."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.data import ClusterConstants, Clusters, GramReduction
from marginflow.data.cluster_constants import least_whole_number
from marginflow.data.isotropic import Normal, isotropic_law
from marginflow.errors import InputError
from marginflow.limit import convex_pair
from marginflow.robustness.cluster_bounds import ClusterBounds
from marginflow.theory.frame import Findings, Instance, above, at_least, below, is_kkt_point, true, value
from marginflow.theory.fvbs23.derived.certificates import sharp_checks
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import law_of, stated_of_clusters
from marginflow.theory.fvbs23.setting import ClusterSample, cluster_law
from marginflow.theory.instances import at_point, opposite, pair_with_test


@cache
def unequal_norms() -> Instance:
    """Ten orthogonal means with norms between 0.95 and 1.05 sqrt(d), 60 samples, d = 3382."""
    d, k = 3382, 10
    means = np.eye(k, d) * (math.sqrt(d) * np.linspace(0.95, 1.05, k))[:, None]
    law = GramReduction(Clusters(dimension=d, means=means, sigma="1/sqrt(d)", allocation="stratified"))
    return pair_with_test(law, 60, "means with norms within 0.05 of sqrt(d)", test=200)


@stated_of_clusters(
    id="FVBS23/Rem-Norm",
    number="Section 2, after Example 1",
    meaning="Means of about the same norm will do: the certificate with measured inner products does not ask for more.",
    formula=r"\|\mu^{(j)}\| \in [1 - e, 1 + e] \sqrt{d}",
    example=unequal_norms,
    control=lambda: opposite(unequal_norms()),
    control_shows="the opposite network: every point is on the wrong side, and z takes none of them to the other",
)
def rem_norm(instance: Instance) -> Findings:
    """The measured certificate needs no equal norms."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test = FreshPoints.of(instance)
    bounds = neurons.sample.measured_bounds(test.X, test.clusters)
    *sharp, flip = sharp_checks(neurons, test, bounds, "measured")
    return Findings(
        value("deviation of the norms", s.norm_defect),
        value("y N(x) from below", bounds.least_output),
        value("||z|| / sqrt(d), measured", (bounds.eta_1 + bounds.eta_2) * s.u_norm / math.sqrt(s.d)),
        hypotheses=(
            above("largest deviation of ||mu|| from sqrt(d)", s.norm_defect, 1e-6, tolerance=0.0),
            below("(k - 1) B / a", bounds.ratio, 1 / 3),
            neurons.sample.P6(),
            neurons.sample.own_labels(),
            is_kkt_point(instance),
        ),
        claims=(above("y N(x)", test.y * neurons.outputs(test.X), 0.0, tolerance=0.0), flip),
        derived=tuple(sharp),
    )


@cache
def other_noise(word: str = "laplace", along: bool = False) -> Instance:
    """30 samples of 2 clusters with other noise, d = 549; with `along`, all of it on one line, toward a mean."""
    law = replace(law_of(549, 2, stratified=True), cluster_law=word)
    data = law.sample(30)
    test = law.fresh(200, train=data)
    if along:  # covariance d e e^T: the trace is d, but the norm of the matrix is d as well
        sample = ClusterSample.of(Instance(data=data, law=law))
        lengths = sample.noise_norms * np.sign(data.X[:, 5])
        X = sample.means[sample.clusters] + np.outer(lengths, sample.means[0]) / math.sqrt(549)
        data = replace(data, X=X)
    return at_point(convex_pair(data), f"{word} noise" + (" on one line" if along else ""), law=law, test=test)


@stated_of_clusters(
    id="FVBS23/Rem-Noise",
    number="Section 2, after Example 1",
    meaning="Any noise will do that is short and has small components in every direction; P1 to P3 are all that "
    "is used.",
    formula=r"\langle \xi, e \rangle = \tilde O(1) \ (\|e\| = 1), \quad \|\xi\| = \tilde O(\sqrt{d})",
    example=other_noise,
    control=lambda: other_noise("laplace", along=True),
    control_shows="noise of the same length along one mean breaks P2 and P3, and with them P4 and P5",
    remark="Stated with O-tilde; here the constants of P1 to P3 are asked of the other noise as they are.",
)
def rem_noise(instance: Instance) -> Findings:
    """P1 to P3 and the outputs on good test points, for noise that is not Gaussian."""
    neurons = CertifiedNeurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    test = FreshPoints.of(instance)
    fine = test.are_nice(sample)
    outputs = (test.y * neurons.outputs(test.X))[fine]
    return Findings(
        value("test points in the event of Lemma A.13", float(fine.mean()), f"share of {fine.size}"),
        hypotheses=(
            *s.assumption(),
            true("the noise is not Gaussian", isotropic_law(cluster_law(instance.the_law()).cluster_law) != Normal()),
            *sample.nice[:3],
            *sample.nice[6:],
            is_kkt_point(instance),
        ),
        claims=(
            *sample.nice[3:6],
            at_least("share of good test points", float(fine.mean()), 0.95),
            above("y N(x) on good test points", outputs, 0.0, tolerance=0.0),
        ),
        derived=(at_least("y N(x) on good test points, Lemma A.12", outputs, 3 / 128),),
    )


def proved_bounds(d: int, k: int, sigma: float) -> ClusterBounds:
    """The sharp bounds for k orthogonal means with balanced labels."""
    numbers = ClusterConstants(dimension=d, n_clusters=k, sigma=sigma, p=0.0, balance=0.5)
    return ClusterBounds.proved(numbers, k // 2)


def smallest_certified_dimension(k: int, sigma: float | None) -> int:
    """The least d from which on y N > 0 is proved for k orthogonal clusters; sigma None stands for 1/sqrt(d).

    The bound grows with d once it is positive, so doubling and bisection find the threshold.
    """

    def works(d: int) -> bool:
        return proved_bounds(d, k, d**-0.5 if sigma is None else sigma).least_output > 0

    found = least_whole_number(works)
    if found is None:
        raise InputError(f"sigma is {sigma}; no dimension that float64 resolves certifies {k} clusters this noisy.")
    return found


@cache
def loud() -> Instance:
    """40 samples of two orthogonal clusters with more noise than Assumption 2.2 allows."""
    law = GramReduction(law_of(14_000_000, 2, 2.0, stratified=True))
    return pair_with_test(law, 40, "two clusters, sigma = 2, d = 14000000", test=200)


@stated_of_clusters(
    id="FVBS23/Rem-SigmaBig",
    number="Section 2, after Example 1",
    meaning="With few clusters, generalisation survives noise above 1, up to about d^(1/8).",
    formula=r"k = \tilde O(1), \ p = \tilde O(\sqrt{d}): \quad \sigma = \tilde O(d^{1/8})",
    example=loud,
    control=lambda: opposite(loud()),
    control_shows="the opposite network: every point is on the wrong side",
    printed=r"\sigma = \tilde O(d^{1/8})",
    sharp=r"\sigma^4 \lesssim \frac{\sqrt{d}}{\mathrm{const} \cdot k \ln d}",
    remark="For sigma = 2 and k = 2 the sharp chain ends above zero from d = 13088339 on.",
)
def rem_sigma_big(instance: Instance) -> Findings:
    """sigma above 1: the sharp chain still ends above zero in a large dimension."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test = FreshPoints.of(instance)
    bounds = s.proved_bounds
    return Findings(
        value("sigma / d^(1/8)", s.sigma / s.d ** (1 / 8)),
        value("y N(x) from below", bounds.least_output),
        value("(k - 1) B / a", bounds.ratio),
        hypotheses=(
            s.equal_norms(),
            above("sigma", s.sigma, 1.0),
            *neurons.sample.nice[:3],
            neurons.sample.P6(),
            neurons.sample.own_labels(),
            is_kkt_point(instance),
            above("the lower bound of y N(x)", bounds.least_output, 0.0, tolerance=0.0, note="what O-tilde hides"),
        ),
        claims=(above("y N(x)", test.y * neurons.outputs(test.X), 0.0, tolerance=0.0),),
        derived=sharp_checks(neurons, test, bounds, "proved")[:4],
    )
