r"""A search for local minima that contradict [KYS23, Prop. A.4]; `five_points_proof.py` proves the simplest one.

Candidates are local minima below random neurons on a few random samples (`limit.line.local_minimum`); the judge is the
decision procedure of `certificates.minimality`, which knows nothing of how they were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from marginflow.arrays import FloatArray, whole_number
from marginflow.certificates import minimality
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import line
from marginflow.theory.frame import Instance
from marginflow.theory.kys23.line import Bends, line_samples, plus_minus_plus
from marginflow.theory.kys23.line_points import at_limit

Kind = Literal["N(x_i) < -1", "N(x_{i+1}) > 1", "not linear"]

# What counts as a contradiction: far above the accuracy of a certified point, which is about 1e-12.
_CLEAR = 1e-3


@dataclass(frozen=True, eq=False, kw_only=True)
class Counterexample:
    """A certified local minimum that breaks Prop. A.4.

    Parameters
    ----------
    instance : Instance
        Network, samples and multipliers.
    kinds : tuple of str
        Which of the three claims fail.
    excess : float
        By how much, at most.
    dual_supremum : float
        sup |F|: 1 would be a global minimum.
    """

    instance: Instance
    kinds: tuple[Kind, ...]
    excess: float
    dual_supremum: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Search:
    """What a search saw: local minima, patterns +, -, + in them, and those that contradict."""

    minima: int
    patterns: int
    found: tuple[Counterexample, ...]


def violations(instance: Instance) -> tuple[tuple[Kind, ...], float, int]:
    """Which claims of Prop. A.4 a network breaks, by how much at most, and the number of patterns."""
    x, y = line_samples(instance.the_data())
    network = instance.certificate.network
    bends, values, places = Bends.of(network), network(x[:, None]), plus_minus_plus(y)
    if not places.size:
        return (), 0.0, 0
    excess: dict[Kind, float] = {
        "N(x_i) < -1": float((-1.0 - values[places]).max()),
        "N(x_{i+1}) > 1": float((values[places + 1] - 1.0).max()),
        "not linear": max(bends.nonlinearity(float(x[i]), float(x[i + 1])) for i in places),
    }
    broken = tuple(kind for kind, size in excess.items() if size > _CLEAR)
    return broken, max(excess.values()), places.size


def local_minimum_of(x: FloatArray, y: FloatArray, *, start: int, neurons: int) -> Instance:
    """The local minimum below random neurons on given samples."""
    limit = line.local_minimum(Dataset(X=x[:, None], y=y), seed=start, neurons=neurons)
    return at_limit(limit, f"a local minimum on {x.size} points (start {start}, {neurons} neurons)")


def search_counterexamples(samples: int, *, starts: int = 4, seed: int = 0, least_gap: float = 1e-2) -> Search:
    """Local minima on random samples of 5 to 7 points with alternating labels, judged against Prop. A.4.

    Parameters
    ----------
    samples : int
        Number of random samples.
    starts : int
        Random starts on each.
    seed : int
    least_gap : float
        Samples with closer neighbours are skipped.

    Examples
    --------
    >>> from marginflow.theory.kys23.thm_3_2.search import search_counterexamples
    >>> search = search_counterexamples(1, starts=1, seed=0)
    >>> search.minima
    1
    """
    samples, starts = whole_number("samples", samples), whole_number("starts", starts)
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    minima = seen = 0
    found = []
    for _ in range(samples):
        m = int(rng.integers(5, 8))
        x = np.sort(rng.random(m))
        while np.diff(x).min() < least_gap:
            x = np.sort(rng.random(m))
        y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
        for start in range(starts):
            try:
                instance = local_minimum_of(x, y, start=start, neurons=int(rng.integers(3, 9)))
            except InputError:  # floating point does not settle it: no minimum is claimed
                continue
            kinds, excess, count = violations(instance)
            minima, seen = minima + 1, seen + count
            if not kinds:
                continue
            decision = minimality(instance.the_network(), instance.the_data(), certificate=instance.certificate)
            if decision.verdict == "local minimum" and decision.supremum is not None:
                found.append(
                    Counterexample(instance=instance, kinds=kinds, excess=excess, dual_supremum=decision.supremum.upper)
                )
    return Search(minima=minima, patterns=seen, found=tuple(found))


@cache
def linearity_counterexample() -> Instance:
    """A local minimum on six points that is not linear behind a -; a search over points with two decimals found it."""
    x = np.array([0.09, 0.44, 0.70, 0.77, 0.86, 0.98])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    return local_minimum_of(x, y, start=0, neurons=4)
