r"""[FVBS23, Lemma A.12]: a KKT point classifies every point near a seen cluster."""

import numpy as np

from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import missing_cluster, stated_of_clusters
from marginflow.theory.fvbs23.thm_3_1.lem_a10_a11 import deterministic


@stated_of_clusters(
    id="FVBS23/LemA.12",
    meaning="A point near one cluster and nearly orthogonal to the others gets the label of that cluster.",
    formula=r"y^{(r)} N_\theta(x) \ge \frac{1 - 3c'}{1 - 2c'} \cdot \frac{d - \Delta + 1}{3d + \Delta + 1} - "
    r"\frac{2c'}{1 - 2c'} \ge \frac{3}{128}",
    control=missing_cluster,
    control_shows="the points of a cluster without samples are near no cluster that was seen",
    printed=r"\mathrm{sign}(N_\theta(x)) = y^{(r)}",
    proved=r"y^{(r)} N_\theta(x) \ge \tfrac{3}{128}",
    remark="Printed with Q^(r) where I^(r) is meant. Beside the test points, for each cluster the worst "
    "point of the allowed region is tried. Training points have larger norms than the lemma allows.",
    errata=Erratum.slip("Q^(r) is printed where I^(r) is meant."),
)
def lemma_a12(instance: Instance) -> Findings:
    """y N(x) against the bound with the actual c', and against 3/128."""
    neurons = CertifiedNeurons.of(instance)
    s = neurons.sample.setting
    test = FreshPoints.of(instance).with_worst(neurons.sample)
    outputs = test.y * neurons.outputs(test.X)
    return Findings(
        value("least y N(x)", float(outputs.min())),
        value("median y N(x)", float(np.median(outputs))),
        value("bound with the actual c'", s.least_output),
        hypotheses=(*deterministic(instance), *test.near_one_cluster(neurons.sample)),
        claims=(above("y^(r) N(x)", outputs, 0.0, tolerance=0.0),),
        derived=(
            at_least("y^(r) N(x), explicit", outputs, s.least_output, note="with the actual c' and Delta"),
            at_least("y^(r) N(x), c' = 1/10", outputs, 3 / 128, note="3/128"),
        ),
    )
