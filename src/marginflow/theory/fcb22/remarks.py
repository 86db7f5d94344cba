r"""[FCB22] What the paper says beside its theorems, as checks on recorded runs."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
from scipy import special

from marginflow.theory.fcb22.constants import E2
from marginflow.theory.fcb22.descent import complete, slopes, small_start
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import least_of, mean_of, median_of, quotient
from marginflow.theory.fcb22.numbers import DELTA, has_gaussian_clusters
from marginflow.theory.fcb22.path import RUN, XorSample, beginning_with, measurable_path, path_of, stated_of_run
from marginflow.theory.fcb22.recorded import c16, gd_run, long_run, lost_cluster, success, success_at, wide_clusters
from marginflow.theory.fcb22.thm_3_1.part_2 import clean_error
from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, at_most, equal, stated, true, value
from marginflow.theory.probability import clopper_pearson


@stated(
    id="FCB22/Rem.SimpleRule",
    number="Section 3",
    meaning="The trained network acts like the ideal classifier, and nearly every neuron points along a mean.",
    formula=r"\mathrm{sgn} f(x; W^{(T)}) \approx \mathrm{sgn}(|\langle \mu_1, x \rangle| - |\langle \mu_2, x \rangle|)",
    needs=("data", "run", "start", "test"),
    parameters=RUN,
    example=c16,
    control=lost_cluster,
    control_shows="one cluster was learned with the wrong label",
    control_outcome="violated",
)
def rem_simple_rule(instance: Instance) -> Findings:
    """Agreement of sgn f with sgn f* on test points and on the circle of span(mu1, mu2), and where neurons point."""
    path, usable = measurable_path(instance)
    test, network = XorSample.of(instance.the_test()), path.end
    agree = float((np.sign(network(test.X)) == np.sign(test.ideal)).mean())
    t = np.linspace(0.0, 2.0 * math.pi, 720, endpoint=False) + 0.003
    circle = np.column_stack([np.cos(t), np.sin(t)])
    f = network(circle @ path.sample.mu)
    g = np.abs(circle[:, 0]) - np.abs(circle[:, 1])
    cosine = quotient(float(f @ g), float(np.linalg.norm(f) * np.linalg.norm(g)))
    norms = np.where(path.norms[-1] > 0, path.norms[-1], 1.0)
    best = np.abs(path.projections[-1]).max(axis=1) / norms
    return Findings(
        value("test points", test.n),
        value("agreement on the circle of span(mu1, mu2)", float((np.sign(f) == np.sign(g)).mean())),
        value("median |correlation| with a mean", float(np.median(best))),
        value("median correlation of J with the own mean", float(np.median(path.correlations[-1]))),
        hypotheses=usable,
        claims=(
            equal("agreement with sgn f* on test points", agree, 1.0),
            at_least("share of neurons with |correlation| > 0.9", float((best > 0.9).mean()), 0.9),
            at_least("cosine of f and f* on the circle", cosine, 0.9),
        ),
    )


@stated(
    id="FCB22/Rem.TestPointwise",
    number="Section 1",
    meaning="Every clean test point is classified correctly and every noisy one is not; stronger than Theorem 3.1.",
    formula=r"\mathrm{sgn} f(x; W^{(T)}) = \tilde y \text{ for (almost) all test points}",
    needs=("network", "data", "law", "test", "run", "start"),
    parameters=RUN,
    example=c16,
    control=lost_cluster,
    control_shows="a quarter of the clean test points is wrong",
    control_outcome="violated",
    printed=r"\text{every clean test example is classified correctly}",
    proved=r"P(y \ne \mathrm{sgn} f) \le \eta + O(1/\sqrt{n})",
    remark="On the instances measured no test point is wrong.",
    errata=Erratum.slip(
        "The introduction says 'test' where 'training' is probably meant: every clean example is classified "
        "correctly and every noisy one is not.",
        evidence="on Gaussian clusters even the ideal classifier errs with probability 2q(1-q) > 0",
        repair="Theorem 3.1, part 1, for training examples",
    ),
)
def rem_test_pointwise(instance: Instance) -> Findings:
    """The number of clean test points that are classified wrongly."""
    path = path_of(instance)
    wrong = XorSample.of(instance.the_test()).misclassified(instance.the_network())
    return Findings(
        hypotheses=(*path.numbers.confidence(), path.numbers.feasible(), complete(path)),
        constants=(clean_error(instance),),
        claims=(equal("clean test points classified wrongly", int(wrong.sum()), 0),),
    )


@stated_of_run(
    id="FCB22/Rem.InitNoCapture",
    number="Sections 4.1 and 4.2",
    meaning="At the start many samples of a cluster are not captured: true for sigma sqrt(d) near 1, not under (A3).",
    formula=r"\text{neuron alignment fails at } t = 0 \text{ for most of } J",
    example=wide_clusters,
    control=c16,
    control_shows="under (A3) with C = 16 nearly all neurons of J are aligned at the start already",
    control_outcome="violated",
    remark="The paper argues with a variance of order 1/sqrt(d), where the correlations of the start drown. (A3) "
    "makes the clusters C times narrower, and alignment holds before the first step for 99 % (C = 16) or all of J.",
)
def rem_init_no_capture(instance: Instance) -> Findings:
    """The share of J that is aligned before the first step."""
    path, usable = measurable_path(instance)
    shares = path.aligned_share
    return Findings(
        value("share of J aligned at t = 0", shares[0]),
        value("share of J aligned at the next record", shares[1]),
        value("share of J aligned at the end", shares[-1]),
        value("sigma sqrt(d)", path.numbers.sd, "signal to noise of a neuron is |g| / (sigma sqrt(d))"),
        hypotheses=usable,
        claims=(at_most("share of J aligned at t = 0, against half", float(shares[0]), 0.5),),
    )


@cache
def _against() -> Instance:
    """The start mirrored after J was read off: every neuron of J points away from its mean."""
    good = wide_clusters()
    start = good.the_start()
    return beginning_with(good, replace(start, W=-start.W), "neurons that point away from their means")


@stated_of_run(
    id="FCB22/Rem.Edge",
    number="Section 4.3",
    meaning="A weak correlation captures a share 1/2 + Delta of the own cluster: the edge that one step amplifies.",
    formula=r"\tfrac{|\{i \in I_\mu : \langle w_j^{(0)}, x_i \rangle > 0\}|}{|I_\mu|} \approx \tfrac12 + \Delta, \quad "
    r"\Delta = P(0 < Z < \langle v, \mu \rangle / \sigma)",
    example=wide_clusters,
    control=_against,
    control_shows="the mirrored start captures less than half",
    control_outcome="violated",
)
def rem_edge(instance: Instance) -> Findings:
    """Active share of the own cluster, all samples, against 1/2 + P(0 < Z < s) for Gaussian clusters."""
    path = path_of(instance)
    sample, own = path.sample, path.neurons.own
    active = sample.X @ path.networks[0].W[path.neurons.J].T > 0
    mine = sample.clusters[:, None] == own
    sizes = np.maximum(mine.sum(axis=0), 1)
    shares = (active & mine).sum(axis=0) / sizes
    s = path.correlations[0] / path.numbers.sigma if path.numbers.sigma > 0 else np.full(own.size, math.inf)
    expected = special.ndtr(s)
    # All neurons at once with confidence 0.999, by Hoeffding's inequality.
    width = np.sqrt(math.log(2 * max(own.size, 1) / 0.001) / (2 * sizes))
    return Findings(
        value("least share captured", float(shares.min(initial=1.0))),
        value("mean share captured", mean_of(shares)),
        value("least 1/2 + Delta expected", float(expected.min(initial=1.0))),
        value("C2*", GoodRun(path).C2),
        hypotheses=(
            above("neurons in J", own.size, 0),
            true("Gaussian clusters, if their law is known", has_gaussian_clusters(instance.law)),
        ),
        claims=(
            at_most("|share - (1/2 + Delta)| / its 99.9 % width", np.abs(shares - expected) / width, 1.0),
            above("mean share captured against 1/2", mean_of(shares), 0.5),
        ),
    )


@stated_of_run(
    id="FCB22/Rem.NormGrowth",
    number="Section 1",
    meaning="Neurons of J grow in every step and turn orthogonal to the means of the other label.",
    formula=r"\|w_j^{(t+1)}\| > \|w_j^{(t)}\|, \quad \frac{|\langle w_j^{(t)}, \mu_{\mathrm{opp}} \rangle|}"
    r"{\langle w_j^{(t)}, \mu_{\mathrm{own}} \rangle} \to 0 \quad (j \in J, t \ge 1)",
    example=lambda: c16(k=10),
    control=lost_cluster,
    control_shows="with one cluster lost, neurons keep what they have of the means of the other label",
    control_outcome="violated",
)
def rem_norm_growth(instance: Instance) -> Findings:
    """The norms of J from record to record, and the ratio of opposite to own projection."""
    path, usable = measurable_path(instance)
    J = path.neurons.J
    later = path.times >= 1
    norms = path.norms[later][:, J]
    rising = np.diff(norms, axis=0) > 0
    own, opposite = path.own_projection, path.opposite_projection
    ratio = np.abs(opposite) / np.where(own > 0, own, np.nan)
    return Findings(
        value("share of neurons and steps with growing norm", float(rising.mean()) if rising.size else math.nan),
        value("median |<w, mu_opposite>| / <w, mu_own> after one step", median_of(ratio[1])),
        value("the same at the end", median_of(ratio[-1])),
        value("its largest value at the end", -least_of(-ratio[-1])),
        hypotheses=(*usable, at_least("records from t = 1 on", int(later.sum()), 2)),
        claims=(
            above("growth of |w_j| from record to record, j in J, t >= 1", np.diff(norms, axis=0), 0.0),
            at_most(
                "median ratio at the end against half of that after one step",
                median_of(ratio[-1]),
                0.5 * median_of(ratio[1]),
            ),
        ),
    )


@stated(
    id="FCB22/Rem.ConstWidth",
    number="Section 3",
    meaning="A constant width and a constant number of samples are enough for Theorem 3.1.",
    formula=r"P(\text{Theorem 3.1, part 1}) \ge 1 - 4 \delta \text{ for } m, n \ge \text{const}(\delta)",
    needs=("parameters",),
    parameters={
        "successes": "runs in which every sample got its clean label",
        "runs": "independent runs",
        "delta": "failure probability, 0.1 by default",
        "m": "width",
        "n": "sample size",
        "C": "the constant of (A1)-(A7), where the runs are at their limits",
    },
    example=lambda: success_at(24.0),
    control=lambda: success(4, 20),
    control_shows="four neurons and 20 samples are too few",
    control_outcome="violated",
    printed=r"\text{for all } C > 1 \text{ sufficiently large}",
    sharp=r"C = 12 \text{ measured, with the smallest sizes that (A1)-(A7) allow at } \delta = 0.1",
    remark="With the smallest n, m, d and the largest noise, spread and start that C allows, 3 of 12 runs succeed "
    "at C = 4, 5 at 8, 9 at 12, 11 at 16 and all from 24 on; the literal constants ask for C = 2e26.",
)
def rem_const_width(instance: Instance) -> Findings:
    """Successes of Theorem 3.1, part 1, over independent draws, against 1 - 4 delta."""
    runs, good = instance.whole("runs"), instance.whole("successes")
    delta = instance.number("delta", DELTA)
    found = clopper_pearson(good, runs)
    return Findings(
        value("m", instance.number("m", math.nan)),
        value("n", instance.number("n", math.nan)),
        value("C", instance.number("C", math.nan), "measured: from C = 12 on more than 60 % of the runs succeed"),
        value("success rate", found.frequency, f"99 % interval [{found.low:.3g}, {found.high:.3g}]"),
        hypotheses=(at_least("runs", runs, 1), at_most("delta", delta, 0.25)),
        claims=(found.check("probability of success", ">=", 1 - 4 * delta),),
    )


@cache
def _starts(omds: tuple[float, ...] = (1e-6, 1e-9, 1e-12)) -> Instance:
    ends = [gd_run(200, 320, 40, sd=1 / 16, eta=1 / 16, omd=omd, test=1) for omd in omds]
    networks = tuple(end.the_network() for end in ends[1:])
    return replace(ends[0], networks=networks, name="starts of norm " + ", ".join(f"{omd:g}" for omd in omds))


@stated(
    id="FCB22/Rem.SmallInit",
    number="Section 1",
    meaning="The start may be arbitrarily small: what is learned does not depend on its size.",
    formula=r"f(\cdot; W^{(T)}) \text{ has a limit as } \omega_{\mathrm{init}} \to 0 \text{ at fixed directions}",
    needs=("network", "networks", "data"),
    parameters=RUN,
    example=_starts,
    control=lambda: _starts((1.0, 3.0)),
    control_shows="starts of norm 1 and 3 are not small, and stay visible",
    control_outcome="violated",
    remark="omega = 0 itself is excluded: with phi'(0) = 0 nothing would move.",
)
def rem_small_init(instance: Instance) -> Findings:
    """The ends of runs whose starts differ by a factor, on the same data: `networks` holds the other ends."""
    data, network = instance.the_data(), instance.the_network()
    clean = data.clean_labels
    f = network(data.X)
    spread = [float(np.abs(other(data.X) - f).max() / max(np.abs(f).max(), 1e-300)) for other in instance.networks]
    wrong = 0 if clean is None else int((clean * f <= 0).sum())
    return Findings(
        value("largest |f|", float(np.abs(f).max())),
        value("samples that are not classified as clean", wrong),
        hypotheses=(at_least("runs to compare with", len(spread), 1),),
        claims=(
            at_most("largest change of f over starts, relative", max(spread, default=math.nan), 0.01, tolerance=0.0),
            equal("samples wrong", wrong, 0),
        ),
    )


@stated_of_run(
    id="FCB22/Rem.EarlyStop",
    number="Section 5",
    meaning="Up to T no sample loses its weight in the gradient: the network is in the linear part of the loss.",
    formula=r"-\ell'(y_i f(x_i; W^{(t)})) \ge \tfrac12 e^{-2} \quad (t \le T)",
    example=c16,
    control=long_run,
    control_shows="3000 steps instead of 2: the samples are fitted and their weights gone",
)
def rem_early_stop(instance: Instance) -> Findings:
    """The hypotheses are those of Lemma A.1, which bounds |f| by 2 alpha T sqrt(2) up to T and no further."""
    path = path_of(instance)
    z = np.abs(path.values)
    return Findings(
        value("largest |f(x_i)| up to the end", float(z.max())),
        value("smallest -l'", float(1 / (1 + np.exp(z.max())))),
        value("largest -l'", float(1 / (1 + np.exp(-z.max()))), "1/2 throughout: the loss is still linear"),
        value("e^-2 / 2", E2 / 2),
        hypotheses=(
            at_most("steps against T = 1 + 1/(4 alpha)", float(path.times[-1]), path.numbers.steps),
            at_most("alpha, for 2 alpha T <= 1", path.alpha, 0.25),
            GoodRun(path).initial_norms()[1],
            at_most("|x_i|", path.sample.norms, math.sqrt(2)),
            small_start(path),
        ),
        claims=(slopes(path), at_most("largest |f(x_i)|", float(z.max()), 2.0)),
    )
