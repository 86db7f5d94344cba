"""Which statement rests on which, read off the proofs; where one falls, what rests on it is marked.

Examples
--------
>>> from marginflow.theory.dependencies import shaken_by, used_by
>>> "KYS23/Thm3.2" in used_by("KYS23/PropA.4")
True
>>> "KYS23/PropA.4" in shaken_by("KYS23/Thm3.2")
True
"""

from typing import Final

from marginflow.theory.bibliography import PAPERS
from marginflow.theory.registry import statement, statements

_DIRECT: Final = {
    "VYS22": {
        "Thm4.1": "LemC.1 LemC.7 LemC.8 LemC.9",
        "LemC.7": "LemC.1 LemC.2 LemC.4 LemC.5 LemC.6",
        "LemC.8": "LemC.1 LemC.2 LemC.4 LemC.5 LemC.6",
        "LemC.6": "LemC.3 LemC.4 LemC.5",
        "LemC.9": "LemC.5",
        "Cor4.1": "AppD LemC.2 LemC.3 LemC.4 LemC.5 LemC.6 LemC.7 LemC.8 LemC.9",
        "Ex1a": "Thm4.1",
        "Ex1b": "Thm4.1 Lem3.1b",
        "X.sharp": "LemC.1 LemC.3 LemC.4 LemC.6",
        "X.cert": "LemC.3 LemC.4 LemC.6",
    },
    "FVBS23": {
        "Thm3.1": "ThmA.1",
        "ThmA.1": "PropA.1 LemA.12 LemA.13",
        "PropA.1": "LemA.1 LemA.3 LemA.4 LemA.5 LemA.6 LemA.7 LemA.8",
        "LemA.3": "LemA.1 LemA.2",
        "LemA.4": "LemA.2",
        "LemA.10": "LemA.9",
        "LemA.11": "LemA.10",
        "LemA.12": "LemA.9 LemA.10 LemA.11",
        "LemA.13": "LemA.2 LemA.4",
        "Thm2.1+3.1": "Thm2.1 Thm3.1",
        "Thm4.1": "LemA.4 LemA.9",
        "Thm4.1-sharp": "LemA.4 LemA.9",
        "Thm4.2": "ThmD.1",
        "ThmD.1": "PropA.1 LemD.1 LemD.7 LemD.8 LemD.9",
        "LemD.1": "LemA.13",
        "LemD.2": "LemA.10",
        "LemD.6": "LemD.3 LemD.4 LemD.5",
        "LemD.7": "LemA.11 LemD.2 LemD.4 LemD.6",
        "LemD.8": "LemA.11 LemD.2 LemD.4 LemD.6",
        "LemD.9": "LemA.9 LemD.5",
        "Cor-Both": "Thm3.1 Thm4.1 Thm4.2",
    },
    "KYS23": {
        "Thm3.1": "LemA.1 Thm3.1.groups Thm3.1.upper",
        "Thm3.1.groups": "CorA.3",
        "Thm3.1.upper": "A1.Nstar A1.Flip",
        "CorA.3": "LemA.2",
        "FN2": "Thm3.1.groups Thm3.1.upper",
        "Thm3.2": "LemA.1 Thm3.2.sandwich",
        "Thm3.2.sandwich": "PropA.4 PropA.5",
        "FN4": "Thm3.2.sandwich",
        "PropA.4": "LemA.6 LemA.7",
        "PropA.5": "LemA.6",
        "LemA.6": "Con.P10 Con.P12",
        "LemA.7": "Con.P14",
        "Thm4.1": "LemB.1 LemB.2 LemB.3 B1.BiasDom",
        "LemB.1": "LemD.1 LemD.2",
        "LemB.3": "LemB.1",
        "B1.BiasDom": "LemB.1 LemD.1",
        "Rem4.2": "Thm4.1",
        "Thm4.3": "LemB.4 LemB.5 LemB.6 LemB.9 B2.LamMax LemD.1",
        "LemB.4": "LemD.1",
        "LemB.9": "LemB.5 LemB.7 LemB.8",
        "B2.LamMax": "LemB.6 LemB.9",
    },
    "FCB22": {
        "Thm3.1.1": "Def4.5 Lem4.6 Lem4.9 Lem4.11",
        "Thm3.1.2": "Thm3.1.1 PropB.1",
        "Prop3.2": "Lem4.11",
        "Def4.5": "Lem4.1 Lem4.2 Lem4.3 Lem4.4",
        "Lem4.2": "Lem4.1",
        "Lem4.4": "Lem4.3 Eq6",
        "Lem4.9": "LemA.1",
        "Lem4.10": "Def4.5",
        "Lem4.11": "Lem4.10 LemA.1",
    },
}

DIRECT: Final[dict[str, tuple[str, ...]]] = {
    f"{paper}/{name}": tuple(f"{paper}/{other}" for other in others.split())
    for paper, entries in _DIRECT.items()
    for name, others in entries.items()
}
"""id -> the ids that its proof uses itself, for the papers of this library."""


def direct() -> dict[str, tuple[str, ...]]:
    """id -> the ids that its proof uses itself, for every paper that is known."""
    return DIRECT | {id: tuple(others) for paper in PAPERS.values() for id, others in paper.proofs.items()}


def rests_on(id: str) -> tuple[str, ...]:
    """Everything that the proof of a statement uses, directly or not, nearest first."""
    proofs = direct()
    found: list[str] = []
    waiting = list(proofs.get(id, ()))
    while waiting:
        other = waiting.pop(0)
        if other not in found:
            found.append(other)
            waiting += proofs.get(other, ())
    return tuple(found)


def used_by(id: str) -> tuple[str, ...]:
    """Every statement whose proof uses this one, directly or not."""
    return tuple(other for other in direct() if id in rests_on(other))


def is_shaken(id: str) -> bool:
    """Whether the statement is false as printed, or its proof has a gap."""
    forms = statement(id).forms
    return forms is not None and any(erratum.severity in ("statement false", "proof gap") for erratum in forms.errata)


def shaken_by(id: str) -> tuple[str, ...]:
    """Those statements among `rests_on` that are false as printed or whose proof has a gap."""
    return tuple(other for other in rests_on(id) if is_shaken(other))


def shaken() -> dict[str, tuple[str, ...]]:
    """Every statement that is false as printed or has a gap, and what rests on it."""
    resting = {statement.id: used_by(statement.id) for statement in statements() if is_shaken(statement.id)}
    return {id: others for id, others in resting.items() if others}
