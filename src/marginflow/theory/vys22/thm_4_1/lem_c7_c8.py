r"""[VYS22, Lemmas C.7 and C.8]: z takes every positive sample to N <= -1 and every negative one to N >= 1."""

import numpy as np

from marginflow.theory.frame import Findings, Instance, at_least, at_most, is_kkt_point, require, stated, value
from marginflow.theory.vys22.presets import gram_preset, orthogonal_preset, robust_control
from marginflow.theory.vys22.setting import MarginNeurons, Setting


def _judge(instance: Instance, label: int) -> Findings:
    """The chain N(x_i -+ z) against N(x_i) -+ eta_2 (d - m p) S against -+1, and the stage point x_i -+ eta_1 u.

    Everything is multiplied by the label, so that both lemmas read as upper bounds of y N(x_i - y z).
    """
    setting = Setting.of(instance.the_data())
    hypotheses = (*setting.hypotheses(), is_kkt_point(instance))
    require(hypotheses, "z is not defined for these data", given=setting.defines_z)
    neurons = MarginNeurons.of(instance, setting)
    network = instance.certificate.network
    own, other = (neurons.positive, neurons.negative) if label > 0 else (neurons.negative, neurons.positive)
    chosen = setting.y == label
    X = setting.X[chosen]
    before = label * network(X)
    after = label * network(X - label * setting.eta * setting.u)
    drop = setting.eta_2 * setting.D * neurons.S(other)
    stage = network.preactivations(X - label * setting.eta_1 * setting.u)
    pre = neurons.pre[chosen]
    moved = network.preactivations(X - label * setting.eta * setting.u)
    size = np.abs(pre) + setting.eta * np.abs(neurons.w_u)
    sign, which = ("+", "-") if label > 0 else ("-", "+")
    return Findings(
        value("eta_1", setting.eta_1),
        value("eta_2", setting.eta_2),
        value(f"S{which}", neurons.S(other)),
        hypotheses=hypotheses,
        claims=(at_most("y N(x_i - y z)", after, -1.0, scale=1.0),),
        proof_steps=(
            at_most(f"J{sign}: pre-activation does not rise", moved[:, own], pre[:, own], scale=size[:, own]),
            at_least(f"J{which}: pre-activation at the stage point", stage[:, other], 0.0, scale=size[:, other]),
            at_least(
                f"J{which}: stage point is no lower than x_i", stage[:, other], pre[:, other], scale=size[:, other]
            ),
            at_most(f"y N(x_i - y z) against 1 - eta_2 (d - mp) S{which}", after, before - drop, scale=1.0 + drop),
            at_most(f"1 - eta_2 (d - mp) S{which}", 1.0 - drop, -1.0, scale=1.0 + drop),
        ),
    )


@stated(
    id="VYS22/LemC.7",
    meaning="Subtracting z takes every positive sample from N = 1 to N <= -1.",
    formula=r"i \in I^+:\ N_\theta(x_i - z) \le N_\theta(x_i) - \eta_2 (d - mp) S_- \le -1",
    example=orthogonal_preset,
    control=robust_control,
    control_shows="the robust network still says +1, almost unchanged, at x_i - z",
)
def lemma_c7(instance: Instance) -> Findings:
    """The chain for the positive samples."""
    return _judge(instance, 1)


@stated(
    id="VYS22/LemC.8",
    meaning="Adding z takes every negative sample from N = -1 to N >= 1.",
    formula=r"i \in I^-:\ N_\theta(x_i + z) \ge N_\theta(x_i) + \eta_2 (d - mp) S_+ \ge 1",
    example=gram_preset,
    control=robust_control,
    control_shows="the robust network still says -1, almost unchanged, at x_i + z",
)
def lemma_c8(instance: Instance) -> Findings:
    """The chain for the negative samples, mirrored."""
    return _judge(instance, -1)
