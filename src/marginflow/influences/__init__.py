"""What each sample did: the exact KKT point without it, by continuation, and with others added."""

from marginflow.doors import check_types
from marginflow.influences.leave_out import influence
from marginflow.influences.result import Influence
from marginflow.influences.unlearning import Unlearning, ascent_step, unlearning

__all__ = ["Influence", "Unlearning", "ascent_step", "influence", "unlearning"]

check_types(globals())
