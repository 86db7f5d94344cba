r"""[FVBS23, eq. (5)] and its twin for positive outputs: what the stationarity of a KKT point says of the neurons."""

import numpy as np

from marginflow.theory.frame import Check, Findings, Instance, at_least, equal, is_kkt_point, stated, value
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import A, preset, scaled_neurons, stated_of_clusters


@stated(
    id="FVBS23/Eq5",
    number="Equation (5), repeated as (8)",
    meaning="The ReLU is at least its argument, so the own neurons may be replaced by linear ones from below.",
    formula=r"y = 1: \ N_\theta(x) \ge \sum_{j \in J_+} v_j (w_j^\top x + b_j) + \sum_{j \in J_-} v_j "
    r"\phi(w_j^\top x + b_j)",
    needs=("network", "test"),
    parameters={"replaced": "the neurons that become linear: own sign, as printed, or other sign"},
    example=lambda: preset(A),
    control=lambda: preset(A).only(
        "network", "test", name="the neurons of the other sign made linear", parameters={"replaced": "other sign"}
    ),
    control_shows="on neurons of the other sign the inequality points the other way",
    control_outcome="violated",
)
def equation_5(instance: Instance) -> Findings:
    """relu(t) >= t on the neurons of the own sign."""
    network, test = instance.the_network(), instance.the_test()
    pre = network.preactivations(test.X)
    replaced = instance.word("replaced", "own sign", ("own sign", "other sign"))
    chosen = test.y[:, None] * network.v * (1.0 if replaced == "own sign" else -1.0) > 0
    linear = np.where(chosen, network.v * pre, network.v * np.maximum(pre, 0.0)).sum(axis=1)
    outputs = test.y * network(test.X)
    scale = float(np.abs(network.v * pre).max())
    return Findings(
        value("largest gap", float((outputs - test.y * linear).max())),
        claims=(at_least("y N(x)", outputs, test.y * linear, scale=scale, tolerance=1e-12),),
    )


@stated_of_clusters(
    id="FVBS23/Eq5b",
    number="After equation (5)",
    meaning="At a KKT point the linear part is a sum over samples, with the multipliers and the +1 of the bias.",
    formula=r"\sum_{j \in J_+} v_j (w_j^\top x + b_j) = \sum_i \lambda_i y_i \Big(\sum_{j \in J_+} v_j^2 "
    r"\phi'_{ij}\Big) (x_i^\top x + 1)",
    control=scaled_neurons,
    control_shows="no multipliers explain a network that is not a KKT point",
)
def equation_5b(instance: Instance) -> Findings:
    """The linear part of Eq. (5) from the multipliers, for J+ and J-, at the test points."""
    neurons = CertifiedNeurons.of(instance)
    data, X = instance.the_data(), instance.the_test().X
    gram = data.X @ X.T + 1.0
    checks: list[Check] = []
    for name, chosen in (("J+", neurons.positive), ("J-", neurons.negative)):
        direct = neurons.preactivations(X)[:, chosen] @ neurons.v[chosen]
        weights = data.y * (neurons.mu[:, chosen] @ neurons.v[chosen] ** 2)
        size = float((np.abs(weights) @ np.abs(gram)).max())
        checks.append(equal(f"{name}: sum_j v_j (w_j . x + b_j)", direct, weights @ gram, scale=size))
    return Findings(value("test points", float(X.shape[0])), hypotheses=(is_kkt_point(instance),), claims=tuple(checks))
