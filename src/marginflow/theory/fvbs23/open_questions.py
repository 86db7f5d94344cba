r"""[FVBS23, Section 6] The open questions, measured."""

import math
from functools import cache

import numpy as np
from scipy import special

from marginflow.data import Clusters, Dataset, smallest_dimension
from marginflow.errors import InputError
from marginflow.limit import convex_pair, kkt_point, specialist
from marginflow.robustness import minimal_step
from marginflow.robustness.linear import LinearClassifier, max_margin_classifier
from marginflow.robustness.rays import steps_along
from marginflow.theory.frame import Check, Findings, Instance, above, at_most, below, is_kkt_point, stated, true, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import A, law_of, law_only, preset, stated_of_clusters, stated_of_law
from marginflow.theory.fvbs23.remarks.relaxed import other_noise, smallest_certified_dimension
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting, cluster_law
from marginflow.theory.fvbs23.thm_3_1.thm_a1 import networks_of
from marginflow.theory.instances import at_point
from marginflow.theory.probability import clopper_pearson, log_sum


def _flips(instance: Instance) -> tuple[Check, ...]:
    """Test error with its interval, and flips along u and along the learned gradient, over sqrt(d)."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    test = FreshPoints.of(instance)
    network = instance.certificate.network
    margins = test.y * network(test.X)
    errors = clopper_pearson(int((margins <= 0).sum()), margins.size)
    root = math.sqrt(s.d)
    along = minimal_step(network, test.X, test.y, sample.u, at_zero="negative").first * s.u_norm / root
    gradient = network.input_gradient(test.X)
    moving = np.linalg.norm(gradient, axis=1) > 0
    down = -test.y[moving, None] * gradient[moving]
    learned = steps_along(network, test.X[moving], test.y[moving], down, at_zero="negative").sizes / root
    return (
        value("test error", errors.frequency, f"{100 * errors.confidence:g} % up to {errors.high:.3g}"),
        value("median flip along u / sqrt(d)", float(np.median(along))),
        value("share that ever flips along u", float(np.isfinite(along).mean())),
        value("median flip along the gradient / sqrt(d)", float(np.median(learned)) if moving.any() else math.nan),
    )


def hyperplane(data: Dataset) -> LinearClassifier | None:
    """The max-margin hyperplane with bias; None where no hyperplane separates the sample."""
    try:
        return max_margin_classifier(data.X, data.y, bias=True)
    except InputError:
        return None


@cache
def too_many_clusters() -> Instance:
    """One sample for each of 14 random clusters in dimension 6, sigma = 0.01: no hyperplane separates them."""
    law = Clusters(dimension=6, n_clusters=14, sigma=0.01, means="sphere", allocation="stratified", means_seed=1)
    data = law.sample(14)
    network = kkt_point(data, width=40, seed=0).network
    test = law.fresh(300, train=data)
    return Instance(name="14 random clusters in dimension 6", network=network, data=data, law=law, test=test)


@stated_of_clusters(
    id="FVBS23/OQ1",
    number="Section 5, first question",
    meaning="Do the results persist for many more clusters, when the data are not linearly separable?",
    formula=r"k \gg \tfrac{d}{10}: \ \text{test error and flips along } u \text{ and along the gradient}",
    example=too_many_clusters,
    control=lambda: preset(A),
    control_shows="two clusters are as few as Assumption 2.2 allows",
    remark="The paper conjectures so. u need not help any more; the learned gradient is measured beside it.",
)
def oq1(instance: Instance) -> Findings:
    """More clusters than the assumption allows: the flip along u at a KKT point, if there is one."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    return Findings(
        value("k / d", s.k / s.d),
        value("linearly separable", float(hyperplane(sample.data) is not None)),
        value("samples", sample.n),
        *_flips(instance),
        hypotheses=(above("k against what Assumption 2.2 allows", s.k, (s.d + 1) / 10), is_kkt_point(instance)),
    )


