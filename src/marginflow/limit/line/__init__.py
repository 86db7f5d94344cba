"""Samples on a line: the global max-margin network with a proof, local minima, and the dual function exactly."""

from marginflow.limit.line.global_solver import max_margin
from marginflow.limit.line.local_solver import local_minimum
from marginflow.limit.line.result import DualFunction, LineLimit, dual_function

__all__ = ["DualFunction", "LineLimit", "dual_function", "local_minimum", "max_margin"]
