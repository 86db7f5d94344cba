r"""[FVBS23, Lemmas A.12 and A.13, Theorems A.1 and 3.1] Every KKT point classifies fresh points of seen clusters."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.theory.frame import (
    Check,
    Findings,
    Forms,
    Instance,
    Statement,
    above,
    at_least,
    at_most,
    is_kkt_point,
    true,
    value,
)
from marginflow.theory.fvbs23.neurons import Neurons
from marginflow.theory.fvbs23.presets import A, B, close_means, missing_cluster, noisier, preset, robust_control
from marginflow.theory.fvbs23.setting import Sample, Setting, cluster_law
from marginflow.theory.fvbs23.sums import deterministic
from marginflow.theory.probability import clopper_pearson


def test_clusters(instance: Instance) -> tuple[Dataset, IntArray]:
    """The test points and their clusters; an `InputError` where they have none."""
    test = instance.the_test()
    if test.clusters is None:
        raise InputError("The test points know no clusters; points of Clusters are expected.")
    return test, test.clusters


def and_worst_points(sample: Sample, test: Dataset, clusters: IntArray) -> tuple[Dataset, IntArray]:
    """The test points, and for every cluster the worst one that the lemmas allow."""
    every = np.append(clusters, np.arange(sample.setting.k))
    return Dataset(X=np.vstack([test.X, sample.worst_points]), y=sample.setting.y[every]), every


def inner_products(sample: Sample, test: Dataset, clusters: IntArray) -> tuple[FloatArray, BoolArray]:
    """<x_i, x> and whether x is of the cluster of x_i, shapes (n, t)."""
    own: BoolArray = sample.clusters[:, None] == clusters[None, :]
    return sample.data.X @ test.X.T, own


def near_one_cluster(sample: Sample, test: Dataset, clusters: IntArray) -> tuple[Check, Check]:
    """The hypothesis of Lemmas A.12 and D.2 on x."""
    s = sample.setting
    inner, own = inner_products(sample, test, clusters)
    return (
        at_most("|<x_i, x> - d| in the own cluster", np.where(own, np.abs(inner - s.d), 0.0), s.Delta, scale=s.d),
        at_most("|<x_i, x>| in other clusters", np.where(own, 0.0, np.abs(inner)), s.p + s.Delta, scale=s.d),
    )


def nice_noise(sample: Sample, test: Dataset, clusters: IntArray) -> tuple[Check, ...]:
    """The event of Lemma A.13: the hypothesis of Lemma A.12, and |<x_i, xi>|, |<xi_i, xi>| <= Delta."""
    s = sample.setting
    noise = test.X - sample.means[clusters]
    return (
        *near_one_cluster(sample, test, clusters),
        at_most("|<x_i, xi>|", np.abs(sample.data.X @ noise.T), s.Delta, scale=s.d),
        at_most("|<xi_i, xi>|", np.abs(sample.noise @ noise.T), s.Delta, scale=s.d),
    )


def are_nice(sample: Sample, test: Dataset, clusters: IntArray) -> BoolArray:
    """Which test points are in the event of Lemma A.13, shape (t,)."""
    s = sample.setting
    inner, own = inner_products(sample, test, clusters)
    noise = test.X - sample.means[clusters]
    room = 1e-9 * s.d
    off = np.where(own, np.abs(inner - s.d) - s.Delta, np.abs(inner) - s.p - s.Delta)
    along = np.maximum(np.abs(sample.data.X @ noise.T), np.abs(sample.noise @ noise.T)) - s.Delta
    fine: BoolArray = np.all(np.maximum(off, along) <= room, axis=0)
    return fine


@partial(
    Statement,
    id="FVBS23/LemA.12",
    kind="lemma",
    number="Lemma A.12",
    meaning="A point near one cluster and nearly orthogonal to the others gets the label of that cluster.",
    formula=r"y^{(r)} N_\theta(x) \ge \frac{1 - 3c'}{1 - 2c'} \cdot \frac{d - \Delta + 1}{3d + \Delta + 1} - "
    r"\frac{2c'}{1 - 2c'} \ge \frac{3}{128}",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(A),
    control=missing_cluster,
    control_shows="the points of a cluster without samples are near no cluster that was seen",
    forms=Forms(
        printed=r"\mathrm{sign}(N_\theta(x)) = y^{(r)}",
        proved=r"y^{(r)} N_\theta(x) \ge \tfrac{3}{128}",
        remark="Printed with Q^(r) where I^(r) is meant. Beside the test points, for each cluster the worst "
        "point of the allowed region is tried. Training points have larger norms than the lemma allows.",
    ),
)
def lemma_a12(instance: Instance) -> Findings:
    """y N(x) against the bound with the actual c', and against 3/128."""
    neurons = Neurons.of(instance)
    s = neurons.sample.setting
    test, clusters = and_worst_points(neurons.sample, *test_clusters(instance))
    outputs = s.y[clusters] * neurons.outputs(test.X)
    return Findings(
        hypotheses=(*deterministic(instance), *near_one_cluster(neurons.sample, test, clusters)),
        constants=(
            value("least y N(x)", float(outputs.min())),
            value("median y N(x)", float(np.median(outputs))),
            value("bound with the actual c'", s.least_output),
        ),
        claims=(
            above("y^(r) N(x)", outputs, 0.0, rtol=0.0),
            at_least("y^(r) N(x), explicit", outputs, s.least_output, note="with the actual c' and Delta"),
            at_least("y^(r) N(x), c' = 1/10", outputs, 3 / 128, note="3/128"),
        ),
    )


