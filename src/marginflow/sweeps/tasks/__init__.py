"""Built-in tasks; importing this room puts them into the registry."""

from marginflow.sweeps.tasks.limit import limit

__all__ = ["limit"]
