"""`observe`: the cells of a map computed as a sweep, so that bound and observed value stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from marginflow.errors import InputError
from marginflow.sweeps.runner import SweepProgress, run
from marginflow.sweeps.store import AbstractStore
from marginflow.sweeps.sweep import Sweep

if TYPE_CHECKING:
    from marginflow.theory.atlas import Atlas


def observe(
    atlas: Atlas,
    *,
    seeds: int = 1,
    store: AbstractStore | str | Path | None = None,
    workers: int | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> Atlas:
    """The same map with what was observed in its cells; cells that are stored already are not computed again.

    Parameters
    ----------
    atlas : Atlas
        Of `theory.map`.
    seeds : int
        Instances for each cell.
    store : Store, path of a .sqlite file, or None
        Where rows are kept, so that the same map can be stopped and gone on with.
    workers, progress
        As in `run`.

    Examples
    --------
    >>> from marginflow import sweeps, theory
    >>> drawn = theory.map("VYS22/Thm4.1", {"d": [100], "m": [4, 30], "p": [0]})
    >>> [round(cell.mean, 3) for cell in sweeps.observe(drawn).cells]
    [0.5, 0.183]
    """
    # Solvers and statements are imported here alone: worker processes of cheap tasks start without them.
    from marginflow.sweeps.built_in.map_cell import map_cell, text_of
    from marginflow.theory import statement, statements
    from marginflow.theory.atlas import with_observations

    region = statement(atlas.id).region
    if region is None or region.observation is None:
        known = ", ".join(
            statement.id for statement in statements() if statement.region is not None and statement.region.observation
        )
        raise InputError(f"{atlas.id} has no observed value on a map; {known} have one.")
    texts = [text_of(dict(cell.numbers)) for cell in atlas.cells]
    sweep = Sweep(
        task=map_cell,
        grid={"numbers": list(dict.fromkeys(texts))},
        fixed={"id": atlas.id},
        seeds=seeds,
        name=f"the map of {atlas.id}",
    )
    results = run(sweep, store=store, workers=workers, progress=progress)
    found: dict[str, list[tuple[float, str]]] = {text: [] for text in texts}
    for record in results.done:
        found[str(record.cell.parameters["numbers"])].append(
            (float(str(record.row["observed"])), str(record.row["outcome"]))
        )
    failures = [f"{record.cell.parameters['numbers']}: {record.reason}" for record in results.failed]
    return with_observations(atlas, region.observation.name, [found[text] for text in texts], failures)
