r"""[KYS23, Corollary A.3] Among five consecutive labels -1 a KKT point is negative between two neighbours."""

import itertools

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.frame import Findings, Instance, at_least, below, require, stated, value
from marginflow.theory.kys23.line import Bends, kkt_point, line_samples, minus_runs
from marginflow.theory.kys23.line_points import global_point, spikes


def negative_segment(bends: Bends, points: FloatArray) -> float:
    """min over the segments of the points of the largest value of N there: negative if N < 0 on one of them."""
    return min(bends.range(float(a), float(b))[1] for a, b in itertools.pairwise(points))


def fives(y: FloatArray) -> list[int]:
    """The indices at which five consecutive labels -1 begin."""
    return [start for a, b in minus_runs(y, 5) for start in range(a, b - 3)]


@stated(
    id="KYS23/CorA.3",
    meaning="Among five consecutive samples labelled -1 are two neighbours between which a KKT point is negative.",
    formula=r"y_i = \dots = y_{i+4} = -1 \;\Rightarrow\; \exists \ell \in \{i, \dots, i+3\}: \; "
    r"N_\theta |_{[x_\ell, x_{\ell+1}]} < 0",
    example=lambda: global_point(40, 0.2, runs=2, run_length=7),
    control=lambda: spikes(40, 0.2, runs=2, run_length=7),
    control_shows="spikes are positive between any two samples; they interpolate, but are not a KKT point",
    remark="The proof writes N(z) > 0 where it has N(z) >= 0. Runs of five occur once in 1e5 samples at p = 0.1, "
    "so they are planted.",
)
def cor_a3(instance: Instance) -> Findings:
    """The largest value of N on the best segment of every five consecutive labels -1."""
    x, y = line_samples(instance.the_data())
    starts = fives(y)
    hypotheses = (*kkt_point(instance), at_least("runs of five labels -1", len(starts), 1.0))
    some = instance.the_network().dimension == 1 and len(starts) > 0
    require(hypotheses, "no five consecutive labels -1", given=some)
    bends = Bends.of(instance.the_network())
    worst = [negative_segment(bends, x[i : i + 5]) for i in starts]
    size = float(np.abs(bends.network(x[:, None])).max())  # KKT points may come at any scale
    return Findings(
        value("fives of consecutive labels -1", len(starts)),
        hypotheses=hypotheses,
        claims=(below("largest N on the best of the four segments", worst, 0.0, scale=size),),
    )
