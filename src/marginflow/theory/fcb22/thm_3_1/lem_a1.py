r"""[FCB22, Lemma A.1] How weights grow."""

import math

from marginflow.theory.fcb22.descent import small_start, weight_growth
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import path_of, stated_of_run
from marginflow.theory.fcb22.recorded import figure, tight
from marginflow.theory.frame import Erratum, Findings, Instance, at_most, value


@stated_of_run(
    id="FCB22/LemA.1",
    meaning="After t steps a neuron has norm at most 2 |a_j| alpha t: a small start is soon forgotten.",
    formula=r"\|w_j^{(t)}\| \le 2 |a_j| \alpha t, \quad \|W^{(t)}\|_F \le 2 \alpha t \quad (t \ge 1)",
    example=tight,
    control=figure,
    control_shows="the start of Figure 1 has norm 1/4, far above alpha / 3",
    printed=r"\|x_i\| \le 1 + 1/\sqrt{3} \le \sqrt{2}",
    proved=r"\|x_i - \mu\| \le \sqrt{2} - 1 \implies \|x_i\| \le \sqrt{2}",
    errata=Erratum.slip(
        "Eq. (14) says 1 + 1/sqrt(3) <= sqrt(2), which is false; the bound 'C1 sigma^2 d + 1/C1' is not that "
        "of Lemma 4.3(b).",
        evidence="(1 + 1/sqrt(3))^2 = 4/3 + 2/sqrt(3) > 2, for 4/3 > 4/9",
        repair="|x - mu|^2 <= (sqrt(2) - 1)^2 = 0.1716 instead of 1/3, which larger constants supply",
    ),
)
def lemma_a_1(instance: Instance) -> Findings:
    """The norms of single neurons and of the whole at every recorded time t >= 1."""
    path = path_of(instance)
    run = GoodRun(path)
    single, whole = weight_growth(path)
    return Findings(
        value("K* = max |w_j| sqrt(m) / (alpha t)", single.observed),
        value("max |x_i - mu|", float(path.sample.distances.max()), "|x| <= sqrt(2) needs at most sqrt(2) - 1"),
        value("1 + 1/sqrt(3)", 1 + 1 / math.sqrt(3), "printed as at most sqrt(2) = 1.414"),
        hypotheses=(run.initial_norms()[1], at_most("|x_i|", path.sample.norms, math.sqrt(2)), small_start(path)),
        claims=(single, whole),
    )
