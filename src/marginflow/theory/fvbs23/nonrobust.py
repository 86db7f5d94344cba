r"""[FVBS23, Theorems D.1 and 4.2, Example 2] One vector along u flips almost every point at every KKT point."""

from __future__ import annotations

import contextlib
import math
from functools import partial

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Clusters, most_clusters
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import (
    ExplicitVector,
    fvbs23_vector,
    interval_bound,
    measured_cluster_vector,
    minimal_step,
    one_neuron_per_cluster,
)
from marginflow.theory.frame import (
    Check,
    Findings,
    Forms,
    Instance,
    Statement,
    above,
    at_least,
    at_most,
    below,
    is_kkt_point,
    true,
    value,
)
from marginflow.theory.fvbs23.generalisation import (
    are_nice,
    failure_checks,
    packaging,
    test_clusters,
    theorem_hypotheses,
    window_hypotheses,
)
from marginflow.theory.fvbs23.perturbation import size_checks
from marginflow.theory.fvbs23.presets import A, B, many_clusters, noisier, preset, robust_control
from marginflow.theory.fvbs23.setting import Sample, Setting
from marginflow.theory.probability import clopper_pearson


def networks_of(instance: Instance) -> list[TwoLayer]:
    """All networks of an instance, at margin 1."""
    data = instance.the_data()
    return [instance.certificate.network, *(one.at_margin_one(data.X, data.y) for one in instance.networks)]


def explicit_vectors(instance: Instance) -> dict[str, ExplicitVector]:
    """Literal, flip-only, sharp and measured z, as far as each is defined for the instance."""
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    found: dict[str, ExplicitVector] = {}
    for form in ("literal", "flip", "sharp"):
        try:
            found[form] = fvbs23_vector(sample.means, s.y, s.sigma, form=form, ambient_dimension=s.d)
        except InputError:  # the constants of this form have no meaning here
            continue
    with contextlib.suppress(InputError):
        found["measured"] = measured_cluster_vector(sample.data, test.X, clusters)
    return found


def moved_outputs(instance: Instance, z: FloatArray) -> FloatArray:
    """The largest y N(x - y z) over all networks for every test point, shape (t,)."""
    test = instance.the_test()
    X = test.X - test.y[:, None] * z
    outputs: FloatArray = np.max([test.y * network(X) for network in networks_of(instance)], axis=0)
    return outputs


def flip_table(instance: Instance) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    """Constants and conclusions for the four vectors beside the exact smallest step along u.

    A vector longer than the way from one mean to another flips points of any rule that knows the clusters: what it
    shows is vacuous, whatever it flips.
    """
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    fine = are_nice(sample, test, clusters)
    way = math.sqrt(2 * s.d + 2 * s.p)
    constants: list[Check] = []
    conclusions: list[Check] = []
    level = {"literal": -1.0, "flip": 0.0, "sharp": 0.0, "measured": 0.0}
    for form, vector in explicit_vectors(instance).items():
        outputs = moved_outputs(instance, vector.vector)[fine]
        note = f"||z|| = {vector.relative_size:.4g} sqrt(d)"
        conclusions.append(
            at_most(f"y N(x - y z), {form} z", outputs, level[form], scale=1.0, note=note, vacuous=vector.size > way)
        )
        constants.append(value(f"||z|| / sqrt(d), {form}", vector.relative_size))
    if not conclusions:
        conclusions.append(at_most("y N(x - y z)", math.nan, -1.0, note="z is not defined here"))
    steps = [minimal_step(network, test.X, test.y, sample.u, at_zero="negative") for network in networks_of(instance)]
    first = np.max([one.first for one in steps], axis=0)
    constants += [
        value("||z|| / sqrt(d), exact", float(first.max()) * s.u_norm / math.sqrt(s.d), "all test points flip there"),
        value("k times the exact eta", float(first.max()) * s.k),
        value("sqrt(1 / k)", 1 / math.sqrt(s.k)),
    ]
    return tuple(constants), tuple(conclusions)


