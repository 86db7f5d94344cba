r"""[FCB22, Conditions 4.7 and 4.8] Neuron alignment and almost-orthogonality along a run."""

from marginflow.theory.fcb22.constants import ORTHOGONALITY
from marginflow.theory.fcb22.path import Path, measurable_path, stated_of_run
from marginflow.theory.fcb22.recorded import c16, figure, wide_clusters
from marginflow.theory.frame import Check, Findings, Instance, at_most, equal, value


def alignment(path: Path) -> Check:
    """Condition 4.7 at every recorded time from 1 on, the last included: the least share of aligned neurons of J."""
    later = path.aligned_share[path.times >= 1]
    return equal("share of J that is aligned, at its least over t >= 1", float(later.min()) if later.size else 0.0, 1.0)


def orthogonality(path: Path) -> Check:
    """Condition 4.8 at every recorded time, t = 0 included."""
    return at_most("|<w_j, mu_opposite>| / (alpha |a_j|), t >= 0", path.orthogonality, ORTHOGONALITY)


@stated_of_run(
    id="FCB22/Cond4.7",
    number="Condition 4.7",
    meaning="Neuron alignment: each neuron of J_mu is active on all of its cluster and on none of the opposite.",
    formula=r"j \in J_\mu: \quad \langle w_j^{(t)}, x_k \rangle > 0 \; (k \in I_\mu), \qquad "
    r"\langle w_j^{(t)}, x_k \rangle \le 0 \; (k \in I_{-\mu})",
    example=c16,
    control=wide_clusters,
    control_shows="clusters of radius 1 are not captured by one small step",
    remark="Noisy samples count too. Lemma 4.9 uses the condition at time T although it assumes it to T - 1.",
)
def condition_4_7(instance: Instance) -> Findings:
    """The share of J that is aligned at every recorded time from 1 on."""
    path, usable = measurable_path(instance)
    shares = path.aligned_share
    always = path.aligned[path.times >= 1].all(axis=0)
    return Findings(
        value("share aligned at t = 0", shares[0]),
        value("share aligned at the first record after", shares[1]),
        value("share aligned at the end", shares[-1]),
        value("least normalised slack, t >= 1", float(path.slack[1:].min())),
        value("first time at which all are aligned", path.first_time(shares == 1.0), "-1: never"),
        value("neurons aligned at all times t >= 1", int(always.sum()), f"of {always.size} in J"),
        hypotheses=usable,
        claims=(alignment(path),),
    )


@stated_of_run(
    id="FCB22/Cond4.8",
    number="Condition 4.8",
    meaning="Almost-orthogonality: neurons of J stay nearly orthogonal to the means of the other label.",
    formula=r"|\langle w_j^{(t)}, \mu_2 \rangle| \le 3 \alpha |a_j| \; (j \in J_{\pm\mu_1}), \quad "
    r"|\langle w_j^{(t)}, \mu_1 \rangle| \le 3 \alpha |a_j| \; (j \in J_{\pm\mu_2}), \quad t \le \tau",
    example=c16,
    control=figure,
    control_shows="in Figure 1 the start is larger than the steps: K is above 10 at t = 0",
    remark="'Up to time tau' includes t = 0, which Lemma 4.11 does not mention: it holds by the small start.",
)
def condition_4_8(instance: Instance) -> Findings:
    """The largest |<w_j, mu_opposite>| / (alpha |a_j|) over all recorded times."""
    path, usable = measurable_path(instance)
    K = path.orthogonality
    return Findings(
        value("K*", float(K.max(initial=0.0)), "largest |<w_j, mu_opposite>| / (alpha |a_j|); the paper allows 3"),
        value("K at t = 0", float(K[0].max(initial=0.0))),
        value("K at the end", float(K[-1].max(initial=0.0))),
        value("(1 - 2 eta)/8", (1 - 2 * path.numbers.eta) / 8, "what one step from nothing gives"),
        value("share of J within the bound at the start", float((K[0] <= ORTHOGONALITY).mean())),
        hypotheses=usable,
        claims=(orthogonality(path),),
    )
