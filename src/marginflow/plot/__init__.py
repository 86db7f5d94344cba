"""Pictures as doors of their own."""

from marginflow.plot.plane import PlanePicture, plane

__all__ = ["PlanePicture", "plane"]
