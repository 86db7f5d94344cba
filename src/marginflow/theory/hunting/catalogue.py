"""Which family each statement is hunted in."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from marginflow.errors import InputError
from marginflow.theory.hunting.boxes import NumberBox, Range
from marginflow.theory.hunting.family import AbstractFamily
from marginflow.theory.hunting.line import LinePoints
from marginflow.theory.hunting.made import (
    clusters_in_general_position,
    designed_gram,
    four_clusters,
    frozen_gram,
    law_of_clusters,
    noisy_frozen,
    noisy_pair,
    noisy_pair_with_constants,
    one_sample_per_cluster,
    part_of_a_network,
    tilted_samples,
    uniform_points,
)
from marginflow.theory.hunting.networks import WholeNetworks
from marginflow.theory.hunting.plane import PlanePoints
from marginflow.theory.hunting.recorded import descent_on_clusters, flow_on_clusters, planted_descent, published_recipe
from marginflow.theory.statement import Statement

LOCAL: Final = LinePoints(point="local")
GLOBAL: Final = LinePoints(point="global")
UNIT: Final = NumberBox(
    what="nearly orthonormal samples",
    ranges={"samples": Range(low=2, high=12), "negative": Range(low=1, high=6), "tilt": Range(low=0, high=4)},
    make=tilted_samples,
)
GRAM: Final = NumberBox(
    what="the exact pair on samples with a designed Gram matrix",
    ranges={
        "dimension": Range(low=8, high=200),
        "samples": Range(low=2, high=20),
        "p": Range(low=0, high=16, unit=0.5),
        "pattern": Range(low=0, high=2),
        "width": Range(low=2, high=6),
        "seed": Range(low=0, high=1000),
    },
    make=designed_gram,
)
CLUSTERS: Final = NumberBox(
    what="the exact pair on samples of clusters",
    ranges={
        "dimension": Range(low=300, high=3000),
        "clusters": Range(low=2, high=5),
        "spread": Range(low=1, high=64, unit=1 / 64),
        "samples": Range(low=80, high=300),
        "seed": Range(low=0, high=1000),
    },
    make=clusters_in_general_position,
)
FOUR: Final = NumberBox(
    what="four clusters with label noise",
    ranges={
        "size": Range(low=5, high=200),
        "uneven": Range(low=0, high=3),
        "noisy_1": Range(low=0, high=60),
        "noisy_2": Range(low=0, high=60),
        "noisy_3": Range(low=0, high=60),
        "noisy_4": Range(low=0, high=60),
    },
    make=four_clusters,
)
PARTS: Final = NumberBox(
    what="networks with a part that works against the rest",
    ranges={
        "width": Range(low=4, high=512),
        "outside": Range(low=1, high=64),
        "share": Range(low=1, high=60),
        "x": Range(low=16, high=64),
    },
    make=part_of_a_network,
)
NOISY_PAIR: Final = NumberBox(
    what="the exact pair on the noisy sphere, d = 10^decades",
    ranges={
        "samples": Range(low=10, high=400),
        "negative": Range(low=1, high=40),
        "decades": Range(low=4, high=14),
        "seed": Range(low=0, high=1000),
    },
    make=noisy_pair,
)
WITH_CONSTANTS: Final = replace(
    NOISY_PAIR,
    ranges={
        "samples": Range(low=240, high=500),
        "negative": Range(low=5, high=11),
        "decades": Range(low=11, high=14),
        "seed": Range(low=0, high=1000),
    },
    what="the exact pair on the noisy sphere, d = 10^decades, with c_1 = 0.05, c_2 = 2.5, c_3 = 648, c_4 = 0.155",
    make=noisy_pair_with_constants,
)
NOISY_FROZEN: Final = NumberBox(
    what="KKT points with frozen outputs on the noisy sphere, d = 10^decades",
    ranges={
        "samples": Range(low=4, high=120),
        "negative": Range(low=1, high=40),
        "pairs": Range(low=1, high=4),
        "decades": Range(low=6, high=15),
        "seed": Range(low=0, high=1000),
    },
    make=noisy_frozen,
)
FROZEN_GRAM: Final = NumberBox(
    what="KKT points with outputs +1 and -1 on samples with a designed Gram matrix",
    ranges={
        "dimension": Range(low=8, high=200),
        "samples": Range(low=2, high=20),
        "p": Range(low=0, high=16, unit=0.5),
        "pattern": Range(low=0, high=2),
        "seed": Range(low=0, high=1000),
    },
    make=frozen_gram,
)
UNIFORM: Final = NumberBox(
    what="uniform points of [0, 1], the global optimum (start 0) or a local minimum",
    ranges={
        "samples": Range(low=8, high=80),
        "p": Range(low=1, high=31, unit=1 / 64),
        "start": Range(low=0, high=8),
        "seed": Range(low=0, high=1000),
    },
    make=uniform_points,
)
MANY_CLUSTERS: Final = NumberBox(
    what="the exact pair on one sample of each of many clusters, d = ratio * clusters, sigma sqrt(d) = 2^-spread",
    ranges={
        "clusters": Range(low=60, high=140),
        "ratio": Range(low=8, high=40),
        "spread": Range(low=4, high=20),
        "seed": Range(low=0, high=1000),
    },
    make=one_sample_per_cluster,
)
CLUSTER_LAW: Final = NumberBox(
    what="laws of clusters",
    ranges={
        "dimension": Range(low=100, high=10**6),
        "clusters": Range(low=2, high=4),
        "spread": Range(low=1, high=64, unit=1 / 64),
    },
    make=law_of_clusters,
)
DESCENT: Final = NumberBox(
    what="gradient descent on four clusters, width 2 pairs, sigma sqrt(d) = 2^-spread, omega sqrt(md) = 2^-start, "
    "alpha = 1/(4k)",
    ranges={
        "samples": Range(low=20, high=2000),
        "dimension": Range(low=2, high=1200),
        "pairs": Range(low=2, high=200),
        "spread": Range(low=1, high=20),
        "noisy": Range(low=0, high=100),
        "start": Range(low=1, high=20),
        "k": Range(low=1, high=6),
        "seed": Range(low=0, high=1000),
    },
    make=descent_on_clusters,
)
NARROW_DESCENT: Final = replace(
    DESCENT,
    what="gradient descent from a tiny start on four narrow clusters, width 2 pairs, sigma sqrt(d) = 2^-spread, "
    "omega sqrt(md) = 2^-start, alpha = 1/(4k)",
    ranges={
        "samples": Range(low=400, high=2000),
        "dimension": Range(low=20, high=200),
        "pairs": Range(low=4, high=60),
        "spread": Range(low=12, high=24),
        "noisy": Range(low=0, high=2),
        "start": Range(low=12, high=24),
        "k": Range(low=3, high=8),
        "seed": Range(low=0, high=1000),
    },
)
PLANTED: Final = NumberBox(
    what="planted good runs of gradient descent, alpha = 1/(4k)",
    ranges={"k": Range(low=6000, high=20000), "copies": Range(low=20, high=400), "noisy": Range(low=0, high=1)},
    make=planted_descent,
)
RECIPE: Final = NumberBox(
    what="ends of the published recipe on random samples",
    ranges={
        "samples": Range(low=2, high=12),
        "dimension": Range(low=4, high=60),
        "width": Range(low=2, high=20),
        "scale": Range(low=1, high=64, unit=1 / 32),
        "seed": Range(low=0, high=1000),
    },
    make=published_recipe,
)
FLOW: Final = NumberBox(
    what="gradient flow on two clusters, sigma sqrt(d) = 2^-spread",
    ranges={
        "dimension": Range(low=400, high=2000),
        "spread": Range(low=0, high=10),
        "width": Range(low=4, high=8),
        "seed": Range(low=0, high=1000),
    },
    make=flow_on_clusters,
)
_GRAM_SIZES: Final = {"m": Range(low=1, high=64), "dimension": Range(low=1, high=64)}


def _numbers(**ranges: Range) -> NumberBox:
    return NumberBox(what="numbers", ranges=ranges)


FAMILIES: Final[dict[str, AbstractFamily]] = {
    **{
        f"KYS23/{name}": LOCAL
        for name in (
            "PropA.4",
            "PropA.4-repaired",
            "LemA.6",
            "LemA.7",
            "PropA.5",
            "X.A5",
            "Thm3.2.sandwich",
        )
    },
    "KYS23/Def.LocMin": LinePoints(point="local", most=6),
    **{f"KYS23/{name}": GLOBAL for name in ("X.1NN", "X.GlobalLP", "Def.KKT")},
    "KYS23/LemA.2": LinePoints(point="saddle", most=9),
    "KYS23/CorA.3": LinePoints(point="global", least=6, most=11),
    "KYS23/Thm3.1.groups": LinePoints(point="global", least=5, most=11),
    "KYS23/Prop4.4": WholeNetworks(least=2, most=2),
    "KYS23/Prop4.5": WholeNetworks(),
    "KYS23/Prop4.5-repaired": WholeNetworks(),
    **{f"KYS23/{name}": UNIT for name in ("LemB.3", "LemB.3-repaired", "Prop4.6", "Prop4.6-repaired")},
    "KYS23/LemA.1": _numbers(m=Range(low=3, high=1500), delta=Range(low=1, high=512, unit=1 / 1024)),
    "KYS23/LemB.1": _numbers(
        m=Range(low=2, high=400), dimension=Range(low=2, high=10**6), p=Range(low=1, high=16, unit=1 / 64)
    ),
    "KYS23/LemB.4": _numbers(
        m=Range(low=2, high=4000),
        width=Range(low=2, high=20),
        dimension=Range(low=2, high=10**9),
        p=Range(low=1, high=512, unit=2.0**-16),
    ),
    "KYS23/LemD.1": _numbers(dimension=Range(low=2, high=2000), t=Range(low=1, high=64, unit=1 / 64)),
    "KYS23/LemD.2": _numbers(
        **_GRAM_SIZES, t=Range(low=1, high=32, unit=1 / 4), c=Range(low=1, high=1024)
    ),
    "KYS23/LemD.2-repaired": _numbers(
        m=Range(low=1, high=64), dimension=Range(low=2, high=512), t=Range(low=1, high=16, unit=1 / 4)
    ),
    **{f"VYS22/LemC.{number}": GRAM for number in range(1, 10)},
    **{
        f"VYS22/{name}": GRAM
        for name in ("Thm3.1", "Thm3.1-sharp", "Thm4.1", "Cor4.1", "AppD", "X.sharp", "X.cert")
    },
    **{f"KYS23/{name}": GRAM for name in ("LemB.2", "LemB.6")},
    "VYS22/Lem3.1a": _numbers(
        dimension=Range(low=2, high=4096), n_samples=Range(low=2, high=512), k=Range(low=1, high=64)
    ),
    "VYS22/Lem3.1b": _numbers(
        dimension=Range(low=2, high=4096), n_samples=Range(low=2, high=512), k=Range(low=1, high=64)
    ),
    **{
        f"FVBS23/{name}": CLUSTERS
        for name in (
            "Lem2.1", "Thm3.1", "Thm4.1", "Thm4.1-sharp", "Thm4.2", "ThmA.1", "ThmD.1", "Eq5", "Eq5b",
            "LemA.5", "LemA.6", "LemA.7", "LemA.9", "LemA.10", "LemA.11", "LemA.12", "LemA.13",
            "LemD.1", "LemD.2", "LemD.3", "LemD.4", "LemD.5", "LemD.6", "LemD.7", "LemD.8", "LemD.9",
            "X.ApproxKKT", "X.SharpCertificate",
        )
    },
    **{f"FVBS23/LemA.{number}": _numbers(dimension=Range(low=1, high=10**6)) for number in range(1, 5)},
    "FVBS23/LemA.8": _numbers(dimension=Range(low=2, high=10**6), n_clusters=Range(low=2, high=1000)),
    "FCB22/Eq6": FOUR,
    "FCB22/Lem4.6": PARTS,
    **{f"VYS22/Sec5.{number}": FROZEN_GRAM for number in (2, 3, 4, 5)},
    "VYS22/X.floor": RECIPE,
    "FVBS23/Cor-Both": MANY_CLUSTERS,
    "FVBS23/PropA.1": CLUSTER_LAW,
    "FVBS23/Thm2.1+3.1": FLOW,
    **{f"KYS23/{name}": NOISY_PAIR for name in ("B1.BiasDom", "Thm4.1-sharp")},
    "KYS23/Thm4.1": WITH_CONSTANTS,
    **{
        f"KYS23/{name}": NOISY_FROZEN
        for name in ("B2.LamMax", "LemB.5", "LemB.7", "LemB.8", "LemB.9", "Thm4.3")
    },
    **{f"KYS23/{name}": UNIFORM for name in ("Thm3.1", "Thm3.1.upper", "Thm3.2")},
    "FCB22/PropB.1": PlanePoints(),
    **{f"FCB22/{name}": PLANTED for name in ("Lem4.9", "Thm3.1.det")},
    **{
        f"FCB22/{name}": DESCENT
        for name in (
            "Lem4.1", "Lem4.2", "Lem4.3", "Lem4.4", "Thm3.1.1", "Thm3.1.2",
        )
    },
    **{f"FCB22/{name}": NARROW_DESCENT for name in ("Lem4.10", "Lem4.11", "LemA.1", "Prop3.2")},
}  # fmt: skip

_ASYMPTOTIC: Final = (
    "it says where gradient flow goes as t grows without bound and has no constant: at a finite time there is a trend "
    "to look at and no number that could be tight"
)
NO_NUMBER: Final[dict[str, str]] = {f"{paper}/Thm2.1": _ASYMPTOTIC for paper in ("VYS22", "FVBS23", "KYS23")}
"""Theorems and lemmas that have no number to hunt, and why."""

BY_CHANCE: Final[frozenset[str]] = frozenset(
    {f"FCB22/{name}" for name in ("Lem4.1", "Lem4.2", "Lem4.3", "Lem4.4", "Thm3.1.1", "Thm3.1.2")}
    | {f"KYS23/{name}" for name in ("Thm3.1", "Thm3.1.upper", "Thm3.2")}
)
"""Statements that allow a share delta of the draws to fail: a hunt, which picks draws, finds such draws in the end."""


CONJECTURES: Final = {"KYS23/O3": "KYS23/Thm3.2.sandwich", "KYS23/O4": "KYS23/X.1NN"}
"""Open questions, and the statement that can be hunted instead."""


def family_of(
    statement: Statement,
    *,
    dimension: int | None = None,
    samples: int | None = None,
    interval: tuple[int, int] | None = None,
) -> AbstractFamily:
    """The family of a statement, with so many dimensions or at most so many samples where it can be asked for."""
    family = statement.family or FAMILIES.get(statement.id)
    if family is None and statement.id in NO_NUMBER:
        raise InputError(f"{statement.id} has no number to hunt: {NO_NUMBER[statement.id]}.")
    if family is None:
        known = ", ".join(sorted(FAMILIES))
        raise InputError(
            f"No family of instances is named for {statement.id}, so there are no numbers to hunt; there is one for "
            f"{known}."
        )
    if interval is not None:
        low, high = interval
        if not isinstance(family, LinePoints) or low >= high:
            raise InputError(f"interval is {low} to {high}; {statement.id} is hunted on {family.title}.")
        family = replace(family, low=low, high=high)
    if samples is not None:
        if not isinstance(family, LinePoints) or samples < family.least:
            raise InputError(f"samples is {samples}; {statement.id} is hunted on {family.title}.")
        family = replace(family, most=samples)
    if dimension is not None:
        if not isinstance(family, WholeNetworks) or dimension < 2:
            raise InputError(f"dimension is {dimension}; {statement.id} is hunted on {family.title}.")
        family = replace(family, dimension=dimension)
    return family
