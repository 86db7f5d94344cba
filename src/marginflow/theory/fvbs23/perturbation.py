r"""[FVBS23, Lemmas D.2 to D.9] What moving along u = sum_q y^(q) mu^(q) does to every neuron of a KKT point."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.frame import Check, Findings, Forms, Instance, Statement, at_least, at_most, value
from marginflow.theory.fvbs23.generalisation import and_worst_points, near_one_cluster, nice_noise, test_clusters
from marginflow.theory.fvbs23.neurons import Neurons
from marginflow.theory.fvbs23.presets import (
    A,
    close_means,
    flipped_label,
    law_of,
    law_only,
    missing_cluster,
    preset,
    robust_control,
    scaled_neurons,
)
from marginflow.theory.fvbs23.setting import Setting
from marginflow.theory.fvbs23.sums import deterministic

# Rounding in a pre-activation, relative to ||(w_j, b_j)|| sqrt(d).
_INPUT_RTOL: Final = 1e-12


@partial(
    Statement,
    id="FVBS23/LemD.2",
    kind="lemma",
    number="Lemma D.2",
    meaning="On points near one cluster the output is at most 2; the proof gives 3/2.",
    formula=r"|N_\theta(x)| \le \frac{1}{1 - 2c'} \left(\frac{d + \Delta + 1}{d - \Delta + 1} + c'\right) \le "
    r"\frac{3}{2}",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(A),
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    forms=Forms(
        printed=r"|N_\theta(x)| \le 2",
        proved=r"|N_\theta(x)| \le \tfrac{3}{2}",
        sharp=r"|N_\theta(x)| \le \frac{1}{1 - 2c'} \left(\frac{d + \Delta + 1}{d - \Delta + 1} + c'\right)",
        remark="The statement says 2, the proof announces 4, its arithmetic ends at 3/2.",
    ),
)
def lemma_d2(instance: Instance) -> Findings:
    """|N(x)| against four numbers: the proof's with c' as it is, 3/2, and the 2 and 4 of the text."""
    neurons = Neurons.of(instance)
    s = neurons.sample.setting
    test, clusters = and_worst_points(neurons.sample, *test_clusters(instance))
    size = np.abs(neurons.outputs(test.X))
    return Findings(
        hypotheses=(*deterministic(instance), *near_one_cluster(neurons.sample, test, clusters)),
        constants=(value("largest |N(x)|", float(size.max())), value("c'", s.c_prime)),
        claims=(
            at_most("|N(x)|, explicit", size, s.largest_output, note="((d+Delta+1)/(d-Delta+1) + c')/(1 - 2c')"),
            at_most("|N(x)|, as proved", size, 1.5, note="3/2"),
            at_most("|N(x)|, as printed", size, 2.0, note="2"),
            at_most("|N(x)|, as announced in the proof", size, 4.0, note="4"),
        ),
    )


@partial(
    Statement,
    id="FVBS23/LemD.3",
    kind="lemma",
    number="Lemma D.3",
    meaning="No neuron is far from being active on a fresh point.",
    formula=r"w_j^\top x + b_j \ge -(2 \Delta + p + 1)\, s_j, \quad s_j = \sum_i \lambda_i |v_j| \phi'_{ij}",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(A),
    control=robust_control,
    control_shows="the robust network is no KKT point: its neurons are far from active on other clusters",
    forms=Forms(
        printed=r"-(2 \Delta + p + 1) \sum_i \lambda_i |v_j \phi'_{ij}|",
        sharp=r"-\max(2 \Delta, p + \Delta + 1)\, s_j",
        remark="The hypothesis on <xi_i, xi> is never used.",
    ),
)
def lemma_d3(instance: Instance) -> Findings:
    """Every neuron's input at x, from below, in units of its weight s_j."""
    neurons = Neurons.of(instance)
    s = neurons.sample.setting
    test, clusters = and_worst_points(neurons.sample, *test_clusters(instance))
    pre = neurons.preactivations(test.X)
    scale = neurons.input_scale()
    weights = np.where(neurons.s > 0, neurons.s, np.inf)
    printed = 2 * s.Delta + s.p + 1
    sharp = max(2 * s.Delta, s.p + s.Delta + 1)
    return Findings(
        hypotheses=(*deterministic(instance), *nice_noise(neurons.sample, test, clusters)),
        constants=(
            value("least input over weight", float((pre / weights).min())),
            value("2 Delta + p + 1", printed),
            value("max(2 Delta, p + Delta + 1)", sharp),
        ),
        claims=(
            at_least("w_j . x + b_j", pre, -printed * neurons.s, scale=scale, rtol=_INPUT_RTOL),
            at_least("w_j . x + b_j, sharp", pre, -sharp * neurons.s, scale=scale, rtol=_INPUT_RTOL),
        ),
    )


