r"""[FVBS23, Lemmas D.6 to D.8]: a step along u wakes the neurons of the other class and flips the sign."""

import math

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, require, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import robust_control, robust_of_many, stated_of_clusters
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import deterministic
from marginflow.theory.fvbs23.thm_4_2.lem_d3_d4 import _INPUT_RTOL


@stated_of_clusters(
    id="FVBS23/LemD.6",
    meaning="A step eta_1 along u activates all neurons of the other class.",
    formula=r"\eta \ge \eta_1 = \frac{2 \Delta + p + 1}{D_u}, \ z = \eta u: \quad j \in J_-: w_j^\top (x - z) + b_j "
    r"\ge 0, \quad j \in J_+: w_j^\top (x + z) + b_j \ge 0",
    parameters={"times": "eta / eta_1, at least 1"},
    control=robust_control,
    control_shows="the robust network is not a KKT point: a small step does not wake its neurons",
)
def lemma_d6(instance: Instance) -> Findings:
    """At x - eta_1 u all neurons of J- are active, at x + eta_1 u all of J+."""
    neurons = CertifiedNeurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    test = FreshPoints.of(instance).with_worst(sample)
    times = instance.number("times", 1.0)
    z = times * s.eta_1 * sample.u
    scale = neurons.input_scale()
    minus = neurons.preactivations(test.X - z)[:, neurons.negative]
    plus = neurons.preactivations(test.X + z)[:, neurons.positive]
    return Findings(
        value("eta_1", s.eta_1),
        value("||z|| / sqrt(d)", times * s.eta_1 * s.u_norm / math.sqrt(s.d)),
        hypotheses=(*deterministic(instance), *test.nice_noise(sample), at_least("eta / eta_1", times, 1.0)),
        claims=(
            at_least("J-: w_j . (x - z) + b_j", minus, 0.0, scale=scale[neurons.negative], tolerance=_INPUT_RTOL),
            at_least("J+: w_j . (x + z) + b_j", plus, 0.0, scale=scale[neurons.positive], tolerance=_INPUT_RTOL),
        ),
    )


def flip_checks(neurons: CertifiedNeurons, X: FloatArray, sign: float) -> Findings:
    """Lemmas D.7 (sign = 1) and D.8 (sign = -1) at points X of that label: claim, links of the chain, sharper form."""
    s, u = neurons.sample.setting, neurons.sample.u
    own, other = (neurons.positive, neurons.negative) if sign > 0 else (neurons.negative, neurons.positive)
    scale = neurons.input_scale()
    pre = neurons.preactivations(X)
    moved = neurons.preactivations(X - sign * (s.eta_1 + s.eta_2) * u)
    opened = neurons.preactivations(X - sign * s.eta_1 * u)
    before = sign * np.maximum(pre, 0.0) @ neurons.v
    after = sign * np.maximum(moved, 0.0) @ neurons.v
    S_other = neurons.S[1] if sign > 0 else neurons.S[0]
    fall = s.eta_2 * s.D_u * float(S_other.sum())
    step = s.eta_2 * s.D_u * neurons.s[other]
    floor = np.maximum(pre, 0.0)[:, other]
    return Findings(
        claims=(at_most("y N(x - y z)", after, -1.0, note="2 - 3"),),
        proof_steps=(
            at_most(
                "own neurons: input after - before", (moved - pre)[:, own], 0.0, scale=scale[own], tolerance=_INPUT_RTOL
            ),
            at_least(
                "other neurons after eta_1: input - max(0, input before)",
                opened[:, other] - floor,
                0.0,
                scale=scale[other],
                tolerance=_INPUT_RTOL,
            ),
            at_least(
                "other neurons after eta_1 + eta_2",
                moved[:, other] - floor,
                step,
                scale=scale[other] * max(1.0, s.eta_2 * s.k),
                tolerance=_INPUT_RTOL,
            ),
            at_most("y N(x - y z) against y N(x) - eta_2 D_u sum S", after, before - fall, scale=10.0),
            at_most("y N(x), by Lemma D.2", before, 2.0),
            at_least("eta_2 D_u sum S", fall, 3.0),
        ),
        derived=(at_most("y N(x - y z), with the 3/2 of Lemma D.2", after, -1.5, note="3/2 - 3"),),
    )


def _flip(instance: Instance, sign: float) -> Findings:
    """What z does to the points of one label, with every link of the chain."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test = FreshPoints.of(instance).with_worst(neurons.sample)
    hypotheses = (*deterministic(instance), *test.nice_noise(neurons.sample))
    require(hypotheses, "z is not defined here", given=math.isfinite(s.z_norm))
    chosen = test.y == sign
    found = flip_checks(neurons, test.X[chosen], sign)
    return Findings(
        value("eta_1", s.eta_1),
        value("eta_2", s.eta_2),
        value("||z|| / sqrt(d)", s.z_norm / math.sqrt(s.d), "above 1: longer than the data"),
        value("points", float(chosen.sum())),
        hypotheses=hypotheses,
        claims=found.claims,
        proof_steps=found.proof_steps,
        derived=found.derived,
    )


@stated_of_clusters(
    id="FVBS23/LemD.7",
    meaning="Subtracting z from a positive fresh point takes the output to -1 or below.",
    formula=r"r \in Q_+: \ N_\theta(x - z) \le N_\theta(x) - \eta_2 D_u \sum_q S_q^- \le 2 - 3 = -1",
    control=robust_of_many,
    control_shows="the robust network on 396 clusters is not a KKT point, and z does not flip it",
    printed=r"N_\theta(x - z) \le -1",
    proved=r"N_\theta(x - z) \le -\tfrac{3}{2}",
    sharp=r"\eta_2 \to \tfrac{1}{2} \eta_2 \text{ still gives } N_\theta(x - z) \le 0",
    remark="The 3 in eta_2 is 2 + 1 with the loose 2 of Lemma D.2.",
)
def lemma_d7(instance: Instance) -> Findings:
    """The chain for the points of positive clusters."""
    return _flip(instance, 1.0)


@stated_of_clusters(
    id="FVBS23/LemD.8",
    meaning="Adding z to a negative fresh point takes the output to 1 or above.",
    formula=r"r \in Q_-: \ N_\theta(x + z) \ge N_\theta(x) + \eta_2 D_u \sum_q S_q^+ \ge -2 + 3 = 1",
    control=robust_of_many,
    control_shows="the robust network on 396 clusters is not a KKT point, and z does not flip it",
    printed=r"N_\theta(x + z) \ge 1",
    proved=r"N_\theta(x + z) \ge \tfrac{3}{2}",
    remark="Step (i) of the printed chain replaces x' by x in the terms of J_- under an equality sign; it is an "
    "inequality.",
    errata=Erratum.slip(
        "Step (i) of the chain replaces x' by x in the terms of J_- under an equality sign.",
        repair="an inequality, in the right direction",
    ),
)
def lemma_d8(instance: Instance) -> Findings:
    """The chain for the points of negative clusters, mirrored."""
    return _flip(instance, -1.0)
