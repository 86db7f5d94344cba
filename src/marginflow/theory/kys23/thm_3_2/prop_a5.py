r"""[KYS23, Prop. A.5] Between two neighbouring samples labelled + a local minimum is not negative."""

from __future__ import annotations

from functools import partial

import numpy as np

from marginflow.theory.frame import Findings, Forms, Instance, Statement, at_least, undefined, value
from marginflow.theory.kys23.line import STRUCTURE, Bends, line_samples, local_minimum, plus_plus
from marginflow.theory.kys23.line_points import local_point, spikes


@partial(
    Statement,
    id="KYS23/PropA.5",
    kind="proposition",
    number="Proposition A.5",
    meaning="At a local minimum N is not negative between two neighbouring samples labelled +.",
    formula=r"y_i = y_{i+1} = 1 \;\Rightarrow\; N_\theta(x) \ge 0 \quad \forall x \in [x_i, x_{i+1}]",
    needs=("network", "data"),
    example=lambda: local_point(12, 0.3, 1),
    control=lambda: spikes(20, 0.3, depth=-1.0),
    control_shows="spikes that dip to -1 between any two samples interpolate, but are no KKT point",
    forms=Forms(
        remark="The proof refers to case (1) of Lemma A.6, which has the gap of orientation; no counterexample is "
        "known among hundreds of certified local minima.",
    ),
)
def prop_a5(instance: Instance) -> Findings:
    """The least value of N between neighbours labelled +."""
    hypotheses = local_minimum(instance)
    if instance.the_data().dimension != 1 or instance.the_network().dimension != 1:
        return undefined(hypotheses, "neighbours need an order")
    x, y = line_samples(instance.the_data())
    places = plus_plus(y)
    hypotheses = (*hypotheses, at_least("neighbours labelled +, +", places.size, 1.0))
    if not places.size:
        return undefined(hypotheses, "no two neighbours labelled +")
    bends = Bends.of(instance.the_network())
    size = float(np.abs(bends.network(x[:, None])).max())  # local minima may come at any scale
    least = [bends.range(float(x[i]), float(x[i + 1]))[0] for i in places]
    return Findings(
        hypotheses=hypotheses,
        constants=(value("least N between them", min(least)),),
        claims=(at_least("N on [x_i, x_{i+1}]", least, 0.0, scale=size, rtol=STRUCTURE),),
    )
