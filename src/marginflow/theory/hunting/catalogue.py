"""Which family each statement is hunted in."""

from dataclasses import replace
from typing import Final

from marginflow.errors import InputError
from marginflow.theory.hunting import made, recorded
from marginflow.theory.hunting.boxes import box
from marginflow.theory.hunting.family import AbstractFamily
from marginflow.theory.hunting.line import LinePoints
from marginflow.theory.hunting.networks import WholeNetworks
from marginflow.theory.hunting.plane import PlanePoints
from marginflow.theory.statement import Statement

LOCAL: Final = LinePoints(point="local")
GLOBAL: Final = LinePoints(point="global")
UNIT: Final = box("nearly orthonormal samples", made.tilted_samples, samples=(2, 12), negative=(1, 6), tilt=(0, 4))
GRAM: Final = box(
    "the exact pair on samples with a designed Gram matrix",
    made.designed_gram,
    dimension=(8, 200),
    samples=(2, 20),
    p=(0, 16, 0.5),
    pattern=(0, 2),
    width=(2, 6),
)
CLUSTERS: Final = box(
    "the exact pair on samples of clusters",
    made.clusters_in_general_position,
    dimension=(300, 3000),
    clusters=(2, 5),
    spread=(1, 64, 1 / 64),
    samples=(80, 300),
)
FOUR: Final = box(
    "four clusters with label noise",
    made.four_clusters,
    size=(5, 200),
    uneven=(0, 3),
    noisy_1=(0, 60),
    noisy_2=(0, 60),
    noisy_3=(0, 60),
    noisy_4=(0, 60),
)
PARTS: Final = box(
    "networks with a part that works against the rest",
    made.part_of_a_network,
    width=(4, 512),
    outside=(1, 64),
    share=(1, 60),
    x=(16, 64),
)
NOISY_PAIR: Final = box(
    "the exact pair on the noisy sphere, d = 10^decades",
    made.noisy_pair,
    samples=(10, 400),
    negative=(1, 40),
    decades=(4, 14),
)
WITH_CONSTANTS: Final = box(
    "the exact pair on the noisy sphere, d = 10^decades, with c_1 = 0.05, c_2 = 2.5, c_3 = 648, c_4 = 0.155",
    made.noisy_pair_with_constants,
    samples=(240, 500),
    negative=(5, 11),
    decades=(11, 14),
)
NOISY_FROZEN: Final = box(
    "KKT points with frozen outputs on the noisy sphere, d = 10^decades",
    made.noisy_frozen,
    samples=(4, 120),
    negative=(1, 40),
    pairs=(1, 4),
    decades=(6, 15),
)
FROZEN_GRAM: Final = box(
    "KKT points with outputs +1 and -1 on samples with a designed Gram matrix",
    made.frozen_gram,
    dimension=(8, 200),
    samples=(2, 20),
    p=(0, 16, 0.5),
    pattern=(0, 2),
)
UNIFORM: Final = box(
    "uniform points of [0, 1], the global optimum (start 0) or a local minimum",
    made.uniform_points,
    samples=(8, 80),
    p=(1, 31, 1 / 64),
    start=(0, 8),
)
MANY_CLUSTERS: Final = box(
    "the exact pair on one sample of each of many clusters, d = ratio * clusters, sigma sqrt(d) = 2^-spread",
    made.one_sample_per_cluster,
    clusters=(60, 140),
    ratio=(8, 40),
    spread=(4, 20),
)
CLUSTER_LAW: Final = box(
    "laws of clusters", made.law_of_clusters, dimension=(100, 10**6), clusters=(2, 4), spread=(1, 64, 1 / 64)
)
DESCENT: Final = box(
    "gradient descent on four clusters, width 2 pairs, sigma sqrt(d) = 2^-spread, omega sqrt(md) = 2^-start, "
    "alpha = 1/(4k)",
    recorded.descent_on_clusters,
    samples=(20, 2000),
    dimension=(2, 1200),
    pairs=(2, 200),
    spread=(1, 20),
    noisy=(0, 100),
    start=(1, 20),
    k=(1, 6),
)
NARROW_DESCENT: Final = box(
    "gradient descent from a tiny start on four narrow clusters, width 2 pairs, sigma sqrt(d) = 2^-spread, "
    "omega sqrt(md) = 2^-start, alpha = 1/(4k)",
    recorded.descent_on_clusters,
    samples=(400, 2000),
    dimension=(20, 200),
    pairs=(4, 60),
    spread=(12, 24),
    noisy=(0, 2),
    start=(12, 24),
    k=(3, 8),
)
PLANTED: Final = box(
    "planted good runs of gradient descent, alpha = 1/(4k)",
    recorded.planted_descent,
    k=(6000, 20000),
    copies=(20, 400),
    noisy=(0, 1),
)
RECIPE: Final = box(
    "ends of the published recipe on random samples",
    recorded.published_recipe,
    samples=(2, 12),
    dimension=(4, 60),
    width=(2, 20),
    scale=(1, 64, 1 / 32),
)
FLOW: Final = box(
    "gradient flow on two clusters, sigma sqrt(d) = 2^-spread",
    recorded.flow_on_clusters,
    dimension=(400, 2000),
    spread=(0, 10),
    width=(4, 8),
)


