r"""[FCB22, Lemma 4.2] How many neurons of the start are weakly correlated with each mean."""

import math

from scipy import special

from marginflow.theory.fcb22.constants import C0_PAPER
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import path_of, stated_of_run
from marginflow.theory.fcb22.recorded import many_neurons, with_parameters
from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, at_most, value


def set_probability(d: float, C0: float) -> float:
    """P(<w/|w|, mu> >= 1/(3 C0 sqrt(d))): (1 + correlation)/2 is Beta((d-1)/2, (d-1)/2)."""
    threshold = 1 / (3 * C0 * math.sqrt(d))
    return float(special.betainc((d - 1) / 2, (d - 1) / 2, (1 - threshold) / 2))


def set_failure(m: int, d: float, C0: float) -> float:
    """At most this is the probability that one of the four |J_mu| is below m/4 (1 - 1/C0)^2: four binomial tails."""
    least = math.ceil(m / 4 * (1 - 1 / C0) ** 2 - 1e-9)
    return min(1.0, 4 * float(special.bdtr(least - 1, m // 2, set_probability(d, C0)))) if least >= 1 else 0.0


@stated_of_run(
    id="FCB22/Lem4.2",
    meaning="For each of the four means a good share of the neurons of its label is weakly correlated with it.",
    formula=r"|J_\mu| \ge \tfrac{m}{4} \left(1 - \tfrac{1}{C_0}\right)^2, \quad "
    r"|J| \ge m \left(1 - \tfrac{1}{C_0}\right)^2",
    example=many_neurons,
    control=lambda: with_parameters(many_neurons(), C0=C0_PAPER),
    control_shows="with the paper's C0 the lemma needs m = 3e23, and 400 neurons do not fall into equal quarters",
    printed=r"\text{the sign of } \langle w_j, \mu \rangle \text{ depends on the angle, its size on the norms}",
    errata=(
        Erratum.slip(
            "The printed reason for independence is wrong: the size of <w, mu> depends on the angle too.",
            repair="the sign and the modulus of a centred Gaussian are independent, so the claim stands",
        ),
        Erratum.wrong_constant(
            "With the C0 of Definition 4.5 the lemma needs a width of 3e23.",
            repair="measured constants stand beside it",
        ),
    ),
)
def lemma_4_2(instance: Instance) -> Findings:
    """The sizes of the four sets on the start at hand, and the exact probability that one is too small."""
    path = path_of(instance)
    s, run = path.numbers, GoodRun(path)
    m = path.neurons.a.size
    return Findings(
        value("expected |J_mu|", m / 2 * set_probability(s.d, path.C0)),
        value("P(some |J_mu| is too small), exact, at most", set_failure(m, s.d, path.C0)),
        hypotheses=(
            *s.confidence(),
            above("C0", path.C0, 1.0),
            at_least("m", m, 16 * path.C0**2 * math.log(32 / s.delta)),
            at_least("d", s.d, 32 * math.log(4 * m / s.delta)),
        ),
        claims=(*run.set_sizes(), at_most("exact probability of failure", set_failure(m, s.d, path.C0), s.delta)),
    )
