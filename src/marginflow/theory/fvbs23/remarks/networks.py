r"""[FVBS23, Remarks] What does not depend on the network: width, start, transfer, universality; beside [VYS22]."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.data import GramReduction
from marginflow.limit import convex_pair, kkt_point, specialist
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step
from marginflow.robustness.explicit_vectors import vys22_steps
from marginflow.theory.frame import Check, Findings, Instance, above, at_least, at_most, is_kkt_point, require, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import (
    A,
    B,
    F,
    hundreds_of_clusters,
    law_of,
    preset,
    robust_of_many,
    specialist_point,
    stated_of_networks,
    stated_of_sample,
    stated_of_z,
)
from marginflow.theory.fvbs23.setting import LENGTH, ClusterSample, cluster_law
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import lower_sums, upper_sums
from marginflow.theory.fvbs23.thm_3_1.thm_a1 import networks_of
from marginflow.theory.fvbs23.thm_4_2.lem_d6_d8 import flip_checks
from marginflow.theory.fvbs23.thm_4_2.thm_d1 import explicit_vectors, moved_outputs
from marginflow.theory.instances import at_point
from marginflow.theory.vacuity import says_nothing


def _each(instance: Instance) -> list[Instance]:
    """One instance per network, on the same data, law and test points."""
    return [
        instance.but(networks=()),
        *(replace(instance, network=network, networks=(), multipliers=None) for network in instance.networks),
    ]


def _named(checks: tuple[Check, ...], prefix: str) -> tuple[Check, ...]:
    return tuple(replace(check, name=f"{prefix}: {check.name}") for check in checks)


def _same_bounds(instance: Instance) -> Findings:
    """Lemmas A.10 and A.11 and the outputs on test points, network by network, with bounds that do not know them."""
    claims: list[Check] = []
    steps: list[Check] = []
    hypotheses: list[Check] = []
    constants: list[Check] = []
    test = FreshPoints.of(instance)
    for number, case in enumerate(_each(instance), start=1):
        neurons = CertifiedNeurons.of(case)
        outputs = test.y * neurons.outputs(test.X)
        name = f"network {number}, width {case.the_network().width}"
        hypotheses.append(is_kkt_point(case, f"{name}: KKT residual"))
        constants.append(value(f"{name}: least y N(x)", float(outputs.min())))
        claims.append(above(f"{name}: y N(x)", outputs, 0.0, tolerance=0.0))
        steps += _named((*upper_sums(neurons)[:1], *lower_sums(neurons)[:1]), name)
        steps.append(at_least(f"{name}: y N(x), Lemma A.12", outputs, 3 / 128))
    sample = ClusterSample.of(instance)
    return Findings(
        hypotheses=(*sample.setting.assumption(), *sample.nice, *hypotheses),
        constants=tuple(constants),
        claims=tuple(claims),
        proof_steps=tuple(steps),
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


@stated_of_networks(
    id="FVBS23/Rem-Width",
    number="Section 3, after Theorem 3.1",
    meaning="The bounds hold for every width.",
    formula=r"m \text{ does not occur in } F, \ 4 n q_d, \ \tfrac{3}{128}, \ \eta_1, \ \eta_2",
    example=several_widths,
    control=lambda: replace(
        several_widths(), networks=(TwoLayer.initialise(100, several_widths().the_data().dimension, seed=1),)
    ),
    control_shows="a wide network at its start is not a KKT point",
)
def rem_width(instance: Instance) -> Findings:
    """The bounds of the lemmas for each of several widths."""
    return _same_bounds(instance)


@stated_of_networks(
    id="FVBS23/Rem-Init",
    number="Section 3, after Theorem 3.1",
    meaning="The bounds hold whatever the initialisation was, at every KKT point that is reached.",
    formula=r"\theta(0) \text{ does not occur in the bounds}",
    example=several_starts,
    control=lambda: replace(
        several_starts(), networks=(TwoLayer.initialise(10, several_starts().the_data().dimension, seed=1),)
    ),
    control_shows="a random start itself is not a KKT point",
)
def rem_init(instance: Instance) -> Findings:
    """The bounds of the lemmas for each of several starts."""
    return _same_bounds(instance)


def _same_vector(instance: Instance) -> Findings:
    """The same z, from the distribution alone, on all test points and all networks."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    vectors = explicit_vectors(instance)
    flips = {
        form: at_most(
            f"largest y N(x - y z) over networks, {form} z",
            moved_outputs(instance, vectors[form].vector),
            0.0,
            scale=1.0,
            note=f"||z|| = {vectors[form].relative_size:.4g} sqrt(d)",
            vacuous=says_nothing(vectors[form].size, s.d),
        )
        for form in ("literal", "sharp")
        if form in vectors
    }
    nowhere = at_most("largest y N(x - y z) over networks", math.nan, 0.0, note="z is not defined here")
    kkt = [is_kkt_point(case, f"network {i}: KKT residual") for i, case in enumerate(_each(instance), start=1)]
    test = instance.the_test()
    exact = [
        value(
            f"network {number}: ||z|| / sqrt(d), exact",
            minimal_step(network, test.X, test.y, sample.u).all_at_once * s.u_norm / math.sqrt(s.d),
        )
        for number, network in enumerate(networks_of(instance), start=1)
    ]
    return Findings(
        value("test points", float(test.n_samples)),
        *exact,
        hypotheses=(*s.assumption(noise=False), *sample.nice, *kkt),
        claims=(flips.pop("literal", nowhere),),
        derived=tuple(flips.values()),
    )


@cache
def two_families() -> Instance:
    """The exact pair and the specialists on 332 means with inner products -2, sigma = 0: the printed z is short."""
    special = specialist_point(10**6, 332, 2.0)
    pair = convex_pair(special.the_data()).network
    return replace(special, networks=(pair,), name="specialists and the exact pair on the same 332 means")


