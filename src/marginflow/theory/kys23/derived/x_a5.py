r"""Derived: between two neighbouring samples labelled + on [0, 1] a local minimum is at least 1, a conjecture."""

import numpy as np

from marginflow.data import Dataset
from marginflow.limit import line
from marginflow.theory.frame import Findings, Instance, at_least, require, stated, value
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.line import STRUCTURE, in_the_interval, local_minimum
from marginflow.theory.kys23.line_points import local_point
from marginflow.theory.kys23.thm_3_2.prop_a5 import between_positives


@stated(
    id="KYS23/X.A5",
    kind="proposition",
    number="Derived: conjecture on Proposition A.5",
    meaning="On [0, 1] a local minimum is at least 1 between two neighbouring samples labelled +.",
    formula=r"x_i \in [0, 1], \; y_i = y_{i+1} = 1 \;\Rightarrow\; N_\theta(x) \ge 1 \quad \forall x \in "
    r"[x_i, x_{i+1}]",
    example=lambda: local_point(12, 0.3, 1),
    control=lambda: at_point(
        line.max_margin(Dataset(X=np.array([[-2.0], [2.0]]), y=np.ones(2))), "the global optimum on -2 (+) and 2 (+)"
    ),
    control_shows="-2 and 2, both +: N(0) = 2/5 at the global optimum",
    remark="A conjecture: 1,343 local minima on [0, 1], 229 of them not global, never dip below 1.",
    known="on [0, 1] no local minimum was seen below N = 1 between neighbours labelled + (Prop. A.5 says N >= 0); "
    "on the real line there are: N(0) = 2/5 at the global optimum on -2 (+) and 2 (+).",
)
def x_a5(instance: Instance) -> Findings:
    """The least value of N at margin 1 between neighbours labelled +."""
    hypotheses = require(local_minimum(instance), "no local minimum on the line")
    asked = (*hypotheses, in_the_interval(instance))
    hypotheses, least = between_positives(instance, instance.certificate.network, asked)
    return Findings(
        value("least N between them", min(least)),
        hypotheses=hypotheses,
        claims=(at_least("N on [x_i, x_{i+1}]", least, 1.0, tolerance=STRUCTURE),),
    )
