"""What each sample did: the exact KKT point without it, by continuation."""

from marginflow.doors import check_types
from marginflow.influences.leave_out import influence
from marginflow.influences.result import Influence

__all__ = ["Influence", "influence"]

check_types(globals())
