r"""[FCB22, Lemma 4.1] The random start: norms, and how many neurons are not orthogonal to a given vector."""

import math

from scipy import special

from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import path_of, stated_of_run
from marginflow.theory.fcb22.recorded import figure, many_neurons
from marginflow.theory.frame import Findings, Instance, above, at_least, at_most, value


def norm_failure(m: float, d: float, low: float = 0.25, high: float = 2.25) -> float:
    """P(some |w_j|^2 / (omega^2 d) is outside [low, high]), exactly: chi-square with d degrees, m times."""
    outside = float(special.gammainc(d / 2, low * d / 2) + special.gammaincc(d / 2, high * d / 2))
    return -math.expm1(m * math.log1p(-outside)) if outside < 1 else 1.0


def count_failure(m: int, C0: float, delta: float) -> float:
    """P(fewer neurons than Lemma 4.1 says have |<w_j, mu>| >= omega / (2 C0)), exactly: a binomial tail."""
    p = 2 * float(special.ndtr(-1 / (2 * C0)))
    least = math.ceil(m * (1 - 1 / (2 * C0) - math.sqrt(2 * math.log(4 / delta) / m)) - 1e-9)
    return float(special.bdtr(least - 1, m, p)) if least >= 1 else 0.0


@stated_of_run(
    id="FCB22/Lem4.1",
    meaning="Initial weights have norm about omega sqrt(d), and most of them are not too orthogonal to a given vector.",
    formula=r"\tfrac12 \omega \sqrt{d} \le \|w_j^{(0)}\| \le \tfrac32 \omega \sqrt{d}, \quad "
    r"\#\{j : |\langle w_j^{(0)}, \mu \rangle| \ge \tfrac{\omega}{2 C_0}\} \ge "
    r"m \left(1 - \tfrac{1}{2 C_0} - \sqrt{\tfrac{2 \log(4/\delta)}{m}}\right)",
    example=many_neurons,
    control=lambda: figure(5, n=1000, m=100),
    control_shows="in the plane of Figure 1 the norms of the start are spread far beyond a factor of 3/2",
    proved=r"\sqrt{1/2} \, \omega \sqrt{d} \le \|w_j^{(0)}\| \le \sqrt{3/2} \, \omega \sqrt{d}",
)
def lemma_4_1(instance: Instance) -> Findings:
    """Both parts on the start at hand, and the exact probability that a fresh start fails."""
    path = path_of(instance)
    s, run = path.numbers, GoodRun(path)
    m = path.neurons.a.size
    failure = norm_failure(m, s.d) + count_failure(m, path.C0, s.delta)
    return Findings(
        value("smallest |w_j| / (omega sqrt(d))", float(run.relative_norms.min())),
        value("largest |w_j| / (omega sqrt(d))", float(run.relative_norms.max())),
        value("P(norms fail), exact", norm_failure(m, s.d)),
        value("P(norms leave [sqrt(1/2), sqrt(3/2)]), exact", norm_failure(m, s.d, 0.5, 1.5), "as the proof gives"),
        value("P(count fails), exact", count_failure(m, path.C0, s.delta)),
        hypotheses=(*s.confidence(), above("C0", path.C0, 1.0), at_least("d", s.d, 32 * math.log(4 * m / s.delta))),
        claims=(*run.initial_norms(), run.counted(), at_most("exact probability of failure", failure, s.delta)),
    )
