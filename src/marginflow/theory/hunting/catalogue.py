"""Which family each statement is hunted in."""

from dataclasses import replace
from typing import Final

from marginflow.errors import InputError
from marginflow.theory.hunting import made, recorded
from marginflow.theory.hunting.boxes import numbers
from marginflow.theory.hunting.family import AbstractFamily
from marginflow.theory.hunting.line import LinePoints
from marginflow.theory.hunting.whole_points import PlanePoints, WholeNetworks
from marginflow.theory.statement import Statement


def _all(paper: str, names: str, family: AbstractFamily) -> dict[str, AbstractFamily]:
    """The same family for all of these names of a paper."""
    return {f"{paper}/{name}": family for name in names.split()}


FAMILIES: Final[dict[str, AbstractFamily]] = {
    **_all("KYS23", "PropA.4 PropA.4-repaired LemA.6 LemA.7 PropA.5 X.A5 Thm3.2.sandwich", LinePoints(point="local")),
    "KYS23/Def.LocMin": LinePoints(point="local", most=6),
    **_all("KYS23", "X.1NN X.GlobalLP Def.KKT", LinePoints(point="global")),
    "KYS23/LemA.2": LinePoints(point="saddle", most=9),
    "KYS23/CorA.3": LinePoints(point="global", least=6, most=11),
    "KYS23/Thm3.1.groups": LinePoints(point="global", least=5, most=11),
    "KYS23/Prop4.4": WholeNetworks(least=2, most=2),
    **_all("KYS23", "Prop4.5 Prop4.5-repaired", WholeNetworks()),
    **_all("KYS23", "LemB.3 LemB.3-repaired Prop4.6 Prop4.6-repaired", made.tilted_samples),
    "KYS23/LemA.1": numbers(m=(3, 1500), delta=(1, 512, 1 / 1024)),
    "KYS23/LemB.1": numbers(m=(2, 400), dimension=(2, 10**6), p=(1, 16, 1 / 64)),
    "KYS23/LemB.4": numbers(m=(2, 4000), width=(2, 20), dimension=(2, 10**9), p=(1, 512, 2.0**-16)),
    "KYS23/LemD.1": numbers(dimension=(2, 2000), t=(1, 64, 1 / 64)),
    "KYS23/LemD.2": numbers(m=(1, 64), dimension=(1, 64), t=(1, 32, 1 / 4), c=(1, 1024)),
    "KYS23/LemD.2-repaired": numbers(m=(1, 64), dimension=(2, 512), t=(1, 16, 1 / 4)),
    **_all("VYS22", "LemC.1 LemC.2 LemC.3 LemC.4 LemC.5 LemC.6 LemC.7 LemC.8 LemC.9", made.designed_gram),
    **_all("VYS22", "Thm3.1 Thm3.1-sharp Thm4.1 Cor4.1 AppD X.sharp X.cert", made.designed_gram),
    **_all("KYS23", "LemB.2 LemB.6", made.designed_gram),
    **_all("VYS22", "Lem3.1a Lem3.1b", numbers(dimension=(2, 4096), n_samples=(2, 512), k=(1, 64))),
    **_all(
        "FVBS23",
        "Lem2.1 Thm3.1 Thm4.1 Thm4.1-sharp Thm4.2 ThmA.1 ThmD.1 Eq5 Eq5b LemA.5 LemA.6 LemA.7 LemA.9 LemA.10 "
        "LemA.11 LemA.12 LemA.13 LemD.1 LemD.2 LemD.3 LemD.4 LemD.5 LemD.6 LemD.7 LemD.8 LemD.9 X.ApproxKKT "
        "X.SharpCertificate",
        made.clusters_in_general_position,
    ),
    **_all("FVBS23", "LemA.1 LemA.2 LemA.3 LemA.4", numbers(dimension=(1, 10**6))),
    "FVBS23/LemA.8": numbers(dimension=(2, 10**6), n_clusters=(2, 1000)),
    "FCB22/Eq6": made.four_clusters,
    "FCB22/Lem4.6": made.part_of_a_network,
    **_all("VYS22", "Sec5.2 Sec5.3 Sec5.4 Sec5.5", made.frozen_gram),
    "VYS22/X.floor": recorded.published_recipe,
    "FVBS23/Cor-Both": made.one_sample_per_cluster,
    "FVBS23/PropA.1": made.law_of_clusters,
    "FVBS23/Thm2.1+3.1": recorded.flow_on_clusters,
    **_all("KYS23", "B1.BiasDom Thm4.1-sharp", made.noisy_pair),
    "KYS23/Thm4.1": made.noisy_pair_with_constants,
    **_all("KYS23", "B2.LamMax LemB.5 LemB.7 LemB.8 LemB.9 Thm4.3", made.noisy_frozen),
    **_all("KYS23", "Thm3.1 Thm3.1.upper Thm3.2", made.uniform_points),
    "FCB22/PropB.1": PlanePoints(),
    **_all("FCB22", "Lem4.9 Thm3.1.det", recorded.planted_descent),
    **_all("FCB22", "Lem4.1 Lem4.2 Lem4.3 Lem4.4 Thm3.1.1 Thm3.1.2", recorded.descent),
    **_all("FCB22", "Lem4.10 Lem4.11 LemA.1 Prop3.2", recorded.narrow_descent),
}

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
    """The family of a statement, with this many dimensions or at most this many samples where it can be asked for."""
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
