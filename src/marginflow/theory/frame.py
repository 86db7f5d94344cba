"""Everything that a statement is written with, in one import: `from marginflow.theory.frame import ...`."""

from marginflow.theory.atlas import Mark, Region
from marginflow.theory.check import Check, above, at_least, at_most, below, compare, equal, true, value
from marginflow.theory.errata import Erratum
from marginflow.theory.findings import Counterexample, Findings, undefined
from marginflow.theory.hypotheses import is_kkt_point, require, unmet
from marginflow.theory.instance import Instance
from marginflow.theory.stated import stated
from marginflow.theory.statement import Forms, Kind, Need, Statement

__all__ = [
    "Check",
    "Counterexample",
    "Erratum",
    "Findings",
    "Forms",
    "Instance",
    "Kind",
    "Mark",
    "Need",
    "Region",
    "Statement",
    "above",
    "at_least",
    "at_most",
    "below",
    "compare",
    "equal",
    "is_kkt_point",
    "require",
    "stated",
    "true",
    "undefined",
    "unmet",
    "value",
]
