r"""[FCB22, Lemma 4.4] The edge of the activations at the start."""

import math

import numpy as np
from scipy import special

from marginflow.arrays import FloatArray
from marginflow.theory.fcb22.constants import HOEFFDING, C2_proved
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import least_of
from marginflow.theory.fcb22.numbers import has_gaussian_clusters
from marginflow.theory.fcb22.path import path_of, stated_of_run, toward_means
from marginflow.theory.fcb22.recorded import c16, wide_clusters, with_parameters
from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, at_most, true, value


def log_edge_tail(shift: FloatArray, n: int, least: float) -> FloatArray:
    r"""ln of Chernoff's bound on P(edge over all of I_mu and I_-mu < least), for <v, mu>/sigma = shift.

    A Gaussian sample adds 1 with probability Phi(shift)/4 and takes off 1 with probability Phi(-shift)/4. Every t > 0
    gives a bound, so that a grid gives one too. Clusters of fixed sizes have smaller moment generating functions.
    """
    t = np.geomspace(1e-3, 20.0, 200)
    up, down = special.ndtr(shift)[:, None] / 4, special.ndtr(-shift)[:, None] / 4
    bounds = n * np.log1p(up * np.expm1(-t) + down * np.expm1(t)) + t * least
    smallest: FloatArray = np.minimum(bounds.min(axis=1), 0.0)
    return smallest


@stated_of_run(
    id="FCB22/Lem4.4",
    meaning="A weak correlation with a mean makes a neuron active on more samples of its cluster than of the opposite.",
    formula=r"\sum_{i \in I_\mu^{\mathcal{C}}} \phi'(\langle w_j^{(0)}, x_i \rangle) - "
    r"\sum_{i \in I_{-\mu}^{\mathcal{C}}} \phi'(\langle w_j^{(0)}, x_i \rangle) \ge \tfrac{n}{C_2}, \quad "
    r"C_2 = 12 C_0 \sqrt{2 \pi e}",
    example=c16,
    control=lambda: with_parameters(wide_clusters(), C0=1000.0),
    control_shows="clusters of radius 1 and neurons that are almost orthogonal to their mean: no edge",
    printed=r"P_{\mathrm{clust}} = N(0, I_d)",
    sharp=r"p - q = P(|Z| < s), \; Z = \langle z, v \rangle / \sigma, \; s = \langle v, \mu \rangle / \sigma",
    remark="The literal C2 is 2.9e12. For large C0 some neurons are nearly orthogonal to a mean, and n must grow as "
    "C0^2: otherwise the lemma does not apply.",
    errata=Erratum.proof_gap(
        "The setting has log-concave clusters, the proof Gaussian ones (q = 1 - p fails for skewed clusters); "
        "clean samples are treated as unconditioned draws, which is wrong for noise that depends on x; with all "
        "noise on one cluster Eq. (12) needs 4 |N|/n instead of |N|/n, as Eq. (6) does.",
        repair="count all of I_mu and take off |N|, and p - q = P(|Z| < s)",
    ),
)
def lemma_4_4(instance: Instance) -> Findings:
    """n / smallest edge against what the proof gives.

    The sample size that Eq. (12) asks for in print is reported. What it is for is required: that the Chernoff bounds of
    the pairs at hand, with all noisy samples taken off, sum to at most delta.
    """
    path = path_of(instance)
    s, run = path.numbers, GoodRun(path)
    C2 = C2_proved(path.C0)
    sharp = float(special.ndtr(1 / (3 * path.C0 * s.sd))) if s.sd > 0 else 1.0

    reached = toward_means(path.neurons.correlations).T[path.neurons.reached]
    least = least_of(reached)
    shift = reached / s.sigma if s.sigma > 0 else np.full_like(reached, math.inf)
    tails = log_edge_tail(shift, path.sample.n, s.n / C2 + int(path.sample.noisy.sum()))
    expected = s.n / 4 * (2 * float(special.ndtr(least / s.sigma)) - 1) if s.sigma > 0 else s.n / 4
    samples = 14400 * math.pi * math.e * HOEFFDING**2 * path.C0**2 * math.log(64 * s.m / s.delta)
    return Findings(
        hypotheses=(
            *s.confidence(),
            s.feasible(),
            above("C0", path.C0, 1.0),
            true("Gaussian clusters", has_gaussian_clusters(instance.law)),
            at_least("neurons and means that reach the threshold", reached.size, 1),
            at_most(
                "P(some edge < n/C2), by Chernoff",
                float(np.exp(tails).sum()),
                s.delta,
                note="what Eq. (12) asks n for; all noisy samples are taken off",
            ),
        ),
        constants=(
            value("C2*", run.C2, "n / smallest edge over all neurons that reach the threshold"),
            value("C2* over J", run.C2_of_J),
            value("C2 of the proof", C2),
            value("least edge that is expected, n/4 P(|Z| < s)", expected, "Gaussian clusters"),
            value("P(active) of the proof, Eq. (11)", 0.5 + 1 / (3 * path.C0 * math.sqrt(2 * math.pi * math.e))),
            value("P(active) with the sigma at hand", sharp),
            at_least("n against what Eq. (12) asks for", s.n, samples),
        ),
        claims=(run.edge(C2),),
    )
