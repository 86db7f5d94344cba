r"""What [VYS22, Thm 4.1] bounds, on samples of given d, m, p and c: the shortest multiple of u that flips them all."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np
from scipy import special

from marginflow.data import Dataset, GramReduction, Orthogonal, Sphere
from marginflow.limit import convex_pair, kkt_point
from marginflow.theory.instance import Instance
from marginflow.theory.instances import at_point
from marginflow.theory.observation import LARGEST, Observation, whole
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


SHORTEST_FLIP: Final = Observation(
    name="||z|| / sqrt(d) of the shortest multiple of u that flips every sample of a KKT point",
    instance=_instance,
    measure=lambda numbers, instance: (
        Setting.of(instance.the_data()).shortest_flip(instance.the_network()) / math.sqrt(numbers["d"])
    ),
)