def _event(instance: Instance) -> Findings:
    """Exact tails of the Gaussian events that the proof uses, and a count."""
    sample = Sample.of(instance)
    s = sample.setting
    test, clusters = test_clusters(instance)
    bound, exact = s.log_test_failure(sample.n), sample.log_test_tail()
    fine = are_nice(sample, test, clusters)
    sharp = math.log(2 * sample.n + 2 * s.k) + s.log_q
    counted = clopper_pearson(int((~fine).sum()), fine.size).check(
        "share of points outside the event", "<=", math.exp(bound) if bound < 0 else 1.0
    )
    tells = counted.state != "undecided"  # points outside speak against the tails; a count cannot prove 1e-6
    return Findings(
        hypotheses=(*s.assumption(), *sample.nice),
        constants=(
            value("ln(4 n q_d)", bound),
            value("ln of the exact tails", exact),
            value("test points in the event", float(fine.sum()), f"of {fine.size}"),
            *(() if tells else (counted,)),
        ),
        claims=(
            at_most("ln P(not in the event)", exact, bound, vacuous=bound >= 0, note="sum of exact Gaussian tails"),
            at_most("the same against (2n + 2k) q_d", exact, sharp, vacuous=sharp >= 0),
            *((counted,) if tells else ()),
        ),
    )


def _event_statement(id: str, number: str, meaning: str) -> Statement:
    return Statement(
        id=id,
        kind="lemma",
        number=number,
        meaning=meaning,
        formula=r"\Pr_\xi\left[\forall i: |\langle \xi_i, \xi \rangle|, |\langle x_i, \xi \rangle| \le \Delta, \ "
        r"|\langle x_i, x \rangle - d| \le \Delta \ (i \in I^{(r)}), \ |\langle x_i, x \rangle| \le p + \Delta \ "
        r"(i \notin I^{(r)})\right] \ge 1 - 4 n q_d",
        needs=("data", "law", "test"),
        judge=_event,
        example=lambda: preset(A),
        control=missing_cluster if id.endswith("13") else lambda: close_means(A),
        control_shows="a cluster has no sample" if id.endswith("13") else "means at a cosine of 0.2",
        forms=Forms(
            printed=r"4 n q_d",
            sharp=r"\sum_i \mathrm{erfc}\left(\frac{2 g}{\sqrt{2} \sigma \|\xi_i\|}\right) + "
            r"k\ \mathrm{erfc}\left(\frac{\ln d}{\sqrt{2}}\right) \le (2n + 2k) q_d",
            remark="The proof drops an absolute value. The bound is far too small for counting; the tails are exact.",
        ),
    )