@partial(
    Statement,
    id="FVBS23/LemD.4",
    kind="lemma",
    number="Lemma D.4",
    meaning="Every neuron responds to u with the sign of its output and at least D_u times its weight.",
    formula=r"j \in J_+: w_j^\top u \ge s_j D_u, \quad j \in J_-: w_j^\top u \le -s_j D_u, \quad "
    r"D_u = d - \Delta - k p - k \Delta",
    needs=("network", "data", "law"),
    example=lambda: preset(A),
    control=missing_cluster,
    control_shows="a cluster has no sample, so P6 fails",
    forms=Forms(
        printed=r"w_j^\top u \le \sum_i \lambda_i v_j \phi'_{ij} D_u \quad (j \in J_-)",
        sharp=r"D_u \to d - g - (k - 1)(p + g)",
        remark="Correct as printed, since v_j < 0 on J_-. The proof needs P3 only, with g = Delta / 4.",
    ),
)
def lemma_d4(instance: Instance) -> Findings:
    """w_j . u against s_j D_u with the sign of v_j."""
    neurons = Neurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    towards = np.sign(neurons.v) * (neurons.W @ sample.u)
    scale = neurons.s * s.d
    plus, minus = neurons.positive, neurons.negative
    return Findings(
        hypotheses=deterministic(instance),
        constants=(
            value("D_u", s.D_u),
            value("D_u, sharp", s.D_u_sharp),
            value("least |w_j . u| / s_j", float((towards / np.where(neurons.s > 0, neurons.s, np.nan)).min())),
        ),
        claims=(
            at_least("J+: w_j . u", towards[plus], neurons.s[plus] * s.D_u, scale=scale[plus]),
            at_least("J-: - w_j . u", towards[minus], neurons.s[minus] * s.D_u, scale=scale[minus]),
            at_least("J+: w_j . u, sharp", towards[plus], neurons.s[plus] * s.D_u_sharp, scale=scale[plus]),
            at_least("J-: - w_j . u, sharp", towards[minus], neurons.s[minus] * s.D_u_sharp, scale=scale[minus]),
        ),
    )


@partial(
    Statement,
    id="FVBS23/LemD.6",
    kind="lemma",
    number="Lemma D.6",
    meaning="A step eta_1 along u activates all neurons of the other class.",
    formula=r"\eta \ge \eta_1 = \frac{2 \Delta + p + 1}{D_u}, \ z = \eta u: \quad j \in J_-: w_j^\top (x - z) + "
    r"b_j \ge 0, "
    r"\quad j \in J_+: w_j^\top (x + z) + b_j \ge 0",
    needs=("network", "data", "law", "test"),
    parameters={"times": "eta / eta_1, at least 1"},
    example=lambda: preset(A),
    control=lambda: close_means(A),
    control_shows="means at a cosine of 0.2: Assumption 2.2 fails",
)
def lemma_d6(instance: Instance) -> Findings:
    """At x - eta_1 u all neurons of J- are active, at x + eta_1 u all of J+."""
    neurons = Neurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    test, clusters = and_worst_points(sample, *test_clusters(instance))
    times = instance.number("times", 1.0)
    z = times * s.eta_1 * sample.u
    scale = neurons.input_scale()
    minus = neurons.preactivations(test.X - z)[:, neurons.negative]
    plus = neurons.preactivations(test.X + z)[:, neurons.positive]
    return Findings(
        hypotheses=(
            *deterministic(instance),
            *nice_noise(sample, test, clusters),
            at_least("eta / eta_1", times, 1.0),
        ),
        constants=(value("eta_1", s.eta_1), value("||z|| / sqrt(d)", times * s.eta_1 * s.u_norm / math.sqrt(s.d))),
        claims=(
            at_least("J-: w_j . (x - z) + b_j", minus, 0.0, scale=scale[neurons.negative], rtol=_INPUT_RTOL),
            at_least("J+: w_j . (x + z) + b_j", plus, 0.0, scale=scale[neurons.positive], rtol=_INPUT_RTOL),
        ),
    )