@partial(
    Statement,
    id="FVBS23/ThmD.1",
    kind="theorem",
    number="Theorem D.1",
    meaning="With probability 1 - F over the sample, one z along u flips every KKT point on all but 4 n q_d of "
    "the points.",
    formula=r"z = (\eta_1 + \eta_2) \sum_q y^{(q)} \mu^{(q)}, \quad \Pr_{(x, y)}[\mathrm{sign}(N_\theta(x)) \ne "
    r"\mathrm{sign}(N_\theta(x - y z))] \ge 1 - 4 n q_d",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(B),
    control=robust_control,
    control_shows="the robust network is no KKT point, and short vectors do not flip it",
    forms=Forms(
        printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
        proved=r"\|z\| \le 13.31 \sqrt{\frac{d}{c^2 k}}",
        sharp=r"\eta = \frac{\max(2X, B)}{D} + \frac{(A_t + (k-1) B) S_{max}}{D c k S_{min}}",
        remark="The literal z is longer than the data until k is in the hundreds; then what it flips shows nothing. "
        "The sharp z keeps the radii that P1 to P3 give; the measured z uses those of the sample; the exact one is "
        "the smallest multiple of u. z depends on the distribution alone.",
    ),
)
def theorem_d1(instance: Instance) -> Findings:
    sample = Sample.of(instance)
    s = sample.setting
    constants, conclusions = flip_table(instance)
    bound, exact = s.log_test_failure(sample.n), sample.log_test_tail()
    return Findings(
        hypotheses=theorem_hypotheses(instance),
        constants=(value("ln(4 n q_d)", bound), value("networks", float(1 + len(instance.networks))), *constants),
        claims=(
            *failure_checks(s, sample.n),
            at_most("ln P(sign not flipped), from exact tails", exact, bound, vacuous=bound >= 0),
            *conclusions,
            *size_checks(s),
        ),
    )


@partial(
    Statement,
    id="FVBS23/Thm4.2",
    kind="theorem",
    number="Theorem 4.2",
    meaning="With probability 1 - delta, one z of length O(sqrt(d/(c^2 k))) flips all but a share epsilon of the "
    "points.",
    formula=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right), \quad \Pr_{(x, y)}[\mathrm{sign}(N_\theta(x)) \ne "
    r"\mathrm{sign}(N_\theta(x - y z))] \ge 1 - \epsilon",
    needs=("network", "data", "law", "test"),
    parameters={"epsilon": "share of points not flipped, 0.05", "delta": "failure probability, 0.05"},
    example=lambda: preset(B),
    control=lambda: noisier(B),
    control_shows="ten times the noise at the smallest dimension: Assumption 2.2 fails",
    forms=Forms(
        printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
        remark="The window for n is that of Theorem 3.1. sign(0) = -1, so a positive point flips at N = 0 already.",
    ),
)
def theorem_4_2(instance: Instance) -> Findings:
    sample = Sample.of(instance)
    s = sample.setting
    epsilon, delta = instance.number("epsilon", 0.05), instance.number("delta", 0.05)
    constants, _ = flip_table(instance)
    test = instance.the_test()
    signs = [np.where(network(test.X) > 0, 1, -1) for network in networks_of(instance)]
    rates: list[Check] = []
    for form, vector in explicit_vectors(instance).items():
        X = test.X - test.y[:, None] * vector.vector
        after = [np.where(network(X) > 0, 1, -1) for network in networks_of(instance)]
        flipped = np.all([one != other for one, other in zip(signs, after, strict=True)], axis=0)
        counted = clopper_pearson(int(flipped.sum()), flipped.size)
        told = counted.check(f"share of flipped points, {form} z", ">=", 1 - epsilon)
        rates.append(
            Check(
                name=told.name,
                observed=told.observed,
                relation=told.relation,
                bound=told.bound,
                interval=told.interval,
                note=f"{told.note}; ||z|| = {vector.relative_size:.4g} sqrt(d)",
                vacuous=vector.size > math.sqrt(2 * s.d + 2 * s.p),
            )
        )
    if not rates:
        rates.append(at_least("share of flipped points", math.nan, 1 - epsilon, note="z is not defined here"))
    return Findings(
        hypotheses=(*theorem_hypotheses(instance), *window_hypotheses(s, sample.n, epsilon, delta)),
        constants=constants,
        claims=(*packaging(s, sample.n, epsilon, delta), *rates, *size_checks(s)),
    )


@partial(
    Statement,
    id="FVBS23/Cor-Both",
    kind="corollary",
    number="Section 4, after Theorem 4.2",
    meaning="Gradient flow finds networks that generalise and are not robust, although robust ones exist.",
    formula=r"y N_\theta(x) > 0, \quad \mathrm{sign}(N_\theta(x - y z)) \ne y, \quad \|z\| < \tfrac{1}{8} "
    r"\sqrt{d}, \quad "
    r"\mathrm{sign}(N_{robust}(x')) = y \text{ for } \|x' - x\| \le \tfrac{1}{8} \sqrt{d}",
    needs=("network", "data", "law", "test"),
    example=many_clusters,
    control=lambda: preset(A),
    control_shows="with two clusters every z is longer than the radius of the robust network",
    control_outcome="violated",
    forms=Forms(
        remark="With the literal z the contrast ||z|| < sqrt(d)/8 needs k > 20000; with the exact one and the "
        "pair k > 64 "
        "is enough, and k >= 5 against the true radius 0.45 sqrt(d) of the robust network."
    ),
)
def cor_both(instance: Instance) -> Findings:
    """One sample: the KKT point is right and is flipped by a short vector that the robust network withstands."""
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    fine = are_nice(sample, test, clusters)
    network = instance.certificate.network
    robust = one_neuron_per_cluster(sample.means, s.y, ambient_dimension=s.d)
    root = math.sqrt(s.d)
    steps = minimal_step(network, test.X[fine], test.y[fine], sample.u, at_zero="negative")
    z = steps.all_at_once * s.u_norm / root
    radius = interval_bound(robust.network, test.X[fine], test.y[fine]).radii / root
    vectors = explicit_vectors(instance)
    table = tuple(value(f"||z|| / sqrt(d), {form}", vector.relative_size) for form, vector in vectors.items())
    shortest = min((one.relative_size for one in vectors.values()), default=math.nan)
    return Findings(
        hypotheses=(*s.assumption(), *sample.nice, is_kkt_point(instance)),
        constants=(value("||z|| / sqrt(d), exact", z), *table, value("least certified radius / sqrt(d)", radius.min())),
        claims=(
            above("y N(x) at the KKT point", (test.y * network(test.X))[fine], 0.0, rtol=0.0),
            below("||z|| / sqrt(d), exact, against the radius of Theorem 4.1", z, 1 / 8),
            below("||z|| / sqrt(d), explicit, against 0.45", shortest, 0.45),
            above("certified radius of the robust network / sqrt(d)", radius, 1 / 8),
            at_least("the same against the sharp radius", radius, 0.45),
        ),
    )


