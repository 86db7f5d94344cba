"""What each sample did: the exact KKT point without it, by continuation, and with others added."""

from marginflow.doors import check_types
from marginflow.influences.leave_out import influence
from marginflow.influences.result import Branches, Influence
from marginflow.influences.unlearning import Unlearning, ascent_step, fine_tuned, unlearning
from marginflow.influences.valuation import Valuation, valuation

__all__ = [
    "Branches",
    "Influence",
    "Unlearning",
    "Valuation",
    "ascent_step",
    "fine_tuned",
    "influence",
    "unlearning",
    "valuation",
]

check_types(globals())
