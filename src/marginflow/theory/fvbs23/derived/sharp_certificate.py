r"""[FVBS23/X.SharpCertificate] The bounds of the proofs with the numbers of the sample at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, below, is_kkt_point, stated, value
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import A, flipped_label, preset
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting
from marginflow.theory.fvbs23.thm_3_1.lem_a12 import test_clusters


@dataclass(frozen=True, kw_only=True)
class Radii:
    """Bounds on inner products (the +1 of the bias included), proved from P1-P3 or measured; see `SharpBounds`.

    Training samples of one cluster lie in [a, A], a test point and its cluster in [a_test, A_test], everything across
    clusters is at most B in size, |<x_i, xi>| <= X, and y_i <x_i, u> >= D.
    """

    a: float
    A: float
    a_test: float
    A_test: float
    B: float
    X: float
    D: float

    @classmethod
    def proved(cls, s: ClusterSetting) -> Radii:
        """What P1 to P3 give, for any sigma."""
        spread = (2 + math.sqrt(2) * s.sigma) * s.g
        return cls(
            a=s.d - spread + 1,
            A=max(s.d + spread, (1 + 2 * s.sigma**2) * s.d + 2 * s.g) + 1,
            a_test=s.d - spread + 1,
            A_test=s.d + spread + 1,
            B=s.p + spread + 1,
            X=(1 + math.sqrt(2) * s.sigma) * s.g,
            D=s.D_u_sharp,
        )

    @classmethod
    def measured(cls, sample: ClusterSample, X: FloatArray, clusters: IntArray) -> Radii:
        """From a training sample and test points; no assumption on norms or noise."""
        cross = sample.data.X @ X.T
        own = sample.clusters[:, None] == clusters[None, :]
        noise = sample.data.X @ sample.noise.T
        others = np.abs(noise[~np.eye(sample.n, dtype=np.bool_)])
        test = np.abs(sample.data.X @ (X - sample.means[clusters]).T)
        across = max(
            float(np.abs(sample.gram[~sample.same]).max(initial=0.0)), float(np.abs(cross[~own]).max(initial=0.0))
        )
        return cls(
            a=float(sample.gram[sample.same].min()) + 1,
            A=float(sample.gram[sample.same].max()) + 1,
            a_test=float(cross[own].min(initial=math.inf)) + 1,
            A_test=float(cross[own].max(initial=-math.inf)) + 1,
            B=across + 1,
            X=max(float(test.max()), float(others.max(initial=0.0)), -float(np.diag(noise).min())),
            D=float((sample.data.y * (sample.data.X @ sample.u)).min()),
        )


@dataclass(frozen=True, kw_only=True)
class SharpBounds:
    """c'', S_max, S_min, bounds of y N on test points and the step along u, from `Radii`."""

    ratio: float
    S_max: float
    S_min: float
    least_output: float
    largest_output: float
    eta: float

    @classmethod
    def of(cls, r: Radii, k: int, least: int) -> SharpBounds:
        """The lemmas A.10 to D.7 with (k - 1) in place of k and the radii as they are."""
        ratio = (k - 1) * r.B / r.a if r.a > 0 else math.inf
        if ratio >= 1 / 3 or r.D <= 0 or least == 0:
            nothing = math.nan
            return cls(
                ratio=ratio, S_max=nothing, S_min=nothing, least_output=nothing, largest_output=nothing, eta=nothing
            )
        S_max = 1 / (r.a * (1 - 2 * ratio))
        S_min = (1 - 3 * ratio) / ((1 - 2 * ratio) * r.A)
        up = (r.A_test + (k - 1) * r.B) * S_max
        return cls(
            ratio=ratio,
            S_max=S_max,
            S_min=S_min,
            least_output=r.a_test * S_min - 2 * (k - 1) * r.B * S_max,
            largest_output=up,
            eta=max(2 * r.X, r.B) / r.D + up / (r.D * least * S_min),
        )


def sharp_checks(neurons: CertifiedNeurons, test: Dataset, bounds: SharpBounds, name: str) -> tuple[Check, ...]:
    """Sums, outputs and flips against one set of bounds; a negative lower bound of the output says nothing."""
    sample = neurons.sample
    s = sample.setting
    plus, minus = neurons.S
    own = np.where(s.y > 0, plus, minus)
    outputs = test.y * neurons.outputs(test.X)
    moved = test.y * neurons.outputs(test.X - test.y[:, None] * (bounds.eta * sample.u))
    empty = bounds.least_output <= 0
    size = bounds.eta * s.u_norm / math.sqrt(s.d)
    return (
        at_most(f"{name}: max(S_q^+, S_q^-)", np.maximum(plus, minus), bounds.S_max),
        at_least(f"{name}: S_q of the own sign", own, bounds.S_min),
        at_least(f"{name}: y N(x), from below", outputs, bounds.least_output, vacuous=empty),
        at_most(f"{name}: y N(x)", outputs, bounds.largest_output),
        at_most(f"{name}: y N(x - y eta u)", moved, 0.0, scale=1.0, note=f"||z|| = {size:.4g} sqrt(d)"),
    )


@stated(
    id="FVBS23/X.SharpCertificate",
    kind="lemma",
    number="Derived from Lemmas A.10 to A.12 and D.2 to D.7",
    meaning="The same chain with any bounds on inner products, proved or measured, certifies outputs and a shorter z.",
    formula=r"c'' = \frac{(k-1) B}{a}, \ S_{max} = \frac{1}{a (1 - 2c'')}, \ S_{min} = \frac{1 - 3c''}{(1 - 2c'') A}, "
    r"\ \eta > \frac{\max(2X, B)}{D} + \frac{(A_t + (k-1) B) S_{max}}{D c k S_{min}}",
    needs=("network", "data", "law", "test"),
    example=lambda: preset(A),
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    remark="Needs neither equal norms nor Assumption 2.2; the measured z depends on the sample.",
)
def x_sharp(instance: Instance) -> Findings:
    """The chain of Appendices A and D with measured inner products in place of p and Delta, and with proved ones."""
    neurons = CertifiedNeurons.of(instance)
    sample = neurons.sample
    s = sample.setting
    test, clusters = test_clusters(instance)
    measured = SharpBounds.of(Radii.measured(sample, test.X, clusters), s.k, s.least)
    proved = SharpBounds.of(Radii.proved(s), s.k, s.least)
    root = math.sqrt(s.d)
    conclusions = sharp_checks(neurons, test, measured, "measured")
    if proved.ratio < 1 / 3:
        conclusions += sharp_checks(neurons, test, proved, "proved")
    return Findings(
        hypotheses=(
            below("(k - 1) B / a, measured", measured.ratio, 1 / 3),
            sample.P6(),
            sample.own_labels(),
            is_kkt_point(instance),
        ),
        constants=(
            value("(k - 1) B / a, proved", proved.ratio),
            value("y N(x) from below, measured", measured.least_output),
            value("y N(x) from below, proved", proved.least_output),
            value("||z|| / sqrt(d), measured", measured.eta * s.u_norm / root),
            value("||z|| / sqrt(d), proved", proved.eta * s.u_norm / root),
        ),
        claims=conclusions,
    )
