r"""[FVBS23, Theorem 4.1 and Appendix C] A robust network exists: one neuron per cluster."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.networks import TwoLayer
from marginflow.robustness.constructions import one_neuron_per_cluster
from marginflow.theory.frame import Check, Erratum, Findings, Instance, above, at_least, at_most, equal, stated, value
from marginflow.theory.fvbs23 import region
from marginflow.theory.fvbs23.presets import A, close_means, preset, robust_control
from marginflow.theory.fvbs23.setting import ClusterSetting
from marginflow.theory.fvbs23.thm_3_1.lem_a12 import test_clusters
from marginflow.theory.instances import changed
from marginflow.theory.probability import log_two_sided_gaussian_tail


def cluster_means(instance: Instance) -> FloatArray:
    """The means of the clusters in the coordinates of the test points, shape (k, d')."""
    test, _ = test_clusters(instance)
    assert test.means is not None
    return test.means


def on_event(instance: Instance) -> BoolArray:
    """Which test points have |<mu_q, xi>| <= g for all q, shape (t,)."""
    test, clusters = test_clusters(instance)
    means, g = cluster_means(instance), ClusterSetting.of(instance).g
    fine: BoolArray = np.all(np.abs((test.X - means[clusters]) @ means.T) <= g * (1 + 1e-12), axis=1)
    return fine


def construction_checks(
    instance: Instance, network: TwoLayer
) -> tuple[tuple[Check, ...], tuple[Check, ...], tuple[Check, ...]]:
    """On the test points of the good event: what is claimed, the steps of the proof, and sharper forms."""
    s = ClusterSetting.of(instance)
    test, clusters = test_clusters(instance)
    fine = on_event(instance)
    X, q = test.X[fine], clusters[fine]
    pre = network.preactivations(X)[:, : s.k]
    mine = np.arange(s.k)[None, :] == q[:, None]
    own, others = pre[mine], np.where(mine, -np.inf, pre).max(axis=1)
    outputs = s.y[q] * network(X)
    root = math.sqrt(s.d)
    radius = root / 4 * np.minimum(own, -others)
    claims = (
        at_least("y N(x)", outputs, 1.0),
        above("certified radius / sqrt(d)", radius / root, 1 / 8),
    )
    steps = (
        at_least("input of the own neuron", own, 1.0),
        at_most("input of any other neuron", others, -1.0),
        equal("active neurons", (pre > 0).sum(axis=1).astype(np.float64), 1.0),
        at_least("y N(x) less the largest fall within sqrt(d)/8", outputs - 4 / root * root / 8, 0.5),
    )
    sharp = (
        at_least("input of the own neuron, sharp", own, 41 / 21, note="2 - Delta/d >= 41/21"),
        at_most("input of any other neuron, sharp", others, -1.8, note="-9/5"),
        at_least("certified radius / sqrt(d), sharp", radius / root, 0.45, note="0.45"),
    )
    return claims, steps, sharp


@stated(
    id="FVBS23/Thm4.1",
    meaning="Under Assumption 2.2 a network of any width from k on classifies well and is robust at distances of "
    "order sqrt(d).",
    formula=r"\Pr_x\left[y N(x) \ge 1, \ \|x' - x\| \le \tfrac{\sqrt{d}}{8} \Rightarrow \mathrm{sign}(N(x')) = "
    r"\mathrm{sign}(N(x)) = y\right] \ge 1 - 2 k q_d",
    needs=("law", "test"),
    parameters={"width": "width of the network, at least k"},
    example=lambda: preset(A),
    control=lambda: close_means(A, 0.9),
    control_shows="means at a cosine of 0.9: the neuron of the other cluster is active too",
    region=region.THEOREM_4_1,
    printed=r"\tfrac{1}{8} \sqrt{d} \text{ for } d \text{ sufficiently large } (d \ge 681)",
    sharp=r"0.45 \sqrt{d} \text{ for every } d \text{ under Assumption 2.2}",
    remark="The proof drops sigma in (18), which costs the condition d >= 681; with sigma kept the inputs are at "
    "least 41/21 and at most -9/5 under the assumption alone.",
    errata=Erratum.wrong_constant(
        "Step (18) drops sigma, which costs the condition that d be large enough (681).",
        repair="under Assumption 2.2 alone the radius is 0.45 sqrt(d); FVBS23/Thm4.1-sharp",
    ),
)
def theorem_4_1(instance: Instance) -> Findings:
    """The construction is made here from the means; the instance brings the law and test points."""
    s = ClusterSetting.of(instance)
    width = instance.whole("width", s.k + 3)
    made = one_neuron_per_cluster(cluster_means(instance), s.y, width=width, ambient_dimension=s.d)
    exact = math.log(s.k) + log_two_sided_gaussian_tail(s.L)
    bound = math.log(2 * s.k) + s.log_q
    fine = on_event(instance)
    claims, steps, sharp = construction_checks(instance, made.network)
    return Findings(
        hypotheses=s.assumption(),
        constants=(
            value("test points in the event", float(fine.sum()), f"of {fine.size}"),
            value("printed step 2 - 4 ln(d)/sqrt(d)", 2 - 4 * s.L / math.sqrt(s.d), "at least 1 from d = 681 on"),
            value("step with sigma kept, 2 - Delta/d", 2 - s.Delta / s.d),
        ),
        claims=(
            at_most("ln P(not in the event), exact", exact, bound, vacuous=bound >= 0, note="ln(2 k q_d)"),
            *claims,
        ),
        proof_steps=(
            equal("||w_j|| sqrt(d)", np.linalg.norm(made.network.W[: s.k], axis=1) * math.sqrt(s.d), 4.0),
            *steps,
        ),
        derived=sharp,
    )


@cache
def lower_biases() -> Instance:
    """The construction with biases -3.9: its neurons are almost dead on their own clusters."""

    def lowered(network: TwoLayer) -> TwoLayer:
        return replace(network, b=np.full(network.width, -3.9))

    return changed(robust_control(), "the construction with biases -3.9", lowered, "law", "test")


@stated(
    id="FVBS23/Con-Robust",
    number="Appendix C",
    meaning="One neuron per cluster, active on its own cluster and dead around all the others.",
    formula=r"v_j = y^{(j)}, \quad w_j = \frac{4 \mu^{(j)}}{d}, \quad b_j = -2",
    needs=("network", "law", "test"),
    example=robust_control,
    control=lower_biases,
    control_shows="with biases of -3.9 the own neuron is hardly active",
    control_outcome="violated",
    remark="At N = 0 the sign is -1, so a positive point flips where its neuron dies, a negative one only where a "
    "positive neuron wakes.",
)
def con_robust(instance: Instance) -> Findings:
    """The given network must be the construction, and do what it is built for."""
    s = ClusterSetting.of(instance)
    network, means = instance.the_network(), cluster_means(instance)
    b = np.zeros(network.width) if network.b is None else network.b
    k = min(s.k, network.width)
    claims, steps, sharp = construction_checks(instance, network) if network.width >= s.k else ((), (), ())
    return Findings(
        hypotheses=(*s.assumption(), at_least("width", network.width, s.k)),
        constants=(value("test points in the event", float(on_event(instance).sum())),),
        claims=(
            at_most("w_j - 4 mu_j / d", np.abs(network.W[:k] - 4 * means[:k] / s.d).max(), 0.0, scale=1.0),
            equal("b_j", b[:k], -2.0),
            equal("v_j", network.v[:k], s.y[:k]),
            *claims,
        ),
        proof_steps=steps,
        derived=sharp,
    )


@stated(
    id="FVBS23/Thm4.1-sharp",
    number="Theorem 4.1, sharp",
    meaning="Under Assumption 2.2 alone, for every d, the robust network keeps its sign within 0.45 sqrt(d).",
    formula=r"w_j^\top x + b_j \ge \tfrac{41}{21} \ (\text{own}), \quad \le -\tfrac{9}{5} \ (\text{others}), \quad "
    r"R = 0.45 \sqrt{d}",
    needs=("law", "test"),
    example=lambda: preset(A),
    control=lambda: close_means(A, 0.9),
    control_shows="means at a cosine of 0.9: the neuron of the other cluster is active too",
    known="The proof with sigma kept in (18); no condition on d is left.",
)
def theorem_4_1_sharp(instance: Instance) -> Findings:
    """Inputs and certified radii of the construction, with the constants that keep sigma."""
    s = ClusterSetting.of(instance)
    made = one_neuron_per_cluster(cluster_means(instance), s.y, ambient_dimension=s.d)
    _, _, sharp = construction_checks(instance, made.network)
    fine = on_event(instance)
    return Findings(
        hypotheses=s.assumption(),
        constants=(value("test points in the event", float(fine.sum()), f"of {fine.size}"),),
        claims=sharp,
    )
