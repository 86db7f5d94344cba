"""Statements of the papers, executable: each has hypotheses, constants, conclusions, an example and a control."""

from typing import TYPE_CHECKING

from marginflow.doors import check_types, checked
from marginflow.theory import probability
from marginflow.theory.bibliography import PAPERS, Paper
from marginflow.theory.check import Check
from marginflow.theory.findings import Counterexample, Findings, undefined
from marginflow.theory.instance import Instance
from marginflow.theory.registry import Covered, catalogue, coverage, covered, map, statement, statements
from marginflow.theory.statement import Forms, Statement
from marginflow.theory.verdict import Verdict

if TYPE_CHECKING:
    from marginflow.theory.hunting import Hunt, hunt

__all__ = [
    "PAPERS",
    "Check",
    "Counterexample",
    "Covered",
    "Findings",
    "Forms",
    "Hunt",
    "Instance",
    "Paper",
    "Statement",
    "Verdict",
    "catalogue",
    "coverage",
    "covered",
    "hunt",
    "map",
    "probability",
    "statement",
    "statements",
    "undefined",
]


def __getattr__(name: str) -> object:
    # The hunter imports solvers and statements; it is brought in when it is first asked for.
    if name not in ("Hunt", "hunt"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from marginflow.theory import hunting

    return checked(hunting.hunt) if name == "hunt" else hunting.Hunt


check_types(globals())
