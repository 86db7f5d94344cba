"""The one step from a result to what a notebook shows of it: its plain form, and what stands beside that by name."""

from collections.abc import Mapping
from typing import Any, Final

from marginflow.plain import named_values, to_plain
from marginflow.report.results.summary import Fields

# Attributes and methods that a notebook shows beside, or instead of, the plain form of a class.
_BESIDE: Final = {
    "Limit": ("certificate.residual",),
    "Certificate": ("residual",),
    "ClassesLimit": ("certificate.residual",),
    "ClassifierKKT": ("residual",),
    "Audit": ("certificate.residual",),
    "Influence": ("sentence", "drops", "added", "rank"),
    "Valuation": ("rank",),
    "FigureResult": ("panels",),
    "Universal": ("sentence", "upper", "lower", "share", "flipped"),
    "UniversalChange": ("sentence", "upper", "lower", "share", "changed", "vector", "sizes", "shares"),
    "RaySteps": ("sentence", "first", "already", "norms", "steps", "shares", "largest_first", "all_at_once"),
}


def record_of(result: Any, data: Any = None) -> Fields:
    """The plain values of a result; `data` are those of a run, whose recorded networks are then certified."""
    match type(result).__name__:
        case "Dataset":
            from marginflow.measurements import sample_record

            return Fields(sample_record(result))
        case "Run":
            from marginflow.measurements import run_record

            return Fields(run_record(result, data))
        case "Statement":
            from marginflow.theory.record import statement_record

            return Fields(statement_record(result), source=result.source)
        case "Sweep":
            return Fields(_sweep(result))
        case "Results":
            return Fields(_sweep(result.sweep), rows=result.rows, failed=len(result.failed))
        case name:
            plain = result.to_dict() if hasattr(result, "to_dict") else {}
            return Fields(plain | to_plain(named_values(result, _BESIDE.get(name, ()))))


def _sweep(sweep: Any) -> Mapping[str, Any]:
    """What varies in a sweep, in words."""
    seeds = sweep.seeds if isinstance(sweep.seeds, tuple) else ()
    return {
        "name": sweep.name,
        "named": sweep.name != type(sweep).name,
        "task": sweep.task if isinstance(sweep.task, str) else sweep.task.name,
        "cells": len(sweep.cells),
        "grid": {name: ", ".join(map(str, values)) for name, values in sweep.grid.items()},
        "points": len(sweep.points),
        "seeds": ", ".join(map(str, seeds)),
        "fixed": {name: str(value) for name, value in sweep.fixed.items()},
    }
