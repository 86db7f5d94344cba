r"""[VYS22, Lemma C.6]: after the first step eta_1 u all neurons of the other sign are open on every sample."""

import numpy as np

from marginflow.theory.frame import Findings, Instance, at_least, is_kkt_point, stated, value
from marginflow.theory.vys22.presets import orthogonal_preset, robust_control
from marginflow.theory.vys22.setting import MarginNeurons, Setting


@stated(
    id="VYS22/LemC.6",
    meaning="A step of (p + 1)/(d - mp) along u opens every neuron of the other sign on every sample.",
    formula=r"\eta \ge \frac{p+1}{d - mp}: \quad j \in J^-:\ w_j^\top (x_i - \eta u) + b_j \ge 0, \quad "
    r"j \in J^+:\ w_j^\top (x_i + \eta u) + b_j \ge 0",
    example=orthogonal_preset,
    control=robust_control,
    control_shows="neurons sit at -1 on the other samples and move far too little to open",
)
def lemma_c6(instance: Instance) -> Findings:
    """pre_j(x_i - eta u) >= 0 on J- and pre_j(x_i + eta u) >= 0 on J+, at eta_1 and at twice eta_1."""
    setting = Setting.of(instance.the_data())
    neurons = MarginNeurons.of(instance, setting)
    eta_1 = setting.eta_1
    plus, minus = neurons.positive, neurons.negative
    scale = np.abs(neurons.pre) + eta_1 * np.abs(neurons.w_u)
    checks = []
    for word, eta in (("eta_1", eta_1), ("2 eta_1", 2 * eta_1)):
        down, up = neurons.pre - eta * neurons.w_u, neurons.pre + eta * neurons.w_u
        checks += [
            at_least(f"J-: pre-activation at x_i - {word} u", down[:, minus], 0.0, scale=scale[:, minus]),
            at_least(f"J+: pre-activation at x_i + {word} u", up[:, plus], 0.0, scale=scale[:, plus]),
        ]
    return Findings(
        value("eta_1", eta_1), hypotheses=(*setting.hypotheses(), is_kkt_point(instance)), claims=tuple(checks)
    )
