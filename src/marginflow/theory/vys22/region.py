r"""The map of [VYS22, Thm 4.1]: where it applies and says something, and the flip that is observed in a cell."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
from scipy import special

from marginflow.data import Dataset, GramReduction, Orthogonal, Sphere
from marginflow.limit import convex_pair, kkt_point
from marginflow.theory.frame import Findings, Instance, Mark, Region, above, at_most, undefined
from marginflow.theory.instances import at_point
from marginflow.theory.observation import LARGEST, Observation, whole
from marginflow.theory.vacuity import says_nothing
from marginflow.theory.vys22.setting import Setting


def typical_p(numbers: Mapping[str, float]) -> float:
    """The median of max |<x_i, x_j>| over m random samples on the sphere of radius sqrt(d), by the Gaussian limit."""
    d, m = numbers["d"], numbers["m"]
    pairs = m * (m - 1) / 2
    if pairs < 1:
        return 0.0
    return math.sqrt(d) * float(special.ndtri(1 - (1 - 0.5 ** (1 / pairs)) / 2))


def _instance(numbers: Mapping[str, float], seed: int) -> Instance:
    """A KKT point on m samples: orthogonal for p = 0, random where p is that of random samples, designed otherwise."""
    d, m = whole(numbers, "d"), whole(numbers, "m", least=2, most=LARGEST)
    p, negative = numbers["p"], round(numbers["c"] * m)
    law: Orthogonal | Sphere | GramReduction
    if p == 0:
        law = Orthogonal(dimension=d)
    elif p == typical_p(numbers):
        law = Sphere(dimension=d)
        law = GramReduction(law) if m < d else law
    else:
        law = Orthogonal(dimension=d, design="gram", p=p)
    drawn = law.sample(m, seed=seed)
    y = np.where(np.arange(m) < m - negative, 1.0, -1.0)
    data = Dataset(X=drawn.X, y=y, ambient_dimension=drawn.ambient_dimension)
    name = f"{m} samples in dimension {d}, p = {p:.4g} (seed {seed})"
    if m <= d:
        return at_point(convex_pair(data), f"the exact pair on {name}")
    found = kkt_point(data, width=100, seed=seed)
    return Instance(name=f"a KKT point of width 100 on {name}", network=found.network, data=data)


def _judge(numbers: Mapping[str, float]) -> Findings:
    """The hypotheses of Theorem 4.1 and the length of its z, with ||u||^2 <= m d + m^2 p."""
    d, m, p, c = (numbers[name] for name in ("d", "m", "p", "c"))
    D, c_prime = d - m * p, m * (p + 1) / (d + 1)
    hypotheses = (
        at_most("sample size m", m, (d + 1) / (3 * (p + 1))),
        above("class balance c", c, 0.0),
        at_most("class balance c, from above", c, 0.5),
    )
    if D <= 0 or c <= 0 or m <= 0:
        return undefined(hypotheses, "z is not defined for these numbers")
    eta = (p + 1) / D + 2 * (c * c_prime + 1) * (d + 1) / (m * c * D)
    size = eta * math.sqrt(m * d + m**2 * p)
    order = 18 * math.sqrt(2 / m) / c
    return Findings(
        hypotheses=hypotheses,
        claims=(at_most("||z|| / sqrt(d)", size / math.sqrt(d), order, vacuous=says_nothing(size, int(d))),),
    )


THEOREM_4_1: Final = Region(
    letters={
        "d": "dimension",
        "m": "samples",
        "p": "largest inner product of two samples; by default the median of random samples",
        "c": "share of the smaller class, 1/2 by default",
    },
    defaults={"c": 0.5, "p": typical_p},
    judge=_judge,
    observation=Observation(
        name="||z|| / sqrt(d) of the shortest multiple of u that flips every sample of a KKT point",
        instance=_instance,
        measure=lambda numbers, instance: (
            Setting.of(instance.the_data()).shortest_flip(instance.the_network()) / math.sqrt(numbers["d"])
        ),
    ),
    marks=tuple(
        Mark(name=f"Figure 1, alpha = {alpha:g}", numbers={"d": d, "m": int(d**alpha)})
        for alpha in (0.5, 0.8, 1.0, 1.2, 1.5)
        for d in range(100, 1001, 100)
    ),
)