@cache
def linear_teacher() -> Instance:
    """40 Gaussian samples labelled by their first coordinate, none nearer than 0.1 to the boundary."""
    X = np.random.default_rng(0).standard_normal((4000, 12))
    X = X[np.abs(X[:, 0]) >= 0.1]
    whole = Dataset(X=X, y=np.sign(X[:, 0]))
    data, test = whole.subset(np.arange(40)), whole.subset(np.arange(40, whole.n_samples))
    other = kkt_point(data, width=30, seed=0).network
    return at_point(convex_pair(data), "Gaussian samples with a linear teacher", test=test, networks=(other,))


@stated(
    id="FVBS23/OQ2",
    number="Section 5, second question",
    meaning="On separable data without clusters: is there a KKT point that generalises worse than the max-margin line?",
    formula=r"\Pr[y N_\theta(x) \le 0] - \Pr[y w_{SVM}^\top x \le 0]",
    needs=("network", "data", "test"),
    example=linear_teacher,
    control=lambda: preset(A),
    control_shows="clusters",
)
def oq2(instance: Instance) -> Findings:
    """Test errors of KKT points beside that of the max-margin hyperplane, on data without clusters."""
    data, test = instance.the_data(), instance.the_test()
    networks = networks_of(instance)
    rule = hyperplane(data)
    if rule is None:
        none = above("separable by a hyperplane", 0.0, 0.5)
        return Findings(value("samples", data.n_samples), hypotheses=(none,))
    linear = test.y * rule(test.X) <= 0
    rows: list[Check] = [value("test error, max-margin line", float(linear.mean()))]
    for number, network in enumerate(networks, start=1):
        wrong = test.y * network(test.X) <= 0
        rows.append(value(f"test error, KKT point {number}", float(wrong.mean())))
        rows.append(value(f"difference to the line, KKT point {number}", float(wrong.mean() - linear.mean())))
    return Findings(
        value("margin of the line", 1 / float(np.linalg.norm(rule.w))),
        *rows,
        hypotheses=(true("the data know no clusters", data.clusters is None), is_kkt_point(instance)),
    )


def log_noncentral_ball(d: int, squared: float) -> float:
    """ln P(||g + m|| <= 1), g standard normal in R^d, ||m||^2 = squared: a Poisson mixture of chi^2, in logarithms."""
    half = squared / 2
    middle = math.sqrt(half / 2)
    j = np.arange(0, int(4 * middle) + 200, dtype=np.float64)
    shape = d / 2 + j
    cdf = shape * math.log(0.5) - 0.5 - special.gammaln(shape + 1) + np.log(special.hyp1f1(1.0, shape + 1, 0.5))
    terms = -half + j * math.log(half) - special.gammaln(j + 1) + cdf
    return log_sum(*terms.tolist())


@stated_of_law(
    id="FVBS23/OQ3",
    number="Second version, after Theorem 3.1",
    meaning="Can the upper bound on n go? From which n on do samples of one label appear near means of the other?",
    formula=r"\Pr[\|x - \mu^{(i)}\| \le \sigma] = \Pr\left[\chi'^2_d\left(\frac{\|\mu^{(i)} - "
    r"\mu^{(j)}\|^2}{\sigma^2}\right) \le 1\right]",
    parameters={"epsilon": "0.1", "delta": "0.1"},
    example=lambda: law_only(law_of(38, 2, 0.01)),
    control=lambda: law_only(law_of(37, 2, 0.01)),
    control_shows="one dimension less than Assumption 2.2 needs",
)
def oq3(instance: Instance) -> Findings:
    """How many samples the theorem allows, and at how many a sample of the wrong label would be typical."""
    s = ClusterSetting.of(instance)
    epsilon, delta = instance.number("epsilon", 0.1), instance.number("delta", 0.1)
    lower, upper = s.log_window(epsilon, delta)
    apart = s.squared_distances[s.y[:, None] != s.y[None, :]]
    stray = log_noncentral_ball(s.d, float(apart.min()) / s.sigma**2) if s.sigma > 0 and apart.size else -math.inf
    return Findings(
        value("ln of the least n", lower),
        value("ln of the largest n", upper, "empty window if below the least"),
        value("ln P(a sample of one label is within sigma of a mean of the other)", stray),
        value("ln n at which that happens about once", -stray),
        value("its base-10 logarithm", -stray / math.log(10)),
        hypotheses=s.assumption(),
    )


