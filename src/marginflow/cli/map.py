"""`marginflow map ID --grid ...`: where a theorem does not apply, says nothing or says something."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.options import AsJson, Force, flag, written
from marginflow.cli.output import check_target, deliver
from marginflow.cli.progress import progress
from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow.theory.atlas import Atlas


def map(
    id: Annotated[str, Parameter(help="The theorem, such as VYS22/Thm4.1.")],
    /,
    *,
    grid: Annotated[
        list[str],
        Parameter(consume_multiple=True, help="LETTER=1,2,5 or LETTER=LOW:HIGH:COUNT or LETTER=LOW:HIGH:COUNTlog."),
    ],
    out: Annotated[Path | None, written("A page or picture: .html, .svg, .png, .pdf.")] = None,
    observe: Annotated[
        bool, flag("Also compute in every cell what the bound is about, at a KKT point or along a run.")
    ] = False,
    seeds: Annotated[int, Parameter(help="With --observe: instances for each cell.")] = 1,
    store: Annotated[
        Path | None,
        Parameter(help="With --observe: where cells are kept, .sqlite; the same command goes on where it stopped."),
    ] = None,
    workers: Annotated[int | None, Parameter(help="With --observe: processes; 1 if not given.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Hypotheses and constants alone, no network: ten thousand cells take seconds. Exit code 0.

    With --observe every cell is computed as well, and the picture shows bound against observed value.
    """
    from marginflow.theory.atlas import grid_of

    check_target(out, (".html", ".svg", ".png", ".pdf"), force=force)
    if not observe and (seeds != 1 or store is not None or workers is not None):
        raise InputError("--seeds, --store and --workers go with --observe.")
    atlas = mf.theory.map(id, grid_of(grid))
    if observe:
        atlas = _observed(atlas, seeds, store, workers)
    record = atlas.to_dict()
    if out is not None and out.suffix != ".html":
        from marginflow.report.atlas_chart import atlas_chart, observed_chart
        from marginflow.report.static import draw

        draw((observed_chart if observe else atlas_chart)(record), out)
    title = f"Where {atlas.id} says something"
    return deliver(
        record | {"out": out}, as_json=as_json, out=out, title=title, describe=lambda: print(atlas.sentence())
    )


def _observed(atlas: Atlas, seeds: int, store: Path | None, workers: int | None) -> Atlas:
    """The map with its cells computed, under a bar."""
    with progress("Observing") as show:
        return mf.sweeps.observe(
            atlas,
            seeds=seeds,
            store=store,
            workers=workers,
            progress=lambda now: show((now.stored + now.computed) / now.total, f"{now.left} cells left"),
        )
