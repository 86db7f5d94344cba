r"""[FCB22, Lemma 4.9] Aligned and almost orthogonal neurons make a subnetwork with a margin."""

import numpy as np

from marginflow.theory.fcb22.constants import E2, ORTHOGONALITY, C3_proved
from marginflow.theory.fcb22.descent import complete, growth, slopes
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import least_of
from marginflow.theory.fcb22.path import Path, path_of, stated_of_run
from marginflow.theory.fcb22.recorded import lost_cluster, planted
from marginflow.theory.fcb22.thm_3_1.cond_4_7_4_8 import alignment, orthogonality
from marginflow.theory.frame import Check, Erratum, Findings, Instance, at_least, at_most, value


def subnetwork_margin(path: Path) -> Check:
    """Lemma 4.9: clean label times f^J(x_i) at the end."""
    return at_least("clean label times f^J(x_i)", path.subnetwork_margins(), 1 / C3_proved(path.C0))


@stated_of_run(
    id="FCB22/Lem4.9",
    meaning="Aligned and almost orthogonal neurons make a subnetwork with a margin for the clean labels.",
    formula=r"\tilde y_i f^J(x_i; W^{(T)}) \ge \tfrac{1}{C_3}, \quad C_3 = \tfrac{4096 e^2}{(1 - 1/C_0)^2}, \quad "
    r"\|W^{(T)}\|_F \le 1",
    example=planted,
    control=lost_cluster,
    control_shows="a cluster whose labels are flipped for the most part is learned as they say",
    printed=r"\text{Conditions 4.7 and 4.8 at times } 1, \dots, T - 1",
    proved=r"\text{Conditions 4.7 and 4.8 at times } 1, \dots, T",
    remark="For alpha above 4.4e-5 the margin is only measured. Conditions 4.7 and 4.8 are checked at the recorded "
    "times only: record every step.",
    errata=(
        Erratum.proof_gap(
            "Conditions 4.7 and 4.8 are used at time T although they are assumed to T - 1; Eq. (18) bounds noisy "
            "samples of the own cluster by C1 sd although <x_i, mu> is about 1 there.",
            repair="the induction of Lemma 4.11 extends by one step; Eq. (37) treats noisy samples correctly",
        ),
        Erratum.wrong_constant("Eq. (20) is negative unless alpha <= 4.4e-5: then T is above 5600."),
        Erratum.slip("Eq. (18) has wrong signs on the sums over mu2."),
    ),
)
def lemma_4_9(instance: Instance) -> Findings:
    """The margin of the subnetwork at T, and the slopes and growth that it comes from."""
    path = path_of(instance)
    s, run = path.numbers, GoodRun(path)
    shrink = (1 - 1 / path.C0) ** 2
    J = path.neurons
    K_end = float(path.orthogonality[-1].max(initial=0.0))
    g = least_of(path.later_growth)
    m = J.a.size
    small, across = J.sizes.min() / m, max(int(J.sizes[:2].sum()), int(J.sizes[2:].sum())) / m
    semi = path.alpha * (small * g * (path.times[-1] - 1) - K_end * across)
    eq20 = E2 * shrink / 1024 - ORTHOGONALITY * path.alpha
    return Findings(
        hypotheses=(
            complete(path),
            *run.event(),
            alignment(path),
            orthogonality(path),
            at_most("alpha, Eq. (20)", path.alpha, E2 * shrink / 6144),
            at_most("C1 sd, for the samples", run.C1 * s.sd, E2 * shrink / 4096),
            at_most("alpha, for ||W||_F <= 1", path.alpha, 0.25),
        ),
        constants=(
            value("g*", g, "least growth per step in units of alpha |a_j|; the paper has 0.0021"),
            value("K at the end", K_end, "the paper allows 3"),
            at_least("right side of Eq. (20) against 0", eq20, 0.0, note="negative: the literal bound says nothing"),
            value("semi-empirical bound on f^J(mu)", semi, "alpha [ |J_mu|/m g* (T - 1) - K |J_opp|/m ]"),
            value("least clean label times f^J(x_i)", float(path.subnetwork_margins().min())),
            value("1/C3", 1 / C3_proved(path.C0)),
        ),
        claims=(at_most("||W^T||_F", float(np.linalg.norm(path.end.W)), 1.0), subnetwork_margin(path)),
        proof_steps=(slopes(path), growth(path)),
    )
