r"""[FCB22, sec. 2.1] Odd m: one output is 0, and the network is the even one with its step-size changed a little.

With a_m = 0 the last neuron never moves and says nothing; what is left has m - 1 neurons with |a_j| = 1/sqrt(m) instead
of 1/sqrt(m - 1). f and the steps then carry the factor (1 - 1/m)^(1/2), which every constant absorbs.
"""

import math
from functools import cache

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.theory.fcb22.recorded import c16
from marginflow.theory.frame import Findings, Instance, equal, require, stated, true, unmet, value


@cache
def odd_network(silent: bool = True) -> Instance:
    """The trained network of the instance C = 16 with one more neuron, silent or not."""
    good = c16()
    network = good.the_network()
    m = network.width + 1
    rng = np.random.default_rng(0)
    W = np.vstack([network.W, rng.standard_normal(network.dimension) * np.abs(network.W).mean()])
    v = np.append(np.sign(network.v), 0.0 if silent else 1.0) / math.sqrt(m)
    name = f"{m} neurons, the last of them {'silent' if silent else 'with an output as well'}"
    return Instance(name=name, network=TwoLayer(W=W, v=v, outputs="frozen"), data=good.data)


@stated(
    id="FCB22/Setting.OddWidth",
    kind="remark",
    number="Section 2.1, odd m",
    meaning="For odd m one output is set to 0: the last neuron neither speaks nor moves, and the rest is an even "
    "network.",
    formula=r"a_m = 0: \quad f(x; W) = \sqrt{1 - \tfrac1m} \, f^{(m-1)}(x; W), \quad \nabla_{w_m} L = 0",
    example=odd_network,
    control=lambda: odd_network(silent=False),
    control_shows="an odd number of outputs that are all 1/sqrt(m) in size: one sign has a neuron more",
    control_outcome="violated",
    remark="Lemma 4.2 counts quarters of m; with m - 1 in its place nothing changes but constants.",
)
def odd_width(instance: Instance) -> Findings:
    """f, the gradient of the last neuron, and the balance of the outputs."""
    network, data = instance.the_network(), instance.the_data()
    m = network.width
    hypotheses = (true("m is odd", m % 2 == 1), true("no bias", network.b is None))
    require(hypotheses, "an odd number of neurons is needed", given=not unmet(hypotheses) and m >= 3)
    even = TwoLayer(W=network.W[:-1], v=network.v[:-1] * math.sqrt(m / (m - 1)), outputs="frozen")
    f = network(data.X)
    gradient = network.gradient(data.X, data.y)
    scale = float(np.abs(f).max())
    return Findings(
        hypotheses=hypotheses,
        constants=(value("m", m), value("sqrt(1 - 1/m)", math.sqrt(1 - 1 / m))),
        claims=(
            equal("f against sqrt(1 - 1/m) f of m - 1 neurons", f, math.sqrt(1 - 1 / m) * even(data.X), scale=scale),
            equal("gradient of the last neuron", gradient.W[-1], 0.0, scale=float(np.abs(gradient.W).max())),
            equal("sum of the outputs", float(network.v.sum()), 0.0, scale=1.0),
        ),
    )