def flip_checks(neurons: Neurons, X: FloatArray, sign: float) -> tuple[Check, ...]:
    """Lemmas D.7 (sign = 1) and D.8 (sign = -1) with every link of their chain, at points X of that label."""
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
    return (
        at_most("own neurons: input after - before", (moved - pre)[:, own], 0.0, scale=scale[own], rtol=_INPUT_RTOL),
        at_least(
            "other neurons after eta_1: input - max(0, input before)",
            opened[:, other] - floor,
            0.0,
            scale=scale[other],
            rtol=_INPUT_RTOL,
        ),
        at_least(
            "other neurons after eta_1 + eta_2",
            moved[:, other] - floor,
            step,
            scale=scale[other] * max(1.0, s.eta_2 * s.k),
            rtol=_INPUT_RTOL,
        ),
        at_most("y N(x - y z) against y N(x) - eta_2 D_u sum S", after, before - fall, scale=10.0),
        at_least("eta_2 D_u sum S", fall, 3.0),
        at_most("y N(x - y z), as proved", after, -1.5, note="3/2 - 3"),
        at_most("y N(x - y z), as printed", after, -1.0, note="2 - 3"),
    )


def _flip(sign: float) -> Callable[[Instance], Findings]:
    def judge(instance: Instance) -> Findings:
        neurons = Neurons.of(instance)
        s = neurons.sample.setting
        test, clusters = and_worst_points(neurons.sample, *test_clusters(instance))
        chosen = s.y[clusters] == sign
        X = test.X[chosen]
        z = (s.eta_1 + s.eta_2) * s.u_norm / math.sqrt(s.d)
        return Findings(
            hypotheses=(*deterministic(instance), *nice_noise(neurons.sample, test, clusters)),
            constants=(
                value("eta_1", s.eta_1),
                value("eta_2", s.eta_2),
                value("||z|| / sqrt(d)", z, "above 1.4: longer than the way to another mean"),
                value("points", float(chosen.sum())),
            ),
            claims=flip_checks(neurons, X, sign),
        )

    return judge


LEMMA_D7: Final = Statement(
    id="FVBS23/LemD.7",
    kind="lemma",
    number="Lemma D.7",
    meaning="Subtracting z from a positive fresh point takes the output to -1 or below.",
    formula=r"r \in Q_+: \ N_\theta(x - z) \le N_\theta(x) - \eta_2 D_u \sum_q S_q^- \le 2 - 3 = -1",
    needs=("network", "data", "law", "test"),
    judge=_flip(1.0),
    example=lambda: preset(A),
    control=robust_control,
    control_shows="the robust network is no KKT point",
    forms=Forms(
        printed=r"N_\theta(x - z) \le -1",
        proved=r"N_\theta(x - z) \le -\tfrac{3}{2}",
        sharp=r"\eta_2 \to \tfrac{1}{2} \eta_2 \text{ still gives } N_\theta(x - z) \le 0",
        remark="The 3 in eta_2 is 2 + 1 with the loose 2 of Lemma D.2.",
    ),
)

