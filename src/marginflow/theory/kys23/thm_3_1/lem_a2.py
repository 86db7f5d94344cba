r"""[KYS23, Lemma A.2] In a run of labels -1 a KKT point bends up at most twice.

Between samples of one label the dual function of right-facing neurons, and that of left-facing ones, is concave, so
each has at most one positive neuron in a run. [Safran et al. 2022, Lemma E.6]
"""

from marginflow.theory.frame import Findings, Instance, at_least, at_most, require, stated, value
from marginflow.theory.kys23.line import Bends, kkt_point, line_samples, minus_runs
from marginflow.theory.kys23.line_points import global_point, spikes


@stated(
    id="KYS23/LemA.2",
    meaning="Between consecutive samples labelled -1 the slope of a KKT point increases at most twice.",
    formula=r"y_i = \dots = y_j = -1 \;\Rightarrow\; N'_\theta \text{ increases at most twice in } [x_i, x_j]",
    example=lambda: global_point(40, 0.2, runs=2, run_length=7),
    control=lambda: spikes(40, 0.2, runs=2, run_length=7),
    control_shows="spikes bend up at every sample of a run; they interpolate, but are not a KKT point",
)
def lem_a2(instance: Instance) -> Findings:
    """The points of every run at which the slope increases."""
    x, y = line_samples(instance.the_data())
    runs = minus_runs(y, 2)
    hypotheses = (*kkt_point(instance), at_least("runs of two or more labels -1", len(runs), 1.0))
    require(hypotheses, "no run of labels -1", given=instance.the_network().dimension == 1 and len(runs) > 0)
    bends = Bends.of(instance.the_network())
    counts = [bends.rising(float(x[a]), float(x[b])) for a, b in runs]
    return Findings(
        value("longest run", max(b - a + 1 for a, b in runs)),
        value("points of the network where N' increases", float((bends.jumps > 0).sum())),
        hypotheses=hypotheses,
        claims=(at_most("points in a run where N' increases", counts, 2.0),),
    )