def _all(paper: str, names: str, family: AbstractFamily) -> dict[str, AbstractFamily]:
    """The same family for all of these names of a paper."""
    return {f"{paper}/{name}": family for name in names.split()}


FAMILIES: Final[dict[str, AbstractFamily]] = {
    **_all("KYS23", "PropA.4 PropA.4-repaired LemA.6 LemA.7 PropA.5 X.A5 Thm3.2.sandwich", LOCAL),
    "KYS23/Def.LocMin": LinePoints(point="local", most=6),
    **_all("KYS23", "X.1NN X.GlobalLP Def.KKT", GLOBAL),
    "KYS23/LemA.2": LinePoints(point="saddle", most=9),
    "KYS23/CorA.3": LinePoints(point="global", least=6, most=11),
    "KYS23/Thm3.1.groups": LinePoints(point="global", least=5, most=11),
    "KYS23/Prop4.4": WholeNetworks(least=2, most=2),
    **_all("KYS23", "Prop4.5 Prop4.5-repaired", WholeNetworks()),
    **_all("KYS23", "LemB.3 LemB.3-repaired Prop4.6 Prop4.6-repaired", UNIT),
    "KYS23/LemA.1": box("numbers", m=(3, 1500), delta=(1, 512, 1 / 1024)),
    "KYS23/LemB.1": box("numbers", m=(2, 400), dimension=(2, 10**6), p=(1, 16, 1 / 64)),
    "KYS23/LemB.4": box("numbers", m=(2, 4000), width=(2, 20), dimension=(2, 10**9), p=(1, 512, 2.0**-16)),
    "KYS23/LemD.1": box("numbers", dimension=(2, 2000), t=(1, 64, 1 / 64)),
    "KYS23/LemD.2": box("numbers", m=(1, 64), dimension=(1, 64), t=(1, 32, 1 / 4), c=(1, 1024)),
    "KYS23/LemD.2-repaired": box("numbers", m=(1, 64), dimension=(2, 512), t=(1, 16, 1 / 4)),
    **_all("VYS22", "LemC.1 LemC.2 LemC.3 LemC.4 LemC.5 LemC.6 LemC.7 LemC.8 LemC.9", GRAM),
    **_all("VYS22", "Thm3.1 Thm3.1-sharp Thm4.1 Cor4.1 AppD X.sharp X.cert", GRAM),
    **_all("KYS23", "LemB.2 LemB.6", GRAM),
    **_all("VYS22", "Lem3.1a Lem3.1b", box("numbers", dimension=(2, 4096), n_samples=(2, 512), k=(1, 64))),
    **_all(
        "FVBS23",
        "Lem2.1 Thm3.1 Thm4.1 Thm4.1-sharp Thm4.2 ThmA.1 ThmD.1 Eq5 Eq5b LemA.5 LemA.6 LemA.7 LemA.9 LemA.10 "
        "LemA.11 LemA.12 LemA.13 LemD.1 LemD.2 LemD.3 LemD.4 LemD.5 LemD.6 LemD.7 LemD.8 LemD.9 X.ApproxKKT "
        "X.SharpCertificate",
        CLUSTERS,
    ),
    **_all("FVBS23", "LemA.1 LemA.2 LemA.3 LemA.4", box("numbers", dimension=(1, 10**6))),
    "FVBS23/LemA.8": box("numbers", dimension=(2, 10**6), n_clusters=(2, 1000)),
    "FCB22/Eq6": FOUR,
    "FCB22/Lem4.6": PARTS,
    **_all("VYS22", "Sec5.2 Sec5.3 Sec5.4 Sec5.5", FROZEN_GRAM),
    "VYS22/X.floor": RECIPE,
    "FVBS23/Cor-Both": MANY_CLUSTERS,
    "FVBS23/PropA.1": CLUSTER_LAW,
    "FVBS23/Thm2.1+3.1": FLOW,
    **_all("KYS23", "B1.BiasDom Thm4.1-sharp", NOISY_PAIR),
    "KYS23/Thm4.1": WITH_CONSTANTS,
    **_all("KYS23", "B2.LamMax LemB.5 LemB.7 LemB.8 LemB.9 Thm4.3", NOISY_FROZEN),
    **_all("KYS23", "Thm3.1 Thm3.1.upper Thm3.2", UNIFORM),
    "FCB22/PropB.1": PlanePoints(),
    **_all("FCB22", "Lem4.9 Thm3.1.det", PLANTED),
    **_all("FCB22", "Lem4.1 Lem4.2 Lem4.3 Lem4.4 Thm3.1.1 Thm3.1.2", DESCENT),
    **_all("FCB22", "Lem4.10 Lem4.11 LemA.1 Prop3.2", NARROW_DESCENT),
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
