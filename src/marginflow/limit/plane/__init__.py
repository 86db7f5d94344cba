"""Samples in the plane: the global optimum of the max-margin problem with a proof, hard and soft."""

from marginflow.limit.plane.result import PlaneLimit, dual_bound
from marginflow.limit.plane.solver import max_margin

__all__ = ["PlaneLimit", "dual_bound", "max_margin"]
