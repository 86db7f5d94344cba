"""Built-in tasks; importing this room puts them into the registry."""

from marginflow.sweeps.built_in.flip import flip
from marginflow.sweeps.built_in.limit import limit
from marginflow.sweeps.built_in.map_cell import map_cell
from marginflow.sweeps.built_in.overfitting import overfitting
from marginflow.sweeps.built_in.radius import radius

__all__ = ["flip", "limit", "map_cell", "overfitting", "radius"]
