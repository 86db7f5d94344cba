r"""[FVBS23/X.GramReduction] Samples of clusters drawn in the dimension of their span."""

from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.theory.frame import Findings, Instance, above, at_least, at_most, require, value
from marginflow.theory.fvbs23.definitions import SIGNIFICANT
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import A, preset, stated_of_draw
from marginflow.theory.fvbs23.setting import ClusterSample


@cache
def naive_reduction() -> Instance:
    """Gaussian noise in k + n coordinates that claims to stand for d: its norms are those of k + n dimensions."""
    good = preset(A)
    sample, rng = ClusterSample.of(good), np.random.default_rng(0)
    X = sample.means[sample.clusters] + A[0] ** -0.5 * rng.standard_normal(sample.data.X.shape)
    return good.only("law", "test", name="plain Gaussian coordinates", data=replace(sample.data, X=X))


@stated_of_draw(
    id="FVBS23/X.GramReduction",
    kind="construction",
    number="Derived: weights lie in the span of samples, u in that of means",
    meaning="Clusters in any dimension d can be drawn in k + n coordinates with the exact law of all inner products.",
    formula=r"(\mu, 0) + \sigma (g, T), \quad g \sim \mathcal{N}(0, I_k), \quad T \text{ lower triangular}, \ T_{ii}^2 "
    r"\sim \chi^2_{d - k - i}",
    control=naive_reduction,
    control_shows="plain Gaussian coordinates have the norms of 82 dimensions, not of 549",
    control_outcome="violated",
)
def x_reduction(instance: Instance) -> Findings:
    """Exact laws that the inner products of a reduced sample must have, by goodness of fit."""
    from scipy import stats  # slow to import, and needed by few

    sample = ClusterSample.of(instance)
    s = sample.setting
    test = FreshPoints.of(instance)
    noisy = above("||xi_0||", sample.noise_norms[0], 0.0, tolerance=0.0)
    require(noisy, "there is no noise to compare", given=bool(sample.noise_norms[0] * s.u_norm > 0))
    squares = (sample.noise_norms / s.sigma) ** 2
    # Given xi_0, the numbers <xi_0, xi_i> / (sigma ||xi_0||) are independent standard normal.
    first = sample.noise[0] / sample.noise_norms[0]
    inner = sample.noise[1:] @ first / s.sigma
    fresh = (test.X - sample.means[test.clusters]) @ first / s.sigma
    along = sample.noise @ sample.u / (s.sigma * s.u_norm)
    return Findings(
        value("coordinates used", sample.data.dimension),
        value("d", s.d),
        claims=(
            at_most("columns", sample.data.dimension, min(s.d, s.k + sample.n)),
            at_most("<mu, mu'> against the law", np.abs(sample.means @ sample.means.T - s.gram), 0.0, scale=s.d),
            at_least(
                "p-value: ||xi||^2 / sigma^2 ~ chi^2_d", stats.kstest(squares, "chi2", (s.d,)).pvalue, SIGNIFICANT
            ),
            at_least("p-value: <xi_0, xi_i>", stats.kstest(inner, "norm").pvalue, SIGNIFICANT),
            at_least("p-value: <xi_0, xi> of test points", stats.kstest(fresh, "norm").pvalue, SIGNIFICANT),
            at_least("p-value: <u, xi_i>", stats.kstest(along, "norm").pvalue, SIGNIFICANT),
        ),
    )
