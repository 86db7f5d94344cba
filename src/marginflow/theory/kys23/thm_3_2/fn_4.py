r"""[KYS23, footnote 4] Theorem 3.2 in expectation: over all labels of a few samples, each with its probability."""

from __future__ import annotations

import math

import numpy as np

from marginflow.certificates import minimality
from marginflow.data import Dataset
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, require, stated, true, value
from marginflow.theory.kys23.line import line_samples
from marginflow.theory.kys23.thm_3_1.a1_nstar import label_law
from marginflow.theory.kys23.thm_3_1.fn_2 import all_labels, certified, for_all_labels


@stated(
    id="KYS23/FN4",
    kind="remark",
    number="Footnote 4",
    meaning="In expectation the clean error of a local minimum is of order p, for every m.",
    formula=r"c p \le \mathbb{E}_S[L_{\mathrm{cl}}(N_\theta)] \le C p",
    needs=("networks", "data", "parameters"),
    parameters={
        "p": "noise rate",
        "c": "which the paper leaves open (default 1/8)",
        "C": "which the paper leaves open (default 2)",
    },
    example=lambda: for_all_labels(6, 0.3),
    control=lambda: for_all_labels(6, 0.3, kkt=False),
    control_shows="spikes that are negative between any two samples err almost everywhere: more than C p",
    sharp=r"\mathbb{E}_y L_{\mathrm{cl}}(N_{\theta^*}) = p \quad \text{(KYS23/X.1NN)}",
    remark="Of global optima the expectation is p itself, as of 1-nearest neighbour: KYS23/X.1NN, a conjecture.",
)
def fn_4(instance: Instance) -> Findings:
    """E over all labels of the exact clean error, beside that of 1-nearest neighbour."""
    data, p = instance.the_data(), instance.number("p")
    c, C = instance.number("c", 1 / 8), instance.number("C", 2.0)
    hypotheses = all_labels(instance, p)
    require(hypotheses, "one network for each of the labels of at most seven samples is needed")
    x, _ = line_samples(data)
    labels, chances = label_law(x.size, p)
    kkt = certified(instance, x, labels)
    minima = kkt.state == "met" and all(
        minimality(network, Dataset(X=x[:, None], y=y)).verdict == "local minimum"
        for network, y in zip(instance.networks, labels, strict=True)
    )
    mean = math.fsum(chances * np.array([line_error(network).value for network in instance.networks]))
    neighbour = math.fsum(chances * np.array([nearest_neighbour_line_error(x, y).value for y in labels]))
    return Findings(
        hypotheses=(*hypotheses, kkt, true("all of them local minima", minima)),
        constants=(value("E_y L_cl", mean),),
        claims=(at_least("E L_cl >= c p", mean, c * p), at_most("E L_cl <= C p", mean, C * p, vacuous=C * p >= 1)),
        derived=(equal("E L_cl = p", mean, p, scale=1.0),),
        arithmetic=(equal("E L of 1-nearest neighbour = p: its cells fill [0, 1]", neighbour, p, scale=1.0),),
        unspecified=(value("c", c), value("C", C)),
    )
