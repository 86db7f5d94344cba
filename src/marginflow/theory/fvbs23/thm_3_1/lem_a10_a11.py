r"""[FVBS23, Lemmas A.10 and A.11]: the sums over neurons at a KKT point, from above and from below."""

import math

import numpy as np

from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, is_kkt_point, value
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import flipped_label, scaled_neurons, stated_of_sample


def deterministic(instance: Instance) -> tuple[Check, ...]:
    """What every lemma on KKT points asks for: Assumption 2.2, P1 to P6, a KKT point."""
    neurons = CertifiedNeurons.of(instance)
    return (*neurons.sample.setting.assumption(), *neurons.sample.nice, is_kkt_point(instance))


def upper_sums(neurons: CertifiedNeurons) -> tuple[Check, ...]:
    """Lemma A.10, its form with c' = 1/10, and the case of its proof that excludes neurons of the other sign."""
    s = neurons.sample.setting
    largest = np.maximum(*neurons.S)
    room = s.d - s.Delta + 1
    T = neurons.sample.sums_by_cluster(neurons.mu * np.abs(neurons.v))  # of lambda_i |v_j| phi'_ij, shape (k, m)
    opposite = neurons.v[None, :] * s.y[:, None] < 0  # neurons of the other sign than the cluster
    others = (s.p + s.Delta + 1) / room * (T.sum(axis=0) - T)
    return (
        at_most("max(S_q^+, S_q^-)", largest, s.S_max, note="1 / ((1 - 2c')(d - Delta + 1))"),
        at_most("max(S_q^+, S_q^-), c' = 1/10", largest, 5 / (4 * room), note="5 / (4 (d - Delta + 1))"),
        at_most("weight of a cluster on a neuron of the other sign", T[opposite], others[opposite], scale=T.max()),
    )


def lower_sums(neurons: CertifiedNeurons) -> tuple[Check, ...]:
    """Lemma A.11 for both signs, and its form with c' = 1/10."""
    s, own = neurons.sample.setting, neurons.S_own
    return (
        at_least("S_q of the own sign", own, s.S_min, note="(1 - c'/(1 - 2c')) / (3d + Delta + 1)"),
        at_least("S_q of the own sign, c' = 1/10", own, 7 / 8 / (3 * s.d + s.Delta + 1)),
    )


@stated_of_sample(
    id="FVBS23/LemA.10",
    meaning="No cluster carries more weight than about 1 / d.",
    formula=r"\max_q \max(S_q^+, S_q^-) \le \frac{1}{(1 - 2c')(d - \Delta + 1)} \le \frac{5}{4 (d - \Delta + 1)}, "
    r"\quad S_q^\pm = \sum_{i \in I^{(q)}} \sum_{j \in J_\pm} \lambda_i v_j^2 \phi'_{ij}",
    control=flipped_label,
    control_shows="one label is not that of its cluster: its multiplier is hundreds of times too large",
    printed=r"\frac{1}{(1 - 2c')(d - \Delta + 1)}",
    remark="Attained as c' tends to 0. The proof bounds the weight of a cluster on neurons of the other sign by "
    "(p + Delta + 1)/(d - Delta + 1) times that of all other clusters; this is checked too.",
)
def lemma_a10(instance: Instance) -> Findings:
    """The sums S_q over the neurons of either sign, from above, with the largest ratio to the bound."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    claim, explicit, other_sign = upper_sums(neurons)
    return Findings(
        value("c'", s.c_prime),
        value("largest value over bound", float(np.maximum(*neurons.S).max()) / (s.S_max or math.nan)),
        hypotheses=deterministic(instance),
        claims=(claim,),
        proof_steps=(other_sign,),
        derived=(explicit,),
    )


@stated_of_sample(
    id="FVBS23/LemA.11",
    meaning="Every cluster carries a weight of at least about 1 / (3d) on the neurons of its own sign.",
    formula=r"q \in Q_\pm: \ S_q^\pm \ge \left(1 - \frac{c'}{1 - 2c'}\right) \frac{1}{3d + \Delta + 1}",
    control=lambda: scaled_neurons(factor=0.3),
    control_shows="outputs 0.3 times as large, inputs to match: not a KKT point, and the weights v_j^2 are too small",
    printed=r"\left(1 - \frac{c'}{1 - 2c'}\right) \frac{1}{3d + \Delta + 1}",
    proved=r"\frac{1 - 3c'}{1 - 2c'} \cdot \frac{1}{3d + \Delta + 1}",
    sharp=r"\frac{1 - 3c'}{1 - 2c'} \cdot \frac{1}{(1 + 2 \sigma^2) d + 2 g + 1}",
    remark="3d is the squared norm of a sample with sigma = 1; with little noise the truth is three times larger.",
)
def lemma_a11(instance: Instance) -> Findings:
    """The sums S_q over the neurons of the own sign, from below, with the smallest ratio to the bound."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    claim, explicit = lower_sums(neurons)
    return Findings(
        value("c'", s.c_prime),
        value("smallest value over bound", float(neurons.S_own.min()) / (s.S_min or math.nan)),
        hypotheses=deterministic(instance),
        claims=(claim,),
        derived=(explicit,),
    )
