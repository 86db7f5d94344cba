"""What the commands about left-out samples share: their options, and the points without samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.options import checked, written
from marginflow.cli.progress import progress

if TYPE_CHECKING:
    from marginflow.data import Dataset
    from marginflow.influences import Influence
    from marginflow.limit import Limit

Mode = Annotated[
    Literal["continuation", "fast"], Parameter(help="Follow the point as samples fade, or leave them out at once.")
]
Residual = Annotated[float, checked("--tolerance", "Largest residual at which a point counts as found.", above=0.0)]
TimeLimit = Annotated[float | None, checked("--time-limit", "Seconds for the point with all samples.", above=0.0)]
StoreFile = Annotated[
    Path | None, Parameter(help="A file that keeps every finished point; name it again to go on after an interrupt.")
]
Out = Annotated[Path | None, written("Write the page (.html) or everything (.json).")]


def left_out(
    dataset: Dataset,
    *,
    width: int,
    bias: bool,
    penalty: float | None,
    time_limit: float | None,
    seed: int,
    tolerance: float,
    **options: Any,
) -> tuple[Limit, Influence]:
    """The limit with all samples, and the exact points without some; `options` are those of `mf.influence`."""
    with progress("Leaving out samples") as show:
        limit = mf.kkt_point(dataset, width=width, seed=seed, bias=bias, penalty=penalty, time_limit=time_limit)
        found = mf.influence(
            limit,
            dataset,
            seed=seed,
            tolerance=tolerance,
            progress=lambda done, total: show(done / total, f"{done} of {total}"),
            **options,
        )
    return limit, found