LEMMA_A13: Final = _event_statement(
    "FVBS23/LemA.13", "Lemma A.13", "A fresh point is near its own cluster and nearly orthogonal to the other ones."
)
LEMMA_D1: Final = _event_statement(
    "FVBS23/LemD.1",
    "Lemma D.1",
    "Lemma A.13 again, for a point of a random cluster, as the proof of Theorem 4.2 needs it.",
)


def theorem_hypotheses(instance: Instance) -> tuple[Check, ...]:
    """Theorem A.1: Assumption 2.2, an independent sample of n >= k ln(d)^2, a KKT point; and the draw is a good one."""
    sample = Sample.of(instance)
    drawn = cluster_law(instance.the_law()).allocation == "iid"
    return (
        *sample.setting.assumption(),
        true("clusters are drawn independently", drawn),
        sample.enough(),
        *sample.nice,
        is_kkt_point(instance),
        *_others(instance),
    )


def _others(instance: Instance) -> tuple[Check, ...]:
    """Further networks on the same sample must be KKT points too."""
    data = instance.the_data()
    return tuple(
        is_kkt_point(certify(network, data), f"KKT residual of network {number}")
        for number, network in enumerate(instance.networks, start=2)
    )


def least_outputs(instance: Instance) -> tuple[FloatArray, BoolArray]:
    """The least y N(x) over all networks (at margin 1) for every test point, and whether the point is nice."""
    sample = Sample.of(instance)
    test, clusters = test_clusters(instance)
    data = instance.the_data()
    networks = [instance.certificate.network, *(one.at_margin_one(data.X, data.y) for one in instance.networks)]
    outputs = np.min([test.y * network(test.X) for network in networks], axis=0)
    return outputs, are_nice(sample, test, clusters)


def failure_checks(s: Setting, n: int) -> tuple[Check, Check]:
    """F as a probability, and the same union without waste below it."""
    printed, sharp = s.log_failure(n), s.log_failure_sharp(n)
    nothing = printed >= 0
    return (
        at_most("ln F", printed, 0.0, vacuous=nothing, note="F < 1 or the theorem says nothing")
        if not nothing
        else at_most("ln F, cut at 0", 0.0, 0.0, vacuous=True, note=f"F = {math.exp(min(printed, 700)):.3g}"),
        at_most("ln F', counted without waste", sharp, printed, vacuous=nothing),
    )


@partial(
    Statement,
    id="FVBS23/ThmA.1",
    kind="theorem",
    number="Theorem A.1",
    meaning="With probability 1 - F over the sample, every KKT point errs with probability at most 4 n q_d.",
    formula=r"F = 3 n^2 q_d + n^2 e^{-d/16} + d^{1 - \ln d}, \quad \Pr_{(x, y)}[y N_\theta(x) \le 0] \le 4 n q_d, "
    r"\quad "
    r"q_d = d^{-\ln(d)/2}",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(A),
    control=robust_control,
    control_shows="the network is no KKT point (it classifies well all the same)",
    forms=Forms(
        printed=r"\text{let } \theta \text{ be a KKT point; then with probability } 1 - F \text{ over } S",
        proved=r"\text{with probability } 1 - F \text{ over } S \text{, for every KKT point } \theta",
        sharp=r"\Pr[y N_\theta(x) < \tfrac{3}{128}] \le (2n + 2k) q_d",
        remark="One event of the sample serves all KKT points. That the draw is in that event counts as a hypothesis "
        "here; how likely it is, is Proposition A.1.",
    ),
)
def theorem_a1(instance: Instance) -> Findings:
    """On a good draw: exact tails against 4 n q_d, and every good test point is right for every KKT point."""
    sample = Sample.of(instance)
    s = sample.setting
    outputs, fine = least_outputs(instance)
    bound, exact = s.log_test_failure(sample.n), sample.log_test_tail()
    wrong = int((outputs <= 0).sum())
    return Findings(
        hypotheses=theorem_hypotheses(instance),
        constants=(
            value("ln(4 n q_d)", bound),
            value("test points", float(outputs.size)),
            value("test errors", float(wrong)),
            value("KKT points", float(1 + len(instance.networks))),
        ),
        claims=(
            *failure_checks(s, sample.n),
            at_most("ln P(y N(x) <= 0), from exact tails", exact, bound, vacuous=bound >= 0),
            at_least("y N(x) on good test points", outputs[fine], 3 / 128, note="3/128"),
        ),
    )


