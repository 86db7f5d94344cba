r"""[FVBS23, Appendix C] The robust network of Theorem 4.1: one neuron per cluster."""

import math
from dataclasses import replace

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, above, at_least, at_most, equal, stated, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import robust_control


def construction_checks(test: FreshPoints, network: TwoLayer) -> Findings:
    """On the test points of the good event: what is claimed, the steps of the proof, and sharper forms."""
    s = test.setting
    X, q = test.X[test.in_event], test.clusters[test.in_event]
    pre = network.preactivations(X)[:, : s.k]
    mine = np.arange(s.k)[None, :] == q[:, None]
    own, others = pre[mine], np.where(mine, -np.inf, pre).max(axis=1)
    outputs = s.y[q] * network(X)
    root = math.sqrt(s.d)
    radius = root / 4 * np.minimum(own, -others)
    return Findings(
        claims=(at_least("y N(x)", outputs, 1.0), above("certified radius / sqrt(d)", radius / root, 1 / 8)),
        proof_steps=(
            at_least("input of the own neuron", own, 1.0),
            at_most("input of any other neuron", others, -1.0),
            equal("active neurons", (pre > 0).sum(axis=1).astype(np.float64), 1.0),
            at_least("y N(x) less the largest fall within sqrt(d)/8", outputs - 4 / root * root / 8, 0.5),
        ),
        derived=(
            at_least("input of the own neuron, sharp", own, 41 / 21, note="2 - Delta/d >= 41/21"),
            at_most("input of any other neuron, sharp", others, -1.8, note="-9/5"),
            at_least("certified radius / sqrt(d), sharp", radius / root, 0.45, note="0.45"),
        ),
    )


@stated(
    id="FVBS23/Con-Robust",
    number="Appendix C",
    meaning="One neuron per cluster, active on its own cluster and dead around all the others.",
    formula=r"v_j = y^{(j)}, \quad w_j = \frac{4 \mu^{(j)}}{d}, \quad b_j = -2",
    needs=("network", "law", "test"),
    example=robust_control,
    control=lambda: robust_control().but(
        name="the construction with biases -3.9", network=replace(robust_control().the_network(), b=np.full(2, -3.9))
    ),
    control_shows="with biases of -3.9 the own neuron is hardly active",
    control_outcome="violated",
    remark="At N = 0 the sign is -1, so a positive point flips where its neuron dies, a negative one only where a "
    "positive neuron wakes.",
)
def con_robust(instance: Instance) -> Findings:
    """The given network must be the construction, and do what it is built for."""
    network, test = instance.the_network(), FreshPoints.of(instance)
    s, means = test.setting, test.means
    b = np.zeros(network.width) if network.b is None else network.b
    k = min(s.k, network.width)
    found = construction_checks(test, network) if network.width >= s.k else Findings()
    return Findings(
        value("test points in the event", float(test.in_event.sum())),
        hypotheses=(*s.assumption(), at_least("width", network.width, s.k)),
        claims=(
            at_most("w_j - 4 mu_j / d", np.abs(network.W[:k] - 4 * means[:k] / s.d).max(), 0.0, scale=1.0),
            equal("b_j", b[:k], -2.0),
            equal("v_j", network.v[:k], s.y[:k]),
            *found.claims,
        ),
        proof_steps=found.proof_steps,
        derived=found.derived,
    )
