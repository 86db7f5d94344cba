r"""[VYS22, Section 5] The worked example of Section 5.1, and the sketch of the proof for networks with |v_j| = 1."""

from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from marginflow.certificates import DEFAULT_TOLERANCE, certify
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.robustness import one_neuron_per_sample
from marginflow.robustness.constructions import one_neuron_per_sample_without_bias
from marginflow.robustness.directions import one_sided_direction
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.theory.frame import (
    Check,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    below,
    equal,
    is_kkt_point,
    require,
    stated,
    value,
)
from marginflow.theory.instances import backward, changed
from marginflow.theory.vys22.presets import frozen_orthogonal, frozen_robust
from marginflow.theory.vys22.setting import MarginNeurons, Setting

_EXACT: Final = 1e-12


@stated(
    id="VYS22/Sec5.1",
    kind="example",
    number="Section 5.1",
    meaning="Dropping the biases shortens the weights at equal margins, and a vector of size 2 sqrt(2) then flips.",
    formula=r"N'(x) = \sum_j y_j \sigma\left(\tfrac{x_j^\top x}{d}\right), \ z = \tfrac{4}{d} \sum_{j > d/2} x_j, "
    r"\quad \|z\| = 2\sqrt{2}, \quad N'(x_i + z) = -1",
    needs=("parameters",),
    parameters={"dimension": "d, even"},
    example=lambda: Instance(name="d = 100", parameters={"dimension": 100}),
    control=lambda: Instance(name="d = 9", parameters={"dimension": 9}),
    control_shows="with an odd number of samples the halves differ, and z reaches -7/9 only",
    remark="An illustration: m = d exceeds the (d + 1)/3 of Theorem 4.1, z aims at one class only, and N' is no "
    "KKT point (v^2 = 1 differs from ||w'||^2 = 1/d, and b = 0 contradicts eq. (10) even after balancing).",
)
def section_5_1(instance: Instance) -> Findings:
    """x_i = sqrt(d) e_i, the first half positive; N with bias -1 against N' without."""
    d = instance.whole("dimension", 100, at_least=1, at_most=10_000)
    X = np.sqrt(d) * np.eye(d)
    y = np.where(np.arange(d) < (d + 1) // 2, 1.0, -1.0)
    data = Dataset(X=X, y=y)
    robust = one_neuron_per_sample(X, y, correlation=0.0)
    plain = one_neuron_per_sample_without_bias(X, y)
    assert robust.network.b is not None
    pre = robust.network.preactivations(X)
    away = -pre[~np.eye(d, dtype=np.bool_)] / np.linalg.norm(robust.network.W[0])
    down, up = one_sided_direction(X, y, -1), one_sided_direction(X, y, 1)
    plus = y > 0
    return Findings(
        value("allowed m of Theorem 4.1", Setting.of(data).allowed, f"exceeded here by m = d = {d}"),
        value("KKT stationarity of N'", certify(plain, data).stationarity, "N' is not a KKT point"),
        value("||theta||^2 of N", robust.network.norm_squared()),
        value("||theta||^2 of N'", plain.norm_squared()),
        hypotheses=(equal("d modulo 2", d % 2, 0), at_least("dimension", d, 2)),
        claims=(
            equal("margins of N", robust.network.margins(X, y), 1.0, tolerance=_EXACT),
            equal("margins of N'", plain.margins(X, y), 1.0, tolerance=_EXACT),
            equal("distance to the other active regions in N", away, np.sqrt(d) / 2, tolerance=_EXACT),
            at_least(
                "certified radius of N", interval_bound(robust.network, X, y).radii, np.sqrt(d) / 2, tolerance=1e-8
            ),
            equal("other pre-activations in N'", plain.preactivations(X)[~np.eye(d, dtype=np.bool_)], 0.0),
            equal("||z||", float(np.linalg.norm(down)), 2 * np.sqrt(2), tolerance=_EXACT),
            equal("N'(x_i + z), positive samples", plain(X[plus] + down), -1.0, tolerance=_EXACT),
            equal("N'(x_i + z'), negative samples", plain(X[~plus] + up), 1.0, tolerance=_EXACT),
            below("||w'|| against ||w||", np.linalg.norm(plain.W, axis=1), np.linalg.norm(robust.network.W, axis=1)),
            above("|b| of N against |b'| = 0", np.abs(robust.network.b), 0.0),
        ),
    )


_sketch = partial(stated, kind="lemma", example=frozen_orthogonal)
"""Writes a step of the sketch of the proof; its example is the closed form with frozen outputs."""


def _pieces(instance: Instance, *, with_z: bool = True) -> tuple[Setting, MarginNeurons, tuple[Check, ...]]:
    """The letters of data and neurons, and what is asked of them; a judge that needs z ends here without it."""
    setting = Setting.of(instance.the_data())
    unit = equal("|v_j| = 1", np.abs(instance.certificate.network.v), 1.0)
    hypotheses = (unit, *setting.hypotheses(), is_kkt_point(instance))
    require(hypotheses, "z is not defined for these data", given=setting.defines_z or not with_z)
    return setting, MarginNeurons.of(instance, setting), hypotheses


def _scaled_output() -> Instance:
    """The frozen closed form with the weights of its positive neuron doubled: margins 2 on that class."""

    def doubled(network: TwoLayer) -> TwoLayer:
        assert network.b is not None
        factor = np.where(network.v > 0, 2.0, 1.0)
        return replace(network, W=factor[:, None] * network.W, b=factor * network.b)

    return changed(frozen_orthogonal(), "the frozen closed form with one neuron doubled", doubled)


@_sketch(
    id="VYS22/Sec5.2",
    number="Section 5.2",
    meaning="Three facts give the theorem: margins are 1, positive neurons do not rise, negative ones gain 2.",
    formula=r"x'_i = x_i - z: \quad y_i N_\theta(x_i) = 1,\ w_j^\top x'_i + b_j \le w_j^\top x_i + b_j\ (j \in J^+),"
    r"\quad N_\theta(x'_i) \le -1",
    control=frozen_robust,
    control_shows="at the robust network, outputs +1 and -1, the negative neurons stay shut at x_i - z",
    remark="The sketch assumes |v_j| = 1; the KKT conditions for W and b do not care whether v is trained.",
)
def section_5_2(instance: Instance) -> Findings:
    """The three components at z: margins 1, J+ does not rise, J- falls by 2; together N(x_i - z) <= -1."""
    setting, neurons, hypotheses = _pieces(instance)
    network = instance.certificate.network
    z = setting.eta * setting.u
    X = setting.X[setting.y > 0]
    before, after = network.preactivations(X), network.preactivations(X - z)
    plus, minus = neurons.positive, neurons.negative
    fall = np.maximum(after[:, minus], 0.0).sum(axis=1) - np.maximum(before[:, minus], 0.0).sum(axis=1)
    return Findings(
        value("||z||", float(np.linalg.norm(z))),
        hypotheses=hypotheses,
        claims=(
            equal("1. margins", instance.certificate.margins, 1.0, tolerance=DEFAULT_TOLERANCE),
            at_most("2. J+: pre-activation does not rise", after[:, plus], before[:, plus], scale=1.0),
            at_least("3. J-: contribution falls by", fall, 2.0),
            at_most("together: N(x_i - z)", network(X - z), -1.0),
        ),
    )


@_sketch(
    id="VYS22/Sec5.3",
    number="Section 5.3",
    meaning="All samples attain margin 1: one that did not would need a weight above 3/(d + 1) elsewhere.",
    formula=r"y_i N_\theta(x_i) = 1, \qquad \frac{1}{m(p+1)} \ge \frac{3}{d+1}",
    control=_scaled_output,
    control_shows="with one neuron's weights doubled the margins of its class are 2",
)
def section_5_3(instance: Instance) -> Findings:
    """Margins, and the threshold 3/(d + 1) that a sample off the margin would need."""
    setting, neurons, hypotheses = _pieces(instance, with_z=False)
    plus, minus = neurons.per_sample
    return Findings(
        value("largest sum of lambda sigma' over J+ or J-", float(max(plus.max(), minus.max()))),
        hypotheses=hypotheses,
        claims=(equal("margins", instance.certificate.margins, 1.0, tolerance=DEFAULT_TOLERANCE),),
        proof_steps=(at_least("1/(m(p+1)) against 3/(d+1)", 1 / (setting.m * (setting.p + 1)), 3 / (setting.d + 1)),),
    )


@_sketch(
    id="VYS22/Sec5.4",
    number="Section 5.4",
    meaning="Moving against u, the pre-activations of the positive neurons only fall.",
    formula=r"j \in J^+: \quad w_j^\top (x_i - \eta u) + b_j \le w_j^\top x_i + b_j - \eta \Lambda_j (d - mp)",
    control=lambda: backward(frozen_orthogonal(), "the frozen closed form with a neuron along -u", 1.0),
    control_shows="a positive neuron along -u rises instead",
)
def section_5_4(instance: Instance) -> Findings:
    """w_j . u >= Lambda_j (d - mp), so along -u the pre-activations of J+ fall by at least that."""
    setting, neurons, hypotheses = _pieces(instance)
    plus = neurons.positive
    fall = setting.eta * neurons.w_u[plus]
    claimed = neurons.Lam[plus] * setting.D
    scale = neurons.Lam[plus] * setting.d
    return Findings(
        hypotheses=hypotheses,
        claims=(
            at_least("J+: w_j . u", neurons.w_u[plus], claimed, scale=scale),
            at_least("J+: fall of the pre-activation along z", fall, setting.eta * claimed, scale=setting.eta * scale),
            above("d - mp", setting.D, 0.0),
        ),
    )


@_sketch(
    id="VYS22/Sec5.5",
    number="Section 5.5, equations (5) and (6)",
    meaning="Moving against u opens every negative neuron in a first stage and raises their sum by 2 in a second.",
    formula=r"j \in J^-: \quad w_j^\top (x_i - \eta' u) + b_j \ge w_j^\top x_i + b_j + \eta' \Lambda_j (d - mp)",
    control=frozen_robust,
    control_shows="the negative neurons of the robust network start at -1 and stay shut",
)
def section_5_5(instance: Instance) -> Findings:
    """Equations (5) and (6), the bound on negative pre-activations, and the two stages of z."""
    setting, neurons, hypotheses = _pieces(instance)
    minus = neurons.negative
    X = setting.X[setting.y > 0]
    network = instance.certificate.network
    Lam, D = neurons.Lam[minus], setting.D
    pre = network.preactivations(X)[:, minus]
    stage = network.preactivations(X - setting.eta_1 * setting.u)[:, minus]
    end = network.preactivations(X - setting.eta * setting.u)[:, minus]
    scale = np.abs(pre) + setting.eta_2 * Lam * setting.d
    rise = (end - stage).sum(axis=1)
    total = float(Lam.sum())
    return Findings(
        value("sum over J- of Lambda_j", total),
        hypotheses=hypotheses,
        claims=(
            at_least("(5) at eta_1", stage, pre + setting.eta_1 * Lam * D, scale=scale),
            at_least("pre-activation on the samples", pre, -(setting.p + 1) * Lam, scale=scale),
            at_least("first stage opens J-", stage, 0.0, scale=scale),
            at_least("(6): second stage raises the sum over J- by", rise, setting.eta_2 * D * total, scale=scale.sum()),
            at_least("(6) is at least 2", setting.eta_2 * D * total, 2.0),
        ),
    )