@partial(
    Statement,
    id="FVBS23/Ex2",
    kind="example",
    number="Example 2",
    meaning="With sigma = 1 and about sqrt(d) random clusters, z has length of order d^(1/4), far below sqrt(d).",
    formula=r"\sigma = 1, \ k = \tilde\Theta(\sqrt{d}), \ c = \Theta(1) \implies \|z\| = "
    r"O\left(\sqrt{\tfrac{d}{k}}\right) = "
    r"\tilde O(d^{1/4})",
    needs=("parameters",),
    parameters={"dimension": "the largest of three dimensions, each a tenth of the next", "share": "of the largest k"},
    example=lambda: Instance(name="random clusters up to d = 1e12"),
    control=lambda: Instance(name="random clusters up to d = 1e7", parameters={"dimension": 1e7}),
    control_shows="below d = 2.3e6 not even two clusters fit",
    forms=Forms(
        printed=r"\|z\| = \tilde O(d^{1/4})",
        proved=r"\|z\| \le 26.62 \sqrt{d/k}, \quad k \le \frac{\sqrt{d}}{50 \ln d}",
        remark="With these constants z becomes shorter than sqrt(d) at d of about 1e12 only.",
    ),
)
def example_2(instance: Instance) -> Findings:
    """Random means, sigma = 1, as many clusters as Assumption 2.2 allows at half: ||z|| over three dimensions."""
    top = instance.number("dimension", 1e12)
    share = instance.number("share", 0.5)
    sizes, settings, bounds = [], [], []
    dimensions = [int(top / 100), int(top / 10), int(top)]
    for d in dimensions:
        k = max(2, 2 * int(share * most_clusters(d, 1.0, math.sqrt(d) * math.log(d)) / 2))
        law = Clusters(dimension=d, n_clusters=k, sigma=1.0, means="sphere", means_seed=instance.seed)
        s = Setting.of(Instance(law=law))
        settings.append(s)
        sizes.append((s.eta_1 + s.eta_2) * s.u_norm if s.D_u > 0 and s.c_prime < 1 / 3 else math.nan)
        bounds.append(13.31 * math.sqrt(s.d / s.k) / s.c)
    ratio = [size * math.sqrt(s.k / s.d) for size, s in zip(sizes, settings, strict=True)]
    slope = float(np.polyfit(np.log(dimensions), np.log(sizes), 1)[0]) if np.isfinite(sizes).all() else math.nan
    return Findings(
        hypotheses=(
            true("Assumption 2.2 in all dimensions", all(s.numbers.holds(rtol=1e-9) for s in settings)),
            at_least("clusters in the smallest dimension", settings[0].k, 3),
        ),
        constants=(
            *(
                value(f"||z|| / sqrt(d) at d = {s.d:.0e}, k = {s.k}", z / math.sqrt(s.d))
                for s, z in zip(settings, sizes, strict=True)
            ),
            *(value(f"||z|| sqrt(k / d) at d = {s.d:.0e}", one) for s, one in zip(settings, ratio, strict=True)),
            value("slope of ln ||z|| in ln d", slope, "1/4 and a little more, for the logarithms"),
        ),
        claims=(
            at_most("||z||", sizes, bounds, note="26.62 sqrt(d / k)"),
            below("||z|| / sqrt(d) falls", np.diff(np.array(sizes) / np.sqrt(dimensions)), 0.0),
            at_most("spread of ||z|| sqrt(k / d)", max(ratio) / min(ratio), 1.5),
            at_most("slope of ln ||z||", slope, 0.4, rtol=0.0),
        ),
    )
