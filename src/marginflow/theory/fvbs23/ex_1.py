r"""[FVBS23, Example 1] Three layouts of clusters that satisfy Assumption 2.2, with the constants that O-tilde hides."""

import math

from marginflow.data import Clusters, most_clusters
from marginflow.theory.frame import Findings, Instance, at_least, at_most, value
from marginflow.theory.fvbs23.presets import law_of, law_only, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSetting, cluster_law
from marginflow.theory.probability import log_sphere_correlation_tail, union


@stated_of_law(
    id="FVBS23/Ex1.1",
    number="Example 1, first item",
    meaning="Random means on the sphere of radius sqrt(d), sigma = 1: about sqrt(d) clusters, up to a logarithm, fit.",
    formula=r"p \le \sqrt{d} \ln d, \ \sigma = 1: \quad k \le \frac{d - \Delta + 1}{10 (5 \sqrt{d} \ln d + 1)} = "
    r"\tilde O(\sqrt{d})",
    example=lambda: law_only(Clusters(dimension=10**8, n_clusters=10, sigma=1.0, means="sphere")),
    control=lambda: law_only(Clusters(dimension=10**5, n_clusters=10, sigma=1.0, means="sphere")),
    control_shows="ten clusters in dimension 100000, where not even two fit: Assumption 2.2 fails 18 times over",
    printed=r"k = \tilde O(\sqrt{d})",
    proved=r"k \le \frac{\sqrt{d}}{50 \ln d} (1 + o(1))",
    remark="k = 2 needs d = 2324214 with the guaranteed p; at d = 1e8 ten clusters fit.",
)
def example_1_1(instance: Instance) -> Findings:
    """p of the drawn means against sqrt(d) ln d, with the exact probability that it is exceeded."""
    s = ClusterSetting.of(instance)
    guaranteed = math.sqrt(s.d) * s.L
    allowed = most_clusters(s.d, s.sigma, guaranteed)
    pair = log_sphere_correlation_tail(min(1.0, s.L / math.sqrt(s.d)), s.d)
    exact, bound = union(pair, s.k * (s.k - 1) / 2), 2 * math.log(s.k) + (1 - s.L / 4) * s.L
    return Findings(
        value("p / (sqrt(d) ln d)", s.p / guaranteed),
        value("largest k", allowed),
        value("largest k times 50 ln(d) / sqrt(d)", allowed * 50 * s.L / math.sqrt(s.d), "tends to 1 for sigma = 1"),
        hypotheses=(at_most("k", s.k, allowed, note="(d - Delta + 1) / (10 (sqrt(d) ln d + Delta + 1))"),),
        claims=(
            at_most("p", s.p, guaranteed),
            at_most("ln P(p > sqrt(d) ln d), exact tails", exact, bound, vacuous=bound >= 0),
            *s.assumption(),
        ),
    )


@stated_of_law(
    id="FVBS23/Ex1.2",
    number="Example 1, second item",
    meaning="Orthogonal means, sigma = 1/sqrt(d): about d clusters, up to a logarithm, fit.",
    formula=r"p = 0, \ \sigma = \tfrac{1}{\sqrt{d}}: \quad k \le \frac{d - 4 \ln d + 1}{10 (4 \ln d + 1)} = "
    r"\tilde O(d)",
    example=lambda: law_only(law_of(10_000, 26)),
    control=lambda: law_only(law_of(10_000, 27)),
    control_shows="27 clusters in dimension 10000 are one too many",
    printed=r"k = \tilde O(d)",
    proved=r"k \le \frac{d}{40 \ln d} (1 + o(1))",
    remark="3, 26, 212, 1777 clusters for d = 1e3, 1e4, 1e5, 1e6.",
)
def example_1_2(instance: Instance) -> Findings:
    """Orthogonal means with sigma = 1/sqrt(d): the largest k that Assumption 2.2 allows."""
    s = ClusterSetting.of(instance)
    room = (s.d - 4 * s.L + 1) / (10 * (4 * s.L + 1))
    return Findings(
        value("largest k", math.floor(room)),
        value("largest k times 40 ln(d) / d", room * 40 * s.L / s.d),
        hypotheses=(at_most("k", s.k, math.floor(room), note="(d - 4 ln d + 1) / (10 (4 ln d + 1))"),),
        claims=(at_most("p", s.p, 0.0, scale=s.d, tolerance=1e-14), *s.assumption()),
    )


@stated_of_law(
    id="FVBS23/Ex1.3",
    number="Example 1, third item",
    meaning="Few clusters may have means with inner products of order d.",
    formula=r"k = \tilde O(1): \quad p \le \frac{d - \Delta + 1}{10 k} - \Delta - 1 = \Theta(d)",
    example=lambda: law_only(law_of(10**6, 3, 0.01, correlation=0.02)),
    control=lambda: law_only(law_of(10**6, 3, 0.01, correlation=0.04)),
    control_shows="a correlation of 0.04 is above 1/(10 k)",
    printed=r"p = \tilde\Theta(d)",
    sharp=r"\frac{p}{d} < \frac{1}{10 k}",
    remark="For k = 2 and sigma = 0.01 the largest p/d is 0.040, 0.046, 0.0485, 0.0494 for d = 1e3 to 1e6.",
)
def example_1_3(instance: Instance) -> Findings:
    """Correlated means: the largest p that Assumption 2.2 allows for the given k."""
    s = ClusterSetting.of(instance)
    largest = (s.d - s.Delta + 1) / (10 * s.k) - s.Delta - 1
    return Findings(
        value("p / d", s.p / s.d),
        value("largest p / d", largest / s.d, "tends to 1 / (10 k)"),
        value("correlation of the means", cluster_law(instance.the_law()).correlation),
        hypotheses=(at_most("p", s.p, largest, note="(d - Delta + 1) / (10 k) - Delta - 1"),),
        claims=(at_least("p / d is of order 1", s.p / s.d, 1 / (100 * s.k)), *s.assumption()),
    )
