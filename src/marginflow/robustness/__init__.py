"""Robustness: exact steps along rays, universal directions, attacks, bounds, robust constructions, baselines."""

from marginflow.robustness.rays import RaySteps, minimal_step, minimal_step_unsigned, steps_along

__all__ = ["RaySteps", "minimal_step", "minimal_step_unsigned", "steps_along"]
