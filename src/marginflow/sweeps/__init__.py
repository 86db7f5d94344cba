"""Sweeps: one task on a grid of parameters with several seeds, resumable, on one machine or on many."""

from marginflow.doors import show_doors
from marginflow.sweeps.cell import Cell
from marginflow.sweeps.comparison import Comparison, compare
from marginflow.sweeps.engines import AbstractEngine, DaskEngine, LocalEngine
from marginflow.sweeps.observed import observe
from marginflow.sweeps.record import Record
from marginflow.sweeps.registry import Row, SweepTask, TaskResult, find_task, task, tasks
from marginflow.sweeps.runner import Results, SweepProgress, run, stored
from marginflow.sweeps.salvage import Salvage, salvage
from marginflow.sweeps.shards import Shard, merge, slurm_script
from marginflow.sweeps.sight import Sight, look
from marginflow.sweeps.store import AbstractStore, MemoryStore, Store
from marginflow.sweeps.sweep import Sweep
from marginflow.sweeps.table import export
from marginflow.sweeps.trouble import StoppedError

__all__ = [
    "AbstractEngine",
    "AbstractStore",
    "Cell",
    "Comparison",
    "DaskEngine",
    "LocalEngine",
    "MemoryStore",
    "Record",
    "Results",
    "Row",
    "Salvage",
    "Shard",
    "Sight",
    "StoppedError",
    "Store",
    "Sweep",
    "SweepProgress",
    "SweepTask",
    "TaskResult",
    "compare",
    "export",
    "find_task",
    "look",
    "merge",
    "observe",
    "run",
    "salvage",
    "slurm_script",
    "stored",
    "task",
    "tasks",
]

show_doors(globals())
