r"""[FVBS23/X.SharpCertificate, X.ApproxKKT] The bounds of the proofs for the sample and the network at hand."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.networks.evaluation import augmented_samples
from marginflow.robustness.cluster_bounds import ClusterBounds
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, below, is_kkt_point, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import A, flipped_label, preset, stated_of_clusters


def sharp_checks(neurons: CertifiedNeurons, test: FreshPoints, bounds: ClusterBounds, name: str) -> tuple[Check, ...]:
    """Sums, outputs and flips against one set of bounds; a negative lower bound of the output says nothing."""
    s = neurons.sample.setting
    outputs = test.y * neurons.outputs(test.X)
    eta = bounds.eta_1 + bounds.eta_2
    moved = test.y * neurons.outputs(test.X - test.y[:, None] * (eta * neurons.sample.u))
    empty = bounds.least_output <= 0
    size = eta * s.u_norm / math.sqrt(s.d)
    return (
        at_most(f"{name}: max(S_q^+, S_q^-)", np.maximum(*neurons.S), bounds.S_max),
        at_least(f"{name}: S_q of the own sign", neurons.S_own, bounds.S_min),
        at_least(f"{name}: y N(x), from below", outputs, bounds.least_output, vacuous=empty),
        at_most(f"{name}: y N(x)", outputs, bounds.largest_output),
        at_most(f"{name}: y N(x - y eta u)", moved, 0.0, scale=1.0, note=f"||z|| = {size:.4g} sqrt(d)"),
    )


@stated_of_clusters(
    id="FVBS23/X.SharpCertificate",
    kind="lemma",
    number="Derived from Lemmas A.10 to A.12 and D.2 to D.7",
    meaning="The same chain with any bounds on inner products, proved or measured, certifies outputs and a shorter z.",
    formula=r"c'' = \frac{(k-1) B}{a}, \ S_{max} = \frac{1}{a (1 - 2c'')}, \ S_{min} = \frac{1 - 3c''}{(1 - 2c'') A}, "
    r"\ \eta > \frac{\max(2X, B)}{D} + \frac{(A_t + (k-1) B) S_{max}}{D c k S_{min}}",
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    remark="Needs neither equal norms nor Assumption 2.2; the measured z depends on the sample.",
)
def x_sharp(instance: Instance) -> Findings:
    """The chain of Appendices A and D with measured inner products in place of p and Delta, and with proved ones."""
    neurons = CertifiedNeurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    test = FreshPoints.of(instance)
    measured, proved = sample.measured_bounds(test.X, test.clusters), s.proved_bounds
    root = math.sqrt(s.d)
    conclusions = sharp_checks(neurons, test, measured, "measured")
    if proved.ratio < 1 / 3:
        conclusions += sharp_checks(neurons, test, proved, "proved")
    return Findings(
        value("(k - 1) B / a, proved", proved.ratio),
        value("y N(x) from below, measured", measured.least_output),
        value("y N(x) from below, proved", proved.least_output),
        value("||z|| / sqrt(d), measured", (measured.eta_1 + measured.eta_2) * s.u_norm / root),
        value("||z|| / sqrt(d), proved", (proved.eta_1 + proved.eta_2) * s.u_norm / root),
        hypotheses=(
            below("(k - 1) B / a, measured", measured.ratio, 1 / 3),
            sample.P6(),
            sample.own_labels(),
            is_kkt_point(instance),
        ),
        claims=conclusions,
    )


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
    t = float((certificate.margins[certificate.multipliers > 0] - 1).max(initial=0.0))
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
