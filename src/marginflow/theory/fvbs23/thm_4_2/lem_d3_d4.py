r"""[FVBS23, Lemmas D.3 and D.4]: no neuron is far from active, and every neuron responds to u."""

from typing import Final

import numpy as np

from marginflow.theory.frame import Findings, Instance, at_least, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import backward_neuron, robust_control, stated_of_clusters, stated_of_sample
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import deterministic

# Rounding in a pre-activation, relative to ||(w_j, b_j)|| sqrt(d).
_INPUT_RTOL: Final = 1e-12


@stated_of_clusters(
    id="FVBS23/LemD.3",
    meaning="No neuron is far from being active on a fresh point.",
    formula=r"w_j^\top x + b_j \ge -(2 \Delta + p + 1)\, s_j, \quad s_j = \sum_i \lambda_i |v_j| \phi'_{ij}",
    control=robust_control,
    control_shows="the robust network is not a KKT point: its neurons are far from active on other clusters",
    printed=r"-(2 \Delta + p + 1) \sum_i \lambda_i |v_j \phi'_{ij}|",
    sharp=r"-\max(2 \Delta, p + \Delta + 1)\, s_j",
    remark="The hypothesis on <xi_i, xi> is never used.",
)
def lemma_d3(instance: Instance) -> Findings:
    """Every neuron's input at x, from below, in units of its weight s_j."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test = FreshPoints.of(instance).with_worst(neurons.sample)
    pre = neurons.preactivations(test.X)
    scale = neurons.input_scale()
    weights = np.where(neurons.s > 0, neurons.s, np.inf)
    printed = 2 * s.Delta + s.p + 1
    sharp = max(2 * s.Delta, s.p + s.Delta + 1)
    return Findings(
        value("least input over weight", float((pre / weights).min())),
        value("2 Delta + p + 1", printed),
        value("max(2 Delta, p + Delta + 1)", sharp),
        hypotheses=(*deterministic(instance), *test.nice_noise(neurons.sample)),
        claims=(at_least("w_j . x + b_j", pre, -printed * neurons.s, scale=scale, tolerance=_INPUT_RTOL),),
        derived=(at_least("w_j . x + b_j, sharp", pre, -sharp * neurons.s, scale=scale, tolerance=_INPUT_RTOL),),
    )


@stated_of_sample(
    id="FVBS23/LemD.4",
    meaning="Every neuron responds to u with the sign of its output and at least D_u times its weight.",
    formula=r"j \in J_+: w_j^\top u \ge s_j D_u, \quad j \in J_-: w_j^\top u \le -s_j D_u, \quad "
    r"D_u = d - \Delta - k p - k \Delta",
    control=backward_neuron,
    control_shows="a positive neuron points along -u: the network separates and is not a KKT point",
    printed=r"w_j^\top u \le \sum_i \lambda_i v_j \phi'_{ij} D_u \quad (j \in J_-)",
    sharp=r"D_u \to d - g - (k - 1)(p + g)",
    remark="Correct as printed, since v_j < 0 on J_-. The proof needs P3 only, with g = Delta / 4.",
)
def lemma_d4(instance: Instance) -> Findings:
    """w_j . u against s_j D_u with the sign of v_j."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    towards = np.sign(neurons.v) * (neurons.W @ neurons.sample.u)
    scale = neurons.s * s.d
    plus, minus = neurons.positive, neurons.negative
    return Findings(
        value("D_u", s.D_u),
        value("D_u, sharp", s.proved_bounds.D),
        value("least |w_j . u| / s_j", float((towards / np.where(neurons.s > 0, neurons.s, np.nan)).min())),
        hypotheses=deterministic(instance),
        claims=(
            at_least("J+: w_j . u", towards[plus], neurons.s[plus] * s.D_u, scale=scale[plus]),
            at_least("J-: - w_j . u", towards[minus], neurons.s[minus] * s.D_u, scale=scale[minus]),
        ),
        derived=(
            at_least("J+: w_j . u, sharp", towards[plus], neurons.s[plus] * s.proved_bounds.D, scale=scale[plus]),
            at_least("J-: - w_j . u, sharp", towards[minus], neurons.s[minus] * s.proved_bounds.D, scale=scale[minus]),
        ),
    )
