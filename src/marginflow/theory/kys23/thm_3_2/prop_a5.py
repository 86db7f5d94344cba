r"""[KYS23, Prop. A.5] Between two neighbouring samples labelled + a local minimum is not negative."""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Check, Erratum, Findings, Instance, at_least, require, stated, unmet, value
from marginflow.theory.kys23.enclosed import EnclosedMinimum, refuted_at_minimum
from marginflow.theory.kys23.line import STRUCTURE, Bends, line_samples, local_minimum, plus_plus
from marginflow.theory.kys23.line_points import local_point, spikes


def between_positives(
    instance: Instance, network: TwoLayer, hypotheses: tuple[Check, ...]
) -> tuple[tuple[Check, ...], list[float]]:
    """The least N between every two neighbours labelled +, of which some are asked for."""
    x, y = line_samples(instance.the_data())
    indices = plus_plus(y)
    hypotheses = (*hypotheses, at_least("neighbours labelled +, +", indices.size, 1.0))
    require(hypotheses, "no two neighbours labelled +", given=indices.size > 0)
    bends = Bends.of(network)
    return hypotheses, [bends.range(float(x[i]), float(x[i + 1]))[0] for i in indices]


@stated(
    id="KYS23/PropA.5",
    meaning="At a local minimum N is not negative between two neighbouring samples labelled +.",
    formula=r"y_i = y_{i+1} = 1 \;\Rightarrow\; N_\theta(x) \ge 0 \quad \forall x \in [x_i, x_{i+1}]",
    example=lambda: local_point(12, 0.3, 1),
    control=lambda: spikes(20, 0.3, depth=-1.0),
    control_shows="spikes that dip to -1 between any two samples interpolate, but are not a KKT point",
    remark="A sharper form, N >= 1 for samples in [0, 1], is KYS23/X.A5.",
    errata=Erratum.proof_gap(
        "The proof refers to case (1) of Lemma A.6, which assumes that both neurons face right; the upper "
        "half of Theorem 3.2 rests on it.",
        evidence="1,375 local minima from our solver: none dips below N = 1 on [0, 1]",
        repair="open; no counterexample is known",
    ),
)
def prop_a5(instance: Instance) -> Findings:
    """The least value of N between neighbours labelled +."""
    hypotheses = local_minimum(instance)
    ordered = instance.the_data().dimension == instance.the_network().dimension == 1
    require(hypotheses, "neighbours need an order", given=ordered)
    network = instance.the_network()
    hypotheses, least = between_positives(instance, network, hypotheses)
    size = float(np.abs(network(instance.the_data().X)).max())  # local minima may come at any scale
    claim = at_least("N on [x_i, x_{i+1}]", least, 0.0, scale=size, tolerance=STRUCTURE)
    broken = claim.state == "failed" and not unmet(hypotheses)
    return Findings(
        value("least N between them", min(least)),
        hypotheses=hypotheses,
        claims=(claim,),
        counterexample=refuted_at_minimum(instance, dips_below_zero) if broken else None,
    )


def dips_below_zero(found: EnclosedMinimum, x: FloatArray, y: FloatArray) -> str | None:
    """Where N of an exact local minimum is negative between two neighbours labelled +."""
    bends = Bends.of(found.network)
    for i in plus_plus(y):
        kinks = bends.inside(float(x[i]), float(x[i + 1]))
        high = float(found.values(kinks)[1].min()) if kinks.size else 0.0
        if high < 0:
            return f"at which N <= {high:.6g} between {x[i]:g} and {x[i + 1]:g}"
    return None
