r"""[FVBS23, Remarks] Linear classifiers, nearest neighbours, the best order, few samples, the scale of a network."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.data import GramReduction
from marginflow.robustness import minimal_step
from marginflow.robustness.baselines import nearest_neighbour_radius
from marginflow.robustness.linear import mean_classifier
from marginflow.theory.frame import Findings, Instance, above, at_least, at_most, equal, is_kkt_point, stated, value
from marginflow.theory.fvbs23.definitions import FACTORS
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import A, B, close_means, law_of, preset, stated_of_clusters, with_robust_network
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.instances import pair_with_test
from marginflow.theory.probability import clopper_pearson


@stated(
    id="FVBS23/Rem-Linear",
    number="Section 4, after Theorem 4.2",
    meaning="The linear classifier u / d is right with margin about 1 and flips at about sqrt(d / k), like the "
    "networks.",
    formula=r"w = \tfrac{1}{d} \sum_q y^{(q)} \mu^{(q)}: \quad y w^\top x \in [0.9, 1.1] \text{ about}, \quad "
    r"\frac{|w^\top x|}{\|w\|} \le 1.17 \sqrt{\tfrac{d}{k}}",
    needs=("data", "law", "test"),
    example=lambda: preset(B),
    control=lambda: close_means(A),
    control_shows="means at a cosine of 0.2: Assumption 2.2 fails",
)
def rem_linear(instance: Instance) -> Findings:
    """w = u / d on test points of the good event: margins, norm, exact flip distance."""
    test = FreshPoints.of(instance)
    s, fine = test.setting, test.in_event
    rule = mean_classifier(test.means, s.y, ambient_dimension=s.d)
    X, y = test.X[fine], test.y[fine]
    margins, norm = y * rule(X), float(np.linalg.norm(rule.w))
    distance = rule.radii(X, y)
    return Findings(
        value("flip distance / sqrt(d / k), largest", float(distance.max()) / math.sqrt(s.d / s.k)),
        value("points in the event", float(fine.sum()), f"of {fine.size}"),
        hypotheses=s.assumption(),
        claims=(
            above("y w . x, from below", margins, 0.0),
            at_most("y w . x", margins, 1 + (s.d + 1) / (10 * s.d)),
            at_least("d^2 ||w||^2 / k, from below", (norm * s.d) ** 2 / s.k, 0.9 * s.d - 0.1),
            at_most("flip distance / sqrt(d / k)", distance / math.sqrt(s.d / s.k), 1.17),
        ),
        derived=(
            at_least("y w . x, explicit", margins, (9 * s.d - 1) / (10 * s.d)),
            at_most("d^2 ||w||^2 / k", (norm * s.d) ** 2 / s.k, 1.1 * s.d + 0.1),
        ),
    )


@cache
def ambient_clusters(sigma: float | str = "1/sqrt(d)") -> Instance:
    """30 samples of 10 clusters in dimension 3382, in all coordinates: norms of test points are known."""
    law = law_of(3382, 10, sigma, stratified=True)
    return pair_with_test(law, 30, "30 samples of 10 clusters, ambient coordinates", test=20)


@stated_of_clusters(
    id="FVBS23/Rem-1NN",
    number="Section 4",
    meaning="With sigma = 1/sqrt(d) the nearest neighbour rule is robust at distances of order sqrt(d); KKT "
    "points are not.",
    formula=r"\text{1-NN flips at about } 0.7 \sqrt{d}, \quad N_\theta \text{ flips at about } \sqrt{\tfrac{d}{k}}",
    example=ambient_clusters,
    control=lambda: ambient_clusters(0.1),
    control_shows="with sigma = 0.1 the clusters are wide and Assumption 2.2 fails",
)
def rem_1nn(instance: Instance) -> Findings:
    """Exact flip distances of 1-NN and of the KKT point along u on the same points; ambient coordinates only."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    test = FreshPoints.of(instance)
    X, y, q = test.X[:20], test.y[:20], test.clusters[:20]
    squares = (X**2).sum(axis=1)[:, None] + np.diag(sample.gram)[None, :] - 2 * X @ sample.data.X.T
    distance = np.sqrt(np.maximum(squares, 0.0))
    same = q[:, None] == sample.clusters[None, :]
    opposite = y[:, None] != sample.data.y[None, :]
    radii = nearest_neighbour_radius(sample.data.X, sample.data.y, X, y)
    steps = minimal_step(instance.certificate.network, X, y, sample.u, at_zero="negative").first * s.u_norm
    root = math.sqrt(s.d)
    noise = np.linalg.norm(X - sample.means[q], axis=1)
    return Findings(
        value("1-NN flip radius / sqrt(d), least", float(radii.radii.min()) / root),
        value("network flips along u / sqrt(d), largest", float(steps.max()) / root),
        hypotheses=(
            *s.assumption(),
            at_most("sigma sqrt(d)", s.sigma * root, 1.0),
            sample.P1(),
            at_most("||xi|| of test points", noise, s.sigma * math.sqrt(2 * s.d)),
            sample.P6(),
        ),
        claims=(
            at_most("distance within a cluster", distance[same], 2 * math.sqrt(2)),
            at_least("distance to other labels", distance[opposite], math.sqrt(2 * s.d - 2 * s.p) - 2 * math.sqrt(2)),
            at_least("1-NN flip radius / sqrt(d)", radii.lower / root, 0.6),
            above("1-NN flip radius less that of the network / sqrt(d)", (radii.lower - steps) / root, 0.0),
        ),
    )


