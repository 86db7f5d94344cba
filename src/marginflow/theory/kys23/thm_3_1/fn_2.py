r"""[KYS23, footnote 2] Theorem 3.1 in expectation, for every number of samples."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np

from marginflow.data import Interval
from marginflow.theory.frame import (
    Findings,
    Instance,
    Statement,
    above,
    at_least,
    at_most,
    equal,
    undefined,
    unmet,
    value,
)
from marginflow.theory.kys23.line import line_samples
from marginflow.theory.kys23.thm_3_1.theorem import five_group_core, group_gaps


def _ten(factor: float) -> Instance:
    law = Interval(p=0.3)
    extra = {} if factor == 1.0 else {"factor": factor}
    return Instance(name="ten uniform points", data=law.sample(10, seed=0), law=law, parameters={"p": 0.3, **extra})


@partial(
    Statement,
    id="KYS23/FN2",
    kind="remark",
    number="Footnote 2",
    meaning="In expectation, for every m, the clean error of a KKT point is between order p^5 and order sqrt(p).",
    formula=r"c p^5 \le \mathbb{E}_S[L_{\mathrm{cl}}(N_\theta)] \le C \sqrt p",
    needs=("data",),
    parameters={"p": "noise rate (default 0.3)", "factor": "what to multiply the claim by (the proof's inner sum: 5)"},
    example=lambda: _ten(1.0),
    control=lambda: _ten(5.0),
    control_shows="the proof's inner sum counts the one negative segment of a group five times",
    control_outcome="violated",
)
def fn2(instance: Instance) -> Findings:
    """The expectation over labels of the sum over groups, by all 2^m of them, against p^5 times the gaps."""
    data = instance.the_data()
    p = instance.number("p", 0.3)
    m = data.n_samples
    hypotheses = (
        above("p", p, 0.0),
        at_most("p <= 1/2", p, 0.5),
        at_least("m, for one group of five", m, 5.0),
        at_most("m, for all 2^m labels", m, 12.0),
        at_most("d, of samples on a line", data.dimension, 1.0),
    )
    if unmet(hypotheses):
        return undefined(hypotheses, "the expectation is over all labels of five to twelve samples on a line")
    x, _ = line_samples(data)
    claimed = instance.number("factor", 1.0) * p**5 * float(group_gaps(x).sum())
    mean = math.fsum(
        p**minus * (1 - p) ** (x.size - minus) * five_group_core(x, np.array(y))
        for y in itertools.product((-1.0, 1.0), repeat=x.size)
        for minus in [y.count(-1.0)]
    )
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("E over x as well", p**5 * (m // 5) / (4 * (m + 1)), "the least of four spacings: 1/(4(m+1))"),
            value("c = that / p^5", (m // 5) / (4 * (m + 1)), "tends to 1/20"),
            value("p, the error of 1-nearest neighbour", p, "between p^5 / 20 and sqrt(p), as it must be"),
        ),
        claims=(equal("E_y of the groups' error = p^5 sum of least gaps", claimed, mean),),
    )