@stated_of_z(
    id="FVBS23/Rem-Universal",
    number="Section 4, after Theorem 4.2",
    meaning="One vector z flips almost all points: a universal perturbation.",
    formula=r"z = \eta \sum_q y^{(q)} \mu^{(q)} \text{ does not depend on } x",
)
def rem_universal(instance: Instance) -> Findings:
    """One z against many points."""
    return _same_vector(instance)


@stated_of_networks(
    id="FVBS23/Rem-Transfer",
    number="Section 4, after Theorem 4.2",
    meaning="The same z flips every KKT point: it transfers between networks.",
    formula=r"z \text{ does not depend on } \theta",
    example=two_families,
    control=lambda: replace(
        robust_of_many(),
        networks=(hundreds_of_clusters().the_network(),),
        name="the robust network and the closed form",
    ),
    control_shows="the robust network is not a KKT point, and the printed z does not flip it",
)
def rem_transfer(instance: Instance) -> Findings:
    """One z against many networks."""
    return _same_vector(instance)


def _without_noise(point: Instance) -> Instance:
    """The same network on the means themselves, one sample each, sigma = 0."""
    law, data, first = cluster_law(point.the_law()), point.the_data(), ClusterSample.of(point).first
    weights = None
    if point.multipliers is not None:
        lam, mu = (np.asarray(part) for part in point.multipliers)
        weights = (lam[first], mu[first])
    exact = replace(law, sigma=0.0, allocation="stratified")
    return replace(point, data=data.subset(first), law=exact, test=None, multipliers=weights)


@stated_of_sample(
    id="FVBS23/Rem-Sigma0",
    number="Section 4, comparison with [VYS22, Theorem 4.1]",
    meaning="As sigma tends to 0 the samples are the means, and the result of [VYS22] is recovered up to constants.",
    formula=r"\sigma \to 0: \quad \Delta = 0, \ n = k, \ 10 k (p + 1) \le d + 1, \quad \|z\| = "
    r"O\left(\sqrt{\tfrac{d}{c^2 k}}\right)",
    example=lambda: _without_noise(hundreds_of_clusters()),
    control=lambda: _without_noise(robust_of_many()),
    control_shows="the robust network on the means is not a KKT point, and the printed z does not flip it",
    remark="sigma = 0 itself is outside Assumption 2.2; the deterministic lemmas hold there. Constants: c' "
    "<= 1/10 here, "
    '<= 1/3 in [VYS22], so the second version\'s "strict generalisation" is one up to constants.',
)
def rem_sigma0(instance: Instance) -> Findings:
    """All deterministic lemmas with Delta = 0, where training and test points are the means."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    hypotheses = (
        at_most("sigma", s.sigma, 0.0),
        s.equal_norms(),
        s.separation(),
        s.two_labels(),
        neurons.sample.P6(),
        neurons.sample.own_labels(),
        is_kkt_point(instance),
    )
    require(hypotheses, "z is not defined here", given=math.isfinite(s.z_norm) and s.u_norm > 0)
    data = instance.the_data()
    outputs = data.y * neurons.outputs(data.X)
    printed = s.z_norm / math.sqrt(s.d)
    # [VYS22, Thm 4.1] on the same means, where m = k.
    older = sum(vys22_steps(float(s.d), float(s.k), s.p, float(s.least), "literal")) * s.u_norm / math.sqrt(s.d)
    size = at_most("||z|| / sqrt(d)", printed, LENGTH / (s.c * math.sqrt(s.k)), note="13.31 / (c sqrt(k))")
    flips = [
        _named(flip_checks(neurons, data.X[data.y == sign], sign).claims, name)
        for name, sign in (("positive", 1.0), ("negative", -1.0))
    ]
    return Findings(
        value("c'", s.c_prime, "at most 1/10 here, at most 1/3 in [VYS22]"),
        value("||z|| / sqrt(d), literal", printed),
        value("||z|| / sqrt(d), literal of [VYS22]", older),
        value("ratio of the two", printed / older),
        hypotheses=hypotheses,
        claims=tuple(
            replace(check, vacuous=says_nothing(printed * math.sqrt(s.d), s.d))
            for check in (*flips[0], *flips[1], size)
        ),
        proof_steps=(
            *upper_sums(neurons),
            *lower_sums(neurons),
            at_least("y N(mu), Lemma A.12", outputs, s.least_output),
            at_most("|N(mu)|, Lemma D.2", np.abs(outputs), s.largest_output),
        ),
    )


@stated_of_sample(
    id="FVBS23/Rem-MarginNotTight",
    number="Section 4.1, comparison with [VYS22]",
    meaning="Samples need not lie on the margin, unlike in [VYS22]: most of a cluster is behind a few of its points.",
    formula=r"\exists i: \ y_i N_\theta(x_i) > 1",
    example=lambda: preset(B),
    control=lambda: preset(F),
    control_shows="with sigma = 1 in a huge dimension all samples are nearly orthogonal and on the margin",
    control_outcome="violated",
)
def rem_margin(instance: Instance) -> Findings:
    """Samples of a KKT point that are off the margin: there are some, so margins need not be tight."""
    certificate = instance.certificate
    off = ~certificate.margin_set
    return Findings(
        value("samples", float(off.size)),
        value("support", float(certificate.support.sum())),
        value("largest margin", float(certificate.margins.max())),
        hypotheses=(is_kkt_point(instance), *ClusterSample.of(instance).nice),
        claims=(
            at_least("samples off the margin", float(off.sum()), 1.0),
            above("largest y_i N(x_i) - 1", float(certificate.margins.max()) - 1.0, 1e-6, tolerance=0.0),
        ),
    )
