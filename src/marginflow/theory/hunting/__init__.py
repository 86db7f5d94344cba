"""The hunter: search over data and KKT points for the worst instance of a statement, shrink it, prove it."""

from marginflow.theory.hunting.boxes import NumberBox, Range
from marginflow.theory.hunting.catalogue import FAMILIES, family_of
from marginflow.theory.hunting.family import AbstractFamily
from marginflow.theory.hunting.hunter import hunt, hunt_together
from marginflow.theory.hunting.line import LinePoints
from marginflow.theory.hunting.result import HUNT_MEANING, Glimpse, Hunt, HuntOutcome
from marginflow.theory.hunting.search import Step, Trail
from marginflow.theory.hunting.whole_points import WholeNetworks

__all__ = [
    "FAMILIES",
    "HUNT_MEANING",
    "AbstractFamily",
    "Glimpse",
    "Hunt",
    "HuntOutcome",
    "LinePoints",
    "NumberBox",
    "Range",
    "Step",
    "Trail",
    "WholeNetworks",
    "family_of",
    "hunt",
    "hunt_together",
]
