"""Engines: where cells are computed."""

from marginflow.sweeps.engines.dask import DaskEngine
from marginflow.sweeps.engines.engine import AbstractEngine
from marginflow.sweeps.engines.local import LocalEngine

__all__ = ["AbstractEngine", "DaskEngine", "LocalEngine"]
