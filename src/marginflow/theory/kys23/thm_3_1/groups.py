r"""[KYS23, proof of Thm 3.1] What Corollary A.3 gives of the lower half for every sample, without probability."""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.theory.frame import Findings, Instance, at_least, stated, value
from marginflow.theory.kys23.line import exact_error, in_the_interval, kkt_point
from marginflow.theory.kys23.line_points import global_point, spikes
from marginflow.theory.kys23.thm_3_1.cor_a3 import fives


def group_gaps(x: FloatArray) -> FloatArray:
    """The least gap inside each of the disjoint groups I_1, I_2, ... of five consecutive samples."""
    groups = x[: x.size // 5 * 5].reshape(-1, 5)
    return np.diff(groups, axis=1).min(axis=1) if groups.size else np.zeros(0)


def five_group_core(x: FloatArray, y: FloatArray) -> float:
    """The error that the disjoint groups of five labels -1 force on a KKT point: the sum of their least gaps."""
    negative = (y[: x.size // 5 * 5].reshape(-1, 5) < 0).all(axis=1)
    return float(group_gaps(x)[negative].sum())


@stated(
    id="KYS23/Thm3.1.groups",
    kind="lemma",
    number="Proof of Theorem 3.1, lower half, per sample",
    meaning="Disjoint groups of five labels -1 force on every KKT point an error of at least their least gaps.",
    formula=r"L_{\mathrm{cl}} \ge \sum_{g} 1\{ y|_{I_g} = -1 \} \min_{\ell \in I_g} (x_{\ell+1} - x_\ell)",
    example=lambda: global_point(40, 0.2, runs=2, run_length=9),
    control=lambda: spikes(40, 0.2, runs=2, run_length=9, depth=1000.0),
    control_shows="spikes through the same samples err less than the groups of five force on KKT points",
    sharp=r"\mathbb{E} \ge \tfrac{p^5}{4 (m+1)} \lfloor \tfrac m5 \rfloor \approx \tfrac{p^5}{20}",
    remark="The printed expectation counts the one segment of a group five times; the sum over groups does not.",
)
def thm_3_1_groups(instance: Instance) -> Findings:
    """The exact clean error against the sum over the groups."""
    hypotheses = (*kkt_point(instance), in_the_interval(instance))
    x, y, error = exact_error(instance, hypotheses)
    core = five_group_core(x, y)
    return Findings(
        value("L_cl", error),
        value("fives of labels -1", len(fives(y))),
        hypotheses=hypotheses,
        claims=(at_least("L_cl against the least gaps of groups of five", error, core, vacuous=core == 0.0),),
    )
