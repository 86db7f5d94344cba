r"""[KYS23, Lemmas B.5 and B.6]: all biases are non-negative, and every sample has an active neuron of its own sign."""

from dataclasses import replace

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.theory.frame import Findings, Instance, at_least, stated, value
from marginflow.theory.instances import changed
from marginflow.theory.kys23.sphere_points import frozen_low, frozen_point
from marginflow.theory.kys23.thm_4_3.setting import frozen_setting
from marginflow.theory.kys23.unit_sphere import separates


@stated(
    id="KYS23/LemB.5",
    meaning="With nearly orthogonal samples every bias of a KKT point with frozen outputs is non-negative.",
    formula=r"m^2 \rho \le \tfrac12 \implies b_j \ge 0 \quad \forall j",
    parameters={"delta": "0.1; only for the printed dimension"},
    example=lambda: frozen_point(60, 8, 15, 10**9),
    control=frozen_low,
    control_shows="in dimension 3 the samples are far from orthogonal, and some biases are negative",
    printed=r"d \ge 8 m^4 \ln\frac{2m^2}{\delta}",
    proved=r"m^2 \rho \le \tfrac12, \quad \text{with Clarke weights as well}",
    remark="Not for trained outputs, nor for networks that training has not yet brought to a KKT point: there the "
    "initialisation is remembered and negative biases occur.",
)
def lemma_b5(instance: Instance) -> Findings:
    """The sign of every bias."""
    frozen, shared = frozen_setting(instance)
    m = frozen.sample.m
    return Findings(
        value("smallest b_j", float(frozen.b.min())),
        value("B", frozen.B),
        value("ln of the least d that is printed", frozen.log_least_dimension(8, 0, instance.number("delta", 0.1))),
        hypotheses=(*shared, frozen.nearly_orthogonal(m**2, 0.5, "m^2 rho")),
        claims=(at_least("b_j", frozen.b, 0.0, scale=frozen.scale),),
    )


def _asleep(network: TwoLayer) -> TwoLayer:
    negative, b = network.v < 0, network.augmented[:, -1]
    return replace(network, W=np.where(negative[:, None], 0.0, network.W), b=np.where(negative, -1.0, b))


@stated(
    id="KYS23/LemB.6",
    meaning="Every sample that is classified correctly has an active neuron with an output of its own sign.",
    formula=r"y_i N(x_i) > 0 \implies \exists j:\ y_i v_j > 0, \quad w_j^\top x_i + b_j > 0",
    example=lambda: frozen_point(60, 8, 15, 10**9),
    control=lambda: changed(frozen_point(60, 2, 6, 10**11), "the negative neuron asleep", _asleep),
    control_shows="training from small weights puts the negative neurons to sleep; then nothing is fitted",
    remark="Pure feasibility: lambda_i > 0, as printed, is not needed, nor that theta is a KKT point.",
)
def lemma_b6(instance: Instance) -> Findings:
    """The largest pre-activation among the neurons of the own sign, for every sample."""
    network, data = instance.the_network(), instance.the_data()
    pre = network.preactivations(data.X)
    own = data.y[:, None] * network.v > 0
    highest = np.where(own, pre, -np.inf).max(axis=1)
    return Findings(
        value("neurons", network.width),
        hypotheses=(separates(network, data),),
        claims=(at_least("largest pre-activation among the neurons of the own sign", highest, 1e-300, tolerance=0.0),),
    )
