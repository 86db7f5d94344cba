"""Where the cells of sweeps and figures are computed, by the options of the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import marginflow as mf
from marginflow.cli.output import note
from marginflow.errors import InputError


def engine_of(engine: str, address: str | None, workers: int | None) -> mf.sweeps.AbstractEngine:
    """The engine of a name; on this machine cells are computed in processes of their own, as a cell may crash."""
    if engine == "dask":
        return mf.sweeps.DaskEngine(address=address, workers=workers)
    if address is not None:
        raise InputError("--address is for --engine dask.")
    return mf.sweeps.LocalEngine(workers=1 if workers is None else workers)


def sweep_of(spec: Path) -> mf.sweeps.Sweep:
    """The sweep of a spec, beside which a task of one's own ("module:name") may stand.

    The tasks of figures are imported only where its task is not found without them.
    """
    if (beside := str(spec.resolve().parent)) not in sys.path:
        sys.path.append(beside)
    try:
        return mf.sweeps.Sweep.load(spec)
    except InputError:
        mf.experiments.figures()  # puts their tasks into the registry
        return mf.sweeps.Sweep.load(spec)


def note_other_code(sweep: mf.sweeps.Sweep, store: mf.sweeps.Store | None) -> None:
    """Say how many cells a store has by another version of the code, so that nobody computes them again unasked."""
    from marginflow.sweeps.runner import by_other_code

    if store is None:
        return
    if count := by_other_code(sweep, store):
        cells = "1 cell has a row" if count == 1 else f"{count} cells have rows"
        note(f"{cells} by another version of the code in {store.path}; --any-code accepts them.")
