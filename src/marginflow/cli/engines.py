"""Where the cells of sweeps and figures are computed, by the options of the command line."""

from __future__ import annotations

from marginflow.arrays import whole_number
from marginflow.errors import InputError
from marginflow.sweeps import AbstractEngine, DaskEngine, LocalEngine


def engine_of(engine: str, address: str | None, workers: int | None) -> AbstractEngine:
    """The engine of a name; on this machine cells are computed in processes of their own, as a cell may crash."""
    if workers is not None:
        whole_number("--workers", workers)
    if engine == "dask":
        return DaskEngine(address=address, workers=workers)
    if address is not None:
        raise InputError("--address is for --engine dask.")
    return LocalEngine(workers=1 if workers is None else workers)
