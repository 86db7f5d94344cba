r"""[VYS22, Lemma C.4]: along u = sum_l y_l x_l every neuron moves by at least its own weight times d - m p."""

import numpy as np

from marginflow.theory.frame import Findings, Instance, at_least, at_most, is_kkt_point, stated, value
from marginflow.theory.instances import backward
from marginflow.theory.vys22.presets import gram_preset
from marginflow.theory.vys22.setting import MarginNeurons, Setting


@stated(
    id="VYS22/LemC.4",
    meaning="Every neuron's response to u has the sign of its output and at least the size (d - mp) of its weights.",
    formula=r"j \in J^+:\ w_j^\top u \ge v_j \Lambda_j (d - mp), \qquad "
    r"j \in J^-:\ w_j^\top u \le v_j \Lambda_j (d - mp)",
    example=gram_preset,
    control=lambda: backward(gram_preset(), "a KKT point with a neuron that points along -u", 0.5),
    control_shows="a positive neuron points along -u, which no multipliers explain",
    printed=r"w_j^\top u \le \sum_i v_j \lambda_i \sigma'_{ij} (d - mp) \quad (j \in J^-)",
    proved=r"w_j^\top u \le -|v_j| \Lambda_j (d - mp)",
    sharp=r"w_j^\top u \le -|v_j| \Lambda_j (d - (m-1)p)",
    remark="Correct as printed, because v_j < 0 on J-; writing |v_j| without the minus sign would reverse it. "
    "With p = 0 it is an equality.",
)
def lemma_c4(instance: Instance) -> Findings:
    """w_j . u >= v_j Lambda_j (d - m p) on J+, and <= on J-, where v_j < 0."""
    setting = Setting.of(instance.the_data())
    neurons = MarginNeurons.of(instance, setting)
    claimed = neurons.v * neurons.Lam * setting.D  # negative on J-
    sharp = neurons.v * neurons.Lam * setting.D_sharp
    plus, minus = neurons.positive, neurons.negative
    # w_j . u is a sum of m terms of size |v_j| Lambda_j d: that is where rounding happens.
    scale = np.abs(neurons.v) * neurons.Lam * setting.d
    return Findings(
        value("d - m p", setting.D),
        value("d - (m - 1) p", setting.D_sharp),
        hypotheses=(setting.equal_norms(), is_kkt_point(instance)),
        claims=(
            at_least("J+: w_j . u", neurons.w_u[plus], claimed[plus], scale=scale[plus]),
            at_most("J-: w_j . u", neurons.w_u[minus], claimed[minus], scale=scale[minus]),
        ),
        derived=(
            at_least("J+: w_j . u, sharp", neurons.w_u[plus], sharp[plus], scale=scale[plus]),
            at_most("J-: w_j . u, sharp", neurons.w_u[minus], sharp[minus], scale=scale[minus]),
        ),
    )