@stated_of_clusters(
    id="FVBS23/OQ4",
    number="Section 5",
    meaning="More complex distributions: test error and flips where the noise is not Gaussian.",
    formula=r"\xi \not\sim \mathcal{N}(0, \sigma^2 I_d)",
    example=lambda: other_noise("cube"),
    control=lambda: preset(A),
    control_shows="Gaussian clusters are what the theorems are about",
    remark="Deeper architectures are not measured here: the KKT certificate of this room is for two layers.",
)
def oq4(instance: Instance) -> Findings:
    """The flip along u on laws that the theorems do not speak of."""
    s = ClusterSetting.of(instance)
    law = cluster_law(instance.the_law())
    outside = law.cluster_law != "gaussian" or law.noise is not None
    return Findings(
        value("d", s.d),
        value("k", s.k),
        *_flips(instance),
        hypotheses=(true("a law that the theorems do not speak of", outside), is_kkt_point(instance)),
    )


@cache
def unbalanced(positive: int = 18, negative: int = 2) -> Instance:
    """Specialists and the exact pair on 20 means of which 2 are negative, inner products -2, sigma = 0."""
    law = Clusters(
        dimension=4000,
        n_clusters=positive + negative,
        sigma=0.0,
        means="equicorrelated",
        correlation=-2 / 4000,
        mean_labels=(1.0,) * positive + (-1.0,) * negative,
        allocation="stratified",
    )
    data = law.sample(positive + negative)
    point = specialist(data)
    return at_point(
        point, f"{positive} positive and {negative} negative means", law=law, networks=(convex_pair(data).network,)
    )


@stated(
    id="FVBS23/OQ5",
    number="Derived: the factor 1/c in Theorem 4.2",
    meaning="Is 1/c needed for unbalanced clusters? The pair flips at eta = 1/k whatever c is, the specialists "
    "at 1/(1 + ck).",
    formula=r"\eta_{pair} \approx \tfrac{1}{k}, \quad \eta_{specialists} \approx \tfrac{1}{1 + c k}",
    needs=("network", "networks", "data", "law"),
    example=unbalanced,
    control=lambda: unbalanced(10, 10),
    control_shows="balanced clusters",
)
def oq5(instance: Instance) -> Findings:
    """The flip along u when the classes have different numbers of clusters."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    rows = []
    for number, network in enumerate(networks_of(instance), start=1):
        eta = minimal_step(network, sample.data.X, sample.data.y, sample.u).all_at_once
        rows += [
            value(f"network {number}: k times the eta that flips all", s.k * eta),
            value(f"network {number}: eta (1 + c k)", eta * (1 + s.c * s.k), "1 for specialists"),
        ]
    return Findings(
        value("balance c", s.c),
        value("1 / c", 1 / s.c if s.c > 0 else math.inf),
        *rows,
        hypotheses=(below("c", s.c, 0.5), is_kkt_point(instance)),
    )


@stated(
    id="FVBS23/OQ6",
    number="Derived: the constant 10 in Assumption 2.2",
    meaning="From which dimension on does the proof go through with the radii that P1 to P3 really give?",
    formula=r"a_t S_{min} > 2 (k - 1) B S_{max}",
    needs=("parameters",),
    parameters={"n_clusters": "k", "sigma": "noise; 0 stands for 1/sqrt(d)"},
    example=lambda: Instance(name="k = 10, sigma = 1/sqrt(d)", parameters={"n_clusters": 10}),
    control=lambda: Instance(name="sigma = 2", parameters={"n_clusters": 2, "sigma": 2.0}),
    control_shows="Assumption 2.2 says nothing about sigma above 1",
)
def oq6(instance: Instance) -> Findings:
    """The smallest dimension for k clusters, by Assumption 2.2 and by the sharp chain."""
    k = instance.whole("n_clusters")
    sigma = instance.number("sigma", 0.0)
    printed = smallest_dimension(k, "1/sqrt(d)" if sigma == 0 else sigma)
    sharp = smallest_certified_dimension(k, None if sigma == 0 else sigma)
    return Findings(
        value("smallest d, Assumption 2.2", printed),
        value("smallest d, sharp chain", sharp),
        value("ratio", printed / sharp),
        hypotheses=(at_most("sigma", sigma, 1.0),),
    )
