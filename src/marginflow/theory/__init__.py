"""Statements of the papers, executable: each has hypotheses, constants, conclusions, an example and a control."""

from marginflow.theory import probability
from marginflow.theory.bibliography import PAPERS, Paper
from marginflow.theory.check import Check
from marginflow.theory.instance import Instance
from marginflow.theory.registry import Covered, catalogue, coverage, covered, statement, statements
from marginflow.theory.statement import Forms, Statement
from marginflow.theory.verdict import Findings, Verdict, undefined

__all__ = [
    "PAPERS",
    "Check",
    "Covered",
    "Findings",
    "Forms",
    "Instance",
    "Paper",
    "Statement",
    "Verdict",
    "catalogue",
    "coverage",
    "covered",
    "probability",
    "statement",
    "statements",
    "undefined",
]
