"""Gradient descent, its published recipes, and gradient flow in log time."""

from marginflow.flow.angle import AngleFlow, angle_flow

__all__ = ["AngleFlow", "angle_flow"]
