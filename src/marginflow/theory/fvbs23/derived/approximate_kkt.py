r"""[FVBS23/X.ApproxKKT] What approximate KKT points still satisfy."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.networks.evaluation import augmented_samples
from marginflow.theory.frame import Findings, Instance, at_least, at_most, below, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import A, flipped_label, preset, stated_of_clusters


@cache
def perturbed() -> Instance:
    """Preset A with all weights and outputs moved by about 1e-5 relative to their layer."""
    good = preset(A)
    network, rng = good.the_network(), np.random.default_rng(0)
    W = network.W + 1e-5 * float(np.abs(network.W).max()) * rng.standard_normal(network.W.shape)
    moved = replace(network, W=W, v=network.v * (1 + 1e-5 * rng.standard_normal(network.width)))
    return replace(good, name="preset A moved by 1e-05", network=moved, multipliers=None)


@stated_of_clusters(
    id="FVBS23/X.ApproxKKT",
    kind="lemma",
    number="Derived from Lemmas A.10 to A.12",
    meaning="The lemmas survive approximate stationarity, with the residual and the slack added to the bounds.",
    formula=r"e = \sqrt{3d + \Delta + 1} \sum_j |v_j| \|r_j\|, \quad S_q^\pm \le \frac{1 + t + e}{(1 - 2c')(d - \Delta "
    r"+ 1)}, \quad S_q \ge \frac{1 - e - c'(1 + t + e)/(1 - 2c')}{3d + \Delta + 1}",
    example=perturbed,
    control=flipped_label,
    control_shows="one label is not that of its cluster: its multiplier is hundreds of times too large",
    remark="The network is scaled to margin 1 first; without that the constants mean nothing.",
)
def x_approx(instance: Instance) -> Findings:
    """Lemmas A.10 to A.12 with the residual and the slack of an approximate KKT point carried through."""
    neurons = CertifiedNeurons.of(instance)
    s, data = neurons.sample.setting, instance.the_data()
    certificate = instance.certificate
    test = FreshPoints.of(instance)
    Xt = augmented_samples(data.X, bias=True)
    fitted = neurons.v[:, None] * ((neurons.mu * data.y[:, None]).T @ Xt)
    r = np.linalg.norm(np.column_stack([neurons.W, neurons.b]) - fitted, axis=1)
    total = float(np.abs(neurons.v) @ r)
    e = math.sqrt(3 * s.d + s.Delta + 1) * total
    support = certificate.multipliers > 0
    t = float((certificate.margins[support] - 1).max(initial=0.0))
    room = s.d - s.Delta + 1
    S_max = (1 + t + e) / (s.spare * room)
    S_min = (1 - e - s.c_prime * (1 + t + e) / s.spare) / (3 * s.d + s.Delta + 1)
    e_x = np.sqrt((test.X**2).sum(axis=1) + 1) * total
    claimed = room * S_min - 2 * (s.k * (s.p + s.Delta + 1)) * S_max - e_x
    return Findings(
        value("stationarity", certificate.stationarity),
        value("y N(x) from below", float(claimed.min())),
        hypotheses=(
            *s.assumption(),
            *neurons.sample.nice,
            below("e, the weight of the residuals", e, 0.5),
            below("t, the slack on the support", t, 0.5),
        ),
        claims=(
            at_most("max(S_q^+, S_q^-)", np.maximum(*neurons.S), S_max),
            at_least("S_q of the own sign", neurons.S_own, S_min),
            at_least("y N(x)", test.y * neurons.outputs(test.X), claimed, vacuous=bool(claimed.min() <= 0)),
        ),
    )
