r"""[FVBS23, Definition 4.1] Robustness of order R(d)."""

import math
from functools import cache

import numpy as np

from marginflow.data import GramReduction
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step
from marginflow.robustness.linear import mean_classifier
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.theory.frame import Check, Findings, Instance, at_least, stated, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import law_of, robust_control
from marginflow.theory.fvbs23.setting import ClusterSample


@cache
def linear_network() -> Instance:
    """The linear classifier u / d as a network of two neurons, on 100 clusters: it flips at sqrt(d / k)."""
    law = GramReduction(law_of(1092, 100, 1e-4, stratified=True))
    data = law.sample(100)
    sample = ClusterSample.of(Instance(data=data, law=law))
    w = mean_classifier(sample.means, sample.setting.y, ambient_dimension=1092).w
    network = TwoLayer(W=np.vstack([w, -w]), b=np.zeros(2), v=np.array([1.0, -1.0]))
    test = law.fresh(200, train=data)
    return Instance(name="the linear classifier u / d", network=network, data=data, law=law, test=test)


@stated(
    id="FVBS23/Def4.1",
    number="Definition 4.1 (second version)",
    meaning="A network is R(d)-robust if almost no point changes its sign within a distance of order less than R(d).",
    formula=r"\forall r = o(R(d)): \ \Pr_x[\forall x' \in \mathbb{B}(x, r): \mathrm{sign}(N(x')) = "
    r"\mathrm{sign}(N(x))] \ge 1 - o_d(1)",
    needs=("network", "law", "test"),
    parameters={"radius": "rho: the radius is rho sqrt(d), 1/8 by default", "share": "share of the points, 0.99"},
    example=robust_control,
    control=linear_network,
    control_shows="the linear classifier on 100 clusters flips at a tenth of sqrt(d)",
    remark="Asymptotic in d; for one d a fixed fraction of sqrt(d) and a fixed share are tested. Numbered in the "
    "second version only.",
)
def def_4_1(instance: Instance) -> Findings:
    """Share of the test points that keep their sign within rho sqrt(d): certified from below, refuted from above."""
    network, test = instance.the_network(), FreshPoints.of(instance)
    s = test.setting
    rho, share = instance.number("radius", 1 / 8), instance.number("share", 0.99)
    right = test.y * network(test.X) > 0
    signs = np.where(network(test.X) > 0, 1.0, -1.0)
    root = math.sqrt(s.d)
    lower = interval_bound(network, test.X, signs).radii / root
    upper = minimal_step(network, test.X, signs, s.y @ test.means, at_zero="negative").sizes / root
    low, high = float((lower >= rho).mean()), float((upper >= rho).mean())
    note = "from certified radii to flips found along u"
    return Findings(
        value("smallest certified radius / sqrt(d)", float(lower.min())),
        value("median flip along u / sqrt(d)", float(np.median(upper))),
        value("sqrt(1 / k)", 1 / math.sqrt(s.k)),
        hypotheses=(at_least("share of points classified correctly", float(right.mean()), 0.5),),
        claims=(
            Check("share of points robust at rho sqrt(d)", low, ">=", share, interval=(low, max(low, high)), note=note),
        ),
    )