@cache
def few_samples() -> Instance:
    """20 independent samples of 40 clusters: about 24 clusters are never seen."""
    return pair_with_test(GramReduction(law_of(2000, 40, 1e-3)), 20, "20 samples of 40 clusters", test=600)


@stated_of_clusters(
    id="FVBS23/Rem-SampleOpt",
    number="Section 3, after Theorem 3.1",
    meaning="About k samples are needed: on clusters that were never seen a network can only guess.",
    formula=r"n = o(k) \implies \text{a share } (1 - \tfrac{1}{k})^n \text{ of the clusters is unseen, error about } "
    r"\tfrac{1}{2} \text{ there}",
    example=few_samples,
    control=lambda: with_robust_network(few_samples()),
    control_shows="the robust network knows all means, and is right on clusters without a sample",
)
def rem_sample(instance: Instance) -> Findings:
    """Fewer samples than clusters: the error on test points of clusters that were not seen."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    test = FreshPoints.of(instance)
    seen = np.isin(test.clusters, sample.clusters)
    wrong = test.y * instance.certificate.network(test.X) <= 0
    missing = s.k - np.unique(sample.clusters).size
    unseen = clopper_pearson(int(wrong[~seen].sum()), int((~seen).sum())) if (~seen).any() else None
    return Findings(
        value("share of unseen clusters", missing / s.k),
        value("its expectation (1 - 1/k)^n", (1 - 1 / s.k) ** sample.n),
        value("error on unseen clusters", float(wrong[~seen].mean()) if unseen else math.nan),
        hypotheses=(
            *s.assumption(),
            at_least("clusters without a sample", float(missing), 1.0),
            is_kkt_point(instance),
        ),
        claims=(
            at_most("error on seen clusters", float(wrong[seen].mean()) if seen.any() else math.nan, 0.0),
            unseen.check("share of errors on unseen clusters", ">=", 0.25)
            if unseen
            else at_least("share of errors on unseen clusters", math.nan, 0.25, note="there is none"),
        ),
    )


@stated(
    id="FVBS23/Rem-Best",
    number="Section 4, after the definition of robustness",
    meaning="No network is robust beyond order sqrt(d), since the clusters are that close to each other.",
    formula=r"\sqrt{2d - 2p} \le \|\mu^{(i)} - \mu^{(j)}\| \le \sqrt{2d + 2p} \in [1.378, 1.45] \sqrt{d}",
    needs=("data", "law"),
    example=lambda: preset(A),
    control=lambda: close_means(A),
    control_shows="means at a cosine of 0.2 are closer",
    printed=r"O(\sqrt{d})",
    sharp=r"[\sqrt{1.9}, \sqrt{2.1}] \sqrt{d} \text{ under Assumption 2.2}",
)
def rem_best(instance: Instance) -> Findings:
    """Distances between means and between samples: no network can be robust beyond them."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    squares = s.squared_distances[~np.eye(s.k, dtype=np.bool_)]
    distance = np.sqrt(squares / s.d)
    norms = np.diag(sample.gram)
    apart = (np.add.outer(norms, norms) - 2 * sample.gram)[~sample.same]
    farthest = float(apart.max()) if apart.size else math.nan
    return Findings(
        value("largest distance of samples of two clusters / sqrt(d)", math.sqrt(farthest / s.d)),
        hypotheses=(*s.assumption(), *sample.nice),
        claims=(
            at_least("||mu_i - mu_j||^2, from below", squares, 2 * s.d - 2 * s.p),
            at_most("||mu_i - mu_j||^2", squares, 2 * s.d + 2 * s.p),
            at_least("||mu_i - mu_j|| / sqrt(d), from below", distance, math.sqrt(1.9)),
            at_most("||mu_i - mu_j|| / sqrt(d)", distance, math.sqrt(2.1)),
            at_most("||x - x'||^2 across clusters", apart, 2 * (3 * s.d + s.Delta) + 2 * (s.p + s.Delta)),
        ),
    )


@stated(
    id="FVBS23/Rem-ScaleInv",
    number="Section 2, Neural networks",
    meaning="Classification and robustness depend on the direction of theta only.",
    formula=r"\mathrm{sign}(N_{a\theta}(x)) = \mathrm{sign}(N_\theta(x)) \quad (a > 0)",
    needs=("network", "data", "test"),
    parameters={"scaled": "all parameters, or biases only"},
    example=lambda: preset(A),
    control=lambda: preset(A).only(
        "network", "data", "test", name="biases scaled alone", parameters={"scaled": "biases only"}
    ),
    control_shows="scaling the biases alone is another direction",
    control_outcome="violated",
)
def rem_scale_invariance(instance: Instance) -> Findings:
    """Signs and flip steps at a theta, against those at theta; a parameter scales one layer only."""
    network, test = instance.the_network(), instance.the_test()
    data = instance.the_data()
    one_layer = instance.word("scaled", "all parameters", ("all parameters", "biases only")) == "biases only"
    b = np.zeros(network.width) if network.b is None else network.b
    u = data.y @ data.X
    before = minimal_step(network, test.X, test.y, u).first
    checks = []
    for a in FACTORS:
        moved = replace(network, b=a * 50 * b) if one_layer else replace(network, outputs="trained").scaled(a)
        checks += [
            equal(f"signs at {a:g} theta", np.sign(moved(test.X)), np.sign(network(test.X))),
            equal(f"flip steps at {a:g} theta", minimal_step(moved, test.X, test.y, u).first, before, tolerance=1e-9),
        ]
    return Findings(value("largest flip step", float(before.max())), claims=tuple(checks))
