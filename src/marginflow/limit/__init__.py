"""Exact KKT points of the max-margin problem: flow, ADMM, Newton; closed forms; the global solver on the line."""

from marginflow.doors import check_types
from marginflow.limit import line, plane
from marginflow.limit.bracket.global_bounds import Bracket, global_bounds
from marginflow.limit.budget import Progress
from marginflow.limit.classes import ClassesLimit
from marginflow.limit.closed_forms.closed_form import (
    ClosedForm,
    catastrophic,
    five_points,
    orthogonal,
    pair_kink,
    specialist,
)
from marginflow.limit.closed_forms.convex_pair import convex_pair
from marginflow.limit.limit import Limit, Moved
from marginflow.limit.point import kkt_point
from marginflow.limit.starts import all_starts

__all__ = [
    "Bracket",
    "ClassesLimit",
    "ClosedForm",
    "Limit",
    "Moved",
    "Progress",
    "all_starts",
    "catastrophic",
    "convex_pair",
    "five_points",
    "global_bounds",
    "kkt_point",
    "line",
    "orthogonal",
    "pair_kink",
    "plane",
    "specialist",
]

check_types(globals())
