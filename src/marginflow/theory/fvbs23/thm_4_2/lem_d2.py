r"""[FVBS23, Lemma D.2]: on points near one cluster the output is bounded."""

import numpy as np

from marginflow.theory.frame import Erratum, Findings, Instance, at_most, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import flipped_label, stated_of_clusters
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import deterministic


@stated_of_clusters(
    id="FVBS23/LemD.2",
    meaning="On points near one cluster the output is at most 2; the proof gives 3/2.",
    formula=r"|N_\theta(x)| \le \frac{1}{1 - 2c'} \left(\frac{d + \Delta + 1}{d - \Delta + 1} + c'\right) \le "
    r"\frac{3}{2}",
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    printed=r"|N_\theta(x)| \le 2",
    proved=r"|N_\theta(x)| \le \tfrac{3}{2}",
    sharp=r"|N_\theta(x)| \le \frac{1}{1 - 2c'} \left(\frac{d + \Delta + 1}{d - \Delta + 1} + c'\right)",
    remark="The statement says 2, the proof announces 4, its arithmetic ends at 3/2.",
    errata=Erratum.slip("The lemma says 2, its proof announces 4, its arithmetic ends at 3/2.", repair="3/2"),
)
def lemma_d2(instance: Instance) -> Findings:
    """|N(x)| against four numbers: the proof's with c' as it is, 3/2, and the 2 and 4 of the text."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test = FreshPoints.of(instance).with_worst(neurons.sample)
    size = np.abs(neurons.outputs(test.X))
    return Findings(
        value("largest |N(x)|", float(size.max())),
        value("c'", s.c_prime),
        hypotheses=(*deterministic(instance), *test.near_one_cluster(neurons.sample)),
        claims=(at_most("|N(x)|, as printed", size, 2.0, note="2"),),
        proof_steps=(
            at_most("|N(x)|, explicit", size, s.largest_output, note="((d+Delta+1)/(d-Delta+1) + c')/(1 - 2c')"),
            at_most("|N(x)|, as proved", size, 1.5, note="3/2"),
            at_most("|N(x)|, as announced in the proof", size, 4.0, note="4"),
        ),
    )
