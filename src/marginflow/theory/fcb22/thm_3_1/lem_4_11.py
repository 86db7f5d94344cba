r"""[FCB22, Lemma 4.11] Neuron alignment and almost-orthogonality hold until the end."""

import numpy as np

from marginflow.theory.fcb22.constants import CORRELATION_LATER, E2
from marginflow.theory.fcb22.descent import complete, growth, slopes, small_start, weight_growth
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.measures import least_of
from marginflow.theory.fcb22.path import Path, measurable_path, stated_of_run
from marginflow.theory.fcb22.recorded import tight, wide_clusters
from marginflow.theory.fcb22.thm_3_1.cond_4_7_4_8 import alignment, orthogonality
from marginflow.theory.frame import Check, Erratum, Findings, Instance, at_least, at_most, below, value


def moves(path: Path) -> tuple[Check, Check, Check]:
    """Eq. (43): one step changes <w_j, mu_opposite> by at most 2 alpha |a_j|.

    Where |<w_j, mu_opposite>| >= alpha |a_j|, t >= 1, it is at least 4 alpha / 3 after normalisation, Eq. (40), and the
    next step moves it toward 0, Eq. (42). On runs where it never is that large both say nothing, and are marked so.
    """
    follows = np.flatnonzero(np.diff(path.times) == 1)
    unit = path.unit
    p = path.opposite_projection
    change = np.abs(p[follows + 1] - p[follows]) / unit
    large = (np.abs(p[follows]) >= unit) & (path.times[follows] >= 1)[:, None]
    never = not large.any()
    unseen = "never that large" if never else ""
    norms = path.norms[follows][:, path.neurons.J]
    normalised = np.where(large, np.abs(p[follows]) / np.where(norms > 0, norms, 1.0), np.inf)
    outward = np.where(large, np.sign(p[follows]) * (p[follows + 1] - p[follows]) / unit, -1.0)
    return (
        at_most("change of <w_j, mu_opposite> in a step / (alpha |a_j|), Eq. (43)", change, 2.0),
        at_least(
            "|<w_j/|w_j|, mu_opposite>| where that is >= alpha |a_j|, Eq. (40)",
            normalised,
            4 * path.alpha / 3,
            vacuous=never,
            note=unseen,
        ),
        below(
            "outward move where |<w_j, mu_opposite>| >= alpha |a_j|, Eq. (42)", outward, 0.0, vacuous=never, note=unseen
        ),
    )


def later_correlations(path: Path) -> Check:
    """Eq. (38)."""
    return at_least("<w_j/|w_j|, mu>, t >= 2", path.correlations[path.times >= 2], CORRELATION_LATER)


@stated_of_run(
    id="FCB22/Lem4.11",
    meaning="Once aligned, neurons stay aligned and almost orthogonal to the other label's means until the end.",
    formula=r"\text{Conditions 4.7 and 4.8 hold for } t = 1, \dots, \tfrac{1}{4\alpha}; \quad "
    r"\left\langle \tfrac{w_j^{(t)}}{\|w_j^{(t)}\|}, \mu \right\rangle \ge \tfrac{e^{-2}}{256}",
    example=tight,
    control=wide_clusters,
    control_shows="clusters of radius 1: neurons are not aligned after the first step",
    printed=r"\langle w_j^{(t+1)}, \mu_2 \rangle \in [-\alpha |a_j|, \alpha |a_j|]",
    proved=r"\langle w_j^{(t+1)}, \mu_2 \rangle \in [-\alpha |a_j|, 3 \alpha |a_j|]",
    remark="The conditions are needed, and hold, at T as well: they are checked there. Between recorded times they "
    "are not: record every step.",
    errata=Erratum.slip(
        "It cites a second part of Lemma 4.4 that does not exist, Eq. (40) has 3 where Lemma A.1 gives 2, and "
        "the range after a step should be [-alpha |a_j|, 3 alpha |a_j|]."
    ),
)
def lemma_4_11(instance: Instance) -> Findings:
    """Both conditions at every recorded time, and Eqs. (35) to (43) of their induction."""
    path, usable = measurable_path(instance)
    s, run = path.numbers, GoodRun(path)
    share, C1 = path.sample.noisy_share, run.C1
    p = path.opposite_projection
    turns = float((np.diff(np.sign(p[1:]), axis=0) != 0).mean()) if p.shape[0] > 2 else float("nan")
    return Findings(
        value("K*", float(path.orthogonality.max(initial=0.0))),
        value("g*", least_of(path.later_growth), "(1 - 2 eta)/8 is expected"),
        value("(1 - 2 eta)/8", (1 - 2 * s.eta) / 8),
        value("share of signs of <w_j, mu_opposite> that turn in a step, t >= 1", turns),
        value("median correlation at the end", float(np.median(path.correlations[-1]))),
        hypotheses=(
            *usable,
            complete(path),
            *run.event(),
            small_start(path),
            at_most("alpha", path.alpha, 0.25),
            at_most("C1 sd, Eq. (34)", C1 * s.sd, 1 / (64 * run.C2)),
            at_most("omega sqrt(md), Eq. (32)", s.omd, 1 / (16 * run.C2)),
            at_most("|N|/n, Eq. (31)", share, 1 / (2 * run.C2)),
            at_most("|N|/n, Eq. (37)", share, E2 / 256),
            at_most("C1 sd, Eqs. (37), (38)", C1 * s.sd, E2 / 512),
            below("C1 sd / alpha, Eq. (40)", C1 * s.sd / path.alpha, 4 / 3),
            below("2 C1 sd + 3 |N|/n, Eq. (42)", 2 * C1 * s.sd + 3 * share, E2 / 32),
        ),
        claims=(alignment(path), orthogonality(path)),
        proof_steps=(slopes(path), growth(path), later_correlations(path), *moves(path), *weight_growth(path)),
    )
