r"""[KYS23, footnote 2] Theorem 3.1 in expectation, for every number of samples.

The expectation is over all labels of a few samples, each with its probability: `networks` holds one KKT point for each,
in the order of `label_law`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset, Interval
from marginflow.generalisation import line_error
from marginflow.limit import line
from marginflow.theory.frame import (
    Check,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    equal,
    is_kkt_point,
    require,
    stated,
    value,
)
from marginflow.theory.kys23.line import in_the_interval, line_samples, on_the_line
from marginflow.theory.kys23.line_points import spike_network
from marginflow.theory.kys23.thm_3_1.a1 import label_law
from marginflow.theory.kys23.thm_3_1.groups import five_group_core, group_gaps

MOST: int = 7
"""Samples up to which one network for each of the 2^m labels is asked for."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AllLabels:
    """A few samples x on the line, all of their labels with the chance of each, and E_y L_cl over these."""

    x: FloatArray
    labels: FloatArray
    chances: FloatArray
    certificates: tuple[Certificate, ...]
    hypotheses: tuple[Check, ...]
    mean: float

    @classmethod
    def of(cls, instance: Instance, p: float) -> AllLabels:
        """From the networks of an instance; the judge ends here where there is not one for each of the labels."""
        m = instance.the_data().n_samples
        hypotheses = (
            *on_the_line(instance),
            in_the_interval(instance),
            above("p", p, 0.0),
            at_most("p <= 1/2", p, 0.5),
            at_most("m, for all 2^m labels", m, MOST),
            equal("networks, one for each of 2^m labels", len(instance.networks), 2.0 ** min(m, MOST)),
        )
        require(hypotheses, "one network for each of the labels of at most seven samples is needed")
        x, _ = line_samples(instance.the_data())
        labels, chances = label_law(x.size, p)
        pairs = zip(instance.networks, labels, strict=True)
        judged = tuple(certify(network, Dataset(X=x[:, None], y=y), hard_patterns=False) for network, y in pairs)
        mean = math.fsum(chances * np.array([line_error(network).value for network in instance.networks]))
        return cls(
            x=x,
            labels=labels,
            chances=chances,
            certificates=judged,
            hypotheses=(*hypotheses, is_kkt_point(judged)),
            mean=mean,
        )


@cache
def for_all_labels(*, kkt: bool = True) -> Instance:
    """Six uniform points, and for each of their labels the global optimum, or spikes that are not KKT points."""
    x, y = line_samples(Interval(p=0.3).sample(6, seed=0))
    labels, _ = label_law(6, 0.3)
    if kkt:
        networks = tuple(line.max_margin(Dataset(X=x[:, None], y=row)).network for row in labels)
    else:
        networks = tuple(spike_network(x, row, -1e3) for row in labels)
    return Instance(
        name=f"6 uniform points with all of their labels, {'global optima' if kkt else 'spikes'}",
        data=Dataset(X=x[:, None], y=y),
        networks=networks,
        parameters={"p": 0.3},
    )


@stated(
    id="KYS23/FN2",
    number="Footnote 2",
    meaning="In expectation, for every m, the clean error of a KKT point is between order p^5 and order sqrt(p).",
    formula=r"c p^5 \le \mathbb{E}_S[L_{\mathrm{cl}}(N_\theta)] \le C \sqrt p",
    needs=("networks", "data", "parameters"),
    parameters={
        "p": "noise rate",
        "c": "which the paper leaves open (default 1/20, the limit of what the groups of five give)",
        "C": "which the paper leaves open (default 1)",
    },
    example=for_all_labels,
    control=lambda: for_all_labels(kkt=False),
    control_shows="spikes that are negative between any two samples err almost everywhere: more than C sqrt(p)",
    sharp=r"\mathbb{E} \ge \tfrac{p^5}{4 (m+1)} \lfloor \tfrac m5 \rfloor \approx \tfrac{p^5}{20}",
    remark="The expectation over labels is exact, that over x is the sample at hand.",
)
def fn_2(instance: Instance) -> Findings:
    """E over all labels of the exact clean error."""
    p, c, C = instance.number("p"), instance.number("c", 1 / 20), instance.number("C", 1.0)
    every = AllLabels.of(instance, p)
    mean, gaps = every.mean, p**5 * float(group_gaps(every.x).sum())
    cores = math.fsum(every.chances * np.array([five_group_core(every.x, y) for y in every.labels]))
    return Findings(
        value("E_y L_cl", mean),
        value("p, the error of 1-nearest neighbour", p),
        hypotheses=every.hypotheses,
        claims=(
            at_least("E L_cl >= c p^5", mean, c * p**5),
            at_most("E L_cl <= C sqrt(p)", mean, C * math.sqrt(p), vacuous=C * math.sqrt(p) >= 1),
        ),
        derived=(at_least("E L_cl against p^5 times the least gaps", mean, gaps),),
        arithmetic=(equal("E of the groups' error = p^5 sum of least gaps", cores, gaps),),
        unspecified=(value("c", c), value("C", C)),
    )
