r"""[FCB22, Lemma 4.10] Random feature amplification: one step turns weak correlations into strong ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.fcb22.descent import small_start
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import quotient
from marginflow.theory.fcb22.path import Path, measurable_path, stated_of_run
from marginflow.theory.fcb22.recorded import gd_run, tight
from marginflow.theory.frame import Check, Erratum, Findings, Instance, above, at_least, at_most, equal, value


@dataclass(frozen=True, eq=False, kw_only=True)
class FirstStep:
    """w1 - w0 split as in Eq. (28): a multiple of the means, the spread of the samples, the slope of the loss.

    The last two are zeta_1 of Eq. (24) and zeta_2 of Eq. (26) with its signs repaired; the edges are N_{+mu} - N_{-mu},
    labels as observed, toward the own mean and label of each neuron in J.
    """

    along: FloatArray
    spread: FloatArray
    drift: FloatArray
    own_edges: FloatArray

    @classmethod
    def of(cls, path: Path) -> FirstStep:
        """From the first network of a path."""
        s, start = path.sample, path.networks[0]
        U = s.X @ start.W.T
        active = (U > 0).astype(np.float64)
        slope = 1.0 / (1.0 + np.exp(s.y * (np.maximum(U, 0.0) @ start.v)))
        scale = path.alpha * start.v / s.n
        signed = np.stack([((s.clusters == cluster) * s.y) @ active for cluster in range(4)])  # N_mu(j), Eq. (27)
        edges = np.stack([signed[0] - signed[1], signed[2] - signed[3]])
        weights = active * (slope * s.y)[:, None]
        excess = active * ((slope - 0.5) * s.y)[:, None]
        own = path.neurons.own
        sign = np.where(own % 2 == 0, 1.0, -1.0) * np.where(own < 2, 1.0, -1.0)
        return cls(
            along=0.5 * scale[:, None] * (edges.T @ s.mu),
            spread=scale[:, None] * (weights.T @ (s.X - s.means[s.clusters])),
            drift=scale[:, None] * (excess.T @ s.means[s.clusters]),
            own_edges=edges[own // 2, path.neurons.J] * sign,
        )


def amplified(path: Path, C2: float) -> Check:
    """Normalised correlations after one step."""
    return at_least("<w_j/|w_j|, mu> after one step", path.correlations[1], 1 / (16 * C2))


@stated_of_run(
    id="FCB22/Lem4.10",
    meaning="One step amplifies correlations of order 1/sqrt(d) to order 1, and aligns every neuron of J.",
    formula=r"\left\langle \tfrac{w_j^{(1)}}{\|w_j^{(1)}\|}, \mu \right\rangle \ge \tfrac{1}{16 C_2}, \; j \in J_\mu",
    example=tight,
    control=lambda: gd_run(400, 1200, 100, sd=1 / 16, eta=1 / 16, omd=8.0),
    control_shows="a start of norm 8 hides the step: correlations stay of order 1/sqrt(d)",
    sharp=r"w_j^{(1)} \to \tfrac{\alpha a_j}{8} (1 - 2 \eta) (\mu_{\mathrm{own}} \mp \mu_{\mathrm{opp}}), \quad "
    r"\left\langle \tfrac{w_j^{(1)}}{\|w_j^{(1)}\|}, \mu \right\rangle \to \tfrac{1}{\sqrt{2}}",
    remark="The correlation after one step tends to 1/sqrt(2), not 1.",
    errata=Erratum.slip(
        "zeta_2 has swapped signs on mu2, Eq. (30) drops y_i, and '|N|/n <= 2 eta' does not follow from Lemma "
        "4.3(c) for tiny eta."
    ),
)
def lemma_4_10(instance: Instance) -> Findings:
    """The step split as in Eq. (28), every bound of the proof on its parts, and the correlations after it."""
    path, usable = measurable_path(instance)
    s, run = path.numbers, GoodRun(path)
    first = FirstStep.of(path)
    C1, C2 = run.C1, run.C2
    a = np.where(path.a > 0, path.a, 1.0)
    unit = path.alpha * a
    step = path.networks[1].W - path.networks[0].W
    before, after = path.correlations[0], path.correlations[1]
    error = np.abs(step - first.along - first.spread - first.drift).max()
    spread = np.linalg.norm(first.spread, axis=1) / (unit * C1 * s.sd) if s.sd > 0 else np.zeros(a.size)
    drift = np.linalg.norm(first.drift, axis=1) / (unit * s.omd) if s.omd > 0 else np.full(a.size, math.nan)
    return Findings(
        value("C2*", C2),
        value("correlation before, least", float(before.min(initial=math.inf))),
        value("correlation before, median", float(np.median(before))),
        value("correlation after, least", float(after.min(initial=math.inf))),
        value("correlation after, median", float(np.median(after)), "1/sqrt(2) for a start and clusters of size 0"),
        value("amplification, median", float(np.median(after / before))),
        value("share of J aligned before", path.aligned_share[0]),
        hypotheses=(
            *usable,
            *run.event(),
            small_start(path),
            at_most("C1 sd", C1 * s.sd, 1 / (64 * C2)),
            at_most("omega sqrt(md)", s.omd, 1 / (16 * C2)),
            at_most("|N|/n", path.sample.noisy_share, 1 / (2 * C2)),
        ),
        claims=(amplified(path, C2), equal("share of J aligned after one step", float(path.aligned_share[1]), 1.0)),
        proof_steps=(
            at_most(
                "error of Eq. (28) / largest entry of the step",
                quotient(float(error), float(np.abs(step).max())),
                1e-9,
                tolerance=0.0,
            ),
            at_most("|zeta_1| / (C1 alpha |a_j| sd), Eq. (24)", spread, 1.0),
            at_most("|zeta_2| / (alpha |a_j| omd), Eq. (26)", drift, 1.0),
            at_least("N_{+mu} - N_{-mu}, Eq. (31)", first.own_edges, path.sample.n / (2 * C2)),
            above(
                "<w_j, mu> / (alpha |a_j|), Eq. (32)", path.own_projection[1] / path.unit, 1 / (8 * C2), tolerance=0.0
            ),
            at_least("least slack of alignment, Eq. (34)", path.slack[1] * path.sample.norms.min(), 1 / (32 * C2)),
        ),
    )
