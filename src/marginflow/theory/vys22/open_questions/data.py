r"""Probes about the data: more samples (OQ1), unequal norms (OQ4), clusters (OQ5), test points (OQ6)."""

from functools import cache

import numpy as np

from marginflow.data import Clusters, Gaussian, GramReduction, Sphere
from marginflow.limit import convex_pair, kkt_point
from marginflow.robustness import minimal_step
from marginflow.theory.frame import Check, Findings, Instance, at_least, is_kkt_point, require, stated, value
from marginflow.theory.instances import at_point, orthogonal_point
from marginflow.theory.vys22.presets import robust_control
from marginflow.theory.vys22.setting import Setting


@stated(
    id="VYS22/OQ1",
    number="Section 7, first open question",
    meaning="Does the flip along u stay of order sqrt(d/m) when there are far more samples than the theorem allows?",
    formula=r"\|z\| \sqrt{m/d} \quad \text{as } m / m_{\mathrm{allowed}} \text{ grows}",
    needs=("parameters",),
    parameters={"dimension": "d; samples range from d/10 to 2d"},
    example=lambda: Instance(name="random data in dimension 20"),
    control=lambda: Instance(name="dimension 2", parameters={"dimension": 2}),
    control_shows="in dimension 2 there is no range of m to look at",
)
def more_samples(instance: Instance) -> Findings:
    """Random data with m = d/10 to 2d: how large is the flip along u, in units of sqrt(d/m)?"""
    d = instance.whole("dimension", 20)
    large = at_least("dimension", d, 10, note="fewer leave nothing between sqrt(d) and d")
    require(large, "", value("dimension", d))
    measured: list[Check] = []
    orthogonal = orthogonal_point(d, d // 3)
    setting = Setting.of(orthogonal.the_data())
    flip = setting.shortest_flip(orthogonal.the_network())
    measured.append(value("flip sqrt(m/d), orthogonal", flip * float(np.sqrt(setting.m / d))))
    for m in sorted({max(2, d // 10), round(d**0.5), d, 2 * d}):
        data = Sphere(dimension=d, labels="both").sample(m, seed=instance.seed)
        point = kkt_point(data, width=max(20, 2 * m), seed=instance.seed)
        setting = Setting.of(data, point.certificate.margin_set)
        flip = setting.shortest_flip(point.network)
        note = f"m / allowed = {m / Setting.of(data).allowed:.3g}, KKT residual {point.certificate.total:.1e}"
        measured.append(value(f"flip sqrt(m/d) at m = {m}", flip * float(np.sqrt(m / d)), note))
    return Findings(hypotheses=(large,), constants=tuple(measured))


@cache
def gaussian_point() -> Instance:
    """The exact pair on 10 Gaussian samples in dimension 100000."""
    data = GramReduction(Gaussian(dimension=100_000, variance=1, labels="balanced")).sample(10)
    return at_point(convex_pair(data), "the exact pair on 10 Gaussian samples in dimension 100000")


@stated(
    id="VYS22/OQ4",
    number="Section 4, after Example 1",
    meaning="What do the constants become on Gaussian inputs, whose norms differ?",
    formula=r"d_{\min} \le \|x_i\|^2 \le d_{\max}",
    example=gaussian_point,
    control=robust_control,
    control_shows="not a KKT point",
)
def unequal_norms(instance: Instance) -> Findings:
    """The constants with d_min and d_max on data whose norms differ."""
    setting = Setting.of(instance.the_data())
    squares = np.diag(setting.gram)
    d_min, d_max, n, p = float(squares.min()), float(squares.max()), max(1, setting.n_least), setting.p
    D = d_min - (setting.m - 1) * p
    t = (p + 1) / D + ((n - 1) * (p + 1) + d_max + 1) / (n * D) if D > 0 else np.inf
    hypotheses = (is_kkt_point(instance), setting.balanced())
    require(hypotheses, "", value("||u||", 0.0), given=setting.u_norm > 0)
    truth = setting.shortest_flip(instance.certificate.network)
    return Findings(
        value("d_min / d", d_min / setting.d),
        value("d_max / d", d_max / setting.d),
        value("m - 1", setting.m - 1, f"proved up to {(d_min + 1) / (3 * (p + 1)):.4g}"),
        value("largest |q_i - 1|", float(np.abs(instance.certificate.margins - 1).max())),
        value("||z|| proved / sqrt(d)", t * setting.u_norm / float(np.sqrt(setting.d))),
        value("||z|| exact / sqrt(d)", truth / float(np.sqrt(setting.d))),
        hypotheses=hypotheses,
    )


@stated(
    id="VYS22/OQ5",
    number="Section 4, before Corollary 4.1",
    meaning="On clustered data, how often do the support vectors satisfy the bound of Corollary 4.1?",
    formula=r"|\{i : \lambda_i > 0\}| \le \frac{d+1}{3(p+1)}",
    needs=("parameters",),
    parameters={"dimension": "d", "clusters": "their number", "draws": "data sets drawn"},
    example=lambda: Instance(name="4 orthogonal clusters in dimension 500, 3 samples each"),
    control=lambda: Instance(name="a single cluster", parameters={"clusters": 1}),
    control_shows="one cluster has one label",
)
def clusters(instance: Instance) -> Findings:
    """Draws of clustered data: how many support vectors does the exact pair have, and how many are allowed?"""
    d = instance.whole("dimension", 500)
    k = instance.whole("clusters", 4)
    draws = instance.whole("draws", 5, at_least=1)
    enough = require(at_least("clusters", k, 2, note="both labels must occur"), "", value("clusters", k))
    satisfied, sizes, allowed = 0, [], []
    for draw in range(draws):
        data = Clusters(dimension=d, n_clusters=k, allocation="stratified").sample(3 * k, seed=instance.seed + draw)
        point = convex_pair(data)
        setting = Setting.of(data, point.multipliers > 1e-8 * point.multipliers.max())
        satisfied += setting.few_samples().state == "met"
        sizes.append(setting.m)
        allowed.append(setting.allowed)
    return Findings(
        value("draws whose support satisfies A.msize", satisfied, f"of {draws}"),
        value("support vectors, on average", float(np.mean(sizes)), f"of {3 * k} samples"),
        value("allowed, on average", float(np.mean(allowed)), "p is of order d inside a cluster"),
        hypotheses=enough,
    )


@cache
def _with_test_points() -> Instance:
    law = GramReduction(Sphere(dimension=100_000, labels="balanced"))
    data = law.sample(16, seed=0)
    name = "the exact pair on 16 random samples in dimension 100000, and 500 fresh points"
    return at_point(convex_pair(data), name, test=law.fresh(500, train=data, seed=1))


@stated(
    id="VYS22/OQ6",
    number="Section 4 speaks of training points only",
    meaning="Does the z of the training set flip points that were not trained on?",
    formula=r"\mathrm{sign}\, N(x - \mathrm{sign}(N(x)) z) \ne \mathrm{sign}\, N(x) \text{ for fresh } x",
    needs=("network", "data", "test"),
    example=_with_test_points,
    control=lambda: robust_control().but(test=robust_control().data),
    control_shows="not a KKT point",
)
def test_points(instance: Instance) -> Findings:
    """Points that were not trained on, moved by the z of the training set: whose sign changes?"""
    setting = Setting.of(instance.the_data())
    network, test = instance.certificate.network, instance.the_test()
    signs = np.where(network(test.X) >= 0, 1.0, -1.0)
    flipped = signs * network(test.X - setting.eta * signs[:, None] * setting.u) < 0
    own = minimal_step(network, setting.X, setting.y, setting.u)
    steps = minimal_step(network, test.X, signs, setting.u)
    return Findings(
        value("share of test points that the literal z flips", float(flipped.mean()), f"of {test.n_samples}"),
        value("median flip of the test points", float(np.median(steps.first)) * setting.u_norm),
        value("median flip of the samples", float(np.median(own.first)) * setting.u_norm),
        value("median |N| on test points", float(np.median(np.abs(network(test.X)))), "1 on the samples"),
        hypotheses=(*setting.hypotheses(), is_kkt_point(instance)),
    )
