"""Pictures as doors of their own."""

from marginflow.doors import show_doors
from marginflow.plot.moving import moving_plane
from marginflow.plot.plane import PlanePicture, plane

__all__ = ["PlanePicture", "moving_plane", "plane"]

show_doors(globals())
