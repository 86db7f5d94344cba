"""Pictures as doors of their own."""

from marginflow.doors import show_doors
from marginflow.plot.plane import PlanePicture, plane

__all__ = ["PlanePicture", "plane"]

show_doors(globals())
