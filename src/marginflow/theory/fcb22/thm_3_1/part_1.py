r"""[FCB22, Theorem 3.1, part 1] Clean samples are fitted and noisy ones are not."""

import numpy as np

from marginflow.theory.fcb22.a_ledger import ledger, needed_constant
from marginflow.theory.fcb22.constants import C0_PAPER, C1_PAPER, GAMMA, C2_proved
from marginflow.theory.fcb22.descent import complete
from marginflow.theory.fcb22.measures import mean_of, quotient
from marginflow.theory.fcb22.path import Path, path_of, stated_of_run
from marginflow.theory.fcb22.recorded import c16, lost_cluster
from marginflow.theory.fcb22.region import THEOREM_3_1_1
from marginflow.theory.frame import Check, Erratum, Findings, Instance, at_least, at_most, value


def literal(path: Path) -> tuple[Check, Check]:
    """How far "C large enough" is from the instance: the C needed with the literal constants against the largest."""
    lines = ledger(path.numbers, path.sample.noisy_share, C0_PAPER, C1_PAPER, C2_proved(C0_PAPER))
    C, binding = needed_constant(lines)
    high = path.numbers.interval[1]
    return (
        at_least("largest C against the C that the literal constants need", high, C, note=f"{binding} binds"),
        value("literal lines that hold", sum(line.check.state == "met" for line in lines), f"of {len(lines)}"),
    )


def misfits(path: Path) -> Check:
    """The number of samples whose predicted sign is not the clean label (0 counts as wrong): both claims at once."""
    return at_most("samples with sgn f(x_i) != clean label", int((path.clean_margins[-1] <= 0).sum()), 0)


@stated_of_run(
    id="FCB22/Thm3.1.1",
    number="Theorem 3.1, part 1",
    meaning="After T = 1 + 1/(4 alpha) steps every clean sample is classified as labelled and every noisy one is not.",
    formula=r"y_i = \mathrm{sgn} f(x_i; W^{(T)}) \; (i \in \mathcal{C}), \quad y_i \ne \mathrm{sgn} f(x_i; W^{(T)}) \; "
    r"(i \in \mathcal{N}); \quad \tilde y_i f(x_i; W^{(T)}) \ge \gamma = \tfrac{e^{-2}}{16 \cdot 1024}",
    example=c16,
    control=lost_cluster,
    control_shows="(A1)-(A7) hold with C = 5, but 80 % of one cluster is flipped: 'C large enough' must mean C > 8",
    control_outcome="constants unspecified",
    region=THEOREM_3_1_1,
    printed=r"\text{for all } C > 1 \text{ sufficiently large}",
    proved=r"C \ge 2.3 \cdot 10^{26} \text{ (A.ledger)}",
    sharp=r"C \approx 12 \text{ measured (Rem.ConstWidth)}",
    remark="gamma* is 400 to 1000 times the printed gamma.",
    errata=(
        Erratum.wrong_constant(
            "The constants of the proof ask for C >= 2.3e26, so that n is above 1e28 and the noise rate below "
            "1e-26; 'C large enough' must mean C > 8 in any case.",
            evidence="FCB22/A.ledger; at C = 5 all noise on one cluster loses it",
            repair="measured: from C = 12 on more than 60 % of the runs succeed (FCB22/Rem.ConstWidth)",
        ),
        Erratum.slip("T = 1 + 1/(4 alpha) must be an integer, and ||W||_F <= 2 alpha T <= 1 needs alpha <= 1/4."),
    ),
)
def theorem_3_1_1(instance: Instance) -> Findings:
    """Signs of all samples at T against their clean labels, the margin of Eq. (45), the norm."""
    path = path_of(instance)
    s = path.numbers
    q = path.clean_margins[-1]
    norm = float(np.linalg.norm(path.end.W))
    noisy = path.sample.noisy
    return Findings(
        value("gamma*", float(q.min()), f"least clean label times f; the paper has {GAMMA:.3g}"),
        value("gamma* / ||W||_F", quotient(float(q.min()), norm)),
        value("clean samples fitted", mean_of(q[~noisy] > 0)),
        value("noisy samples fitted", float((q[noisy] <= 0).mean()) if noisy.any() else 0.0),
        value("1/128", 1 / 128, "alpha (T - 1) / 32: what is expected of gamma* as sd, omd, eta go to 0"),
        value("smallest C that serves (A1)-(A7)", s.interval[0]),
        value("claimed probability, 1 - 4 delta", 1 - 4 * s.delta),
        *literal(path),
        hypotheses=(*s.confidence(), s.feasible(), complete(path)),
        claims=(misfits(path),),
        proof_steps=(at_least("clean label times f(x_i), Eq. (45)", q, GAMMA), at_most("||W^T||_F", norm, 1.0)),
        unspecified=(value("C", s.constant(instance), "the smallest that serves (A1)-(A7), unless given"),),
    )
