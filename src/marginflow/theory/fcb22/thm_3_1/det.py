r"""[FCB22, Theorem 3.1] The deterministic half, literally: a good run, every inequality of the proof, the conclusion.

A good run is planted, so that neither a large dimension nor a huge width is needed; C2 is measured, and all other
constants are those of the paper.
"""

import numpy as np

from marginflow.theory.fcb22.a_ledger import ledger
from marginflow.theory.fcb22.constants import GAMMA, C3_proved
from marginflow.theory.fcb22.descent import complete, growth, slopes, weight_growth
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import least_of
from marginflow.theory.fcb22.path import measurable_path, stated_of_run
from marginflow.theory.fcb22.recorded import lost_cluster, planted
from marginflow.theory.fcb22.thm_3_1.cond_4_7_4_8 import alignment, orthogonality
from marginflow.theory.fcb22.thm_3_1.lem_4_9 import subnetwork_margin
from marginflow.theory.fcb22.thm_3_1.lem_4_10 import amplified
from marginflow.theory.fcb22.thm_3_1.lem_4_11 import later_correlations, moves
from marginflow.theory.fcb22.thm_3_1.part_1 import misfits
from marginflow.theory.frame import Findings, Instance, at_least, at_most, value


@stated_of_run(
    id="FCB22/Thm3.1.det",
    number="Theorem 3.1, from a good run on",
    meaning="On a good run that satisfies every inequality of the proof literally, all of its claims hold to the end.",
    formula=r"\text{good run} \wedge \text{ledger} \implies \tilde y_i f(x_i; W^{(T)}) \ge \tfrac{e^{-2}}{16 \cdot "
    r"1024}, \quad T = 1 + \tfrac{1}{4\alpha}, \; \alpha \le \tfrac{e^{-2} (1 - 1/C_0)^2}{6144}",
    example=planted,
    control=lost_cluster,
    control_shows="a cluster whose labels are flipped for the most part: no edge, no growth, no margin",
    remark="The deterministic half needs neither d nor m to be large. With four neurons, 1921 samples of which one "
    "is noisy and alpha = 1/45600 all 16 deterministic lines of the ledger hold; the margin is 0.0078, about 1000 "
    "times the literal one. Records are at geometrically spaced times, so growth between them is an average.",
)
def theorem_3_1_det(instance: Instance) -> Findings:
    """The whole chain from the ledger to the margins on one recorded run."""
    path, usable = measurable_path(instance)
    s, run = path.numbers, GoodRun(path)
    lines = ledger(s, path.sample.noisy_share, path.C0, run.C1, run.C2)
    Cf = C3_proved(path.C0)
    outside = 1 - float(path.neurons.J.mean())

    ratio = path.feature_change
    return Findings(
        value("C2*", run.C2),
        value("K*", float(path.orthogonality.max(initial=0.0))),
        value("g*", least_of(path.later_growth)),
        value("gamma*", float(path.clean_margins[-1].min())),
        value("noisy samples", int(path.sample.noisy.sum()), f"of {path.sample.n}"),
        value("times recorded", path.times.size, f"of {int(path.times[-1]) + 1}"),
        value("correlation after one step, least", float(path.correlations[1].min(initial=np.inf))),
        hypotheses=(
            *usable,
            complete(path),
            *run.event(),
            *(line.check for line in lines if not line.chance),
            at_most("|J^c|/m, Lemma 4.6", outside, 1 / (16 * Cf**2)),
        ),
        claims=(
            alignment(path),
            orthogonality(path),
            slopes(path),
            growth(path),
            amplified(path, run.C2),
            later_correlations(path),
            *moves(path),
            *weight_growth(path),
            at_most("||W^T||_F", float(np.linalg.norm(path.end.W)), 1.0),
            subnetwork_margin(path),
            at_least("clean label times f(x_i), Eq. (45)", path.clean_margins[-1], GAMMA),
            misfits(path),
            at_least("relative change of the feature map times omega sqrt(md)", ratio * s.omd, GAMMA),
        ),
    )
