"""Built-in tasks; importing this room puts them into the registry."""

from marginflow.sweeps.tasks.flip import flip
from marginflow.sweeps.tasks.limit import limit
from marginflow.sweeps.tasks.overfitting import overfitting
from marginflow.sweeps.tasks.radius import radius

__all__ = ["flip", "limit", "overfitting", "radius"]
