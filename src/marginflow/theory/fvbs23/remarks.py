r"""[FVBS23, Sections 3 and 4] Remarks on width, starts, transfer, baselines, margins and the limit sigma = 0."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from marginflow.data import GramReduction
from marginflow.limit import convex_pair, kkt_point, specialist
from marginflow.networks import TwoLayer
from marginflow.robustness import mean_classifier, minimal_step, nearest_neighbour_radius, one_neuron_per_cluster
from marginflow.theory.check import Check, above, at_least, at_most, value
from marginflow.theory.fvbs23.construction import on_event
from marginflow.theory.fvbs23.generalisation import test_clusters
from marginflow.theory.fvbs23.nonrobust import explicit_vectors, moved_outputs, networks_of
from marginflow.theory.fvbs23.perturbation import flip_checks
from marginflow.theory.fvbs23.presets import (
    A,
    B,
    F,
    close_means,
    law_of,
    many_clusters,
    means_point,
    noisier,
    preset,
    robust_control,
    specialist_point,
)
from marginflow.theory.fvbs23.setting import Neurons, Sample, kkt_hypothesis
from marginflow.theory.fvbs23.sums import deterministic, lower_sums, upper_sums
from marginflow.theory.instance import Instance
from marginflow.theory.instances import at_point
from marginflow.theory.probability import clopper_pearson
from marginflow.theory.statement import Forms, Statement
from marginflow.theory.verdict import Findings


def _each(instance: Instance) -> list[Instance]:
    """One instance per network, on the same data, law and test points."""
    alone = replace(instance, networks=())
    return [
        alone,
        *(replace(instance, network=one, networks=(), multipliers=None) for one in instance.networks),
    ]


def _named(checks: tuple[Check, ...], prefix: str) -> tuple[Check, ...]:
    return tuple(replace(check, name=f"{prefix}: {check.name}") for check in checks)


def _same_bounds(instance: Instance) -> Findings:
    """Lemmas A.10 and A.11 and the outputs on test points, network by network, with bounds that do not know them."""
    conclusions: list[Check] = []
    hypotheses: list[Check] = []
    constants: list[Check] = []
    for number, one in enumerate(_each(instance), start=1):
        width = one.the_network().width
        neurons = Neurons.of(one)
        test, clusters = test_clusters(one)
        outputs = neurons.sample.setting.y[clusters] * neurons.outputs(test.X)
        name = f"network {number}, width {width}"
        hypotheses += _named((kkt_hypothesis(one),), name)
        constants.append(value(f"{name}: least y N(x)", float(outputs.min())))
        conclusions += _named((*upper_sums(neurons)[:1], *lower_sums(neurons)[:1]), name)
        conclusions.append(at_least(f"{name}: y N(x)", outputs, 3 / 128))
    sample = Sample.of(instance)
    return Findings(
        hypotheses=(*sample.setting.assumption(), *sample.nice, *hypotheses),
        constants=tuple(constants),
        conclusions=tuple(conclusions),
    )


@cache
def several_widths() -> Instance:
    """One KKT function on preset A with 2, 10 and 100 neurons."""
    wide = [preset(A, width=width).the_network() for width in (10, 100)]
    return replace(preset(A), networks=tuple(wide), name="preset A with 2, 10 and 100 neurons")


@cache
def several_starts() -> Instance:
    """Four KKT points on one sample: the exact pair, one neuron per sample, and two from random starts of width 10."""
    law = GramReduction(law_of(500, 4, 1e-4, correlation=-2 / 500, stratified=True))
    data = law.sample(4)
    found = (specialist(data).network, *(kkt_point(data, width=10, seed=seed).network for seed in (1, 2)))
    return at_point(
        convex_pair(data),
        "the exact pair, specialists, and KKT points from two random starts",
        law=law,
        test=law.fresh(100, train=data),
        networks=found,
    )


REM_WIDTH: Final = Statement(
    id="FVBS23/Rem-Width",
    kind="remark",
    number="Section 3, after Theorem 3.1",
    meaning="The bounds hold for every width.",
    formula=r"m \text{ does not occur in } F, \ 4 n q_d, \ \tfrac{3}{128}, \ \eta_1, \ \eta_2",
    needs=("network", "networks", "data", "law", "test"),
    judge=_same_bounds,
    example=several_widths,
    control=lambda: replace(several_widths(), networks=(robust_control().the_network(),)),
    control_shows="the second network is no KKT point",
)

REM_INIT: Final = Statement(
    id="FVBS23/Rem-Init",
    kind="remark",
    number="Section 3, after Theorem 3.1",
    meaning="The bounds hold whatever the initialisation was, at every KKT point that is reached.",
    formula=r"\theta(0) \text{ does not occur in the bounds}",
    needs=("network", "networks", "data", "law", "test"),
    judge=_same_bounds,
    example=several_starts,
    control=lambda: replace(
        several_starts(),
        networks=(TwoLayer.initialise(10, several_starts().the_data().dimension, seed=1),),
    ),
    control_shows="a random start itself is no KKT point",
)


def _one_z(instance: Instance) -> Findings:
    """The same z, from the distribution alone, on all test points and all networks."""
    sample = Sample.of(instance)
    s = sample.setting
    vectors = explicit_vectors(instance)
    way = math.sqrt(2 * s.d + 2 * s.p)
    conclusions = [
        at_most(
            f"largest y N(x - y z) over networks, {form} z",
            moved_outputs(instance, vectors[form].vector),
            0.0,
            scale=1.0,
            note=f"||z|| = {vectors[form].relative_size:.4g} sqrt(d)",
            vacuous=vectors[form].size > way,
        )
        for form in ("literal", "sharp")
        if form in vectors
    ] or [at_most("largest y N(x - y z) over networks", math.nan, 0.0, note="z is not defined here")]
    hypotheses = [kkt_hypothesis(one) for one in _each(instance)]
    test = instance.the_test()
    exact = [
        value(
            f"network {number}: ||z|| / sqrt(d), exact",
            minimal_step(network, test.X, test.y, sample.u).all_at_once * s.u_norm / math.sqrt(s.d),
        )
        for number, network in enumerate(networks_of(instance), start=1)
    ]
    named = (_named((check,), f"network {number}") for number, check in enumerate(hypotheses, start=1))
    return Findings(
        hypotheses=(*s.assumption(noise=False), *sample.nice, *(one for group in named for one in group)),
        constants=(value("test points", float(test.n_samples)), *exact),
        conclusions=tuple(conclusions),
    )


@cache
def two_families() -> Instance:
    """The exact pair and the specialists on the same means with inner products -2, sigma = 0: k = 40 clusters."""
    special = specialist_point(2000, 40, 2.0)
    pair = convex_pair(special.the_data()).network
    return replace(special, networks=(pair,), name="specialists and the exact pair on the same 40 means")


REM_UNIVERSAL: Final = Statement(
    id="FVBS23/Rem-Universal",
    kind="remark",
    number="Section 4, after Theorem 4.2",
    meaning="One vector z flips almost all points: a universal perturbation.",
    formula=r"z = \eta \sum_q y^{(q)} \mu^{(q)} \text{ does not depend on } x",
    needs=("network", "data", "law", "test"),
    judge=_one_z,
    example=many_clusters,
    control=lambda: noisier(B),
    control_shows="ten times the noise: Assumption 2.2 fails and no explicit z exists",
)

REM_TRANSFER: Final = Statement(
    id="FVBS23/Rem-Transfer",
    kind="remark",
    number="Section 4, after Theorem 4.2",
    meaning="The same z flips every KKT point: it transfers between networks.",
    formula=r"z \text{ does not depend on } \theta",
    needs=("network", "networks", "data", "law", "test"),
    judge=_one_z,
    example=two_families,
    control=lambda: replace(
        many_clusters(), networks=(robust_network(),), name="the exact pair and the robust network"
    ),
    control_shows="the robust network is no KKT point, and the sharp z does not flip it",
)


def robust_network() -> TwoLayer:
    """The construction of Theorem 4.1 on the means of the preset with many clusters."""
    data = many_clusters().the_data()
    assert data.means is not None
    assert data.mean_labels is not None
    return one_neuron_per_cluster(data.means, data.mean_labels, ambient_dimension=data.ambient_dimension).network


def _linear(instance: Instance) -> Findings:
    """w = u / d on test points of the good event: margins, norm, exact flip distance."""
    s = Sample.of(instance).setting
    test, _ = test_clusters(instance)
    assert test.means is not None
    rule = mean_classifier(test.means, s.y, ambient_dimension=s.d)
    fine = on_event(instance)
    X, y = test.X[fine], test.y[fine]
    margins, norm = y * rule(X), float(np.linalg.norm(rule.w))
    distance = rule.radii(X, y)
    return Findings(
        hypotheses=s.assumption(),
        constants=(
            value("flip distance / sqrt(d / k), largest", float(distance.max()) / math.sqrt(s.d / s.k)),
            value("points in the event", float(fine.sum()), f"of {fine.size}"),
        ),
        conclusions=(
            at_least("y w . x, from below", margins, (9 * s.d - 1) / (10 * s.d)),
            at_most("y w . x", margins, 1 + (s.d + 1) / (10 * s.d)),
            at_least("d^2 ||w||^2 / k, from below", (norm * s.d) ** 2 / s.k, 0.9 * s.d - 0.1),
            at_most("d^2 ||w||^2 / k", (norm * s.d) ** 2 / s.k, 1.1 * s.d + 0.1),
            at_most("flip distance / sqrt(d / k)", distance / math.sqrt(s.d / s.k), 1.17),
        ),
    )


REM_LINEAR: Final = Statement(
    id="FVBS23/Rem-Linear",
    kind="remark",
    number="Section 4, after Theorem 4.2",
    meaning="The linear classifier u / d is right with margin about 1 and flips at about sqrt(d / k), like the "
    "networks.",
    formula=r"w = \tfrac{1}{d} \sum_q y^{(q)} \mu^{(q)}: \quad y w^\top x \in [0.9, 1.1] \text{ about}, \quad "
    r"\frac{|w^\top x|}{\|w\|} \le 1.17 \sqrt{\tfrac{d}{k}}",
    needs=("data", "law", "test"),
    judge=_linear,
    example=lambda: preset(B),
    control=lambda: close_means(A),
    control_shows="means at a cosine of 0.2: Assumption 2.2 fails",
)


def _nearest(instance: Instance) -> Findings:
    """Exact flip distances of 1-NN and of the KKT point along u on the same points; ambient coordinates only."""
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    few = slice(0, 20)
    X, y, q = test.X[few], test.y[few], clusters[few]
    squares = (X**2).sum(axis=1)[:, None] + np.diag(sample.gram)[None, :] - 2 * X @ sample.data.X.T
    distance = np.sqrt(np.maximum(squares, 0.0))
    same = q[:, None] == sample.clusters[None, :]
    opposite = y[:, None] != sample.data.y[None, :]
    radii = nearest_neighbour_radius(sample.data.X, sample.data.y, X, y)
    steps = minimal_step(instance.certificate.network, X, y, sample.u, at_zero="negative").first * s.u_norm
    root = math.sqrt(s.d)
    noise = np.linalg.norm(X - sample.means[q], axis=1)
    return Findings(
        hypotheses=(
            *s.assumption(),
            at_most("sigma sqrt(d)", s.sigma * root, 1.0),
            sample.P1(),
            at_most("||xi|| of test points", noise, s.sigma * math.sqrt(2 * s.d)),
            sample.P6(),
        ),
        constants=(
            value("1-NN flip radius / sqrt(d), least", float(radii.radii.min()) / root),
            value("network flips along u / sqrt(d), largest", float(steps.max()) / root),
        ),
        conclusions=(
            at_most("distance within a cluster", distance[same], 2 * math.sqrt(2)),
            at_least("distance to other labels", distance[opposite], math.sqrt(2 * s.d - 2 * s.p) - 2 * math.sqrt(2)),
            at_least("1-NN flip radius / sqrt(d)", radii.lower / root, 0.6),
            above("1-NN flip radius less that of the network / sqrt(d)", (radii.lower - steps) / root, 0.0),
        ),
    )


@cache
def ambient_clusters(sigma: float | str = "1/sqrt(d)") -> Instance:
    """30 samples of 10 clusters in dimension 3382, in all coordinates: norms of test points are known."""
    law = law_of(3382, 10, sigma, stratified=True)
    data = law.sample(30)
    return at_point(
        convex_pair(data), "30 samples of 10 clusters, ambient coordinates", law=law, test=law.fresh(20, train=data)
    )


REM_1NN: Final = Statement(
    id="FVBS23/Rem-1NN",
    kind="remark",
    number="Section 4",
    meaning="With sigma = 1/sqrt(d) the nearest neighbour rule is robust at distances of order sqrt(d); KKT "
    "points are not.",
    formula=r"\text{1-NN flips at about } 0.7 \sqrt{d}, \quad N_\theta \text{ flips at about } \sqrt{\tfrac{d}{k}}",
    needs=("network", "data", "law", "test"),
    judge=_nearest,
    example=ambient_clusters,
    control=lambda: ambient_clusters(0.1),
    control_shows="with sigma = 0.1 the clusters are wide and Assumption 2.2 fails",
)


def _tight(instance: Instance) -> Findings:
    certificate = instance.certificate
    off = ~certificate.margin_set
    return Findings(
        hypotheses=(kkt_hypothesis(instance), *Sample.of(instance).nice),
        constants=(
            value("samples", float(off.size)),
            value("support", float(certificate.support.sum())),
            value("largest margin", float(certificate.margins.max())),
        ),
        conclusions=(
            at_least("samples off the margin", float(off.sum()), 1.0),
            above("largest y_i N(x_i) - 1", float(certificate.margins.max()) - 1.0, 1e-6, rtol=0.0),
        ),
    )


REM_MARGIN: Final = Statement(
    id="FVBS23/Rem-MarginNotTight",
    kind="remark",
    number="Section 4.1, comparison with [VYS22]",
    meaning="Samples need not lie on the margin, unlike in [VYS22]: most of a cluster is behind a few of its points.",
    formula=r"\exists i: \ y_i N_\theta(x_i) > 1",
    needs=("network", "data", "law"),
    judge=_tight,
    example=lambda: preset(B),
    control=lambda: preset(F),
    control_shows="with sigma = 1 in a huge dimension all samples are nearly orthogonal and on the margin",
    control_outcome="violated",
)


def _noiseless(instance: Instance) -> Findings:
    """All deterministic lemmas with Delta = 0, where training and test points are the means."""
    neurons = Neurons.of(instance)
    s = neurons.sample.setting
    data = instance.the_data()
    outputs = data.y * neurons.outputs(data.X)
    printed = (s.eta_1 + s.eta_2) * s.u_norm / math.sqrt(s.d)
    least = s.least
    # [VYS22, Thm 4.1] on the same means, where m = k.
    older = (
        (
            (s.p + 1) / (s.d - s.k * s.p)
            + 2 * (s.c * s.k * (s.p + 1) / (s.d + 1) + 1) * (s.d + 1) / (least * (s.d - s.k * s.p))
        )
        * s.u_norm
        / math.sqrt(s.d)
    )
    return Findings(
        hypotheses=(
            at_most("sigma", s.sigma, 0.0),
            *deterministic(instance, noise=False)[0:1],
            s.separation(),
            s.two_labels(),
            neurons.sample.P6(),
            neurons.sample.own_labels(),
            kkt_hypothesis(instance),
        ),
        constants=(
            value("c'", s.c_prime, "at most 1/10 here, at most 1/3 in [VYS22]"),
            value("||z|| / sqrt(d), literal", printed),
            value("||z|| / sqrt(d), literal of [VYS22]", older),
            value("ratio of the two", printed / older),
        ),
        conclusions=(
            *upper_sums(neurons),
            *lower_sums(neurons),
            at_least("y N(mu), Lemma A.12", outputs, s.least_output),
            at_most("|N(mu)|, Lemma D.2", np.abs(outputs), s.largest_output),
            *_named(flip_checks(neurons, data.X[data.y > 0], 1.0), "D.7"),
            *_named(flip_checks(neurons, data.X[data.y < 0], -1.0), "D.8"),
        ),
    )


REM_SIGMA0: Final = Statement(
    id="FVBS23/Rem-Sigma0",
    kind="remark",
    number="Section 4, comparison with [VYS22, Theorem 4.1]",
    meaning="As sigma tends to 0 the samples are the means, and the result of [VYS22] is recovered up to constants.",
    formula=r"\sigma \to 0: \quad \Delta = 0, \ n = k, \ 10 k (p + 1) \le d + 1, \quad \|z\| = "
    r"O\left(\sqrt{\tfrac{d}{c^2 k}}\right)",
    needs=("network", "data", "law"),
    judge=_noiseless,
    example=means_point,
    control=lambda: preset(A),
    control_shows="there is noise",
    forms=Forms(
        remark="sigma = 0 itself is outside Assumption 2.2; the deterministic lemmas hold there. Constants: c' "
        "<= 1/10 here, "
        '<= 1/3 in [VYS22], so the second version\'s "strict generalisation" is one up to constants.'
    ),
)


def _unseen(instance: Instance) -> Findings:
    """Fewer samples than clusters: the error on test points of clusters that were not seen."""
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    seen = np.isin(clusters, sample.clusters)
    wrong = test.y * instance.certificate.network(test.X) <= 0
    missing = s.k - np.unique(sample.clusters).size
    expected = (1 - 1 / s.k) ** sample.n
    unseen = clopper_pearson(int(wrong[~seen].sum()), int((~seen).sum())) if (~seen).any() else None
    return Findings(
        hypotheses=(
            *s.assumption(),
            at_least("clusters without a sample", float(missing), 1.0),
            kkt_hypothesis(instance),
        ),
        constants=(
            value("share of unseen clusters", missing / s.k),
            value("its expectation (1 - 1/k)^n", expected),
            value("error on unseen clusters", float(wrong[~seen].mean()) if unseen else math.nan),
        ),
        conclusions=(
            at_most("error on seen clusters", float(wrong[seen].mean()) if seen.any() else math.nan, 0.0),
            unseen.check("share of errors on unseen clusters", ">=", 0.25)
            if unseen
            else at_least("share of errors on unseen clusters", math.nan, 0.25, note="there is none"),
        ),
    )


@cache
def few_samples() -> Instance:
    """20 independent samples of 40 clusters: about 24 clusters are never seen."""
    law = GramReduction(law_of(2000, 40, 1e-3))
    data = law.sample(20)
    return at_point(convex_pair(data), "20 samples of 40 clusters", law=law, test=law.fresh(600, train=data))


REM_SAMPLE: Final = Statement(
    id="FVBS23/Rem-SampleOpt",
    kind="remark",
    number="Section 3, after Theorem 3.1",
    meaning="About k samples are needed: on clusters that were never seen a network can only guess.",
    formula=r"n = o(k) \implies \text{a share } (1 - \tfrac{1}{k})^n \text{ of the clusters is unseen, error about } "
    r"\tfrac{1}{2} \text{ there}",
    needs=("network", "data", "law", "test"),
    judge=_unseen,
    example=few_samples,
    control=lambda: preset(A),
    control_shows="every cluster has samples",
)
