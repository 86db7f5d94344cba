r"""[FCB22, Definition 4.5] A good run: Lemmas 4.1 to 4.4 all hold."""

import math

from marginflow.theory.fcb22.constants import C0_MEASURED, C0_PAPER, C1_PAPER, C2_proved
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import RUN, path_of
from marginflow.theory.fcb22.recorded import c16, with_parameters
from marginflow.theory.frame import Erratum, Findings, Instance, stated, value


@stated(
    id="FCB22/Def4.5",
    meaning="A good run: everything that Lemmas 4.1 to 4.4 say of the start and the sample holds.",
    formula=r"\text{Lemmas 4.1, 4.2 with } C_0 = 4^5 \cdot 1024^2 e^4, \text{ 4.3 and 4.4 all hold}",
    needs=("data", "run", "start"),
    parameters={**RUN, "C1": "the constant of Lemma 4.3, 2 by default"},
    example=c16,
    control=lambda: with_parameters(c16(), C0=C0_PAPER),
    control_shows="with the paper's C0 all four sets must have a quarter of the neurons each, to one part in 10^10",
    printed=r"C_0 = 4^5 \cdot 1024^2 e^4 = 5.86 \cdot 10^{10}",
    sharp=rf"C_0 = {C0_MEASURED:g}: \text{{ holds at the instances }} C = 16 \text{{ and }} C = 64",
    errata=Erratum.wrong_constant(
        "With the literal C0 a neuron is outside J with probability 4.5e-12, so J = [m]. Below m = 3e23 Lemma "
        "4.2 then fails, as the sets are not equally large, and Lemma 4.4 for neurons nearly orthogonal to a mean.",
        repair="C0 = 2 at the instances C = 16 and C = 64",
    ),
)
def def_4_5(instance: Instance) -> Findings:
    """The parts of Lemmas 4.1-4.4 as events, with C2 as the proof of Lemma 4.4 gives it."""
    path = path_of(instance)
    run = GoodRun(path)
    C1 = instance.number("C1", C1_PAPER)
    return Findings(
        value("C0", path.C0),
        value("C1", C1),
        value("C1*", run.C1, "the least that parts (a) and (b) need"),
        value("C2*", run.C2, f"n / smallest edge; the proof gives {C2_proved(path.C0):.4g}"),
        value("claimed probability", 1 - 4 * path.numbers.delta),
        value("P(a neuron is outside J), about", math.erf(1 / (3 * path.C0 * math.sqrt(2)))),
        hypotheses=(*path.numbers.confidence(),),
        claims=(*run.initial_norms(), run.counted(), *run.set_sizes(), *run.geometry(C1), run.edge(C2_proved(path.C0))),
    )
