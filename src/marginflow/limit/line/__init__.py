"""Samples on a line: the global optimum with a proof, local minima, saddle points, and the dual function exactly."""

from marginflow.limit.line.global_solver import max_margin
from marginflow.limit.line.local_solver import local_minimum
from marginflow.limit.line.result import DualFunction, LineLimit, dual_function
from marginflow.limit.line.saddle_solver import saddle_point, saddle_points

__all__ = [
    "DualFunction",
    "LineLimit",
    "dual_function",
    "local_minimum",
    "max_margin",
    "saddle_point",
    "saddle_points",
]
