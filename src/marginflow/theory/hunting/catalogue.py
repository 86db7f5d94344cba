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
    part_of_a_network,
    tilted_samples,
)
from marginflow.theory.hunting.networks import WholeNetworks
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
            "Def.LocMin",
        )
    },
    **{f"KYS23/{name}": GLOBAL for name in ("X.1NN", "X.GlobalLP", "Def.KKT")},
    "KYS23/LemA.2": LinePoints(point="saddle", most=9),
    "KYS23/CorA.3": LinePoints(point="saddle", least=6, most=10),
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
}  # fmt: skip


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
