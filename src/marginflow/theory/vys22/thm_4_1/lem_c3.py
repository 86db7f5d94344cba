r"""[VYS22, Lemma C.3]: a pre-activation on a sample is not far below zero."""

import numpy as np

from marginflow.certificates import KINK_TOLERANCE
from marginflow.theory.frame import Findings, Instance, at_least, is_kkt_point, stated
from marginflow.theory.vys22.presets import gram_preset, robust_control
from marginflow.theory.vys22.setting import MarginNeurons, Setting


@stated(
    id="VYS22/LemC.3",
    meaning="Every neuron's pre-activation on every sample is at least -(p + 1) times the neuron's weight.",
    formula=r"w_j^\top x_i + b_j \ge -(p+1) \sum_{l \in I} |v_j| \lambda_l \sigma'_{lj}",
    example=gram_preset,
    control=robust_control,
    control_shows="pre-activations are -1 on other samples, and the best multipliers are too small to allow it",
    printed=r"w_j^\top x_i + b_j < 0 \implies \sigma'_{ij} = 0",
    proved=r"w_j^\top x_i + b_j < -\tau \implies \sigma'_{ij} = 0",
    remark="In floating point a kink may read -1e-16 and still carry a Clarke weight, so the case split needs a "
    "tolerance tau.",
)
def lemma_c3(instance: Instance) -> Findings:
    """pre_ij >= -(p + 1) |v_j| Lambda_j; a pair counts as a kink within the tolerance of the certificate."""
    setting = Setting.of(instance.the_data())
    neurons = MarginNeurons.of(instance, setting)
    claimed = -(setting.p + 1) * np.abs(neurons.v) * neurons.Lam
    # A kink that reads -1e-16 with a Clarke weight breaks the case split of the proof: the size of a pre-activation's
    # rounding, ||(w_j, b_j)|| ||(x_i, 1)||, is the scale of the comparison.
    sizes = np.linalg.norm(instance.certificate.network.augmented, axis=1) * np.sqrt(setting.d + 1)
    return Findings(
        hypotheses=(setting.equal_norms(), is_kkt_point(instance)),
        claims=(
            at_least("pre-activation w_j . x_i + b_j", neurons.pre, claimed, scale=sizes, tolerance=KINK_TOLERANCE),
        ),
    )