LEMMA_D8: Final = Statement(
    id="FVBS23/LemD.8",
    kind="lemma",
    number="Lemma D.8",
    meaning="Adding z to a negative fresh point takes the output to 1 or above.",
    formula=r"r \in Q_-: \ N_\theta(x + z) \ge N_\theta(x) + \eta_2 D_u \sum_q S_q^+ \ge -2 + 3 = 1",
    needs=("network", "data", "law", "test"),
    judge=_flip(-1.0),
    example=lambda: preset(A),
    control=scaled_neurons,
    control_shows="neurons are not balanced: the same function is no KKT point",
    forms=Forms(
        printed=r"N_\theta(x + z) \ge 1",
        proved=r"N_\theta(x + z) \ge \tfrac{3}{2}",
        remark="Step (i) of the printed chain replaces x' by x in the terms of J_- under an equality sign; it is an "
        "inequality.",
    ),
)


def size_constant(d: int, c: float) -> float:
    """C of ||z|| <= C sqrt(d / (c^2 k)): (c A_d + B_d) sqrt(1.1 + 0.1/d)."""
    den = d - d / 21 - (d + 1) / 10
    return (c * 0.2 * (d + 1) / den + 24 / 7 * (64 * d / 21 + 1) / den) * math.sqrt(1.1 + 0.1 / d)


def size_checks(s: Setting) -> tuple[Check, ...]:
    """The chain of Lemma D.9."""
    den = s.d - s.d / 21 - (s.d + 1) / 10
    A_d, B_d = 0.2 * (s.d + 1) / den, 24 / 7 * (64 * s.d / 21 + 1) / den
    eta, squared = s.eta_1 + s.eta_2, s.u_norm**2
    C = size_constant(s.d, s.c)
    middle = s.k * s.d + s.k * (s.k - 1) * s.p
    return (
        at_most("eta_1 + eta_2", eta, (A_d + B_d / s.c) / s.k if s.c > 0 else math.nan),
        at_most("||u||^2", squared, middle),
        at_most("k d + k (k-1) p", middle, 1.1 * s.k * s.d + 0.1 * s.k),
        at_most("||z||", eta * s.u_norm, C * math.sqrt(s.d / s.k) / s.c if s.c > 0 else math.nan),
        at_most("the constant C", C, 13.31, rtol=1e-3),
    )


@partial(
    Statement,
    id="FVBS23/LemD.9",
    kind="lemma",
    number="Lemma D.9",
    meaning="z has length O(sqrt(d / (c^2 k))), with a constant of at most 13.31.",
    formula=r"\|z\| = (\eta_1 + \eta_2) \|u\| \le C \sqrt{\frac{d}{c^2 k}}, \quad C \le 13.31",
    needs=("law",),
    example=lambda: law_only(law_of(549, 2)),
    control=lambda: law_only(law_of(548, 2)),
    control_shows="one dimension less than Assumption 2.2 needs",
    forms=Forms(
        printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
        proved=r"\|z\| \le (c A_d + B_d) \sqrt{1.1 + \tfrac{0.1}{d}} \sqrt{\frac{d}{c^2 k}}",
        sharp=r"\|z\| \to \frac{9}{c} \sqrt{\frac{d}{k}} \quad (p = 0, c' \to 0)",
        remark="Step (ii) bounds (1 - 2c')/(1 - 3c') by monotonicity in c' of the whole fraction, not term by "
        "term. With "
        "c = 1/2 z is shorter than the data only from hundreds of clusters on.",
    ),
)
def lemma_d9(instance: Instance) -> Findings:
    s = Setting.of(instance)
    z = (s.eta_1 + s.eta_2) * s.u_norm
    return Findings(
        hypotheses=s.assumption(),
        constants=(
            value("||z|| here", z),
            value("||z|| / sqrt(d)", z / math.sqrt(s.d), "above 1: longer than the data"),
            value("||z|| / sqrt(d / (c^2 k))", z * s.c * math.sqrt(s.k / s.d)),
        ),
        claims=size_checks(s),
    )
