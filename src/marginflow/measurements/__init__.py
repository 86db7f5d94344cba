"""What is measured of a network on its data, each thing in one way: directions, flips, radii, and all of it at once."""

from marginflow.direction_names import DIRECTIONS
from marginflow.doors import show_doors
from marginflow.measurements.directions import (
    BY_MULTIPLIERS,
    SHARES,
    Flip,
    flip,
    named_direction,
    named_directions,
)
from marginflow.measurements.pictures import run_record, sample_record
from marginflow.measurements.plane import PlaneFlow, moving_start, plane_flow, plane_frame, plane_samples
from marginflow.measurements.portrait import Portrait, portrait
from marginflow.measurements.radii import CheckedRadius, RadiusSummary, checked_radii, summarise_radii

__all__ = [
    "BY_MULTIPLIERS",
    "DIRECTIONS",
    "SHARES",
    "CheckedRadius",
    "Flip",
    "PlaneFlow",
    "Portrait",
    "RadiusSummary",
    "checked_radii",
    "flip",
    "moving_start",
    "named_direction",
    "named_directions",
    "plane_flow",
    "plane_frame",
    "plane_samples",
    "portrait",
    "run_record",
    "sample_record",
    "summarise_radii",
]

show_doors(globals())