def log_window(s: Setting, epsilon: float, delta: float) -> tuple[float, float]:
    """ln of the smallest and the largest n that Theorem 3.1 allows; the window may be empty."""
    upper = min(
        0.5 * math.log(delta / 3) + s.d / 32,
        0.5 * math.log(delta) - math.log(3) + s.L**2 / 4,
        math.log(epsilon / 4) + s.L**2 / 2,
    )
    return math.log(s.k * s.L**2), upper


def window_hypotheses(s: Setting, n: int, epsilon: float, delta: float) -> tuple[Check, ...]:
    """1/delta <= d^(ln d - 1) / 3 and n <= the minimum of three."""
    _, upper = log_window(s, epsilon, delta)
    return (
        at_most("ln(1 / delta)", -math.log(delta), (s.L - 1) * s.L - math.log(3)),
        at_most("ln n", math.log(n), upper, note="the smallest of the three bounds"),
    )


def packaging(s: Setting, n: int, epsilon: float, delta: float) -> tuple[Check, ...]:
    """The four implications that turn Theorem A.1 into Theorem 3.1, in logarithms."""
    third, twice = math.log(delta / 3), 2 * math.log(n)
    return (
        at_most("ln 3 n^2 q_d", math.log(3) + twice + s.log_q, third),
        at_most("ln n^2 e^(-d/16)", twice - s.d / 16, third),
        at_most("ln d^(1 - ln d)", (1 - s.L) * s.L, third),
        at_most("ln 4 n q_d", s.log_test_failure(n), math.log(epsilon)),
    )


@partial(
    Statement,
    id="FVBS23/Thm3.1",
    kind="theorem",
    number="Theorem 3.1",
    meaning="With k ln(d)^2 samples and more, every KKT point has a test error of at most epsilon, however wide it is.",
    formula=r"k \ln^2 d \le n \le \min\left\{\sqrt{\tfrac{\delta}{3}}\, e^{d/32}, \tfrac{\sqrt{\delta}}{3} "
    r"d^{\ln(d)/4}, "
    r"\tfrac{\epsilon}{4} d^{\ln(d)/2}\right\} \implies \Pr[y N_\theta(x) \le 0] \le \epsilon",
    needs=("network", "data", "law", "test"),
    parameters={"epsilon": "test error, 0.05 by default", "delta": "failure probability, 0.05 by default"},
    example=lambda: preset(B),
    control=lambda: noisier(B),
    control_shows="ten times the noise at the smallest dimension: Assumption 2.2 fails",
    forms=Forms(
        printed=r"n \le \min\{\dots\}",
        remark="The window for n is empty for small d (for k = 2 below d = 183 with epsilon = delta = 0.1), where the "
        "theorem is void although Assumption 2.2 can hold from d = 20 on. The bound on the error is uniform over "
        "KKT points.",
    ),
)
def theorem_3_1(instance: Instance) -> Findings:
    sample = Sample.of(instance)
    s = sample.setting
    epsilon, delta = instance.number("epsilon", 0.05), instance.number("delta", 0.05)
    outputs, _ = least_outputs(instance)
    lower, upper = log_window(s, epsilon, delta)
    errors = clopper_pearson(int((outputs <= 0).sum()), outputs.size)
    return Findings(
        hypotheses=(*theorem_hypotheses(instance), *window_hypotheses(s, sample.n, epsilon, delta)),
        constants=(
            value("smallest n, ln", lower),
            value("largest n, ln", upper, "the window is empty if this is below the smallest"),
            value("samples", sample.n),
        ),
        claims=(
            *packaging(s, sample.n, epsilon, delta),
            errors.check("test error", "<=", epsilon),
        ),
    )
