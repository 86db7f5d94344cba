r"""[FCB22, Lemmas 4.1 and 4.2] The random start: norms, weak correlations, and how many neurons have them.

Both are checked on the start at hand and by the exact probability that a fresh start fails.
"""

from __future__ import annotations

import math
from typing import Final

from scipy import special

from marginflow.theory.fcb22.constants import C0_PAPER
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import RUN, path_of
from marginflow.theory.fcb22.recorded import figure, many_neurons, with_parameters
from marginflow.theory.frame import Findings, Forms, Instance, Statement, above, at_least, at_most, value


def norm_failure(m: float, d: float, low: float = 0.25, high: float = 2.25) -> float:
    """P(some |w_j|^2 / (omega^2 d) is outside [low, high]), exactly: chi-square with d degrees, m times."""
    one = float(special.gammainc(d / 2, low * d / 2) + special.gammaincc(d / 2, high * d / 2))
    return -math.expm1(m * math.log1p(-one)) if one < 1 else 1.0


def count_failure(m: int, C0: float, delta: float) -> float:
    """P(fewer neurons than Lemma 4.1 says have |<w_j, mu>| >= omega / (2 C0)), exactly: a binomial tail."""
    p = 2 * float(special.ndtr(-1 / (2 * C0)))
    least = math.ceil(m * (1 - 1 / (2 * C0) - math.sqrt(2 * math.log(4 / delta) / m)) - 1e-9)
    return float(special.bdtr(least - 1, m, p)) if least >= 1 else 0.0


def set_probability(d: float, C0: float) -> float:
    """P(<w/|w|, mu> >= 1/(3 C0 sqrt(d))): (1 + correlation)/2 is Beta((d-1)/2, (d-1)/2)."""
    threshold = 1 / (3 * C0 * math.sqrt(d))
    return float(special.betainc((d - 1) / 2, (d - 1) / 2, (1 - threshold) / 2))


def set_failure(m: int, d: float, C0: float) -> float:
    """At most this is the probability that one of the four |J_mu| is below m/4 (1 - 1/C0)^2: four binomial tails."""
    least = math.ceil(m / 4 * (1 - 1 / C0) ** 2 - 1e-9)
    return min(1.0, 4 * float(special.bdtr(least - 1, m // 2, set_probability(d, C0)))) if least >= 1 else 0.0


def _norms(instance: Instance) -> Findings:
    path = path_of(instance)
    s, run = path.numbers, GoodRun.of(path)
    m = path.neurons.a.size
    failure = norm_failure(m, s.d) + count_failure(m, path.C0, s.delta)
    return Findings(
        hypotheses=(
            *s.confidence(),
            above("C0", path.C0, 1.0),
            at_least("d", s.d, 32 * math.log(4 * m / s.delta)),
        ),
        constants=(
            value("smallest |w_j| / (omega sqrt(d))", float(run.relative_norms.min())),
            value("largest |w_j| / (omega sqrt(d))", float(run.relative_norms.max())),
            value("P(norms fail), exact", norm_failure(m, s.d)),
            value("P(norms leave [sqrt(1/2), sqrt(3/2)]), exact", norm_failure(m, s.d, 0.5, 1.5), "as the proof gives"),
            value("P(count fails), exact", count_failure(m, path.C0, s.delta)),
        ),
        conclusions=(
            *run.initial_norms(),
            run.counted(),
            at_most("exact probability of failure", failure, s.delta),
        ),
    )


LEMMA_4_1: Final = Statement(
    id="FCB22/Lem4.1",
    kind="lemma",
    number="Lemma 4.1",
    meaning="Initial weights have norm about omega sqrt(d), and most of them are not too orthogonal to a given vector.",
    formula=r"\tfrac12 \omega \sqrt{d} \le \|w_j^{(0)}\| \le \tfrac32 \omega \sqrt{d}, \quad "
    r"\#\{j : |\langle w_j^{(0)}, \mu \rangle| \ge \tfrac{\omega}{2 C_0}\} \ge "
    r"m \left(1 - \tfrac{1}{2 C_0} - \sqrt{\tfrac{2 \log(4/\delta)}{m}}\right)",
    needs=("data", "run", "initial"),
    parameters=RUN,
    judge=_norms,
    example=many_neurons,
    control=lambda: figure(5, n=1000, m=100),
    control_shows="in the plane of Figure 1 the norms of the start are spread far beyond a factor of 3/2",
    forms=Forms(proved=r"\sqrt{1/2} \, \omega \sqrt{d} \le \|w_j^{(0)}\| \le \sqrt{3/2} \, \omega \sqrt{d}"),
)


def _sets(instance: Instance) -> Findings:
    path = path_of(instance)
    s, run = path.numbers, GoodRun.of(path)
    m = path.neurons.a.size
    return Findings(
        hypotheses=(
            *s.confidence(),
            above("C0", path.C0, 1.0),
            at_least("m", m, 16 * path.C0**2 * math.log(32 / s.delta)),
            at_least("d", s.d, 32 * math.log(4 * m / s.delta)),
        ),
        constants=(
            value("expected |J_mu|", m / 2 * set_probability(s.d, path.C0)),
            value("P(some |J_mu| is too small), exact, at most", set_failure(m, s.d, path.C0)),
        ),
        conclusions=(
            *run.set_sizes(),
            at_most("exact probability of failure", set_failure(m, s.d, path.C0), s.delta),
        ),
    )


LEMMA_4_2: Final = Statement(
    id="FCB22/Lem4.2",
    kind="lemma",
    number="Lemma 4.2",
    meaning="For each of the four means a good share of the neurons of its label is weakly correlated with it.",
    formula=r"|J_\mu| \ge \tfrac{m}{4} \left(1 - \tfrac{1}{C_0}\right)^2, \quad "
    r"|J| \ge m \left(1 - \tfrac{1}{C_0}\right)^2",
    needs=("data", "run", "initial"),
    parameters=RUN,
    judge=_sets,
    example=many_neurons,
    control=lambda: with_parameters(many_neurons(), C0=C0_PAPER),
    control_shows="with the paper's C0 the lemma needs m = 3e23, and 400 neurons do not fall into equal quarters",
    forms=Forms(
        printed=r"\text{the sign of } \langle w_j, \mu \rangle \text{ depends on the angle, its size on the norms}",
        remark="The printed reason for independence is wrong (the size depends on the angle too); the sign and the "
        "modulus of a centred Gaussian are independent, so the claim stands.",
    ),
)
