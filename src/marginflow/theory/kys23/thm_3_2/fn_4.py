r"""[KYS23, footnote 4] Theorem 3.2 in expectation: over all labels of a few samples, each with its probability."""

import math

import numpy as np

from marginflow.certificates import minimality
from marginflow.data import Dataset
from marginflow.generalisation import nearest_neighbour_line_error
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, stated, true, value
from marginflow.theory.kys23.thm_3_1.fn_2 import AllLabels, for_all_labels


@stated(
    id="KYS23/FN4",
    number="Footnote 4",
    meaning="In expectation the clean error of a local minimum is of order p, for every m.",
    formula=r"c p \le \mathbb{E}_S[L_{\mathrm{cl}}(N_\theta)] \le C p",
    needs=("networks", "data", "parameters"),
    parameters={
        "p": "noise rate",
        "c": "which the paper leaves open (default 1/8)",
        "C": "which the paper leaves open (default 2)",
    },
    example=for_all_labels,
    control=lambda: for_all_labels(kkt=False),
    control_shows="spikes that are negative between any two samples err almost everywhere: more than C p",
    sharp=r"\mathbb{E}_y L_{\mathrm{cl}}(N_{\theta^*}) = p \quad \text{(KYS23/X.1NN)}",
    remark="Of global optima the expectation is p itself, as of 1-nearest neighbour: KYS23/X.1NN, a conjecture.",
)
def fn_4(instance: Instance) -> Findings:
    """E over all labels of the exact clean error, beside that of 1-nearest neighbour."""
    p, c, C = instance.number("p"), instance.number("c", 1 / 8), instance.number("C", 2.0)
    every = AllLabels.of(instance, p)
    mean, x = every.mean, every.x
    minima = every.hypotheses[-1].state == "met" and all(
        minimality(judged.network, Dataset(X=x[:, None], y=y), certificate=judged).verdict == "local minimum"
        for judged, y in zip(every.certificates, every.labels, strict=True)
    )
    nearest = np.array([nearest_neighbour_line_error(x, y).value for y in every.labels])
    neighbour = math.fsum(every.chances * nearest)
    return Findings(
        value("E_y L_cl", mean),
        hypotheses=(*every.hypotheses, true("all of them local minima", minima)),
        claims=(at_least("E L_cl >= c p", mean, c * p), at_most("E L_cl <= C p", mean, C * p, vacuous=C * p >= 1)),
        derived=(equal("E L_cl = p", mean, p, scale=1.0),),
        arithmetic=(equal("E L of 1-nearest neighbour = p: its cells fill [0, 1]", neighbour, p, scale=1.0),),
        unspecified=(value("c", c), value("C", C)),
    )
