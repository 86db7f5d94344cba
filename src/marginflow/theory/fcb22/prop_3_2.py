r"""[FCB22, Proposition 3.2] Feature maps move away from the start, the more the smaller the start is."""

import math

from marginflow.theory.fcb22.constants import E2, GAMMA
from marginflow.theory.fcb22.descent import complete
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import quotient
from marginflow.theory.fcb22.path import path_of, stated_of_run
from marginflow.theory.fcb22.recorded import gd_run, tight
from marginflow.theory.fcb22.region import PROPOSITION_3_2
from marginflow.theory.fcb22.thm_3_1.cond_4_7_4_8 import alignment
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, value


@stated_of_run(
    id="FCB22/Prop3.2",
    meaning="The hidden representation of every sample moves by at least 1/(C omega sqrt(md)) relative to its start.",
    formula=r"\frac{\|\phi(W^{(T)} x_i) - \phi(W^{(0)} x_i)\|}{\|\phi(W^{(0)} x_i)\|} \ge "
    r"\frac{1}{C \omega_{\mathrm{init}} \sqrt{md}} \ge \frac{1}{C}, \quad C = 16 \cdot 1024 \, e^2",
    example=tight,
    control=lambda: gd_run(200, 320, 40, sd=1 / 16, eta=1 / 16, omd=1000.0, rate=1e-5, steps=1),
    control_shows="a start of norm 1000 and a step-size of 1e-5: the lazy regime, in which features do not move",
    region=PROPOSITION_3_2,
    printed=r"\ge \tfrac{1}{C \omega \sqrt{md}} \ge \tfrac{1}{C}",
    sharp=r"\approx \tfrac{1.15}{\omega \sqrt{md}} \text{ at the instance } C = 16; \quad \ge C \text{ under (A6)}",
    errata=Erratum.slip(
        "sqrt(2) |a_j| (alpha + 4) should be (alpha + 1/4); 1024 stands where 512 is proved; the norm of the "
        "start is Lemma 4.1, not 4.3 or A.1; '- <w0, x>' has the wrong sign; alpha <= 1/10 follows from (A7) only "
        "for C >= 100."
    ),
)
def proposition_3_2(instance: Instance) -> Findings:
    """The relative change of the feature map of every sample against the three bounds of the proof."""
    path = path_of(instance)
    s, run = path.numbers, GoodRun(path)
    moved, before = path.feature_moves
    ratio = path.feature_change
    sizes = path.neurons.sizes[path.sample.clusters]
    middle = sizes * (E2 / (1024 * math.sqrt(path.neurons.a.size))) ** 2
    C = s.constant(instance)
    return Findings(
        value("least relative change", float(ratio.min())),
        value("times omega sqrt(md)", float(ratio.min()) * s.omd, "free of omega"),
        value("C*", quotient(1.0, float(ratio.min()) * s.omd), "the smallest C with the first inequality"),
        value("1 / (C omega sqrt(md)) with the smallest C of (A7)", quotient(1.0, C * s.omd)),
        value("samples on which no neuron was active", int((before == 0).sum())),
        hypotheses=(
            complete(path),
            *run.event(),
            alignment(path),
            at_most("8 C1 sd", 8 * run.C1 * s.sd, E2 / 512),
            at_most("omega sqrt(md)", s.omd, E2 / 4096),
            at_most("alpha", path.alpha, 0.1),
        ),
        claims=(
            at_least("relative change, explicit bound", ratio, quotient(GAMMA, s.omd)),
            at_least("relative change against 1/C", ratio, 1 / C),
        ),
        proof_steps=(
            at_least("squared change, Eq. (53)", moved**2, middle),
            at_most("||phi(W^0 x_i)|| against 3 omega sqrt(md)", before, 3.0 * s.omd),
        ),
    )
